// A service that sends raw bytes, for answers that no HTTP server would send.
import { exempt } from '../openapi/check-answers.ts';
import { createServer, type AddressInfo, type Socket } from 'node:net';

/** One request as received. */
export interface RawRequest {
  path: string;
  id: string;
}

export interface RawUpstream {
  url: string;
  /** How each request is answered. */
  answer: (socket: Socket, request: RawRequest) => void;
  connections(): number;
  close(): Promise<void>;
}

export async function startRawUpstream(): Promise<RawUpstream> {
  exempt();
  let connections = 0;
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    connections += 1;
    open.add(socket);
    let received = '';
    socket.on('error', () => socket.destroy()); // the gateway has cut it, as it should
    socket.on('close', () => open.delete(socket));
    socket.on('data', (chunk: Buffer) => {
      received += chunk.toString('latin1');
      for (let end = requestEnd(received); end !== undefined; end = requestEnd(received)) {
        const path = received.split(' ', 2)[1] ?? '';
        const id = /^x-request-id: (.*)\r$/im.exec(received)?.[1] ?? '';
        received = received.slice(end);
        service.answer(socket, { path, id });
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const service: RawUpstream = {
    url: `http://127.0.0.1:${port}`,
    answer: (socket, request) => void socket.write(plain(request)),
    connections: () => connections,
    close() {
      for (const socket of open) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
  return service;
}

/** A correct answer: the requested path. */
export function plain(request: RawRequest): string {
  return head(request, '200 OK', `content-length: ${Buffer.byteLength(request.path)}`) + request.path;
}

/** The head of an answer, which names its request. */
export function head({ id }: RawRequest, status: string, ...headers: string[]): string {
  return [`HTTP/1.1 ${status}`, `x-request-id: ${id}`, ...headers, '', ''].join('\r\n');
}

/** The end of the first request in the text, including its body. */
function requestEnd(text: string): number | undefined {
  const head = text.indexOf('\r\n\r\n');
  if (head < 0) return undefined;
  const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, head))?.[1] ?? 0);
  return text.length >= head + 4 + length ? head + 4 + length : undefined;
}
