// Each endpoint has few messages in flight, so none delays another.
import test from 'ava';
import { until } from '../run/until.ts';
import type { Client } from '../services/accounts-service.ts';
import { newWebhook } from './endpoints.ts';
import { emit, keyEvent, messagesTo, untilAttempted } from './events.ts';
import { startReceiver } from './receiver.ts';
import { stage, untilStatus, work } from './stage.ts';

test.serial(
  'at most four messages are under way to an endpoint at once, by all workers together, and one while it fails',
  async (t) => {
    const it = await stage(t);
    let [open, most] = [0, 0];
    const pending: (() => void)[] = [];
    it.receiver.answer((_request, response) => {
      open += 1;
      most = Math.max(most, open);
      pending.push(() => {
        open -= 1;
        response.writeHead(204).end();
      });
    });
    await Promise.all([work(t, it), work(t, it), work(t, it)]);
    for (let i = 0; i < 20; i += 1) await it.report();
    for (let answered = 0; answered < 20; answered += 1) {
      await until('a message is under way', () => pending.length > 0);
      if (answered === 0) await until('four are', () => open === 4);
      pending.shift()?.();
    }
    t.is(most, 4);
    await until('all are taken', async () =>
      (await messagesTo(it.service, it.webhook.id)).every(({ status }) => status === 'delivered'),
    );
    t.is(it.receiver.received.length, 20, 'and each once');

    it.receiver.answer(500);
    await it.report();
    await untilAttempted(it.service, it.webhook.id, 21);
    [open, most] = [0, 0];
    it.receiver.answer((_request, response) => {
      open += 1;
      most = Math.max(most, open);
      pending.push(() => {
        open -= 1;
        response.writeHead(500).end();
      });
    });
    for (let i = 0; i < 5; i += 1) await it.report();
    for (let answered = 0; answered < 5; answered += 1) {
      await until('a message is under way', () => pending.length > 0);
      pending.shift()?.();
    }
    t.is(most, 1);
  },
);

test.serial('endpoints that never answer, with hundreds of messages each, delay no other', async (t) => {
  const it = await stage(t);
  const slow = await startReceiver(t);
  slow.answer(() => undefined);
  const others: Client[] = [];
  for (let i = 0; i < 3; i += 1) others.push(await it.service.newClient('pro'));
  const webhooks: string[] = [];
  for (const client of others)
    for (let i = 0; i < 10; i += 1)
      webhooks.push((await newWebhook(it.service, client, { url: slow.url, events: ['key.revoked'] })).id);
  const events = others.flatMap(({ accountId }) =>
    Array.from({ length: 200 }, () => keyEvent(it.service, accountId).event),
  );
  await emit(it.service, ...events);
  await work(t, it, { attemptTimeoutMs: 60_000 });
  await until('all of them are under way', () => slow.received.length === webhooks.length * 4);
  await it.report();
  await it.receiver.next();
  await untilStatus(it, 'delivered');
  t.is(slow.received.length, webhooks.length * 4);
  await slow.close();
});

test.serial('while one endpoint is slow to answer four messages, another receives hundreds', async (t) => {
  const it = await stage(t);
  const slow = await startReceiver(t);
  const pending: (() => void)[] = [];
  slow.answer((_request, response) => pending.push(() => response.writeHead(204).end()));
  const { id } = await newWebhook(it.service, it.client, { url: slow.url, events: ['key.revoked'] });
  await emit(
    it.service,
    ...Array.from({ length: 300 }, () => keyEvent(it.service, it.client.accountId).event),
  );
  await work(t, it, { attemptTimeoutMs: 60_000 });
  await until('the quick one has all', () => it.receiver.received.length === 300);
  t.is(new Set(it.receiver.received.map(({ headers }) => headers['webhook-id'])).size, 300, 'and each once');
  t.is(pending.length, 4);
  slow.answer(204);
  for (const answer of pending) answer();
  await until('then the slow one has all, too', async () =>
    (await messagesTo(it.service, id)).every(({ status }) => status === 'delivered'),
  );
  t.is(slow.received.length, 300);
});
