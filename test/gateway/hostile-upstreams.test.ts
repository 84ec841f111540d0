// Services that send wrong answers, cut them off, or fall silent: the client gets its own answer, an envelope, or a closed
// connection; never a hang, and never a byte meant for another client.
import { request as httpRequest } from 'node:http';
import type { Socket } from 'node:net';
import test from 'ava';
import { mintApiKey } from '../../kernel/credentials/api-key.ts';
import { head, plain, startRawUpstream, type RawRequest } from './raw-upstream.ts';
import { startTestGateway } from './recording-upstream.ts';
import { untilThere } from '../run/until.ts';

const [dataService, accountsService] = [await startRawUpstream(), await startRawUpstream()];
const urls = { dataApiUrls: [dataService.url], accountsApiUrls: [accountsService.url] };
/** The hasty one is for services that fall silent: on a busy machine any other may also take too long for it. */
const [patient, hasty] = [
  await startTestGateway(urls),
  await startTestGateway({ ...urls, upstreamTimeoutMs: 300 }),
];
test.after.always(async () => {
  await Promise.all([patient.close(), hasty.close()]);
  await Promise.all([dataService.close(), accountsService.close()]);
});

type Outcome = { status: number; body: string } | 'cut';

const targetOf = (kind: 'read' | 'write', name: string) =>
  kind === 'read' ? `/v1/catalog/${name}` : `/auth/login?${name}`;

/** Makes one call to its end. Reads and writes are forwarded by different code. */
function call(kind: 'read' | 'write', name: string, gateway = patient): Promise<Outcome> {
  const path = targetOf(kind, name);
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      gateway.url + path,
      { method: kind === 'read' ? 'GET' : 'POST' },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.once('error', () => resolve('cut'));
        response.once('end', () =>
          resolve({ status: response.statusCode ?? 0, body: Buffer.concat(chunks).toString() }),
        );
      },
    );
    request.once('error', reject);
    request.end(kind === 'read' ? undefined : '{}');
  });
}

/** Calls at the hasty gateway until the service has answered in time. */
function callInTime(kind: 'read' | 'write', name: string): Promise<Outcome> {
  return untilThere('the service answers in time', async () => {
    const outcome = await call(kind, name, hasty);
    return outcome !== 'cut' && outcome.status === 504 ? undefined : outcome;
  });
}

const stolen = 'HTTP/1.1 200 OK\r\ncontent-length: 6\r\nx-request-id: another\r\n\r\nstolen';
type Answer = (socket: Socket, request: RawRequest) => void;
const half = (request: RawRequest) => `${head(request, '200 OK', 'content-length: 100')}half`;
const chunked = (request: RawRequest) => head(request, '200 OK', 'transfer-encoding: chunked');

/** The behaviour of the service → the result for the client: the status, `cut`, or `whole` for its own answer. */
const faults: Record<string, { answer: Answer; sees: 'whole' | 'cut' | number; isSilent?: true }> = {
  'adds a second answer': { answer: (socket, of) => void socket.write(plain(of) + stolen), sees: 'whole' },
  'adds a second answer a moment later': {
    answer: (socket, of) => void socket.write(plain(of), () => socket.write(stolen)),
    sees: 'whole',
  },
  'adds bytes to its body': { answer: (socket, of) => void socket.write(`${plain(of)}more`), sees: 'whole' },
  'adds a body to a 204': {
    answer: (socket, of) => void socket.write(head(of, '204 No Content') + stolen),
    sees: 204,
  },
  'adds a body to a 304': {
    answer: (socket, of) => void socket.write(head(of, '304 Not Modified', 'etag: "a"') + stolen),
    sees: 304,
  },
  'sends its answer byte by byte': { answer: (socket, of) => drip(socket, plain(of)), sees: 'whole' },
  'says early hints first': {
    answer: (socket, of) => void socket.write(head(of, '103 Early Hints', 'link: </a>') + plain(of)),
    sees: 'whole',
  },
  'closes before the end of its length': { answer: (socket, of) => void socket.end(half(of)), sees: 'cut' },
  'closes before its last chunk': {
    answer: (socket, of) => void socket.end(`${chunked(of)}4\r\nhalf\r\n`),
    sees: 'cut',
  },
  'breaks its chunks': {
    answer: (socket, of) => void socket.write(`${chunked(of)}4\r\nhalf\r\n`, () => socket.write('zz\r\n')),
    sees: 'cut',
  },
  'resets the connection in its body': {
    answer: (socket, of) => void socket.write(half(of), () => socket.resetAndDestroy()),
    sees: 'cut',
  },
  'falls silent in its body': {
    answer: (socket, of) => void socket.write(half(of)),
    sees: 'cut',
    isSilent: true,
  },
  'never answers': { answer: () => undefined, sees: 504, isSilent: true },
  'falls silent in its head': {
    answer: (socket) => void socket.write('HTTP/1.1 200 OK\r\nx: y'),
    sees: 504,
    isSilent: true,
  },
  'closes without an answer': { answer: (socket) => void socket.end(), sees: 502 },
  'resets the connection': { answer: (socket) => void socket.resetAndDestroy(), sees: 502 },
  'answers no HTTP': { answer: (socket) => void socket.write('220 mail ready\r\n\r\n'), sees: 502 },
  'switches to another protocol': {
    answer: (socket, of) =>
      void socket.write(head(of, '101 Switching Protocols', 'connection: upgrade', 'upgrade: x') + stolen),
    sees: 502,
  },
  'gives a length and chunks': {
    answer: (socket, of) =>
      void socket.write(
        `${head(of, '200 OK', 'content-length: 5', 'transfer-encoding: chunked')}0\r\n\r\n${stolen}`,
      ),
    sees: 502,
  },
  'gives two lengths': {
    answer: (socket, of) =>
      void socket.write(head(of, '200 OK', 'content-length: 0', 'content-length: 43') + stolen),
    sees: 502,
  },
  'gives endless headers': {
    answer: (socket, of) => void socket.write(head(of, '200 OK', `x: ${'a'.repeat(100_000)}`)),
    sees: 502,
  },
};

