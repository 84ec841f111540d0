// The worker sends messages: signed, retried by the clock, until they are taken; and an endpoint that never takes any is disabled.
import test, { type ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { Webhook as Standard } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { retryDelaysMs } from '../../accounts-api/webhooks/health.ts';
import { describeWebhooks, pruneWebhooks, renewSecrets } from '../../accounts-api/webhooks/webhook-worker.ts';
import { createSecrets } from '../../accounts-api/webhooks/secrets.ts';
import { openWebhookTools } from '../../accounts-api/webhooks/settings.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { until } from '../run/until.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import {
  dataOf,
  startAccountsService,
  type AccountsService,
  type Client,
} from '../services/accounts-service.ts';
import { startMailbox } from '../services/sign-in.ts';
import { newWebhook, type NewWebhook } from './endpoints.ts';
import { emit, keyEvent, messagesTo, seriesEvent, untilAttempted, untilMessagesAreMade } from './events.ts';
import { startReceiver, startWebhookWorker, type Receiver, type Request } from './receiver.ts';
import { localWebhooks, testWebhooks } from './settings.ts';

const hour = 3_600_000;

interface Stage {
  service: AccountsService;
  client: Client;
  receiver: Receiver;
  webhook: NewWebhook;
  /** Writes an event of the account, which the endpoint hears of. @returns the name in it. */
  tell(): Promise<string>;
}

/** An account with one endpoint, on a database of its own, whose clock is now: the libraries compare it with their own. */
async function stage(t: ExecutionContext): Promise<Stage> {
  const service = await startAccountsService(new Date().toISOString(), silentLog, {
    webhooks: localWebhooks,
  });
  t.teardown(() => service.close());
  const receiver = await startReceiver(t);
  const client = await service.newClient('pro');
  const webhook = await newWebhook(service, client, {
    url: receiver.url,
    events: ['key.revoked', 'series.updated'],
  });
  return {
    ...{ service, client, receiver, webhook },
    async tell() {
      const { event, name } = keyEvent(service, client.accountId);
      await emit(service, event);
      return name;
    },
  };
}

async function work(
  t: ExecutionContext,
  { service }: Stage,
  options: Parameters<typeof startWebhookWorker>[1] = {},
) {
  const worker = await startWebhookWorker(service, options);
  t.teardown(() => worker.close());
  return worker;
}

const untilStatus = ({ service, webhook }: Stage, status: string) =>
  until(`a message is ${status}`, async () =>
    (await messagesTo(service, webhook.id)).some((message) => message.status === status),
  );
const signatureHeaders = ({ headers }: Request) => ({
  'webhook-id': headers['webhook-id'] ?? '',
  'webhook-timestamp': headers['webhook-timestamp'] ?? '',
  'webhook-signature': headers['webhook-signature'] ?? '',
});

interface Delivery {
  id: string;
  status: string;
  body: string;
  log: {
    at: string;
    latency_ms: number;
    status: number | null;
    error: string | null;
    response: string | null;
  }[];
}
async function logOf(
  t: ExecutionContext,
  { service, client, webhook }: Stage,
  id: string,
): Promise<Delivery> {
  return dataOf(t, await service.as(client, `/v1/webhooks/${webhook.id}/deliveries/${id}`)) as Delivery;
}

test.serial(
  'a delivery is verified by standardwebhooks and svix, and its bytes are those that are shown in the log',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    it.receiver.answer((_request, response) => response.writeHead(200).end('taken <b>well</b>\u0000'));
    const name = await it.tell();
    const request = await it.receiver.next();
    t.like(request, { path: '/hook', method: 'POST' });
    t.is(request.headers['content-type'], 'application/json');
    t.is(request.headers['host'], `127.0.0.1:${it.receiver.port}`);
    const event = new Standard(it.webhook.secret).verify(request.body, signatureHeaders(request));
    t.like(event, { type: 'key.revoked', data: { name } });
    t.notThrows(() => new Svix(it.webhook.secret).verify(request.body, signatureHeaders(request)));
    await untilStatus(it, 'delivered');
    const [message] = await messagesTo(it.service, it.webhook.id);
    t.is(request.headers['webhook-id'], message?.id);
    const delivery = await logOf(t, it, message?.id ?? '');
    t.is(delivery.body, request.body);
    t.like(delivery.log, {
      0: { status: 200, error: null, response: 'taken <b>well</b>\u{fffd}' },
      length: 1,
    });
  },
);

