// The server of a statistics office, for tests: serves one file under every path, with an ETag, and answers or fails as the test requires.
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { ExecutionContext } from 'ava';
import { exempt } from '../openapi/check-answers.ts';

type Answer = (request: IncomingMessage, response: ServerResponse) => void;

export interface FileServer {
  /** Without a final slash. */
  url: string;
  requests: { path: string; headers: IncomingHttpHeaders }[];
  /** The statuses that were sent. */
  answers: number[];
  serve(content: string): void;
  fail(status: number): void;
  /** Accepts requests but never answers. */
  stall(): void;
  answer(answer: Answer): void;
  /** Of the content. */
  etag(): string;
}

export async function startFileServer(t: Pick<ExecutionContext, 'teardown'>): Promise<FileServer> {
  let content = '';
  let answer: Answer = serveContent;
  const requests: FileServer['requests'] = [];
  const answers: number[] = [];
  const etag = () => `"${createHash('sha256').update(content).digest('hex').slice(0, 16)}"`;
  function serveContent(request: IncomingMessage, response: ServerResponse): void {
    const isSame = request.headers['if-none-match'] === etag();
    response.writeHead(isSame ? 304 : 200, { etag: etag(), 'content-type': 'text/csv' });
    response.end(isSame ? undefined : content);
  }
  const server = createServer((request, response) => {
    requests.push({ path: request.url ?? '', headers: request.headers });
    response.once('finish', () => answers.push(response.statusCode));
    answer(request, response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  exempt(url);
  return {
    ...{ url, requests, answers, etag },
    serve(next) {
      content = next;
      answer = serveContent;
    },
    fail: (status) => void (answer = (_request, response) => void response.writeHead(status).end()),
    stall: () => void (answer = () => undefined),
    answer: (next) => void (answer = next),
  };
}
