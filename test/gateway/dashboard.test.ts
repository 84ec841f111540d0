// The gateway serves the dashboard from memory. The files of these tests represent a build; test/dashboard/ builds the real one.
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import zlib from 'node:zlib';
import test, { type ExecutionContext } from 'ava';
import { startTestGateway, type TestGateway } from './recording-upstream.ts';
import { dashboardPaths } from '../dashboard/paths.ts';

const html = '<!doctype html><title>Almanac</title><script type="module" src="/assets/app-1.js"></script>';
const script = 'console.log("the app");\n'.repeat(100);

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-dashboard-'));
test.after.always(() => rmSync(folder, { recursive: true }));

function buildIn(files: Record<string, string>): string {
  const directory = mkdtempSync(path.join(folder, 'build-'));
  mkdirSync(path.join(directory, 'assets'));
  for (const [name, text] of Object.entries(files)) {
    writeFileSync(path.join(directory, name), text);
    writeFileSync(path.join(directory, `${name}.br`), zlib.brotliCompressSync(text));
    writeFileSync(path.join(directory, `${name}.gz`), zlib.gzipSync(text));
  }
  return directory;
}

async function gatewayWith(t: ExecutionContext, dashboard?: Promise<string>): Promise<string> {
  const gateway = await startTestGateway(dashboard === undefined ? {} : { dashboard });
  t.teardown(() => gateway.close());
  return gateway.url;
}

let shared: TestGateway;
test.before(async () => {
  const build = buildIn({ 'index.html': html, 'assets/app-1.js': script });
  shared = await startTestGateway({ dashboard: Promise.resolve(build) });
});
test.after.always(() => shared.close());

interface Answer {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** Without the decoding that fetch does. */
async function ask(
  url: string,
  options: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(url, options, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: Buffer.concat(chunks) }),
      );
      response.on('error', reject);
    });
    asked.on('error', reject);
    asked.end();
  });
}

test('every URL of the app is answered with its page, which browsers revalidate each time', async (t) => {
  const url = shared.url;
  for (const at of dashboardPaths) {
    const answer = await ask(url + at);
    t.is(answer.status, 200, at);
    t.is(answer.body.toString(), html, at);
    t.is(answer.headers['content-type'], 'text/html; charset=utf-8');
    t.is(answer.headers['cache-control'], 'no-cache');
  }
});

test('the page may run and load only files of the gateway, and nothing inline', async (t) => {
  const url = shared.url;
  const { headers } = await ask(url);
  const policy = String(headers['content-security-policy']);
  t.regex(policy, /^default-src 'none'; script-src 'self'; style-src 'self'; /);
  t.regex(policy, /frame-ancestors 'none'/);
  t.notRegex(policy, /unsafe|\*|https?:/);
  t.is(headers['x-content-type-options'], 'nosniff');
  t.is(headers['referrer-policy'], 'same-origin');
});

test('a file of the app can be cached for ever, and is sent in an encoding that the browser accepts', async (t) => {
  const url = `${shared.url}/assets/app-1.js`;
  const decoders = { br: zlib.brotliDecompressSync, gzip: zlib.gunzipSync };
  for (const [name, decode] of Object.entries(decoders)) {
    const { headers, body } = await ask(url, { headers: { 'accept-encoding': name } });
    t.is(headers['content-encoding'], name);
    t.is(headers['cache-control'], 'public, max-age=31536000, immutable');
    t.is(headers.vary, 'Accept-Encoding');
    t.is(decode(body).toString(), script);
    t.true(body.length < script.length / 5);
  }
  const plain = await ask(url);
  t.is(plain.headers['content-encoding'], undefined);
  t.is(plain.headers['content-type'], 'text/javascript; charset=utf-8');
  t.is(plain.body.toString(), script);
  const both = await ask(url, { headers: { 'accept-encoding': 'gzip, deflate, br' } });
  t.is(both.headers['content-encoding'], 'br');
});

test('a page that the browser already has is not sent again', async (t) => {
  const url = shared.url;
  for (const encoding of ['identity', 'gzip', 'br']) {
    const headers = { 'accept-encoding': encoding };
    const { etag = '' } = (await ask(url, { headers })).headers;
    const again = await ask(url, { headers: { ...headers, 'if-none-match': etag } });
    t.is(again.status, 304, encoding);
    t.is(again.body.length, 0);
    t.is(again.headers.etag, etag);
  }
});

test('HEAD is answered like GET, without the body', async (t) => {
  const url = shared.url;
  for (const at of ['/', '/assets/app-1.js']) {
    const whole = await ask(url + at);
    const head = await ask(url + at, { method: 'HEAD' });
    t.is(head.status, 200);
    t.is(head.headers['content-length'], String(whole.body.length));
    t.is(head.body.length, 0);
  }
});

test('the explanation of an error code is a page of the dashboard for browsers, and plain HTML for programs', async (t) => {
  const [withDashboard, without] = [shared.url, await gatewayWith(t)];
  const asBrowser = { headers: { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' } };
  const page = await ask(`${withDashboard}/docs/errors`, asBrowser);
  t.is(page.body.toString(), html);
  t.regex(String(page.headers.vary), /Accept\b(?!-)/);
  const forPrograms = [ask(`${withDashboard}/docs/errors`), ask(`${without}/docs/errors`, asBrowser)];
  for (const { status, body } of await Promise.all(forPrograms)) {
    t.is(status, 200);
    t.regex(body.toString(), /<h2 id="not_found">/);
  }
});

test('missing files, and files next to the app, are answered 404 with the envelope', async (t) => {
  const url = shared.url;
  const missing = [
    '/assets/app-2.js',
    '/assets/app-1.js.br',
    '/assets/index.html',
    '/index.html',
    '/nothing',
  ];
  const ofApi = [
    '/v1',
    '/v1/nothing',
    '/v1/series/a/b/c',
    '/auth/nothing',
    '/docs/a/b',
    '/series',
    '/assets/',
  ];
  for (const at of [...missing, ...ofApi]) {
    const answer = await ask(url + at);
    t.is(answer.status, 404, at);
    t.like(JSON.parse(answer.body.toString()), { success: false, error: { code: 'not_found' } });
  }
});

test('other methods than GET and HEAD are refused', async (t) => {
  const url = shared.url;
  const answer = await ask(`${url}/catalogue`, { method: 'POST' });
  t.is(answer.status, 405);
  t.is(answer.headers.allow, 'GET, HEAD');
});

test('the API is served while the dashboard is still being built, and its page once it is', async (t) => {
  const { promise, resolve } = Promise.withResolvers<string>();
  const url = await gatewayWith(t, promise);
  const page = ask(url);
  t.is((await ask(`${url}/v1/catalog`)).status, 200);
  resolve(buildIn({ 'index.html': html }));
  t.is((await page).body.toString(), html);
});

test('if the build failed, the page reports it, and the API is served', async (t) => {
  const url = await gatewayWith(t, Promise.reject(new Error('Vite is not installed.')));
  const page = await ask(url);
  t.is(page.status, 503);
  t.regex(page.body.toString(), /could not be built/);
  t.notRegex(page.body.toString(), /Vite/, 'the cause is in the log only');
  t.is((await ask(`${url}/v1/catalog`)).status, 200);
});

test('a gateway without the dashboard answers 404 to its URLs', async (t) => {
  const url = await gatewayWith(t);
  for (const at of dashboardPaths) t.is((await ask(url + at)).status, 404, at);
});
