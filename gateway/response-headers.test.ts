// The heads of answers as sent: our headers and those that Node adds.
import { createServer, type RequestListener, type ServerResponse } from 'node:http';
import test from 'ava';
import express from 'express';
import { closeServer, listen } from '../kernel/http/server.ts';
import { exchange, lines } from '../test/gateway/raw.ts';
import { addLimit, callOf } from './call.ts';
import { createClients } from './client-ip.ts';
import { requestId } from './policies/request-id.ts';
import { answerAsOurs, GatewayResponse } from './response-headers.ts';

let isDraining = false;
const openCall = requestId({
  clients: createClients(0, { warn: () => undefined }),
  isPublicOnTls: true,
  isDraining: () => isDraining,
  accessLog: () => undefined,
});

type Answer = (response: ServerResponse) => void;

/** The ways in which a policy can answer. */
const answers: Record<string, Answer> = {
  '/object': (response) =>
    response.writeHead(200, { 'content-type': 'text/plain', 'content-length': '2' }).end('ok'),
  '/list': (response) =>
    response.writeHead(200, ['content-type', 'text/plain', 'content-length', '2']).end('ok'),
  '/one-by-one': (response) => {
    for (const name of ['x-request-id', 'content-security-policy', 'keep-alive', 'x-quota-limit'])
      response.setHeader(name, 'theirs');
    response.setHeader('server-timing', 'db;dur=1');
    response.setHeader('content-type', 'text/plain');
    response.setHeader('content-length', 2);
    response.end('ok');
  },
  '/nothing-set': (response) => response.end('ok'),
  '/chunks': (response) => void (response.write('o'), response.end('k')),
  '/204': (response) => response.writeHead(204).end(),
  '/304': (response) => response.writeHead(304, ['etag', '"a"']).end(),
};
const server = createServer({ ServerResponse: GatewayResponse }, (request, response) => {
  void openCall(request, response, () => {
    const call = callOf(request);
    call.head.push('x-quota-limit', '7');
    addLimit(call, '"second";q=1;w=1', '"second";r=0;t=1');
    addLimit(call, '"month";q=7;w=60', '"month";r=6;t=30');
    answers[request.url ?? '']?.(response);
  });
});
const url = await listen(server, '127.0.0.1', 0);
test.after.always(() => closeServer(server));

const ask = (paths: readonly string[], method = 'GET') =>
  exchange(
    url,
    paths
      .map((path, i) =>
        lines(
          `${method} ${path} HTTP/1.1`,
          'Host: a',
          ...(i === paths.length - 1 ? ['Connection: close'] : []),
        ),
      )
      .join(''),
  );

const pairsOf = (head: string) =>
  head
    .split('\r\n')
    .slice(1)
    .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]);

const ours = [
  'x-quota-limit',
  'ratelimit-policy',
  'ratelimit',
  'x-request-id',
  'x-content-type-options',
  'content-security-policy',
  'strict-transport-security',
  'server-timing',
];

test.serial(
  'each header is sent once, however the answer is written, and the connection goes on',
  async (t) => {
    const paths = Object.keys(answers);
    for (const method of ['GET', 'HEAD']) {
      const got = await ask(paths, method);
      t.is(got.length, paths.length, method);
      for (const [i, { headers, body }] of got.entries()) {
        const what = `${method} ${paths[i]}`;
        const pairs = pairsOf(headers);
        const names = pairs.map(([name]) => name);
        t.deepEqual(names.toSorted(), [...new Set(names)].toSorted(), what);
        for (const name of [...ours, 'date', 'connection']) t.true(names.includes(name), `${what}: ${name}`);
        const value = Object.fromEntries(pairs) as Record<string, string>;
        t.is(value['x-quota-limit'], '7', what);
        t.is(value['ratelimit'], '"second";r=0;t=1, "month";r=6;t=30', what);
        t.not(value['x-request-id'], 'theirs', what);
        t.regex(value['server-timing'] ?? '', paths[i] === '/one-by-one' ? /^db;dur=1, gateway/ : /^gateway/);
        t.is(value['connection'], i === paths.length - 1 ? 'close' : 'keep-alive', what);
        t.is(value['keep-alive'], i === paths.length - 1 ? undefined : 'timeout=65', what);
        const hasBody = method === 'GET' && !/\d/.test(paths[i] ?? '');
        const whole = paths[i] === '/chunks' ? '1\r\no\r\n1\r\nk\r\n0\r\n\r\n' : 'ok';
        t.is(body, hasBody ? whole : '', what);
      }
    }
  },
);

test.serial('an answer of a stopping gateway closes its connection', async (t) => {
  isDraining = true;
  const [answer, ...more] = await exchange(url, lines('GET /list HTTP/1.1', 'Host: a'));
  isDraining = false;
  t.deepEqual(more, []);
  t.regex(answer?.headers ?? '', /\r\nconnection: close(\r\n|$)/);
});

/** A server with our response class, and one of an Express app, which has its own class. */
const ofClasses = {
  ours: (answer: RequestListener) => createServer({ ServerResponse: GatewayResponse }, answer),
  express(answer: RequestListener) {
    const app = express();
    answerAsOurs(app);
    app.use(answer);
    return createServer(app);
  },
};

test('an answer of an Express app has the same head as one of ours', async (t) => {
  const heads = await Promise.all(
    Object.values(ofClasses).map(async (serverOf) => {
      const own = serverOf((request, response) => {
        response.removeHeader('x-powered-by');
        return void openCall(request, response, () => answers['/one-by-one']?.(response));
      });
      t.teardown(() => closeServer(own));
      const [answer] = await exchange(
        await listen(own, '127.0.0.1', 0),
        lines('GET / HTTP/1.1', 'Host: a', 'Connection: close'),
      );
      return pairsOf(answer?.headers ?? '').map(([name]) => name);
    }),
  );
  t.deepEqual(heads[0]?.toSorted(), heads[1]?.toSorted());
  t.true(heads[0]?.includes('x-request-id'));
});

test('an answer whose calls may have been granted to others meanwhile is cut, whatever the class of its response', async (t) => {
  for (const serverOf of Object.values(ofClasses)) {
    for (const isValid of [true, false]) {
      const own = serverOf(
        (request, response) =>
          void openCall(request, response, () => {
            callOf(request).charge = { calls: 1, month: '2026-11-01', isValid, end: () => undefined };
            response.writeHead(200, ['content-length', '2']);
            response.write('o');
            response.end('k');
          }),
      );
      t.teardown(() => closeServer(own));
      const asked = fetch(await listen(own, '127.0.0.1', 0)).then((response) => response.text());
      if (isValid) t.is(await asked, 'ok');
      else await t.throwsAsync(asked);
    }
  }
});

test('no header value added by a policy can add a second header', async (t) => {
  for (const [name, value] of [
    ['x-a', 'b\r\nx-c: d'],
    ['x-a', 'b\nc'],
    ['x-a\r\nx-c', 'b'],
    ['x a', 'b'],
    ['', 'b'],
  ] as const) {
    const refused = Promise.withResolvers<unknown>();
    const own = ofClasses.ours(
      (request, response) =>
        void openCall(request, response, () => {
          callOf(request).head.push(name, value);
          try {
            response.writeHead(200);
          } catch (error) {
            refused.resolve(error);
          }
          response.destroy();
        }),
    );
    t.teardown(() => closeServer(own));
    await t.throwsAsync(fetch(await listen(own, '127.0.0.1', 0)));
    t.true((await refused.promise) instanceof TypeError, `${name}: ${value}`);
  }
});
