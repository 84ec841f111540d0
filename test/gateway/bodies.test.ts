// The memory of request bodies: bounded for the whole process, however many bodies never end, and however they are split into chunks.
import type { Socket } from 'node:net';
import test from 'ava';
import { until } from '../run/until.ts';
import { noon, startRecordingUpstream, startTestGateway } from './recording-upstream.ts';
import { fakeClock } from '../services/harness.ts';
import { exchange, lines, openSocket, parseAnswers } from './raw.ts';

const accountsApi = await startRecordingUpstream('accounts-api');
accountsApi.answerOurselves = (_request, response) => void response.end('{"is_on":true}');
const kb = 1024;
/** One megabyte for all bodies, half of it per address. */
const gateway = await startTestGateway({
  accountsApiUrls: [accountsApi.url],
  bodiesMb: 1,
  trustedProxyHops: 1,
});
test.after.always(async () => {
  await gateway.close();
  await accountsApi.close();
});

const signature = `t=${fakeClock(noon).now().getTime() / 1000},v1=${'0'.repeat(64)}`;
const head = (path: string, from: string, ...framing: string[]) =>
  lines(
    ...[`POST ${path} HTTP/1.1`, 'Host: a', `X-Forwarded-For: ${from}`, 'Content-Type: application/json'],
    ...[`Stripe-Signature: ${signature}`, ...framing],
  );

/** Opens connections with bodies whose last byte never arrives. @returns how many were refused, by status. */
async function sendUnfinished(count: number, path: string, bytes: number, from: (i: number) => string) {
  const refused: number[] = [];
  const sockets: Socket[] = [];
  for (let i = 0; i < count; i += 1) {
    const socket = openSocket(gateway.url);
    sockets.push(socket);
    socket.on('error', () => socket.destroy()); // refused while it is still sending
    socket.on('data', (chunk: Buffer) => {
      for (const { status } of parseAnswers(chunk.toString('latin1'))) refused.push(status);
    });
    socket.write(`${head(path, from(i), `Content-Length: ${bytes}`)}${'x'.repeat(bytes - 1)}`);
  }
  return { refused, end: () => sockets.forEach((socket) => socket.destroy()) };
}

const small = (from: string) =>
  exchange(gateway.url, `${head('/auth/login', from, 'Content-Length: 2', 'Connection: close')}{}`);

for (const [path, bytes, admitted] of [
  ['/auth/login', 64 * kb, 8],
  ['/billing/stripe/events', 256 * kb, 2],
] as const) {
  test.serial(`unfinished bodies to ${path} from one address occupy at most its share`, async (t) => {
    const count = 60;
    const attack = await sendUnfinished(count, path, bytes, () => '203.0.113.1');
    await until('the rest is refused', () => attack.refused.length >= count - admitted);
    t.deepEqual(new Set(attack.refused), new Set([429]));
    for (const from of ['203.0.113.1', '198.51.100.1']) {
      const [answer] = await small(from);
      t.is(answer?.status, 200, `a call of ${from} that is complete gets through`);
    }
    attack.end();
  });
}

test.serial(
  'a small call gets through while unfinished bodies from many addresses use up the budget',
  async (t) => {
    const count = 60;
    const attack = await sendUnfinished(count, '/auth/login', 64 * kb, (i) => `203.0.113.${i % 20}`);
    await until('the rest is refused', () => attack.refused.length >= count - 16);
    for (let i = 0; i < 20; i += 1) t.is((await small(`198.51.100.${i}`))[0]?.status, 200);
    attack.end();
  },
);

test.serial('a refusal has Retry-After and closes the connection', async (t) => {
  const [answer] = await exchange(
    gateway.url,
    `${head('/billing/stripe/events', '203.0.113.7', `Content-Length: ${1024 * kb}`)}${'x'.repeat(600 * kb)}`,
  );
  t.is(answer?.status, 429);
  t.regex(answer?.headers ?? '', /retry-after: 1\r\n/);
  t.regex(answer?.headers ?? '', /connection: close/);
  t.regex(answer?.body ?? '', /"code":"rate_limited","message":"Too many concurrent request bodies/);
});

test.serial('a body in chunks of one byte arrives unchanged', async (t) => {
  accountsApi.received.length = 0;
  const text = JSON.stringify({ email: 'a'.repeat(10_000) });
  const chunks = text.replaceAll(/./g, '1\r\n$&\r\n');
  const framing = ['Transfer-Encoding: chunked', 'Connection: close'];
  const [answer] = await exchange(
    gateway.url,
    `${head('/auth/login', '203.0.113.8', ...framing)}${chunks}0\r\n\r\n`,
  );
  t.is(answer?.status, 200);
  t.is(accountsApi.received[0]?.body, text);
});
