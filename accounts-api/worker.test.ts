// A mail is made when it is sent: what it was about may be gone by then, or belong to somebody else.
import test from 'ava';
import { QueryTypes } from 'sequelize';
import { dataOf, startAccountsService } from '../test/services/accounts-service.ts';
import { holdersOf } from '../test/auth/holders.ts';
import { silentLog } from '../test/services/harness.ts';
import { newEmail, startMailbox, testMail, testSignIn } from '../test/services/sign-in.ts';
import { openJobs, type MailJob } from './jobs.ts';
import { setStatus } from './operator/operator-access.ts';
import { startWorker } from './worker.ts';

test('no mail is sent about something that no longer holds, and no link to the e-mail address of another account', async (t) => {
  const mailbox = await startMailbox();
  t.teardown(() => mailbox.close());
  const service = await startAccountsService();
  t.teardown(() => service.close());
  const { deps } = service;
  const jobs = openJobs(deps.db.sequelize, service.databaseUrl, silentLog);
  t.teardown(() => jobs.close());
  const { newHolder, newSignUp } = await holdersOf(service);

  const newKey = async (lastsMs: number) => {
    const holder = await newHolder();
    const expires_at = new Date(deps.clock.now().getTime() + lastsMs).toISOString();
    const body = { name: 'k', expires_at };
    const { id } = dataOf(t, await service.signedIn(holder, '/v1/keys', { body }), 201) as { id: string };
    return { ...holder, keyId: id };
  };
  const month = { month: '2026-11-01', limit: 1000, percent: 80 };
  const day = 24 * 60 * 60_000;
  const late = await newSignUp();
  service.clock.advance(day);

  const silent: MailJob[] = [];
  const quiet = async (make: (holder: Awaited<ReturnType<typeof newHolder>>) => MailJob, change?: object) => {
    const holder = await newHolder();
    if (change !== undefined) await deps.db.accounts.update(change, { where: { id: holder.accountId } });
    silent.push(make(holder));
  };
  await quiet(({ accountId }) => ({ mail: 'verify_email', accountId }));
  await quiet(({ email }) => ({ mail: 'reset_password', email }), { status: 'disabled' });
  await quiet(({ accountId }) => ({ mail: 'usage', accountId, ...month }), { status: 'disabled' });
  await quiet(({ accountId }) => ({ mail: 'usage', accountId, ...month }), { mailsUsage: false });
  const [revoked, disabled, unwanted] = [await newKey(day), await newKey(day), await newKey(day)];
  await service.signedIn(revoked, `/v1/keys/${revoked.keyId}`, { method: 'DELETE' });
  await setStatus(deps, disabled.accountId, 'disabled');
  await deps.db.accounts.update({ mailsKeyExpiry: false }, { where: { id: unwanted.accountId } });
  for (const { keyId } of [revoked, disabled, unwanted]) silent.push({ mail: 'key_expires', keyId });
  silent.push({ mail: 'sign_up', signupId: late.signupId }, { mail: 'reset_password', email: newEmail() });

  const [owner, asker, told] = [await newHolder(), await newHolder(), await newKey(day)];
  const [taken, own] = [owner.email, asker.email];
  const respelled = own.replace('holder', 'HOLDER');
  const heard: MailJob[] = [
    { mail: 'change_email', accountId: asker.accountId, email: taken },
    { mail: 'change_email', accountId: asker.accountId, email: respelled },
    { mail: 'key_expires', keyId: told.keyId },
    { mail: 'usage', accountId: asker.accountId, ...month },
  ];
  await deps.db.inTransaction((transaction) => jobs.enqueue(transaction, ...silent, ...heard));

  // An operator tells the connections of the worker from those of accounts-api by their names.
  const connected = () =>
    deps.db.sequelize.query<{ name: string }>(
      `select distinct application_name as name from pg_stat_activity where datname = current_database()
       and application_name in ('almanac jobs', 'almanac worker') order by 1`,
      { type: QueryTypes.SELECT },
    );
  t.deepEqual(await connected(), [{ name: 'almanac jobs' }]);
  const worker = await startWorker({
    databaseUrl: service.databaseUrl,
    plans: deps.plans,
    publicUrl: testSignIn.publicUrl,
    mail: { ...testMail, smtpUrl: mailbox.smtpUrl },
    log: silentLog,
    clock: deps.clock,
  });
  t.teardown(() => worker.close());
  t.deepEqual(await connected(), [{ name: 'almanac jobs' }, { name: 'almanac worker' }]);
  const left = async () => {
    const [row] = await deps.db.sequelize.query<{ n: number }>(
      `select count(*)::int as n from jobs.job where name = 'mail' and state < 'completed'`,
      { type: QueryTypes.SELECT },
    );
    return row?.n ?? 0;
  };
  const deadline = performance.now() + 30_000;
  while ((await left()) > 0 && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  t.is(await left(), 0);
  t.deepEqual(
    mailbox.received.map(({ to, subject }) => `${to} ${subject}`).sort(),
    [
      `${taken} You have an account already`,
      `${respelled} Confirm your new e-mail address`,
      `${told.email} An API key expires soon`,
      `${own} 80 % of this month's calls are used`,
    ].sort(),
  );
});
