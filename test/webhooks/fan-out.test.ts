// From events to messages: which accounts receive which events, exactly once, and the content of a message.
import test from 'ava';
import fc from 'fast-check';
import { QueryTypes } from 'sequelize';
import { fanOut, messagesOf } from '../../accounts-api/webhooks/fan-out.ts';
import { setPlan, createAccount } from '../../accounts-api/operator/operator.ts';
import { setRole, setStatus } from '../../accounts-api/operator/account-access.ts';
import { connect, type Deps } from '../../accounts-api/database.ts';
import { openJobs, type Jobs } from '../../accounts-api/jobs/jobs.ts';
import { eventTypes, eventKinds, seriesEventTypes, type EventType } from '../../kernel/events/catalogue.ts';
import { visibleAfterMs } from '../../kernel/http/validity.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { startAccountsService, type AccountsService } from '../services/accounts-service.ts';
import { silentLog } from '../services/harness.ts';
import { mailJobs } from '../auth/mail-jobs.ts';
import { newWebhook } from './endpoints.ts';
import { emit, keyEvent, messagesTo, seriesEvent } from './events.ts';

let service: AccountsService;
/** By the role of the service, as the worker connects. */
let worker: Deps & { jobs: Jobs };
test.before(async () => {
  service = await startAccountsService();
  const url = serviceUrl(service.databaseUrl, 'almanac_accounts_api');
  const db = connect(url);
  worker = { ...service.deps, db, jobs: openJobs(db.sequelize, url, silentLog) };
});
test.after.always(async () => {
  await worker.jobs.close();
  await worker.db.close();
  await service.close();
});

interface Message {
  type: string;
  timestamp: string;
  data: Record<string, unknown>;
}

/** The bodies of the messages to an endpoint. */
async function receivedMessages(webhookId: string): Promise<Message[]> {
  const rows = await service.deps.db.sequelize.query<{ body: string }>(
    `select coalesce(message.body, event.body) as body from accounts.webhook_messages as message
     join accounts.webhook_events as event on event.id = event_id where webhook_id = $1 order by message.created_at, type`,
    { bind: [webhookId], type: QueryTypes.SELECT },
  );
  return rows.map(({ body }) => JSON.parse(body) as Message);
}

async function makeAll(): Promise<void> {
  while ((await fanOut(worker)) > 0);
}

const pro = () => service.newClient('pro');

test.serial(
  'an event of an account becomes one message to each of its endpoints that chose the type, and to no other account',
  async (t) => {
    const [owner, stranger] = [await pro(), await pro()];
    const events = ['key.revoked', 'key.created'] as const;
    const [one, two] = [
      await newWebhook(service, owner, { events }),
      await newWebhook(service, owner, { events }),
    ];
    const other = await newWebhook(service, owner, { events: ['key.created'] });
    const foreign = await newWebhook(service, stranger, { events });
    const { event, name } = keyEvent(service, owner.accountId);
    await emit(service, event);
    await makeAll();
    for (const { id } of [one, two]) {
      const [message, ...more] = await receivedMessages(id);
      t.like(message, { type: 'key.revoked', timestamp: '2026-11-20T10:00:00Z', data: { name } });
      t.deepEqual(more, []);
    }
    for (const { id } of [other, foreign]) t.deepEqual(await receivedMessages(id), []);
    t.is(await fanOut(worker), 0, 'the outbox is empty');
  },
);

test.serial(
  'of an event about series an endpoint hears of those that its filter has, and of no event that has none',
  async (t) => {
    const client = await pro();
    const made = async (series: string[] | null) => (await newWebhook(service, client, { series })).id;
    const [all, ids, prefixes, none] = [
      await made(null),
      await made(['GDP', 'CPI.M', 'MISSING']),
      await made(['CPI*', 'X*']),
      await made(['CPI', 'GD']),
    ];
    await emit(service, seriesEvent(service, ['CPI.M', 'CPI.Q', 'GDP', 'cpi.m']));
    await makeAll();
    const series = async (id: string) => (await receivedMessages(id)).map(({ data }) => data['series']);
    t.deepEqual(await series(all), [['CPI.M', 'CPI.Q', 'GDP', 'cpi.m']]);
    t.deepEqual(await series(ids), [['CPI.M', 'GDP']]);
    t.deepEqual(await series(prefixes), [['CPI.M', 'CPI.Q']]);
    t.deepEqual(await series(none), []);
  },
);

