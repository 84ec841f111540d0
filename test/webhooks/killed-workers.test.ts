// Delivery is at least once and invents no message, with workers killed while they send and receivers that answer anything.
import path from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import { projectRoot } from '../../kernel/project.ts';
import { endChildren, startServing, type Child } from '../run/processes.ts';
import { saveLogLines } from '../run/traces.ts';
import { until } from '../run/until.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { freePort } from '../services/instance.ts';
import { exempt } from '../openapi/check-answers.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { newWebhook } from './endpoints.ts';
import { emit, endLeaseOf, keyEvent, messagesTo, nextAttemptOf, untilMessagesAreMade } from './events.ts';
import { startReceiver, startWebhookWorker, type Request } from './receiver.ts';
import { localWebhooks } from './settings.ts';

let output = '';
test.after.always(async () => {
  await endChildren();
  saveLogLines(output);
});

/** A worker as a separate process that connects only to PostgreSQL. */
function startWorkerProcess(
  { databaseUrl }: AccountsService,
  environment: Record<string, string> = {},
): Promise<Child> {
  const words = [path.join(projectRoot, 'almanac.ts'), 'start', 'worker'];
  return startServing(/worker is running/, process.execPath, words, {
    name: 'worker',
    env: {
      ...process.env,
      DATABASE_URL: databaseUrl,
      REDIS_URL: '',
      IDENTITY_SECRET: testIdentitySecret,
      WEBHOOK_ALLOW_CIDRS: '127.0.0.0/8',
      WEBHOOK_ALLOW_HTTP: 'true',
      ...environment,
    },
    onOutput: (text) => void (output += text),
  });
}

async function startHere(): Promise<AccountsService> {
  return startAccountsService(new Date().toISOString(), silentLog, { webhooks: localWebhooks });
}

const namesIn = (requests: readonly Request[]) => [...new Set(requests.map(nameIn))].toSorted();
const nameIn = ({ body }: Request) => (JSON.parse(body) as { data: { name: string } }).data.name;

test.serial(
  'messages that a worker was sending when it was killed are sent again by another, once its lease has ended',
  async (t) => {
    const service = await startHere();
    t.teardown(() => service.close());
    const receiver = await startReceiver(t);
    const client = await service.newClient('pro');
    const { id } = await newWebhook(service, client, { url: receiver.url, events: ['key.revoked'] });
    receiver.answer(() => undefined); // it accepts the request and does not answer
    const events = Array.from({ length: 6 }, () => keyEvent(service, client.accountId));
    const first = await startWorkerProcess(service);
    await emit(service, ...events.map(({ event }) => event));
    await until('four are under way', () => receiver.received.length === 4);
    await first.end('SIGKILL');
    const interrupted = receiver.received.map(({ headers }) => headers['webhook-id']);
    t.deepEqual(
      (await messagesTo(service, id)).map(({ status }) => status),
      events.map(() => 'pending'),
    );

    receiver.answer(204);
    service.clock.set(new Date().toISOString());
    const second = await startWebhookWorker(service);
    t.teardown(() => second.close());
    await emit(service, { ...keyEvent(service, client.accountId).event, type: 'key.created' });
    await untilMessagesAreMade(service);
    t.is(receiver.received.length, 4, 'the endpoint is leased, so the other two messages wait as well');
    service.clock.advance(30_000);
    await until('all are taken', async () =>
      (await messagesTo(service, id)).every(({ status }) => status === 'delivered'),
    );
    const after = receiver.received.slice(4);
    t.deepEqual(namesIn(after), events.map(({ name }) => name).toSorted());
    const again = after.map(({ headers }) => headers['webhook-id']);
    for (const messageId of interrupted) t.true(again.includes(messageId), 'under the same id');
  },
);

test.serial(
  'a worker that is killed between many deliveries loses none: what it has recorded was taken, all else is sent again',
  async (t) => {
    const service = await startHere();
    t.teardown(() => service.close());
    const receiver = await startReceiver(t);
    const client = await service.newClient('pro');
    const { id } = await newWebhook(service, client, { url: receiver.url, events: ['key.revoked'] });
    const events = Array.from({ length: 600 }, () => keyEvent(service, client.accountId));
    const first = await startWorkerProcess(service);
    await emit(service, ...events.map(({ event }) => event));
    await until('some are taken', () => receiver.received.length >= 150);
    await first.end('SIGKILL');
    const acceptedIds = new Set(receiver.received.map(({ headers }) => headers['webhook-id']));
    const recorded = (await messagesTo(service, id)).filter(({ status }) => status === 'delivered');
    t.true(acceptedIds.size < events.length, 'it was killed before the end');
    for (const message of recorded) t.true(acceptedIds.has(message.id), 'not before its answer');

    await endLeaseOf(service, id);
    service.clock.set(new Date().toISOString());
    const second = await startWebhookWorker(service);
    t.teardown(() => second.close());
    await until('all are taken', async () =>
      (await messagesTo(service, id)).every(({ status }) => status === 'delivered'),
    );
    t.deepEqual(namesIn(receiver.received), events.map(({ name }) => name).toSorted());
    const times = Map.groupBy(receiver.received, ({ headers }) => headers['webhook-id']);
    for (const { id: messageId } of recorded) t.is(times.get(messageId)?.length, 1, 'it was not sent again');
  },
);

