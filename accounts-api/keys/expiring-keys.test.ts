import test from 'ava';
import { QueryTypes } from 'sequelize';
import { startWorker } from '../worker.ts';
import { notifyOfExpiringKeys } from './expiring-keys.ts';
import { openJobs } from '../jobs/jobs.ts';
import { fakeClock, silentLog } from '../../test/services/harness.ts';
import { dataOf, startAccountsService } from '../../test/services/accounts-service.ts';
import { mailJobsLeft } from '../../test/auth/mail-jobs.ts';
import { startServices } from '../../test/services/services.ts';
import { startMailbox, testMail } from '../../test/services/sign-in.ts';
import { dataIn, peopleOf } from '../../test/auth/people.ts';
import { until } from '../../test/run/until.ts';

const day = 24 * 60 * 60_000;
const clock = fakeClock('2026-11-20T10:00:00.000Z');
const mailbox = await startMailbox();
const services = await startServices({ clock });
const { ask, logIn, newPerson } = peopleOf(services);
const jobs = openJobs(services.accounts.db.sequelize, services.databaseUrl, silentLog);
test.after.always(async () => {
  await jobs.close();
  await services.close();
  await mailbox.close();
});

test('a key that expires in a week is announced by e-mail once, unless it has ended or its lifetime is shorter', async (t) => {
  const { email, password, session } = await newPerson();
  const make = async (name: string, days: number) => {
    const expires_at = new Date(clock.now().getTime() + days * day).toISOString();
    return dataIn(await ask('POST', '/v1/keys', { body: { name, expires_at }, session }));
  };
  const reported = await make('the nightly "import" <b>', 10);
  const revoked = await make('revoked', 9);
  await make('short', 7);
  const deps = { ...services.accounts, jobs };
  t.is(await notifyOfExpiringKeys(deps), 0);
  clock.advance(3 * day);
  t.is(
    (await ask('DELETE', `/v1/keys/${String(revoked['id'])}`, { session: await logIn(email, password) }))
      .status,
    204,
  );

  // Two workers check at the same time, and one finds the key.
  const worker = () =>
    startWorker({
      databaseUrl: services.databaseUrl,
      plans: services.accounts.plans,
      publicUrl: 'https://almanac.example',
      mail: { ...testMail, smtpUrl: mailbox.smtpUrl },
      log: silentLog,
      clock,
    });
  const workers = await Promise.all([worker(), worker()]);
  const endWorkers = async () => {
    for (const each of workers.splice(0)) await each.close();
  };
  t.teardown(endWorkers);
  const mail = await mailbox.next(email, 'An API key expires soon');
  t.true(
    mail.text.includes(
      `"the nightly "import" <b>" (${String(reported['masked'])}) stops working on 2026-11-30 at 10:00 UTC`,
    ),
  );
  t.true(mail.text.includes('https://almanac.example/dashboard/keys'));
  t.false(mail.raw.includes(String(reported['key'])));
  t.true(mail.raw.includes('&lt;b&gt;'), 'a name is text in HTML, too');
  t.is(await notifyOfExpiringKeys(deps), 0, 'notified once');

  // A holder who has turned these e-mails off gets none: the job of the second key ends without an e-mail.
  const quiet = await newPerson();
  const expires_at = new Date(clock.now().getTime() + 8 * day).toISOString();
  await ask('POST', '/v1/keys', { body: { name: 'quiet', expires_at }, session: quiet.session });
  const off = { notifications: { key_expiry: false } };
  t.is((await ask('PATCH', '/v1/account', { body: off, session: quiet.session })).status, 200);
  clock.advance(2 * day);
  t.is(await notifyOfExpiringKeys(deps), 1);
  const left = async () =>
    (await mailJobsLeft(services.databaseUrl)).filter(({ data }) => data.mail === 'key_expires');
  await until('every job is done', async () => (await left()).length === 0);
  await endWorkers();
  t.is(mailbox.received.filter(({ subject }) => subject.includes('expires soon')).length, 1);
});

test('the week and the day before the end of a key are exact to the millisecond, and no e-mail is sent about an ended key', async (t) => {
  const own = await startAccountsService();
  t.teardown(() => own.close());
  const ownJobs = openJobs(own.deps.db.sequelize, own.databaseUrl, silentLog);
  t.teardown(() => ownJobs.close());
  const startMs = own.clock.now().getTime();
  const make = async (milliseconds: number) => {
    const client = await own.newClient();
    const body = { name: 'k', expires_at: new Date(startMs + milliseconds).toISOString() };
    return { ...client, ...(dataOf(t, await own.as(client, '/v1/keys', { body }), 201) as { id: string }) };
  };
  const reported = async (milliseconds: number) => {
    own.clock.set(new Date(startMs + milliseconds).toISOString());
    return notifyOfExpiringKeys({ ...own.deps, jobs: ownJobs });
  };
  await make(day);
  await make(7 * day);
  await make(7 * day + 1);
  const late = await make(20 * day);
  const revoked = await make(8 * day);
  await own.as(revoked, `/v1/keys/${revoked.id}`, { method: 'DELETE' });
  t.is(await reported(0), 0);
  t.is(await reported(1), 1, 'the one that lasts longer than a week');
  t.is(await reported(6 * day - 1), 0, 'once, and not of one that was revoked');
  t.is(await reported(6 * day), 1, 'a day before, also one that lasts a week');
  t.is(await reported(6 * day + 1), 1, 'and a second time');
  t.is(await reported(7 * day - 1), 0);
  t.is(await reported(20 * day), 0, 'nobody looked in time: it has ended');
  t.is(await reported(20 * day - 1), 1);
  t.like(
    await own.deps.db.sequelize.query(
      'select expiry_notified_at as at from accounts.api_keys where id = $1',
      {
        bind: [late.id],
        type: QueryTypes.SELECT,
      },
    ),
    [{ at: new Date(startMs + 20 * day - 1) }],
  );
});
