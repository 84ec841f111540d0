// 50, 80 and 100 % of a month: recorded once each in the transaction that settles the call which reached it, and mailed once.
import test, { type ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import type { Batch, UsageRow } from '../../kernel/heartbeat/message.ts';
import type { MailJob } from '../../accounts-api/jobs/jobs.ts';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { notifyOfThresholds } from '../../accounts-api/usage/thresholds.ts';
import { startWorker } from '../../accounts-api/worker.ts';
import { silentLog } from '../services/harness.ts';
import { batchOf as wholeBatch } from '../services/heartbeats.ts';
import { eventsIn } from '../services/outbox.ts';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import { startMailbox, testMail } from '../services/sign-in.ts';

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
});
test.after.always(() => service?.close());

const month = '2026-11-01';

const charge = (client: Client, calls: number) => service.charge(client, calls);

/** A batch that reports calls of those clients. */
function batchOf(...served: [client: Client, billed: number, more?: Partial<UsageRow>][]) {
  const usage = served.map(([client, billed, more]) => ({
    account_id: client.accountId,
    key_id: client.keyId,
    day: '2026-11-20',
    endpoint: 'series',
    status_class: 2,
    calls: billed,
    billed,
    ...more,
  }));
  return wholeBatch({ usage });
}

async function settle(t: ExecutionContext, batch: Batch): Promise<void> {
  t.is((await service.heartbeats.report(batch)).status, 200);
}

/** The parts of its limits that an account has come to in a month, and what was served then. */
async function reached({ accountId }: Client, of = month): Promise<[percent: number, served: number][]> {
  const rows = await service.deps.db.sequelize.query<{ percent: number; served: number }>(
    `select percent, served::float8 as served from accounts.usage_thresholds
     where account_id = $1 and month = $2 order by calls_month, percent`,
    { bind: [accountId, of], type: QueryTypes.SELECT },
  );
  return rows.map(({ percent, served }) => [percent, served]);
}

/** The events of what an account has reached, in order. */
async function reported({ accountId }: Client): Promise<Record<string, unknown>[]> {
  const events = await eventsIn(service.databaseUrl);
  return events
    .filter((event) => event.type === 'usage.threshold_reached' && event.accountId === accountId)
    .map(({ data }) => data);
}

test('half, 80 % and all of a limit are stored by the very call that reaches them', async (t) => {
  const client = await service.newClient();
  await charge(client, 1000);
  await settle(t, batchOf([client, 499]));
  t.deepEqual(await reached(client), []);
  await settle(t, batchOf([client, 1]));
  t.deepEqual(await reached(client), [[50, 500]]);
  await settle(t, batchOf([client, 299], [client, 1, { day: '2026-11-02' }], [client, 0, { calls: 7 }]));
  t.deepEqual(await reached(client), [
    [50, 500],
    [80, 800],
  ]);
  await settle(t, batchOf([client, 199], [client, 0, { calls: 1, status_class: 5 }]));
  t.deepEqual(await reached(client), [
    [50, 500],
    [80, 800],
  ]);
  await settle(t, batchOf([client, 1]));
  t.deepEqual(await reached(client), [
    [50, 500],
    [80, 800],
    [100, 1000],
  ]);
});

test('each part of a limit is reported by an event, once, and the switch of its e-mail does not matter', async (t) => {
  const client = await service.newClient();
  await service.deps.db.accounts.update({ mailsUsage: false }, { where: { id: client.accountId } });
  await charge(client, 1000);
  await settle(t, batchOf([client, 499]));
  t.deepEqual(await reported(client), []);
  const batch = batchOf([client, 400]);
  await settle(t, batch);
  await settle(t, batch);
  await settle(t, batchOf([client, 1]));
  const part = (percent: number) => ({ month, percent, limit: 1000 });
  t.deepEqual(
    (await reported(client)).toSorted((a, b) => Number(a['percent']) - Number(b['percent'])),
    [part(50), part(80)],
  );
});