test.serial(
  'a worker of its own serves its figures, and those of its process, on METRICS_PORT',
  async (t) => {
    const service = await startHere();
    t.teardown(() => service.close());
    const port = await freePort();
    exempt(`http://127.0.0.1:${port}`); // no address of the API
    const worker = await startWorkerProcess(service, { METRICS_PORT: String(port) });
    const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
    const shown = await answer.text();
    t.is(answer.status, 200);
    for (const name of [
      'attempts_total',
      'failed_total',
      'disabled_total',
      'pending',
      'overdue_seconds',
      'outbox',
    ]) {
      t.regex(shown, new RegExp(`^# TYPE almanac_webhooks_${name} `, 'm'));
    }
    t.regex(shown, /^almanac_webhooks_attempts_total\{outcome="delivered"\} 0$/m);
    t.regex(shown, /^process_resident_memory_bytes \d+$/m);
    t.is(await worker.end('SIGTERM'), 0);
  },
);

test.serial(
  'a worker that is stopped in order finishes what it is sending, and no message is sent twice',
  async (t) => {
    const service = await startHere();
    t.teardown(() => service.close());
    const receiver = await startReceiver(t);
    const client = await service.newClient('pro');
    const { id } = await newWebhook(service, client, { url: receiver.url, events: ['key.revoked'] });
    const pending: (() => void)[] = [];
    receiver.answer((_request, response) => pending.push(() => response.writeHead(204).end()));
    const worker = await startWebhookWorker(service);
    await emit(service, keyEvent(service, client.accountId).event);
    await until('it is under way', () => pending.length === 1);
    const closed = worker.close();
    pending[0]?.();
    await closed;
    t.deepEqual(
      (await messagesTo(service, id)).map(({ status }) => status),
      ['delivered'],
    );
  },
);

/** How a receiver handles one request. */
const anyReaction = fc.constantFrom(
  200,
  204,
  301,
  400,
  429,
  500,
  503,
  'nothing',
  'half',
  'reset',
) as fc.Arbitrary<number | 'nothing' | 'half' | 'reset'>;

test.serial(
  'whatever receivers answer, each enabled endpoint is in the end sent every event that it hears of, and no other',
  async (t) => {
    const service = await startHere();
    t.teardown(() => service.close());
    const worker = await startWebhookWorker(service, { attemptTimeoutMs: 500, random: Math.random });
    t.teardown(() => worker.close());
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.array(anyReaction, { maxLength: 6 }), { minLength: 1, maxLength: 3 }),
        fc.integer({ min: 1, max: 6 }),
        async (scripts, count) => {
          const client = await service.newClient('pro');
          const receivers = await Promise.all(
            scripts.map(async (script) => {
              const left = [...script];
              const receiver = await startReceiver();
              receiver.answer((_request, response) => {
                const reaction = left.shift() ?? 204;
                if (reaction === 'reset') response.socket?.resetAndDestroy();
                else if (reaction === 'half') response.socket?.end('HTTP/1.1 200 OK\r\ncontent-le');
                else if (reaction !== 'nothing') response.writeHead(reaction).end();
              });
              const { id } = await newWebhook(service, client, {
                url: receiver.url,
                events: ['key.revoked'],
              });
              return { receiver, id };
            }),
          );
          const events = Array.from({ length: count }, () => keyEvent(service, client.accountId));
          await emit(service, ...events.map(({ event }) => event));
          await untilMessagesAreMade(service);
          for (const { id } of receivers) {
            await until('all are taken', async () => {
              const messages = await messagesTo(service, id);
              if (messages.every(({ status }) => status === 'delivered')) return true;
              if (messages.some(({ status }) => status === 'failed'))
                throw new Error('One has failed for good.');
              const at = await nextAttemptOf(service, id);
              if (at !== null && at > service.clock.now()) service.clock.set(at.toISOString());
              return false;
            });
          }
          const wanted = events.map(({ name }) => name).toSorted();
          for (const { receiver } of receivers) {
            t.deepEqual(namesIn(receiver.received), wanted);
            const idsOf = Map.groupBy(receiver.received, nameIn);
            for (const requests of idsOf.values()) {
              t.is(
                new Set(requests.map(({ headers }) => headers['webhook-id'])).size,
                1,
                'an event has one id',
              );
              t.is(new Set(requests.map(({ body }) => body)).size, 1, 'and always the same bytes');
            }
            await receiver.close();
          }
        },
      ),
      { numRuns: 12 },
    );
  },
);
