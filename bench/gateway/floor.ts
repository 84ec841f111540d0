// The lower bound for a gateway in Node: a bare node:http server that forwards each request through undici's pool, without checks, headers or logs of
// its own. The difference to a gateway is the cost of its checks. Its argument is the URL of the upstream.
import { createServer } from 'node:http';
import { Pool } from 'undici';
import { closeServer, listen } from '../../kernel/http/server.ts';

const upstream = new Pool(process.argv[2] ?? '', { pipelining: 1 });

const server = createServer((request, response) => {
  upstream.dispatch(
    { method: 'GET', path: request.url ?? '/' },
    {
      onRequestStart() {},
      onResponseStart(_controller, status, headers) {
        response.writeHead(status, headers);
      },
      onResponseData(_controller, chunk) {
        response.write(chunk);
      },
      onResponseEnd() {
        response.end();
      },
      onResponseError(_controller, error) {
        response.destroy(error);
      },
    },
  );
});

process.once('SIGTERM', () => {
  void closeServer(server).then(() => upstream.destroy());
});
process.stdout.write(`floor is running: ${await listen(server, '127.0.0.1', 0)}\n`);
