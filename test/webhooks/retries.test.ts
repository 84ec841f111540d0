// A refused message is sent again at the times of the table, or on request. An attempt counts even if its answer is late.
import test from 'ava';
import { retryDelaysMs } from '../../accounts-api/webhooks/sending/health.ts';
import { visibleAfterMs } from '../../kernel/http/validity.ts';
import { until } from '../run/until.ts';
import { dataOf } from '../services/accounts-service.ts';
import { newWebhook } from './endpoints.ts';
import { emit, endLeaseOf, messagesTo, seriesEvent, untilAttempted, untilMessagesAreMade } from './events.ts';
import { startReceiver } from './receiver.ts';
import { logOf, stage, untilStatus, work } from './stage.ts';

const hour = 3_600_000;

test.serial(
  'a message that is refused is sent again at the times of the table, under the same id, and ten times in all',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    it.receiver.answer(500);
    const name = await it.report();
    const ids = new Set<string | undefined>();
    const started = it.service.clock.now().getTime();
    let elapsed = 0;
    for (const [failures, wait] of [0, ...retryDelaysMs].entries()) {
      if (wait > 0) {
        it.service.clock.advance(wait - 1);
        await emit(it.service, seriesEvent(it.service, ['GDP'], 'series.revised')); // it reaches no endpoint …
        await untilMessagesAreMade(it.service); // … so the worker has looked at this clock
        t.is(it.receiver.received.length, failures, 'not a moment before it is due');
        const [waiting] = await messagesTo(it.service, it.webhook.id);
        it.service.clock.advance(1);
        t.deepEqual(waiting?.due_at, it.service.clock.now());
        elapsed += wait;
      }
      const request = await it.receiver.next();
      ids.add(request.headers['webhook-id']);
      t.is(
        Number(request.headers['webhook-timestamp']),
        Math.floor((started + elapsed) / 1000),
        'of the attempt',
      );
      t.true(request.body.includes(name));
      await untilAttempted(it.service, it.webhook.id, failures + 1);
    }
    t.is(ids.size, 1);
    t.is(elapsed, ((75 * 60 + 35) * 60 + 5) * 1000);
    const [message] = await messagesTo(it.service, it.webhook.id);
    t.like(message, { status: 'failed', attempts: 10, failures: 10, due_at: null });
    it.service.clock.advance(48 * hour);
    await emit(it.service, seriesEvent(it.service, ['GDP'], 'series.revised'));
    await untilMessagesAreMade(it.service);
    t.is(it.receiver.received.length, 10);
  },
);

test.serial(
  'a failed message is sent again on request, and so are all that failed since an instant',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    it.receiver.answer(410);
    await it.report();
    await it.receiver.next();
    await untilStatus(it, 'failed');
    const enable = { method: 'PATCH', body: { enabled: true } };
    const path = `/v1/webhooks/${it.webhook.id}`;
    const before = { since: new Date(it.service.clock.now().getTime() - hour).toISOString() };
    t.is((await it.service.as(it.client, `${path}/recover`, { body: before })).status, 409, 'it is disabled');
    await it.service.as(it.client, path, enable);
    it.receiver.answer(204);
    const [message] = await messagesTo(it.service, it.webhook.id);
    const first = it.receiver.received[0];

    t.like(dataOf(t, await it.service.as(it.client, `${path}/recover`, { body: before }), 202), {
      recovered: 1,
    });
    const recovered = await it.receiver.next();
    t.deepEqual([recovered.body, recovered.headers['webhook-id']], [first?.body, message?.id]);
    await untilStatus(it, 'delivered');
    t.like(dataOf(t, await it.service.as(it.client, `${path}/recover`, { body: before }), 202), {
      recovered: 0,
    });

    const again = await it.service.as(it.client, `${path}/deliveries/${message?.id}/redeliver`, {
      method: 'POST',
    });
    t.like(dataOf(t, again, 202), { status: 'pending' });
    t.is((await it.receiver.next()).headers['webhook-id'], message?.id);
    await untilAttempted(it.service, it.webhook.id, 3);
    t.like(await logOf(t, it, message?.id ?? ''), { status: 'delivered', log: { length: 3 } });
  },
);

