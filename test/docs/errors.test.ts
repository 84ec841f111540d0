// GET /docs/errors, to which `error.docs_url` of every error links.
import test from 'ava';
import { errorTable } from '../../kernel/errors.ts';
import { startServices } from '../services/services.ts';
import { testSignIn } from '../services/sign-in.ts';

const services = await startServices();
test.after.always(() => services.close());

test('every error names its code’s paragraph, whichever service it comes from, and the page has one for every code', async (t) => {
  const page = await fetch(`${services.url}/docs/errors`);
  t.is(page.status, 200);
  t.is(page.headers.get('content-type'), 'text/html; charset=utf-8');
  t.is(page.headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'");
  const text = await page.text();
  const paragraphs = [...text.matchAll(/<h2 id="([a-z_]+)">(\d{3}) <code>\1<\/code><\/h2>\n<p>[^<]+<\/p>/g)];
  t.deepEqual(
    paragraphs.map(([, code, status]) => [code, Number(status)]),
    Object.entries(errorTable).map(([code, { status }]) => [code, status]),
  );
  const refused = [
    ['gateway', '/nowhere', {}],
    ['gateway', '/v1/series/A', {}],
    ['data-api', '/v1/catalog?limit=0', {}],
    [
      'accounts-api',
      '/auth/login',
      { method: 'POST', body: '{}', headers: { 'content-type': 'application/json' } },
    ],
  ] as const;
  for (const [service, at, init] of refused) {
    const { error } = (await (await fetch(services.url + at, init)).json()) as {
      error: { code: string; docs_url: string };
    };
    t.is(error.docs_url, `${testSignIn.publicUrl}/docs/errors#${error.code}`, `${service} ${at}`);
    t.true(text.includes(`id="${error.code}"`), error.code);
  }
});
