// An endpoint that never accepts a message is disabled. Nothing is sent to an endpoint that is disabled, deleted or without a plan.
import test from 'ava';
import { removeMessagesOfDeleted } from '../../accounts-api/webhooks/retention.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { until } from '../run/until.ts';
import { dataOf } from '../services/accounts-service.ts';
import { startMailbox } from '../services/sign-in.ts';
import { newWebhook } from './endpoints.ts';
import { emit, messagesTo, seriesEvent, untilAttempted, untilMessagesAreMade } from './events.ts';
import { stage, work } from './stage.ts';

const hour = 3_600_000;

test.serial(
  'an endpoint that answers 410 is disabled at once; it is sent nothing more, and its holder is notified by e-mail',
  async (t) => {
    const mailbox = await startMailbox();
    t.teardown(() => mailbox.close());
    const it = await stage(t);
    await it.service.deps.db.webhooks.update({ description: 'Ours' }, { where: { id: it.webhook.id } });
    await work(t, it, { smtpUrl: mailbox.smtpUrl });
    it.receiver.answer(410);
    await it.report();
    await it.receiver.next();
    const account = await it.service.deps.db.accounts.findByPk(it.client.accountId);
    const mail = await mailbox.next(account?.email ?? '', 'A webhook was disabled');
    t.regex(mail.text, new RegExp(`http://127\\.0\\.0\\.1:${it.receiver.port} \\(Ours\\)`));
    t.false(mail.text.includes('/hook'), 'the rest of the URL may hold a secret');
    t.like(dataOf(t, await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}`)), {
      status: 'disabled',
      disabled_because: 'gone',
    });
    it.receiver.answer(204);
    await it.report();
    await untilMessagesAreMade(it.service);
    t.is((await messagesTo(it.service, it.webhook.id)).length, 1, 'no message is made for it');
  },
);

test.serial(
  'an endpoint whose every attempt of five days fails is disabled; enabled again, it goes on with what waits',
  async (t) => {
    const mailbox = await startMailbox();
    t.teardown(() => mailbox.close());
    const it = await stage(t);
    await work(t, it, { smtpUrl: mailbox.smtpUrl });
    it.receiver.answer(503);
    const names = [await it.report()];
    await untilAttempted(it.service, it.webhook.id, 1);
    for (let attempts = 1, elapsed = 0; elapsed < 120; attempts += 1) {
      it.service.clock.advance(24 * hour);
      elapsed += 24;
      const name = await it.report();
      await untilMessagesAreMade(it.service);
      if (elapsed === 120) continue; // it may be disabled before it hears of the last one
      names.push(name);
      await untilAttempted(it.service, it.webhook.id, attempts + 1);
    }
    const account = await it.service.deps.db.accounts.findByPk(it.client.accountId);
    t.regex((await mailbox.next(account?.email ?? '', 'A webhook was disabled')).text, /five days/);
    const path = `/v1/webhooks/${it.webhook.id}`;
    t.like(dataOf(t, await it.service.as(it.client, path)), {
      status: 'disabled',
      disabled_because: 'failing',
    });
    const before = it.receiver.received.length;
    it.service.clock.advance(24 * hour);
    await emit(it.service, seriesEvent(it.service, ['GDP'], 'series.revised'));
    await untilMessagesAreMade(it.service);
    t.is(it.receiver.received.length, before, 'a disabled endpoint is sent nothing');

    it.receiver.answer(204);
    await it.service.as(it.client, path, { method: 'PATCH', body: { enabled: true } });
    const receivedNames = () =>
      new Set(
        it.receiver.received
          .slice(before)
          .map(({ body }) => (JSON.parse(body) as { data: { name: string } }).data.name),
      );
    await until('all of them are taken', () => names.every((name) => receivedNames().has(name)));
    t.like(dataOf(t, await it.service.as(it.client, path)), { status: 'enabled', failing_since: null });
  },
);

test.serial(
  'a message waits while the plan has no webhooks, and is sent once it has them again',
  async (t) => {
    const it = await stage(t);
    await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}/test`, { method: 'POST' });
    await setPlan(it.service.deps, it.client.accountId, 'starter');
    await work(t, it);
    await it.report();
    await untilMessagesAreMade(it.service);
    t.deepEqual(it.receiver.received, []);
    await setPlan(it.service.deps, it.client.accountId, 'pro');
    t.regex((await it.receiver.next()).body, /webhook\.test/);
  },
);

test.serial(
  'an endpoint that is deleted while a message to it waits, or is being sent, is sent nothing more and harms nobody',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    const pending = Promise.withResolvers<() => void>();
    it.receiver.answer((_request, response) => pending.resolve(() => response.writeHead(500).end()));
    await it.report();
    const answer = await pending.promise;
    const other = await newWebhook(it.service, it.client, { url: it.receiver.url, events: ['key.revoked'] });
    t.is((await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}`, { method: 'DELETE' })).status, 204);
    it.receiver.answer(204);
    answer();
    await it.report();
    await until('the other endpoint is sent its own', async () =>
      (await messagesTo(it.service, other.id)).some(({ status }) => status === 'delivered'),
    );
    it.service.clock.advance(24 * hour);
    t.is(it.receiver.received.length, 2);
    await removeMessagesOfDeleted(it.service.deps);
    t.deepEqual(await messagesTo(it.service, it.webhook.id), []);
  },
);
