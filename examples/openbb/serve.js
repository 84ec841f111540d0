// An OpenBB Workspace backend for Almanac: serves widgets.json and apps.json, and forwards all other reads to Almanac with the key
// that Workspace sends. Usage: ALMANAC_URL=https://api.example.org PORT=7779 node examples/openbb/serve.js
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';

const almanac = process.env['ALMANAC_URL'] ?? 'http://127.0.0.1:8080';
const files = new Set(['/widgets.json', '/apps.json']);
// Almanac's own answers allow pages of every origin; these are the same permissions for the two files.
const cors = {
  'access-control-allow-origin': '*',
  'access-control-allow-headers': 'X-API-Key, Authorization',
};

const server = createServer((request, response) => {
  answer(request).then(
    ({ status, headers, body }) => response.writeHead(status, { ...headers, ...cors }).end(body),
    () => response.writeHead(502, cors).end(),
  );
});

async function answer({ method, url = '/', headers }) {
  if (method === 'OPTIONS') return { status: 204, headers: {} };
  if (method !== 'GET') return { status: 405, headers: { allow: 'GET, OPTIONS' } };
  const { pathname, search } = new URL(url, 'http://localhost');
  if (files.has(pathname)) {
    const body = await readFile(new URL(`.${pathname}`, import.meta.url));
    return { status: 200, headers: { 'content-type': 'application/json' }, body };
  }
  const key = headers['x-api-key'];
  const got = await fetch(`${almanac}${pathname}${search}`, {
    headers: key === undefined ? {} : { 'x-api-key': key },
    redirect: 'error', // the key is sent nowhere else
  });
  const type = got.headers.get('content-type') ?? 'application/json';
  return {
    status: got.status,
    headers: { 'content-type': type },
    body: Buffer.from(await got.arrayBuffer()),
  };
}

server.listen(Number(process.env['PORT'] ?? 7779), '127.0.0.1', () => {
  process.stdout.write(`http://127.0.0.1:${server.address().port}\n`);
});