test.serial(
  'an endpoint that is disabled, or whose account is, or whose plan has no webhooks, hears of nothing',
  async (t) => {
    const make = async () => {
      const client = await pro();
      return { client, id: (await newWebhook(service, client)).id };
    };
    const [off, disabled, downgraded, inactive, fine] = [
      await make(),
      await make(),
      await make(),
      await make(),
      await make(),
    ];
    await service.as(off.client, `/v1/webhooks/${off.id}`, { method: 'PATCH', body: { enabled: false } });
    await setStatus(service.deps, disabled.client.accountId, 'disabled');
    await setPlan(service.deps, downgraded.client.accountId, 'free');
    const unpaid = { where: { id: inactive.client.accountId } };
    await service.deps.db.accounts.update({ subscriptionState: 'inactive' }, unpaid);
    await service.deps.db.webhooks.update({ events: ['series.updated', 'key.revoked'] }, { where: {} });
    const own = [off, disabled, downgraded, inactive, fine].map(
      ({ client }) => keyEvent(service, client.accountId).event,
    );
    await emit(service, seriesEvent(service, ['GDP']), ...own);
    await makeAll();
    const types = async ({ id }: { id: string }) => (await receivedMessages(id)).map(({ type }) => type);
    t.deepEqual(await types(fine), ['key.revoked', 'series.updated']);
    t.deepEqual(await types(inactive), ['key.revoked'], 'an unpaid account hears of itself only');
    for (const each of [off, disabled, downgraded]) t.deepEqual(await types(each), []);
  },
);

test.serial('a plan that the file no longer has counts as the free one', async (t) => {
  const client = await pro();
  const { id } = await newWebhook(service, client);
  await service.deps.db.accounts.update({ plan: 'gone' }, { where: { id: client.accountId } });
  const withFree = service.deps.plans.all.map((plan) =>
    plan.id === 'free' ? { ...plan, features: ['webhooks' as const] } : plan,
  );
  const generous = {
    ...worker,
    plans: {
      ...worker.plans,
      all: withFree,
      get: (name: string) => withFree.find((plan) => plan.id === name),
    },
  };
  await emit(service, seriesEvent(service, ['GDP']));
  await makeAll();
  t.is((await receivedMessages(id)).length, 0);
  await emit(service, seriesEvent(service, ['GDP']));
  t.is(await fanOut(generous), 1);
  t.is((await receivedMessages(id)).length, 1);
});

test.serial('several workers at once make each message once', async (t) => {
  const client = await pro();
  const { id } = await newWebhook(service, client, { events: ['key.revoked'] });
  const events = Array.from({ length: 500 }, () => keyEvent(service, client.accountId));
  await emit(service, ...events.map(({ event }) => event));
  await Promise.all(Array.from({ length: 6 }, makeAll));
  await makeAll();
  const names = (await receivedMessages(id)).map(({ data }) => data['name']);
  t.deepEqual(names.toSorted(), events.map(({ name }) => name).toSorted());
});

test.serial(
  'a batch that fails leaves its events and makes no message; the next makes all of them',
  async (t) => {
    const client = await pro();
    const { id } = await newWebhook(service, client, { events: ['key.revoked'] });
    await emit(service, keyEvent(service, client.accountId).event, keyEvent(service, client.accountId).event);
    await service.deps.db.sequelize.query(
      `alter table accounts.webhook_messages add constraint fault check (webhook_id <> '${id}') not valid`,
    );
    await t.throwsAsync(fanOut(worker), { message: /fault/ });
    t.deepEqual(await messagesTo(service, id), []);
    await service.deps.db.sequelize.query('alter table accounts.webhook_messages drop constraint fault');
    await makeAll();
    t.is((await messagesTo(service, id)).length, 2);
  },
);

test.serial('the events of an account that is closed are gone with it', async (t) => {
  const { id } = await createAccount(service.deps, { email: 'closing@example.org', plan: 'pro' });
  await emit(service, keyEvent(service, id).event);
  await service.deps.db.accounts.destroy({ where: { id } });
  t.is(await fanOut(worker), 0);
});

test.serial('of a source that failed only operators hear, and each of them is mailed once', async (t) => {
  const [watching, off, customer] = [await pro(), await pro(), await pro()];
  for (const { accountId } of [watching, off]) await setRole(service.deps, accountId, 'operator');
  await setStatus(service.deps, off.accountId, 'disabled');
  const events = ['source.failed'] as const;
  const own = await newWebhook(service, watching, { events });
  const foreign = await newWebhook(service, customer, { events });
  const { sample } = eventKinds['source.failed'];
  const at = service.clock.now();
  await emit(service, { type: 'source.failed', accountId: null, series: null, data: sample, at });
  await makeAll();
  t.deepEqual(
    (await receivedMessages(own.id)).map(({ type, data }) => [type, data]),
    [['source.failed', sample]],
  );
  t.deepEqual(await receivedMessages(foreign.id), []);
  const jobs = await mailJobs(service.databaseUrl);
  const mails = jobs.filter(({ data }) => data.mail === 'source_failed');
  const { source, reason, failures, failing_since: failingSince, next_fetch_at: nextFetchAt } = sample;
  t.deepEqual(
    mails.map(({ data }) => data),
    [
      {
        mail: 'source_failed',
        accountId: watching.accountId,
        source,
        reason,
        failures,
        failingSince,
        nextFetchAt,
      },
    ],
  );
});