test('calls that are not counted are not reported', async (t) => {
  const client = await service.newClient();
  await charge(client, 1000);
  const alter = (change: string) =>
    service.deps.db.sequelize.query(`alter table accounts.usage_daily ${change}`);
  await alter(`add constraint not_these check (account_id <> '${client.accountId}') not valid`);
  const batch = batchOf([client, 600]);
  t.is((await service.heartbeats.report(batch)).status, 500);
  t.deepEqual([await reported(client), await reached(client)], [[], []]);
  await alter('drop constraint not_these');
  await settle(t, batch);
  t.is((await reported(client)).length, 1);
});

test('in 130 concurrent batches, 30 of them repeated, every part of two limits is stored once and exactly', async (t) => {
  const [one, two] = [await service.newClient(), await service.newClient()];
  await charge(one, 1000);
  await charge(two, 1000);
  const batches = Array.from({ length: 100 }, (_, i) =>
    batchOf(
      ...((i % 2 === 0
        ? [
            [one, 10],
            [two, 5],
          ]
        : [
            [two, 5],
            [one, 10],
          ]) as [Client, number][]),
    ),
  );
  await Promise.all([...batches, ...batches.slice(0, 30)].map((batch) => settle(t, batch)));
  t.deepEqual(await reached(one), [
    [50, 500],
    [80, 800],
    [100, 1000],
  ]);
  t.deepEqual(await reached(two), [[50, 500]]);
});

test('an unlimited plan reaches no part of a limit', async (t) => {
  const client = await service.newClient('enterprise');
  await charge(client, 1_000_000);
  await settle(t, batchOf([client, 1_000_000]));
  t.deepEqual(await reached(client), []);
});

test('a changed limit starts again, and so does a month', async (t) => {
  const client = await service.newClient();
  await charge(client, 1000);
  await settle(t, batchOf([client, 1000]));
  await setPlan(service.deps, client.accountId, 'starter');
  await charge(client, 12_000);
  await settle(t, batchOf([client, 11_499]));
  t.is((await reached(client)).length, 3);
  await settle(t, batchOf([client, 1]));
  t.deepEqual((await reached(client)).at(-1), [50, 12_500]);
  await settle(t, batchOf([client, 900, { day: '2026-10-31' }])); // a month that was never charged
  t.deepEqual(await reached(client, '2026-10-01'), []);
});

test.serial(
  'an account that reaches two parts at once gets one e-mail, about the higher one, however many workers run',
  async (t) => {
    const client = await service.newClient();
    await charge(client, 1000);
    await settle(t, batchOf([client, 850]));
    const written: MailJob[] = [];
    const jobs = {
      enqueue: (_transaction: unknown, ...some: MailJob[]) => Promise.resolve(void written.push(...some)),
      close: () => Promise.resolve(),
    };
    await Promise.all(Array.from({ length: 5 }, () => notifyOfThresholds({ ...service.deps, jobs })));
    const own = written.filter((job) => job.mail === 'usage' && job.accountId === client.accountId);
    t.deepEqual(own, [{ mail: 'usage', accountId: client.accountId, month, limit: 1000, percent: 80 }]);
  },
);

test.serial('a part that is stored is mailed by the worker', async (t) => {
  const client = await service.newClient();
  const { email } = (await service.deps.db.accounts.findByPk(client.accountId)) as { email: string };
  await charge(client, 1000);
  await settle(t, batchOf([client, 1000]));
  const mailbox = await startMailbox();
  const worker = await startWorker({
    databaseUrl: service.databaseUrl,
    plans: service.deps.plans,
    publicUrl: 'https://almanac.example',
    mail: { ...testMail, smtpUrl: mailbox.smtpUrl },
    log: silentLog,
    clock: service.clock,
  });
  try {
    const mail = await mailbox.next(email, "100 % of this month's calls");
    t.regex(mail.text, /100 % of its 1000 calls of 2026-11\. Until 2026-12-01 at 00:00 UTC/);
  } finally {
    await worker.close();
    await mailbox.close();
  }
});
