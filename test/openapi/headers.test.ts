// GET /v1/openapi.json over HTTP, and the headers that every answer has: security, caching, and the effect of Accept.
import { readFileSync } from 'node:fs';
import test from 'ava';
import { startServices } from '../services/services.ts';
import { exchange, lines } from '../gateway/raw.ts';
import { documentFile } from '../../openapi/published.ts';

const services = await startServices();
const { key } = await services.accountWithKey();
await services.ingest('series_id,date,value\nGDP,2024-01-31,1.50\nGDP,2024-02-29,2\n', {
  set: { name: 'GDP' },
});
test.after.always(() => services.close());

test('the document is public and unchanged, is compressed for clients that accept it, and has an ETag', async (t) => {
  const url = `${services.url}/v1/openapi.json`;
  const answer = await fetch(url, { headers: { 'accept-encoding': 'identity' } });
  t.is(answer.status, 200);
  t.is(await answer.text(), readFileSync(documentFile, 'utf8'));
  t.is(answer.headers.get('cache-control'), 'public, max-age=3600');
  t.is(answer.headers.get('access-control-allow-origin'), '*');
  const etag = answer.headers.get('etag') ?? '';
  t.regex(etag, /^"[\w-]+"$/);
  for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
    const again = await fetch(url, { headers: { 'accept-encoding': 'identity', 'if-none-match': known } });
    t.is(again.status, 304, known);
    t.is(again.headers.get('etag'), etag);
  }
  const onlyBrotli = await fetch(url, { headers: { 'accept-encoding': 'br' } });
  t.is(onlyBrotli.headers.get('content-encoding'), null, 'it has no brotli, and gzip is not accepted');
  const zipped = await fetch(url, { headers: { 'accept-encoding': 'gzip', 'if-none-match': etag } });
  t.is(zipped.status, 200);
  t.is(zipped.headers.get('content-encoding'), 'gzip');
  t.not(zipped.headers.get('etag'), etag);
  t.is(await zipped.text(), readFileSync(documentFile, 'utf8'));
});

test('no browser may execute, frame or sniff an answer, and no failure is cached', async (t) => {
  const asked = [
    '/v1/series/GDP',
    '/v1/series/NOWHERE',
    '/v1/catalog',
    '/v1/catalog?limit=0',
    '/v1/usage',
    '/v1/usage?a=1',
    '/nowhere',
    '/docs/errors',
    '/healthz',
  ];
  for (const target of asked) {
    const { status, headers } = await services.call(target, { key });
    t.is(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'", target);
    t.is(headers.get('x-content-type-options'), 'nosniff', target);
    t.truthy(headers.get('x-request-id'), target);
    if (status >= 400) t.is(headers.get('cache-control'), 'no-store', target);
  }
});

test('requests that fail in the parser or by an expectation get a request id and the security headers too', async (t) => {
  const refused = [
    lines('GET /v1/catalog HTTP/1.1', 'Host: a', 'Expect: miracles', 'Connection: close'),
    'GET /v1/catalog HTTP/1.1\r\nHost : a\r\n\r\n',
    lines('CONNECT a:80 HTTP/1.1', 'Host: a'),
  ];
  for (const bytes of refused) {
    const [answer] = await exchange(services.url, bytes);
    t.true([400, 405].includes(answer?.status ?? 0), bytes);
    const id = /^x-request-id: ([0-9a-f-]{36})$/im.exec(answer?.headers ?? '')?.[1];
    t.truthy(id, bytes);
    t.regex(answer?.headers ?? '', /^content-security-policy: default-src 'none'/im, bytes);
    t.regex(answer?.headers ?? '', /^cache-control: no-store$/im, bytes);
  }
});

test('Accept decides the format if the URL does not, and 406 names the available ones', async (t) => {
  const type = async (target: string, accept: string) => {
    const answer = await services.call(target, { key, headers: { accept } });
    return answer.status === 200 ? answer.headers.get('content-type')?.split(';')[0] : answer.status;
  };
  for (const target of [
    '/v1/series/GDP',
    '/v1/series/GDP/latest',
    '/v1/catalog',
    '/v1/search?q=GDP',
    '/v1/funds',
  ]) {
    const mark = target.includes('?') ? '&' : '?';
    t.is(await type(target, 'text/csv'), 'text/csv', target);
    t.is(await type(target, 'text/csv;q=0.5, application/json'), 'application/json', target);
    t.is(await type(target, 'application/json;q=0.5, text/csv'), 'text/csv', target);
    t.is(await type(target, 'text/html, */*;q=0.1'), 'application/json', target);
    t.is(await type(`${target}${mark}format=json`, 'text/csv'), 'application/json', target);
    t.is(await type(`${target}${mark}format=csv`, 'image/png'), 'text/csv', target);
    t.is(await type(target, 'image/png'), 406, target);
  }
  t.is(await type('/v1/calendar', 'text/calendar'), 'text/calendar');
  t.is(await type('/v1/catalog/GDP', 'text/csv'), 406);
  const { json } = await services.call('/v1/series/GDP', { key, headers: { accept: 'image/png' } });
  const { error } = json as { error: { code: string; message: string } };
  t.is(error.code, 'not_acceptable');
  t.regex(error.message, /application\/json or text\/csv/);
});

test('an ETag of one format is never valid for the other, however the format was chosen', async (t) => {
  const asCsv = await services.call('/v1/series/GDP', { key, headers: { accept: 'text/csv' } });
  const etag = asCsv.headers.get('etag') ?? '';
  t.is((await services.call('/v1/series/GDP', { key, headers: { 'if-none-match': etag } })).status, 200);
  const byUrl = await services.call('/v1/series/GDP?format=csv', { key, headers: { 'if-none-match': etag } });
  t.is(byUrl.status, 304);
  t.regex(asCsv.headers.get('vary') ?? '', /\bAccept\b/);
});