const ofAccount = eventTypes.filter((type) => eventKinds[type].of === 'account');
const anySeries = fc.uniqueArray(fc.stringMatching(/^[A-C]{1,3}$/), { minLength: 1, maxLength: 8 });
const anyListener = fc.record({
  id: fc.stringMatching(/^wh_[a-z]{6}$/),
  account_id: fc.constantFrom('acct_a', 'acct_b'),
  events: fc.uniqueArray(fc.constantFrom(...eventTypes), { minLength: 1, maxLength: 5 }),
  series: fc.option(fc.uniqueArray(fc.stringMatching(/^[A-C]{1,3}\*?$/), { minLength: 1, maxLength: 4 })),
  hears_all: fc.boolean(),
  is_operator: fc.boolean(),
});
const anyEvent = fc.oneof(
  fc.record({ type: fc.constantFrom(...seriesEventTypes), account_id: fc.constant(null), series: anySeries }),
  fc.record({
    type: fc.constantFrom(...ofAccount),
    account_id: fc.constantFrom('acct_a', 'acct_b'),
    series: fc.constant(null),
  }),
  fc.record({
    type: fc.constantFrom<EventType>('dataset.updated', 'source.failed'),
    account_id: fc.constant(null),
    series: fc.constant(null),
  }),
);

test('for any events and endpoints, the messages are those that the rules give, one by one', (t) => {
  fc.assert(
    fc.property(
      fc.uniqueArray(anyListener, { selector: ({ id }) => id, maxLength: 6 }),
      fc.array(anyEvent, { maxLength: 8 }),
      (listeners, drawn) => {
        const at = new Date('2026-11-20T10:00:00Z');
        const events = drawn.map((event, i) => ({
          ...event,
          position: String(i),
          id: `evt_${i}`,
          data: { load: i },
          at,
        }));
        const { messages, events: stored } = messagesOf(events, listeners);
        const reported = messages.map(({ webhookId, eventId, body }) => {
          const whole = stored.find(({ id }) => id === eventId)?.body ?? '';
          const { data } = JSON.parse(body ?? whole) as Message;
          return `${webhookId} ${eventId} ${JSON.stringify(data['series'] ?? null)}`;
        });
        const wanted = events.flatMap((event) =>
          listeners.flatMap((listener) => {
            const isMine =
              event.type === 'source.failed'
                ? listener.is_operator
                : event.account_id === null
                  ? listener.hears_all
                  : event.account_id === listener.account_id;
            if (!isMine || !listener.events.some((type) => type === event.type)) return [];
            const { series: filter } = listener;
            const series = event.series?.filter(
              (id) =>
                filter?.some((each) =>
                  each.endsWith('*') ? id.startsWith(each.slice(0, -1)) : id === each,
                ) ?? true,
            );
            return series?.length === 0
              ? []
              : [`${listener.id} ${event.id} ${JSON.stringify(series ?? null)}`];
          }),
        );
        t.deepEqual(reported.toSorted(), wanted.toSorted());
        t.is(new Set(messages.map(({ id }) => id)).size, messages.length);
        const needed = new Set(messages.map(({ eventId }) => eventId));
        t.deepEqual(new Set(stored.map(({ id }) => id)), needed, 'no event is stored that nobody hears of');
      },
    ),
    { numRuns: 200 },
  );
});

test.serial(
  'the event of a load is sent once no gateway answers with earlier data; that of a key, at once',
  async (t) => {
    const client = await pro();
    const { id } = await newWebhook(service, client, { events: ['series.updated', 'key.revoked'] });
    await emit(service, seriesEvent(service, ['CPI']), keyEvent(service, client.accountId).event);
    await makeAll();
    const now = service.clock.now().getTime();
    const due = (await messagesTo(service, id)).map(({ due_at: at }) => (at?.getTime() ?? 0) - now);
    t.deepEqual(
      due.toSorted((a, b) => a - b),
      [0, visibleAfterMs],
    );
  },
);