test.serial(
  'a message that is refused is sent again at the times of the table, under the same id, and ten times in all',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    it.receiver.answer(500);
    const name = await it.tell();
    const ids = new Set<string | undefined>();
    const started = it.service.clock.now().getTime();
    let elapsed = 0;
    for (const [failures, wait] of [0, ...retryDelaysMs].entries()) {
      if (wait > 0) {
        it.service.clock.advance(wait - 1);
        await emit(it.service, seriesEvent(it.service, ['GDP'], 'series.revised')); // nobody hears of it …
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
    await it.tell();
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

    t.deepEqual(dataOf(t, await it.service.as(it.client, `${path}/recover`, { body: before }), 202), {
      recovered: 1,
    });
    const recovered = await it.receiver.next();
    t.deepEqual([recovered.body, recovered.headers['webhook-id']], [first?.body, message?.id]);
    await untilStatus(it, 'delivered');
    t.deepEqual(dataOf(t, await it.service.as(it.client, `${path}/recover`, { body: before }), 202), {
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
    const held = Promise.withResolvers<() => void>();
    it.receiver.answer((_request, response) => held.resolve(() => response.writeHead(204).end()));
    await it.tell();
    const answer = await held.promise;
    const [message] = await messagesTo(it.service, it.webhook.id);
    const path = `/v1/webhooks/${it.webhook.id}/deliveries/${message?.id}/redeliver`;
    t.is((await it.service.as(it.client, path, { method: 'POST' })).status, 202);
    const other = await startReceiver(t);
    await it.service.deps.db.webhooks.update({ events: ['key.revoked'] }, { where: { id: it.webhook.id } });
    await newWebhook(it.service, it.client, { url: other.url, events: ['series.updated'] });
    await emit(it.service, seriesEvent(it.service, ['GDP']));
    await other.next(); // the worker has had its turn
    t.is((await messagesTo(it.service, it.webhook.id))[0]?.attempts, 1);
    answer();
    await untilStatus(it, 'delivered');
  },
);

test.serial(
  'an attempt that is answered after its claim has ended counts: taken is taken, whatever another attempt says',
  async (t) => {
    const it = await stage(t);
    await work(t, it, { attemptTimeoutMs: 60_000 });
    const held: ((status: number) => void)[] = [];
    it.receiver.answer((_request, response) => held.push((status) => response.writeHead(status).end()));
    await it.tell();
    await until('it is under way', () => held.length === 1);
    it.service.clock.advance(30_000);
    await until('it is under way again', () => held.length === 2);
    held[0]?.(204);
    await untilStatus(it, 'delivered');
    held[1]?.(500);
    await untilAttempted(it.service, it.webhook.id, 2);
    t.like((await messagesTo(it.service, it.webhook.id))[0], {
      status: 'delivered',
      attempts: 2,
      due_at: null,
    });
  },
);

test.serial(
  'an endpoint that answers 410 is disabled at once; it is sent nothing more, and its holder is told by mail',
  async (t) => {
    const mailbox = await startMailbox();
    t.teardown(() => mailbox.close());
    const it = await stage(t);
    await it.service.deps.db.webhooks.update({ description: 'Ours' }, { where: { id: it.webhook.id } });
    await work(t, it, { smtpUrl: mailbox.smtpUrl });
    it.receiver.answer(410);
    await it.tell();
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
    await it.tell();
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
    const names = [await it.tell()];
    await untilAttempted(it.service, it.webhook.id, 1);
    for (let attempts = 1, elapsed = 0; elapsed < 120; attempts += 1) {
      it.service.clock.advance(24 * hour);
      elapsed += 24;
      const name = await it.tell();
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
    const heard = () =>
      new Set(
        it.receiver.received
          .slice(before)
          .map(({ body }) => (JSON.parse(body) as { data: { name: string } }).data.name),
      );
    await until('all of them are taken', () => names.every((name) => heard().has(name)));
    t.like(dataOf(t, await it.service.as(it.client, path)), { status: 'enabled', failing_since: null });
  },
);

test.serial(
  'Retry-After is kept to, and 429 keeps everything else from the endpoint for as long',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    it.receiver.answer((_request, response) => response.writeHead(429, { 'retry-after': '600' }).end());
    await it.tell();
    await it.receiver.next();
    await untilAttempted(it.service, it.webhook.id, 1);
    it.receiver.answer(204);
    const other = await startReceiver(t);
    await newWebhook(it.service, it.client, { url: other.url, events: ['key.revoked'] });
    for (const seconds of [0, 599]) {
      it.service.clock.advance(seconds * 1000);
      await it.tell();
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

test.serial(
  'for 24 hours after a rotation a delivery has both signatures, the new one first; then the new one only',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    const rotated = await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}/rotate-secret`, {
      method: 'POST',
    });
    const { secret } = dataOf(t, rotated) as NewWebhook;
    await it.tell();
    const request = await it.receiver.next();
    for (const each of [secret, it.webhook.secret]) {
      t.truthy(new Standard(each).verify(request.body, signatureHeaders(request)));
      t.notThrows(() => new Svix(each).verify(request.body, signatureHeaders(request)));
    }
    const signatures = request.headers['webhook-signature']?.split(' ') ?? [];
    t.is(signatures.length, 2);
    const only = { ...signatureHeaders(request), 'webhook-signature': signatures[0] ?? '' };
    t.truthy(new Standard(secret).verify(request.body, only));

    it.service.clock.advance(24 * hour);
    await it.tell();
    const later = await it.receiver.next();
    t.is(later.headers['webhook-signature']?.split(' ').length, 1);
  },
);

test.serial(
  'a message waits while the plan has no webhooks, and is sent once it has them again',
  async (t) => {
    const it = await stage(t);
    await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}/test`, { method: 'POST' });
    await setPlan(it.service.deps, it.client.accountId, 'starter');
    await work(t, it);
    await it.tell();
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
    const held = Promise.withResolvers<() => void>();
    it.receiver.answer((_request, response) => held.resolve(() => response.writeHead(500).end()));
    await it.tell();
    const answer = await held.promise;
    const other = await newWebhook(it.service, it.client, { url: it.receiver.url, events: ['key.revoked'] });
    t.is((await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}`, { method: 'DELETE' })).status, 204);
    it.receiver.answer(204);
    answer();
    await it.tell();
    await until('the other endpoint is sent its own', async () =>
      (await messagesTo(it.service, other.id)).some(({ status }) => status === 'delivered'),
    );
    it.service.clock.advance(24 * hour);
    t.is(it.receiver.received.length, 2);
    t.deepEqual(await messagesTo(it.service, it.webhook.id), []);
  },
);

test.serial(
  'at most four messages are under way to an endpoint at once, by all workers together, and one while it fails',
  async (t) => {
    const it = await stage(t);
    let [open, most] = [0, 0];
    const held: (() => void)[] = [];
    it.receiver.answer((_request, response) => {
      open += 1;
      most = Math.max(most, open);
      held.push(() => {
        open -= 1;
        response.writeHead(204).end();
      });
    });
    await Promise.all([work(t, it), work(t, it), work(t, it)]);
    for (let i = 0; i < 20; i += 1) await it.tell();
    for (let taken = 0; taken < 20; taken += 1) {
      await until('a message is under way', () => held.length > 0);
      if (taken === 0) await until('four are', () => open === 4);
      held.shift()?.();
    }
    t.is(most, 4);
    await until('all are taken', async () =>
      (await messagesTo(it.service, it.webhook.id)).every(({ status }) => status === 'delivered'),
    );
    t.is(it.receiver.received.length, 20, 'and each once');

    it.receiver.answer(500);
    await it.tell();
    await untilAttempted(it.service, it.webhook.id, 21);
    [open, most] = [0, 0];
    it.receiver.answer((_request, response) => {
      open += 1;
      most = Math.max(most, open);
      held.push(() => {
        open -= 1;
        response.writeHead(500).end();
      });
    });
    for (let i = 0; i < 5; i += 1) await it.tell();
    for (let taken = 0; taken < 5; taken += 1) {
      await until('a message is under way', () => held.length > 0);
      held.shift()?.();
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
  await it.tell();
  await it.receiver.next();
  await untilStatus(it, 'delivered');
  t.is(slow.received.length, webhooks.length * 4);
  await slow.close();
});

test.serial(
  'what is older than 30 days is deleted, with its messages and attempts; the rest stays',
  async (t) => {
    const it = await stage(t);
    await work(t, it);
    await it.tell();
    await untilStatus(it, 'delivered');
    it.service.clock.advance(30 * 24 * hour);
    await it.tell();
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

test.serial(
  'a replaced key of the installation: secrets are encrypted anew, and signatures stay what they were',
  async (t) => {
    const it = await stage(t);
    const next = 'the next key of the installation, long';
    const both = [next, testIdentitySecret];
    await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}/rotate-secret`, { method: 'POST' });
    await renewSecrets(
      { ...it.service.deps, log: silentLog },
      openWebhookTools({ ...testWebhooks, secretKeys: both }),
    );
    const { keyId } = createSecrets([next]);
    const stored = await it.service.deps.db.webhooks.findByPk(it.webhook.id);
    t.is(stored?.secret.split('.')[0], keyId);
    t.is(stored?.previousSecret?.split('.')[0], keyId);
    await work(t, it, { secretKeys: [next] });
    await it.tell();
    const request = await it.receiver.next();
    t.truthy(new Standard(it.webhook.secret).verify(request.body, signatureHeaders(request)));
  },
);

test.serial(
  'a message whose secret cannot be decrypted waits, and is no failure of its endpoint',
  async (t) => {
    const it = await stage(t);
    const stranger = await startWebhookWorker(it.service, {
      secretKeys: ['a key that nothing was encrypted with'],
    });
    await it.tell();
    await until('it is put off', async () => {
      const [message] = await messagesTo(it.service, it.webhook.id);
      return (
        message !== undefined &&
        message.attempts > 0 &&
        Number(message.due_at) === it.service.clock.now().getTime() + 300_000
      );
    });
    await stranger.close();
    t.deepEqual(it.receiver.received, []);
    t.like(await it.service.deps.db.webhooks.findByPk(it.webhook.id, { raw: true }), { failingSince: null });
    await work(t, it);
    it.service.clock.advance(300_000);
    t.truthy(await it.receiver.next());
  },
);

test.serial('the gauges of a worker count attempts, what has failed for good, and what waits', async (t) => {
  const it = await stage(t);
  const worker = await work(t, it);
  const value = (name: string, outcome?: string) =>
    worker.gauges
      .find((gauge) => gauge.name === name)
      ?.read()
      .find(({ labels }) => labels?.['outcome'] === outcome)?.value;
  await it.tell();
  await untilStatus(it, 'delivered');
  it.receiver.answer(410);
  await it.tell();
  await untilStatus(it, 'failed');
  await until('both are counted', () => value('almanac_webhooks_failed_total') === 1);
  t.is(value('almanac_webhooks_attempts_total', 'delivered'), 1);
  t.is(value('almanac_webhooks_attempts_total', 'refused'), 1);
  t.is(value('almanac_webhooks_attempts_total', 'unanswered'), 0);
  t.is(value('almanac_webhooks_disabled_total'), 1);
});

test.serial(
  'the operator is told of secrets that cannot be decrypted, and of what waits for minutes',
  async (t) => {
    const it = await stage(t);
    const settings = { ...localWebhooks, allowHttp: false };
    const described = (isServed = true, keys = settings.secretKeys) =>
      describeWebhooks(it.service.deps, { settings: { ...settings, secretKeys: keys }, isServed });
    t.is(
      await described(),
      '1 endpoints, 0 events and 0 messages wait; sent by https to public addresses, 127.0.0.0/8',
    );
    await t.throwsAsync(described(true, ['another key']), {
      message: /secrets of 1 webhooks .* WEBHOOK_SECRET_KEY_PREVIOUS/,
    });
    await it.tell();
    await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}/test`, { method: 'POST' });
    it.service.clock.advance(300_000);
    t.regex(await described(), /1 events and 1 messages wait;/);
    it.service.clock.advance(1_000);
    await t.throwsAsync(described(), { message: /wait, some of them for 301 s; is a worker running\?/ });
    t.regex(await described(false), /1 events and 1 messages wait;/);
    await it.service.as(it.client, `/v1/webhooks/${it.webhook.id}`, {
      method: 'PATCH',
      body: { enabled: false },
    });
    await it.service.deps.db.sequelize.query('delete from events.outbox');
    t.regex(await described(), /0 messages wait;/, 'those of a disabled endpoint may wait');
  },
);
