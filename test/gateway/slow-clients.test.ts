// Deliberately slow clients are disconnected, with an envelope if possible, and delay nobody else.
import type { Socket } from 'node:net';
import test, { type ExecutionContext } from 'ava';
import { startAccountsService } from '../services/accounts-service.ts';
import { until, within } from '../run/until.ts';
import { exchange, lines, openSocket, parseAnswers, type RawAnswer } from './raw.ts';
import { noon, startRecordingUpstream, startTestGateway } from './recording-upstream.ts';

const accounts = await startAccountsService(noon);
const accountsApi = await startRecordingUpstream('accounts-api', accounts.url);
const accountsApiUrls = [accountsApi.url];
const impatient = await startTestGateway({
  accounts,
  accountsApiUrls,
  requestWithinMs: 600,
  upstreamTimeoutMs: 200,
});
const patient = await startTestGateway({ accounts, accountsApiUrls });
test.after.always(async () => {
  await impatient.close();
  await patient.close();
  await accountsApi.close();
  await accounts.close();
});

/** Sends the bytes one by one, as slowly as possible, until the server closes the connection. */
async function drip(url: string, bytes: string): Promise<RawAnswer[]> {
  const socket = openSocket(url);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  socket.on('error', () => socket.destroy()); // it may close while the next byte is in transit
  let sent = 0;
  const timer = setInterval(() => {
    if (sent < bytes.length) socket.write(bytes.slice(sent, (sent += 1)));
  }, 20);
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  await within('the end of the connection', closed).finally(() => clearInterval(timer));
  return parseAnswers(Buffer.concat(chunks).toString('latin1'));
}

function isTooLate(t: ExecutionContext, answers: RawAnswer[]): void {
  t.is(answers.length, 1);
  t.is(answers[0]?.status, 408);
  t.regex(answers[0]?.headers ?? '', /connection: close/);
  const id = /^x-request-id: (\S+)/m.exec(answers[0]?.headers ?? '')?.[1];
  const envelope = JSON.parse(answers[0]?.body ?? '') as { error: object };
  t.like(envelope.error, {
    code: 'request_timeout',
    message: 'The request did not arrive in time.',
    request_id: id,
  });
}

test('a request head that arrives too slowly is refused with an envelope', async (t) => {
  isTooLate(t, await drip(impatient.url, lines('GET /v1/catalog HTTP/1.1', `Host: ${'a'.repeat(500)}`)));
});

test('a silent connection is closed', async (t) => {
  isTooLate(t, await exchange(impatient.url, ''));
});

test('a body that stops arriving is refused with an envelope, and reaches no service', async (t) => {
  const head = (framing: string) => lines('POST /auth/login HTTP/1.1', 'Host: a', framing);
  isTooLate(t, await exchange(impatient.url, `${head('Content-Length: 500')}{"email":"a`));
  isTooLate(t, await exchange(impatient.url, `${head('Transfer-Encoding: chunked')}4\r\n{"em`));
  t.is(accountsApi.received.length, 0);
});

test.serial(
  'a client that does not read its answer is disconnected, and the call to the service is aborted',
  async (t) => {
    const client = await accounts.newClient('enterprise');
    let isCut = false;
    impatient.dataApi.answer = ({ cut }, response) => {
      void cut.then(() => void (isCut = true));
      const more = () => {
        while (!response.destroyed && response.write('x'.repeat(65_536)));
        response.once('drain', more);
      };
      more();
    };
    const socket = openSocket(impatient.url);
    socket.pause();
    socket.write(lines('GET /v1/series/A HTTP/1.1', 'Host: a', `X-API-Key: ${client.key}`));
    await until('the call is cut', () => isCut);
    let tail = '';
    socket.on('data', (chunk: Buffer) => (tail = (tail + chunk.toString('latin1')).slice(-5)));
    const ended = new Promise<void>((resolve) => {
      socket.once('error', () => resolve());
      socket.once('end', () => resolve());
      socket.resume();
    });
    await within('the end of the answer', ended);
    t.not(tail, '0\r\n\r\n', 'the answer does not end as if it were whole');
    await until('the call is settled', async () => (await accounts.ledger(client)).length === 1);
    t.like(await accounts.ledger(client), [{ calls: 1, billed: 0 }]);
    t.is(await accounts.used(client), 0);
  },
);

test.serial(
  'a client that stops reading for longer than a service may be silent still gets the whole answer',
  async (t) => {
    const gateway = await startTestGateway({ upstreamTimeoutMs: 1_000 });
    t.teardown(() => gateway.close());
    const chunk = 'x'.repeat(64 * 1024);
    const chunks = 400; // more than the sockets between them buffer
    let isBlocked = false;
    gateway.dataApi.answer = ({ url }, response) => {
      if (url === '/v1/catalog/silent') return;
      response.setHeader('content-length', chunk.length * chunks);
      let left = chunks;
      const more = () => {
        while (left > 0) {
          left -= 1;
          if (response.write(chunk)) continue;
          isBlocked = true;
          response.once('drain', more);
          return;
        }
        response.end();
      };
      more();
    };
    const socket = openSocket(gateway.url);
    t.teardown(() => socket.destroy());
    socket.pause();
    socket.write(lines('GET /v1/catalog HTTP/1.1', 'Host: a', 'Connection: close'));
    await until('the service cannot write on', () => isBlocked);
    // A call that begins now is abandoned once the service has been silent for too long, so that time has then passed.
    t.is((await fetch(`${gateway.url}/v1/catalog/silent`)).status, 504);
    let bytes = 0;
    socket.on('data', (part: Buffer) => (bytes += part.length));
    const ended = new Promise<void>((resolve) => socket.once('close', () => resolve()));
    socket.resume();
    await within('the end of the answer', ended);
    t.true(bytes > chunk.length * chunks, `${bytes} bytes came`);
  },
);

test.serial('a thousand slow connections do not affect other clients', async (t) => {
  const { key } = await accounts.newClient('enterprise');
  const dawdlers = await Promise.all(
    Array.from({ length: 1_000 }, async (_, i): Promise<Socket> => {
      const socket = openSocket(patient.url);
      // Some in the head, some in the body, some between two requests.
      const bytes = [
        'GET /v1/catalog HTTP/1.1\r\nHost: a\r\nX-',
        `${lines('POST /auth/login HTTP/1.1', 'Host: a', 'Content-Length: 100')}{"`,
        '',
      ][i % 3] as string;
      await new Promise<void>((resolve) =>
        socket.once('connect', () => socket.write(bytes, () => resolve())),
      );
      return socket;
    }),
  );
  for (let i = 0; i < 50; i += 1) {
    const response = await fetch(`${patient.url}/v1/series/A`, { headers: { 'x-api-key': key } });
    t.is(response.status, 200);
    t.is(await response.text(), '{"success":true}');
  }
  t.is(accountsApi.received.length, 0);
  for (const socket of dawdlers) {
    t.false(socket.destroyed);
    socket.destroy();
  }
});
