// A cheap HTTP client: keep-alive connections on bare sockets, one request at a time on each. It supports only what our own answers need; each has a
// Content-Length.
import { createConnection, type Socket } from 'node:net';

export interface Asked {
  requests: number;
  seconds: number;
  /** The latency of each request, in milliseconds. */
  latenciesMs: number[];
}

export interface Load {
  url: string;
  /** The headers of a request for a path. */
  headers: (path: string) => Readonly<Record<string, string>>;
  /** Returns the path of the next request. */
  nextPath: () => string;
  connections: number;
  /** When to stop: after this many requests, or this much time. */
  requestsMax?: number;
  secondsMax: number;
}

/** @throws Error if an answer is not 200: only served calls are measured. */
export async function ask(load: Load): Promise<Asked> {
  const { hostname, port } = new URL(load.url);
  const latenciesMs: number[] = [];
  const started = performance.now();
  let left = load.requestsMax ?? Number.POSITIVE_INFINITY;
  const next = (): string | null => {
    if (left <= 0 || performance.now() - started > load.secondsMax * 1000) return null;
    left -= 1;
    const path = load.nextPath();
    const headers = Object.entries(load.headers(path)).map(([name, value]) => `${name}: ${value}\r\n`);
    return `GET ${path} HTTP/1.1\r\nhost: ${hostname}:${port}\r\n${headers.join('')}\r\n`;
  };
  const sockets = Array.from({ length: load.connections }, () => createConnection(Number(port), hostname));
  try {
    await Promise.all(sockets.map((socket) => converse(socket, next, latenciesMs)));
  } finally {
    for (const socket of sockets) socket.destroy();
  }
  return { requests: latenciesMs.length, seconds: (performance.now() - started) / 1000, latenciesMs };
}

/** Sends one request after the other until `next` returns null. */
function converse(socket: Socket, next: () => string | null, latenciesMs: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let sent = 0;
    let received = 0;
    let expected = 0; // the length of the current answer; 0 before its head has arrived
    let head = '';
    const send = (): void => {
      const request = next();
      if (request === null) return resolve();
      [received, expected, head] = [0, 0, ''];
      sent = performance.now();
      socket.write(request);
    };
    socket.setNoDelay(true);
    socket.once('connect', send);
    socket.once('error', reject);
    socket.once('close', () => reject(new Error('the server closed a connection')));
    socket.on('data', (chunk) => {
      received += chunk.length;
      if (expected === 0) {
        head += chunk.toString('latin1');
        const end = head.indexOf('\r\n\r\n');
        if (end < 0) return;
        if (!head.startsWith('HTTP/1.1 200 ')) return reject(new Error(`answered with:\n${head}`));
        const length = /^content-length: (\d+)/im.exec(head.slice(0, end + 2))?.[1];
        if (length === undefined)
          return reject(new Error(`an answer without its length:\n${head.slice(0, end)}`));
        expected = end + 4 + Number(length);
      }
      if (received < expected) return;
      latenciesMs.push(performance.now() - sent);
      send();
    });
  });
}