for (const kind of ['read', 'write'] as const) {
  const service = kind === 'read' ? dataService : accountsService;
  for (const [name, { answer, sees, isSilent }] of Object.entries(faults)) {
    test.serial(
      `a ${kind} to a service that ${name} ends as expected, and the next call gets its own answer`,
      async (t) => {
        const own = targetOf(kind, 'first');
        service.answer = (socket, request) =>
          request.path === own ? answer(socket, request) : void socket.write(plain(request));
        let outcome: Outcome;
        if (!isSilent) outcome = await call(kind, 'first');
        else outcome = await (sees === 504 ? call(kind, 'first', hasty) : callInTime(kind, 'first'));
        if (sees === 'cut') t.is(outcome, 'cut');
        else if (sees === 'whole') t.deepEqual(outcome, { status: 200, body: own });
        else if (outcome === 'cut') t.fail('it was cut');
        else {
          t.is(outcome.status, sees);
          if (sees >= 500)
            t.regex(outcome.body, /^\{"success":false,"error":\{"code":"upstream_(error|timeout)"/);
          else t.is(outcome.body, '');
        }
        for (let i = 0; i < 5; i += 1) {
          const next = isSilent ? await callInTime(kind, `next-${i}`) : await call(kind, `next-${i}`);
          t.deepEqual(next, { status: 200, body: own.replace('first', `next-${i}`) });
        }
      },
    );
  }
}

for (const [what, beyond] of Object.entries({
  'an empty line': () => '\r\n',
  'a letter': () => 'x',
  'a whole answer': () => stolen,
  'the beginning of an answer': () => stolen.slice(0, 20),
  'a second answer to the same request': plain,
})) {
  test.serial(`a connection is not reused if ${what} followed an answer on it`, async (t) => {
    const used: Socket[] = [];
    dataService.answer = (socket, request) => {
      used.push(socket);
      socket.write(plain(request) + beyond(request)); // one write, so that it is read at once
    };
    for (let i = 0; i < 4; i += 1) {
      t.deepEqual(await call('read', `beyond-${i}`), { status: 200, body: `/v1/catalog/beyond-${i}` });
    }
    t.is(new Set(used).size, 4);
  });
}

test.serial('an answer to another request, about another key, authenticates no call', async (t) => {
  const body = JSON.stringify({
    credentials: [{ account_id: 'acct_other', key_id: 'key_other', plan: 'pro', active: true }],
  });
  const ofAnother = (request: RawRequest) => ({ ...request, id: 'another' });
  accountsService.answer = (socket, request) =>
    void socket.write(head(ofAnother(request), '200 OK', `content-length: ${body.length}`) + body);
  let asked = 0;
  dataService.answer = () => void (asked += 1);
  const response = await fetch(`${patient.url}/v1/series/A`, { headers: { 'x-api-key': mintApiKey() } });
  t.is(response.status, 503);
  t.is(asked, 0);
});

test.serial(
  'with random faults of a service, no client ever gets an answer meant for another one',
  async (t) => {
    const answers = Object.values(faults).filter(({ sees }) => sees !== 504);
    let turn = 0;
    for (const service of [dataService, accountsService]) {
      service.answer = (socket, request) => {
        turn += 1;
        // Two correct answers between any two faults, so that connections are kept alive and shared.
        if (turn % 3 === 0) answers[(turn / 3) % answers.length]?.answer(socket, request);
        else socket.write(plain(request));
      };
    }
    const seen = { whole: 0, other: 0 };
    const clients = Array.from({ length: 16 }, async (_, client) => {
      for (let i = 0; i < 40; i += 1) {
        const kind = client % 2 === 0 ? 'read' : 'write';
        const name = `${client}-${i}`;
        const outcome = await call(kind, name, hasty);
        if (outcome === 'cut' || outcome.status !== 200) {
          seen.other += 1;
          if (outcome !== 'cut' && outcome.status >= 500) t.regex(outcome.body, /"code":"upstream_/);
          continue;
        }
        seen.whole += 1;
        t.is(outcome.body, targetOf(kind, name));
      }
    });
    await Promise.all(clients);
    t.true(seen.whole > 300, `${seen.whole} were answered`);
    t.true(seen.other > 50, `${seen.other} met a fault`);
  },
);

function drip(socket: Socket, text: string): void {
  if (text === '' || socket.destroyed) return;
  socket.write(text.slice(0, 1), () => setImmediate(() => drip(socket, text.slice(1))));
}
