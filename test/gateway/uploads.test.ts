// Uploads through the gateway: streamed, with their own size limit and their own time limit.
import { createServer, request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import test from 'ava';
import { setRole } from '../../accounts-api/operator/account-access.ts';
import { closeServer, listen } from '../../kernel/http/server.ts';
import { peopleOf } from '../auth/people.ts';
import { exempt } from '../openapi/check-answers.ts';
import { until, within } from '../run/until.ts';
import { startAccountsService } from '../services/accounts-service.ts';
import { startTestGateway } from './recording-upstream.ts';
import { exchange, lines } from './raw.ts';

exempt(); // the service is not real
const accounts = await startAccountsService();

/** Replaces the publisher: counts the received bytes, and answers at the end of the upload. */
const arriving = { bytes: 0, calls: 0, isCut: false };
const publisher = createServer(async (request, response) => {
  Object.assign(arriving, { bytes: 0, isCut: false });
  arriving.calls += 1;
  try {
    for await (const chunk of request as AsyncIterable<Buffer>) arriving.bytes += chunk.length;
  } catch {
    arriving.isCut = true;
    return;
  }
  response.setHeader('x-request-id', String(request.headers['x-request-id']));
  response.writeHead(201, { 'content-type': 'application/json' }).end(String(arriving.bytes));
});
const publisherUrl = await listen(publisher, '127.0.0.1', 0);
const gateway = await startTestGateway({
  accounts,
  publisherUrls: [publisherUrl],
  uploadMb: 1,
  requestWithinMs: 600,
});
/** Its uploads may take minutes; all other requests also have 600 ms. */
const roomy = await startTestGateway({
  accounts,
  publisherUrls: [publisherUrl],
  uploadMb: 64,
  requestWithinMs: 600,
});
let session = '';
test.before(async () => {
  const call = async (target: string, init: RequestInit = {}) => {
    const response = await fetch(gateway.url + target, init);
    const text = await response.text();
    return { status: response.status, headers: response.headers, text, json: JSON.parse(text) as unknown };
  };
  const person = await peopleOf({ call }).newPerson();
  await setRole(accounts.deps, person.email, 'operator');
  ({ session } = person);
});
test.after.always(async () => {
  await gateway.close();
  await roomy.close();
  await closeServer(publisher);
  await accounts.close();
});

const target = '/v1/operator/uploads?name=a.csv';
const mb = Buffer.alloc(1024 * 1024, 'x');

/** An upload whose body is written by the test, and its answer. */
function upload(
  headers: Record<string, string> = {},
  url = gateway.url,
): {
  request: ClientRequest;
  answer: Promise<{ status: number; text: string }>;
} {
  const request = httpRequest(url + target, {
    method: 'POST',
    headers: { 'x-session-token': session, 'content-type': 'application/octet-stream', ...headers },
  });
  const answer = new Promise<{ status: number; text: string }>((resolve, reject) => {
    request.once('error', reject);
    request.once('response', async (response: IncomingMessage) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      resolve({ status: response.statusCode ?? 0, text });
    });
  });
  answer.catch(() => undefined); // awaited later
  return { request, answer };
}

test.serial('a file reaches the service as it comes: its first half before the second is sent', async (t) => {
  for (const headers of [{}, { 'content-length': String(mb.length) }] as Record<string, string>[]) {
    const { request, answer } = upload(headers);
    request.write(mb.subarray(0, 500_000));
    await until('the first half arrives', () => arriving.bytes === 500_000);
    request.end(mb.subarray(500_000));
    t.deepEqual(await within('the answer', answer), { status: 201, text: String(mb.length) });
  }
});

test.serial(
  'a file above UPLOAD_MB is refused with the limit, and its sender, who still sends, can read it',
  async (t) => {
    const { calls } = arriving;
    const stated = upload({ 'content-length': String(mb.length + 1) });
    stated.request.end(Buffer.concat([mb, Buffer.from('x')]));
    const streamed = upload();
    for (let sent = 0; sent < 4; sent++) streamed.request.write(mb);
    streamed.request.end();
    for (const { answer } of [stated, streamed]) {
      const { status, text } = await within('the answer', answer);
      t.is(status, 413);
      t.is(
        (JSON.parse(text) as { error: { message: string } }).error.message,
        'The body must be at most 1 MB.',
      );
    }
    await until('the service sees the end of the one that it was sent', () => arriving.isCut);
    t.is(arriving.calls, calls + 1);
  },
);

test.serial('all other bodies keep their limit', async (t) => {
  const answer = await fetch(`${gateway.url}/v1/operator/loads/1/retraction`, {
    method: 'POST',
    headers: { 'x-session-token': session, 'content-type': 'application/json' },
    body: ' '.repeat(65 * 1024),
  });
  t.is(answer.status, 413);
  t.regex(await answer.text(), /at most 64 KB/);
});

test.serial('a file may take longer than other requests, and no longer than its bytes need', async (t) => {
  const [whole, stuck] = [upload({}, roomy.url), upload()];
  whole.request.write('a');
  stuck.request.write('a');
  const other = lines('POST /auth/login HTTP/1.1', 'Host: a', 'Content-Length: 500');
  const [late] = await exchange(roomy.url, `${other}{`);
  t.is(late?.status, 408);
  t.regex(late?.body ?? '', /did not arrive in time/);
  whole.request.end('b');
  t.is((await within('the answer', whole.answer)).status, 201);
  const refused = await within('the refusal', stuck.answer);
  t.is(refused.status, 408);
  t.regex(refused.text, /did not arrive in time/);
});

test.serial('a client that leaves within its file is noticed by the service', async (t) => {
  const { request } = upload();
  request.write(mb.subarray(0, 100_000));
  await until('it has begun', () => arriving.bytes === 100_000);
  request.destroy();
  await until('the service notices', () => arriving.isCut);
  t.pass();
});

test.serial('who is no operator sends nothing to the service', async (t) => {
  const { calls } = arriving;
  const { request, answer } = upload({ 'x-session-token': 'sess_unknown' });
  request.end(mb);
  t.is((await within('the answer', answer)).status, 401);
  t.is(arriving.calls, calls);
});
