// GET /docs/errors: what each error code means, as a plain page. `error.docs_url` of every error leads to a paragraph of it.
import { docsPath, errorTable } from '../../kernel/errors.ts';
import type { Policy } from '../policy.ts';

const paragraphs = Object.entries(errorTable).map(
  ([code, { status, meaning }]) =>
    `<h2 id="${code}">${status} <code>${code}</code></h2>\n<p>${escaped(meaning)}</p>`,
);

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Errors</title>
<h1>Errors</h1>
<p>Every error has this shape; <code>docs_url</code> leads to the paragraph of its code on this page.</p>
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

export function errorPage(): Policy {
  return (_request, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8');
    response.setHeader('content-security-policy', "default-src 'none'");
    response.setHeader('cache-control', 'public, max-age=3600');
    response.end(page);
  };
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
