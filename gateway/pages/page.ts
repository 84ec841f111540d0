// The pages that the gateway itself serves besides the dashboard: /docs/errors, which `error.docs_url` links to, and /v1/openapi.json. Each is
// compressed once, at its first request.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { docsPath, errorTable } from '../../kernel/errors.ts';
import { projectRoot } from '../../kernel/project.ts';
import { htmlText } from '../../kernel/text/html.ts';
import type { Policy } from '../policy.ts';
import { sendFile, staticFile, type StaticFile } from './static-file.ts';

const paragraphs = Object.entries(errorTable).map(
  ([code, { status, meaning }]) =>
    `<h2 id="${code}">${status} <code>${code}</code></h2>\n<p>${htmlText(meaning)}</p>`,
);

const errorPage = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Errors</title>
<h1>Errors</h1>
<p>Every error has this format; <code>docs_url</code> leads to the paragraph of its code on this page.</p>
<pre>${htmlText(
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

const compress = promisify(gzip);

export const pageNames = ['errors', 'openapi'] as const;

export function page(of: (typeof pageNames)[number]): Policy {
  const [type, identity] =
    of === 'errors'
      ? ['text/html; charset=utf-8', Buffer.from(errorPage)]
      : ['application/json; charset=utf-8', readFileSync(path.join(projectRoot, 'openapi/openapi.json'))];
  let file: Promise<StaticFile> | undefined;
  return async (request, response) => {
    file ??= compress(identity).then((gzipped) => staticFile(type, { identity, gzip: gzipped }));
    sendFile(request, response, await file, { 'cache-control': 'public, max-age=3600' });
  };
}
