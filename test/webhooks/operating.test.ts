// Webhooks for operators: metrics, a sentence of `almanac check`, and the deletion of old messages.
import test from 'ava';
import { QueryTypes } from 'sequelize';
import { pruneWebhooks } from '../../accounts-api/webhooks/retention.ts';
import { describeWebhooks } from '../../accounts-api/webhooks/webhook-worker.ts';
import { createSecrets } from '../../accounts-api/secrets.ts';
import { until } from '../run/until.ts';
import { untilAttempted } from './events.ts';
import { localWebhooks } from './settings.ts';
import { stage, untilStatus, work } from './stage.ts';

const hour = 3_600_000;

test.serial(
  'what is older than 30 days is deleted, with its messages and attempts; the rest stays',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    await it.report();
    await untilStatus(it, 'delivered');
    it.service.clock.advance(30 * 24 * hour);
    await it.report();
    await until('both are taken', () => it.receiver.received.length === 2);
    await untilAttempted(it.service, it.webhook.id, 2);
    const rows = async () => {
      const [row] = await it.service.deps.db.sequelize.query<Record<string, number>>(
        `select (select count(*)::int from accounts.webhook_events) as events,
              (select count(*)::int from accounts.webhook_messages) as messages,
              (select count(*)::int from accounts.webhook_attempts) as attempts`,
        { type: QueryTypes.SELECT },
      );
      return row;
    };
    await pruneWebhooks(it.service.deps);
    t.deepEqual(await rows(), { events: 2, messages: 2, attempts: 2 });
    it.service.clock.advance(1);
    await pruneWebhooks(it.service.deps);
    t.deepEqual(await rows(), { events: 1, messages: 1, attempts: 1 });
  },
);

test.serial('the gauges of a worker count attempts, final failures and pending messages', async (t) => {
  const it = await stage(t);
  const worker = await work(t, it);
  const value = (name: string, outcome?: string) =>
    worker.metrics
      .find((metric) => metric.name === name)
      ?.read()
      .find(({ labels }) => labels?.['outcome'] === outcome)?.value;
  await it.report();
  await untilStatus(it, 'delivered');
  it.receiver.answer(410);
  await it.report();
  await untilStatus(it, 'failed');
  await until('both are counted', () => value('almanac_webhooks_failed_total') === 1);
  t.is(value('almanac_webhooks_attempts_total', 'delivered'), 1);
  t.is(value('almanac_webhooks_attempts_total', 'refused'), 1);
  t.is(value('almanac_webhooks_attempts_total', 'unanswered'), 0);
  t.is(value('almanac_webhooks_disabled_total'), 1);
});

test.serial(
  'the operator is notified of secrets that cannot be decrypted, and of what waits for minutes',
  async (t) => {
    const it = await stage(t);
    const settings = { ...localWebhooks, allowHttp: false };
    const described = (isServed = true, keys = settings.secretKeys) =>
      describeWebhooks(it.service.deps, { settings: { ...settings, secretKeys: keys }, isServed });
    t.is(
      await described(),
      '1 endpoints, 0 events and 0 messages are waiting; sent by https to public addresses, 127.0.0.0/8',
    );
    await t.throwsAsync(described(true, ['another key']), {
      message: /secrets of 1 webhooks .* WEBHOOK_SECRET_KEY_PREVIOUS/,
    });
    const { sealed: previousSecret } = createSecrets(['another key']).mint(it.webhook.id);
    const hasPrevious = (previousSecretUntil: Date) =>
      it.service.deps.db.webhooks.update(
        { previousSecret, previousSecretUntil },
        { where: { id: it.webhook.id } },
      );
    const now = it.service.clock.now();
    await hasPrevious(new Date(now.getTime() + 1));
    await t.throwsAsync(described(), { message: /secrets of 1 webhooks/ });
    await hasPrevious(now);
    t.regex(await described(), /^1 endpoints,/, 'nothing is signed with it any more');
    await it.report();
    await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}/test`, { method: 'POST' });
    it.service.clock.advance(300_000);
    t.regex(await described(), /1 events and 1 messages are waiting;/);
    it.service.clock.advance(1_000);
    await t.throwsAsync(described(), {
      message: /are waiting, some of them for 301 s; is a worker running\?/,
    });
    t.regex(await described(false), /1 events and 1 messages are waiting;/);
    await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}`, {
      method: 'PATCH',
      body: { enabled: false },
    });
    await it.service.deps.db.sequelize.query('delete from events.outbox');
    t.regex(await described(), /0 messages are waiting;/, 'those of a disabled endpoint may wait');
  },
);
