// Forwards a write to an instance of a service and its answer back, with http-proxy-middleware.
import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { TLSSocket } from 'node:tls';
import { pipeline, type Readable, type Stream } from 'node:stream';
import { createProxyMiddleware } from 'http-proxy-middleware';
import type { Outgoing, Transport } from './forward-read.ts';
import { staysInside } from './hop-by-hop-headers.ts';
import { connectWithinMs } from '../timeouts.ts';
import { AttemptFailed } from './connections.ts';
import { BadAnswer } from './answer-parser.ts';

/** One attempt at one instance. */
interface Attempt {
  outgoing: Outgoing;
  timedOut: boolean;
  /** Before that, no byte of the request can have been sent. */
  isConnected: boolean;
  hasHead: boolean;
  fail(error: Error): void;
}

/** @param silenceMs how long the service may be silent, before its answer or within it. */
export function createProxy(urls: readonly string[], silenceMs: number): Pick<Transport, 'send'> {
  const attempts = new WeakMap<IncomingMessage, Attempt>();
  const proxies = new Map(urls.map((url) => [url, proxyTo(url, silenceMs, attempts)]));
  return {
    send(url, request, response, outgoing) {
      return new Promise((resolve, reject) => {
        const before = response.rawListeners('close');
        const attempt: Attempt = {
          outgoing,
          timedOut: false,
          isConnected: false,
          hasHead: false,
          fail(error) {
            // The client left or was already answered.
            if (response.destroyed || response.writableEnded) return resolve(attempt.hasHead);
            forgetClosing(response, before);
            reject(toFailed(error, attempt));
          },
        };
        attempts.set(request, attempt);
        request.headers = headersOf(outgoing);
        response.once('close', () => resolve(attempt.hasHead));
        const proxy = proxies.get(url);
        if (proxy === undefined) throw new Error(`There is no proxy for ${url}.`);
        void proxy(request, response, (error) => {
          if (error instanceof Error) attempt.fail(error);
        });
      });
    },
  };
}

/** Removes the close listeners that a failed attempt and the library added, as another attempt may follow. */
function forgetClosing(response: ServerResponse, before: readonly unknown[]): void {
  for (const listener of response.rawListeners('close'))
    if (!before.includes(listener)) response.off('close', listener);
}

function proxyTo(target: string, silenceMs: number, attempts: WeakMap<IncomingMessage, Attempt>) {
  const bodies = new WeakMap<ClientRequest, Buffer | Readable>();
  return createProxyMiddleware({
    target,
    // One connection per write: the service may close a kept-alive one just when the write is sent, and a write cannot be sent again. Also, no bytes
    // left on a connection can be read as the answer.
    agent: false,
    changeOrigin: true,
    proxyTimeout: silenceMs,
    // Small bodies are already read and sent whole, with their length, so that the framing is unambiguous. This also avoids piping a request without
    // a body (-15 % CPU per call, 2026-11-20). Only uploads are streams.
    buffer: {
      pipe: (upstream: ClientRequest) => sendBody(upstream, bodies.get(upstream)),
    } as unknown as Stream,
    ejectPlugins: true, // the default plugins answer failures in plain text, and log URLs
    plugins: [
      (proxy) => {
        proxy.on('error', (error, request) => request && attempts.get(request)?.fail(error));
        proxy.on('proxyReq', (upstream, request) => {
          const attempt = attempts.get(request);
          if (attempt === undefined) return;
          bodies.set(upstream, attempt.outgoing.body);
          watchConnecting(upstream, attempt);
          upstream.once('timeout', () => void (attempt.timedOut = true));
          upstream.once('upgrade', (_answer, socket) => {
            socket.destroy();
            attempt.fail(new BadAnswer('The service answered with a protocol upgrade.'));
          });
        });
        proxy.on('proxyRes', (answer, request) => {
          const attempt = attempts.get(request);
          if (attempt !== undefined) attempt.hasHead = true;
          for (const name of Object.keys(answer.headers)) {
            if (staysInside(name)) delete answer.headers[name];
          }
        });
      },
    ],
  });
}

/** Records when the request is connected. Abandons it as `unsent` after the deadline, as the host may have disappeared. */
function watchConnecting(upstream: ClientRequest, attempt: Attempt): void {
  const { socket } = upstream;
  if (socket === null) throw new Error('http-proxy emitted `proxyReq` before the request had a socket.');
  const timer = setTimeout(
    () => upstream.destroy(new Error('The service does not accept connections.')),
    connectWithinMs,
  );
  socket.once(socket instanceof TLSSocket ? 'secureConnect' : 'connect', () => {
    attempt.isConnected = true;
    clearTimeout(timer);
  });
  socket.once('close', () => clearTimeout(timer));
}

function sendBody(upstream: ClientRequest, body: Buffer | Readable | undefined): void {
  if (body === undefined || Buffer.isBuffer(body)) upstream.end(body);
  else pipeline(body, upstream, () => undefined); // an error of `body` is also an error of `upstream`
}

function toFailed(error: Error, { timedOut, isConnected }: Attempt): AttemptFailed {
  const code = 'code' in error ? String(error.code) : '';
  if (!isConnected) return new AttemptFailed('unsent', error);
  if (timedOut) return new AttemptFailed('silent', error);
  // Node's parser has refused the answer; HPE_INVALID_CONSTANT: it was not HTTP.
  const isAnswered =
    error instanceof BadAnswer || (code.startsWith('HPE_') && code !== 'HPE_INVALID_CONSTANT');
  return new AttemptFailed(isAnswered ? 'unusable' : 'cut', error);
}

function headersOf({ headers }: Outgoing): IncomingMessage['headers'] {
  const names = headers.filter((_word, i) => i % 2 === 0);
  return Object.fromEntries(names.map((name, i) => [name, headers[2 * i + 1]]));
}
