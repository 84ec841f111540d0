// The floor under every gateway in Node: a bare node:http server that sends each request on by undici's pool, with no check,
// no header of its own and no log. What a gateway takes beyond it, its checks take. Run with the upstream's address.
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
