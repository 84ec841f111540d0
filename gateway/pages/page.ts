// The pages that the gateway itself serves besides the dashboard: /docs/errors, which `error.docs_url` links to, and /v1/openapi.json. Each is
// compressed once, when the gateway starts.
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import { docsPath, errorTable } from '../../kernel/errors.ts';
import { encodingFor } from '../../kernel/http/reply.ts';
import { projectRoot } from '../../kernel/project.ts';
import type { Policy } from '../policy.ts';

const paragraphs = Object.entries(errorTable).map(
  ([code, { status, meaning }]) =>
    `<h2 id="${code}">${status} <code>${code}</code></h2>\n<p>${escaped(meaning)}</p>`,
);

const errorPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Errors</title>
<h1>Errors</h1>
<p>Every error has this format; <code>docs_url</code> leads to the paragraph of its code on this page.</p>
<pre>${escaped(
  JSON.stringify(
    {
      success: false,
      error: { code: 'not_found', message: '…', docs_url: `${docsPath}#not_found`, request_id: '…' },
    },
    null,
    2,
  ),
)}</pre>
${paragraphs.join('\n')}
</html>
`;

interface Page {
  type: string;
  text: string;
}

const pages = {
  errors: (): Page => ({
    type: 'text/html; charset=utf-8',
    text: errorPage,
  }),
  openapi: (): Page => ({
    type: 'application/json; charset=utf-8',
    text: readFileSync(path.join(projectRoot, 'openapi/openapi.json'), 'utf8'),
  }),
};

export const pageNames = ['errors', 'openapi'] as const satisfies readonly (keyof typeof pages)[];

export function page(of: (typeof pageNames)[number]): Policy {
  const { type, text } = pages[of]();
  const digest = hash('sha256', text, 'base64url').slice(0, 22);
  const forms = {
    identity: { etag: `"${digest}"`, body: Buffer.from(text), encoding: {} },
    gzip: { etag: `"${digest}-gzip"`, body: gzipSync(text), encoding: { 'content-encoding': 'gzip' } },
  };
  return (request, response) => {
    const accepted = encodingFor(request.headers['accept-encoding']);
    const { etag, body, encoding } = forms[accepted === 'identity' ? 'identity' : 'gzip'];
    const caching = { etag, 'cache-control': 'public, max-age=3600', vary: 'Accept-Encoding' };
    if (request.headers['if-none-match'] === etag) {
      response.writeHead(304, caching).end();
      return;
    }
    const own = { 'content-type': type, 'content-length': String(body.length), ...encoding };
    response.writeHead(200, { ...caching, ...own }).end(body);
  };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