test.serial(
  'a message that is asked for again while it is under way is not sent twice at once',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    const pending = Promise.withResolvers<() => void>();
    it.receiver.answer((_request, response) => pending.resolve(() => response.writeHead(204).end()));
    await it.report();
    const answer = await pending.promise;
    const [message] = await messagesTo(it.service, it.webhook.id);
    const path = `/v1/webhooks/${it.webhook.id}/deliveries/${message?.id}/redeliver`;
    t.is((await it.service.as(it.client, path, { method: 'POST' })).status, 202);
    const other = await startReceiver(t);
    await it.service.deps.db.webhooks.update({ events: ['key.revoked'] }, { where: { id: it.webhook.id } });
    const { id } = await newWebhook(it.service, it.client, { url: other.url, events: ['series.updated'] });
    await emit(it.service, seriesEvent(it.service, ['GDP']));
    await until('there is a message', async () => (await messagesTo(it.service, id)).length === 1);
    it.service.clock.advance(visibleAfterMs);
    await other.next(); // the worker has had its turn
    t.is(it.receiver.received.length, 1);
    answer();
    await untilStatus(it, 'delivered');
    t.is(it.receiver.received.length, 1);
  },
);

test.serial(
  'a message that is asked for again while an attempt is under way is sent again at once if that is refused',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    it.receiver.answer(500);
    await it.report();
    await untilAttempted(it.service, it.webhook.id, 1);
    const pending = Promise.withResolvers<() => void>();
    it.receiver.answer((_request, response) => pending.resolve(() => response.writeHead(500).end()));
    it.service.clock.advance(retryDelaysMs[0]);
    const answer = await pending.promise;
    const [message] = await messagesTo(it.service, it.webhook.id);
    const path = `/v1/webhooks/${it.webhook.id}/deliveries/${message?.id}/redeliver`;
    t.is((await it.service.as(it.client, path, { method: 'POST' })).status, 202);
    it.receiver.answer(204);
    answer();
    await untilStatus(it, 'delivered');
    t.is((await messagesTo(it.service, it.webhook.id))[0]?.attempts, 3);
  },
);

test.serial(
  'an attempt that is answered after the lease of its worker has ended counts: taken is taken, whatever another attempt says',
  async (t) => {
    const it = await stage(t);
    await work(t, it, { attemptTimeoutMs: 60_000 });
    const pending: ((status: number) => void)[] = [];
    it.receiver.answer((_request, response) => pending.push((status) => response.writeHead(status).end()));
    await it.report();
    await until('it is under way', () => pending.length === 1);
    await endLeaseOf(it.service, it.webhook.id);
    await work(t, it, { attemptTimeoutMs: 60_000 });
    await until('it is under way again', () => pending.length === 2);
    pending[0]?.(204);
    await untilStatus(it, 'delivered');
    pending[1]?.(500);
    await untilAttempted(it.service, it.webhook.id, 2);
    t.like((await messagesTo(it.service, it.webhook.id))[0], {
      status: 'delivered',
      attempts: 2,
      due_at: null,
    });
  },
);

test.serial(
  'Retry-After is kept to, and 429 keeps everything else from the endpoint for as long',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    it.receiver.answer((_request, response) => response.writeHead(429, { 'retry-after': '600' }).end());
    await it.report();
    await it.receiver.next();
    await untilAttempted(it.service, it.webhook.id, 1);
    it.receiver.answer(204);
    const other = await startReceiver(t);
    await newWebhook(it.service, it.client, { url: other.url, events: ['key.revoked'] });
    for (const seconds of [0, 599]) {
      it.service.clock.advance(seconds * 1000);
      await it.report();
      await other.next(); // the worker has had its turn
    }
    t.deepEqual(
      (await messagesTo(it.service, it.webhook.id)).map(({ attempts }) => attempts).toSorted(),
      [0, 0, 1],
    );
    it.service.clock.advance(1_000);
    await until('all three are taken', async () => {
      const messages = await messagesTo(it.service, it.webhook.id);
      return messages.length === 3 && messages.every(({ status }) => status === 'delivered');
    });
  },
);
