// Fetching with a guard: the addresses that are connected to at each hop, the limits of size and time, and the texts of errors.
import { existsSync, readFileSync } from 'node:fs';
import test from 'ava';
import { createAddressGuard, type Resolve } from '../../kernel/outbound/address-guard.ts';
import { startFileServer } from '../../test/ingest/file-server.ts';
import { failureOf } from '../../test/ingest/loading.ts';
import { freePort } from '../../test/services/instance.ts';
import { fetchFile } from './fetch-url.ts';

const local = createAddressGuard({ allowCidrs: ['127.0.0.0/8'], allowHttp: true });

test('a file is fetched from an allowed address, with its hash, and removed afterwards', async (t) => {
  const server = await startFileServer(t);
  server.serve('date,value\n2026,1\n');
  const fetched = await fetchFile(`${server.url}/a.csv`, { guard: local });
  t.is(readFileSync(fetched?.file ?? '', 'utf8'), 'date,value\n2026,1\n');
  t.like(fetched, { bytes: 18, etag: server.etag() });
  await fetched?.remove();
  t.false(existsSync(fetched?.file ?? ''));
  t.is(await fetchFile(`${server.url}/a.csv`, { guard: local, etag: server.etag() }), null);
});

test('an address that is not allowed is not connected to, whether it is the first or that of a redirect', async (t) => {
  const server = await startFileServer(t);
  const strict = createAddressGuard({ allowCidrs: [], allowHttp: true });
  const refused = await failureOf(fetchFile(`${server.url}/a.csv?token=secret`, { guard: strict }));
  t.is(
    refused.message,
    `${server.url}/a.csv cannot be fetched: its URL, or one that it redirects to, must have a host with a public address, and an allowed port.`,
  );
  const encrypted = createAddressGuard({ allowCidrs: ['127.0.0.0/8'], allowHttp: false });
  const plain = await failureOf(fetchFile(`${server.url}/a.csv`, { guard: encrypted }));
  t.regex(plain.message, /its URL, or one that it redirects to, must begin with https:\/\/\./);
  t.deepEqual(server.requests, []);

  // 127.0.0.2 is the same machine: only the guard keeps it from being reached.
  const one = createAddressGuard({ allowCidrs: ['127.0.0.1/32'], allowHttp: true });
  const other = server.url.replace('127.0.0.1', '127.0.0.2');
  for (const location of [
    `${other}/inside`,
    'http://169.254.169.254/',
    'file:///etc/passwd',
    'http://[::1]/',
  ]) {
    server.answer((_request, response) => void response.writeHead(302, { location }).end());
    const before = server.requests.length;
    await failureOf(fetchFile(`${server.url}/a.csv`, { guard: one }));
    t.is(server.requests.length, before + 1, location);
  }
});

test('a name goes to the address that was checked, and is resolved once for each request', async (t) => {
  const server = await startFileServer(t);
  server.serve('x');
  const asked: string[] = [];
  const resolve: Resolve = (name) => {
    asked.push(name);
    return Promise.resolve([asked.length === 1 ? '127.0.0.1' : '169.254.169.254']);
  };
  const guard = createAddressGuard({ allowCidrs: ['127.0.0.0/8'], allowHttp: true }, resolve);
  const fetched = await fetchFile(server.url.replace('127.0.0.1', 'files.example'), { guard });
  await fetched?.remove();
  t.is(fetched?.bytes, 1);
  t.deepEqual(asked, ['files.example']);
  t.is(server.requests[0]?.headers.host, new URL(server.url).host.replace('127.0.0.1', 'files.example'));
});

test('at most five redirects are followed', async (t) => {
  const server = await startFileServer(t);
  const redirectTo = (count: number) =>
    server.answer((request, response) => {
      const step = Number(/\d+/.exec(request.url ?? '')?.[0] ?? 0);
      if (step < count) response.writeHead(307, { location: `/${step + 1}` }).end('moved');
      else response.writeHead(200).end('here');
    });
  for (const guard of [local, undefined]) {
    const options = guard === undefined ? {} : { guard };
    redirectTo(5);
    const fetched = await fetchFile(`${server.url}/0`, options);
    t.is(fetched?.bytes, 4);
    await fetched?.remove();
    redirectTo(6);
    t.regex(
      (await failureOf(fetchFile(`${server.url}/0`, options))).message,
      /it redirects more than 5 times/,
    );
  }
});

test('a redirect with a fragment is followed without it', async (t) => {
  const server = await startFileServer(t);
  server.answer((request, response) => {
    if (request.url === '/a.csv?b') response.writeHead(200).end('here');
    else response.writeHead(302, { location: '/a.csv?b#part' }).end();
  });
  for (const options of [{ guard: local }, {}]) {
    const fetched = await fetchFile(`${server.url}/0`, options);
    t.is(fetched?.bytes, 4);
    await fetched?.remove();
  }
});

test('a file that is too large or too slow is abandoned with an error that names the reason', async (t) => {
  const server = await startFileServer(t);
  server.serve('x'.repeat(2 * 1024 * 1024));
  const large = await failureOf(fetchFile(`${server.url}/a`, { guard: local, bytesMax: 1024 * 1024 }));
  t.regex(large.message, /it is larger than 1 MB/);
  server.stall();
  const slow = await failureOf(fetchFile(`${server.url}/a`, { guard: local, withinMs: 1 }));
  t.regex(slow.message, /it took longer than 0 s/);
  const away = `http://127.0.0.1:${await freePort()}/a`;
  const unreached = await failureOf(fetchFile(`${away}?token=secret`, { guard: local }));
  t.is(unreached.message, `${away} cannot be fetched: the server cannot be reached (ECONNREFUSED).`);
});

test('an answer that is a part of the file, or ends before the whole of it, is refused', async (t) => {
  const server = await startFileServer(t);
  server.answer((_request, response) =>
    response.writeHead(206, { 'content-range': 'bytes 0-3/9' }).end('date'),
  );
  const part = await failureOf(fetchFile(`${server.url}/a`, { guard: local }));
  t.is(part.message, `${server.url}/a cannot be fetched: the server answered 206.`);
  server.answer((_request, response) => {
    response.writeHead(200, { 'content-length': '9' }).write('date');
    setImmediate(() => response.destroy());
  });
  const ended = await failureOf(fetchFile(`${server.url}/a`, { guard: local }));
  t.regex(ended.message, /cannot be fetched: the file did not arrive whole \(/);
});

test('an aborted fetch ends at once, and does not count as a failure of the server', async (t) => {
  const server = await startFileServer(t);
  const giveUp = new AbortController();
  server.answer(() => giveUp.abort(new Error('given up')));
  await t.throwsAsync(fetchFile(`${server.url}/a`, { guard: local, signal: giveUp.signal }), {
    message: 'given up',
  });
});
