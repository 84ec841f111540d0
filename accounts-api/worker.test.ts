// An e-mail is composed when it is sent; by then its subject may no longer exist, or may belong to another account.
import test, { type ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { dataOf, startAccountsService, type AccountsService } from '../test/services/accounts-service.ts';
import { holdersOf } from '../test/auth/holders.ts';
import { createLog, type Log } from '../kernel/log/log.ts';
import { until } from '../test/run/until.ts';
import { silentLog } from '../test/services/harness.ts';
import { mailJobsLeft } from '../test/auth/mail-jobs.ts';
import { startScriptedSmtp } from '../test/services/scripted-smtp.ts';
import { newEmail, startMailbox, testMail, testSignIn } from '../test/services/sign-in.ts';
import { openJobs, type MailJob } from './jobs/jobs.ts';
import { setRole, setStatus } from './operator/account-access.ts';
import { startWorker } from './worker.ts';

/** A worker next to a service. */
async function workerOf(
  t: ExecutionContext,
  service: AccountsService,
  smtpUrl: string,
  log: Log = silentLog,
): Promise<void> {
  const { databaseUrl, deps } = service;
  const worker = await startWorker({
    ...{ databaseUrl, plans: deps.plans, clock: deps.clock, log },
    publicUrl: testSignIn.publicUrl,
    mail: { ...testMail, smtpUrl },
  });
  t.teardown(() => worker.close());
}

/** Resolves once every e-mail has been sent or dropped. */
function untilNoneIsLeft(service: AccountsService): Promise<void> {
  return until('no job is left', async () => (await mailJobsLeft(service.databaseUrl)).length === 0);
}

test('no e-mail is sent if its reason no longer applies, and no link to the e-mail address of another account', async (t) => {
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
  const expired = await newKey(day);
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
  await quiet(({ accountId }) => ({ mail: 'usage', accountId, ...month, month: '2026-10-01' }));
  const [revoked, disabled, unwanted] = [await newKey(day), await newKey(day), await newKey(day)];
  await service.signedIn(revoked, `/v1/keys/${revoked.keyId}`, { method: 'DELETE' });
  await setStatus(deps, disabled.accountId, 'disabled');
  await deps.db.accounts.update({ mailsKeyExpiry: false }, { where: { id: unwanted.accountId } });
  for (const { keyId } of [revoked, disabled, unwanted, expired]) silent.push({ mail: 'key_expires', keyId });
  const failure = {
    ...{
      mail: 'source_failed' as const,
      source: 'prices.gold',
      reason: 'the server answered 503.',
      failures: 3,
    },
    ...{ failingSince: '2026-11-20T10:30:01Z', nextFetchAt: '2026-11-20T10:52:04Z' },
  };
  await quiet(({ accountId }) => ({ ...failure, accountId }));
  await quiet(({ accountId }) => ({ ...failure, accountId }), { role: 'operator', status: 'disabled' });
  const closed = await newHolder();
  await setStatus(deps, closed.accountId, 'disabled');
  silent.push({ mail: 'sign_up', signupId: (await newSignUp(closed.email)).signupId });
  silent.push({ mail: 'sign_up', signupId: late.signupId }, { mail: 'reset_password', email: newEmail() });

  const [owner, asker, reported] = [await newHolder(), await newHolder(), await newKey(day)];
  const [taken, own] = [owner.email, asker.email];
  const watching = await newHolder();
  await setRole(deps, watching.accountId, 'operator');
  const respelled = own.replace('holder', 'HOLDER');
  const mailed: MailJob[] = [
    { mail: 'change_email', accountId: asker.accountId, email: taken },
    { mail: 'change_email', accountId: asker.accountId, email: respelled },
    { mail: 'key_expires', keyId: reported.keyId },
    { mail: 'usage', accountId: asker.accountId, ...month },
    { ...failure, accountId: watching.accountId },
  ];
  await deps.db.inTransaction((transaction) => jobs.enqueue(transaction, ...silent, ...mailed));

  // An operator distinguishes the connections of the worker from those of accounts-api by their names.
  const connected = () =>
    deps.db.sequelize.query<{ name: string }>(
      `select distinct application_name as name from pg_stat_activity where datname = current_database()
       and application_name in ('almanac jobs', 'almanac worker') order by 1`,
      { type: QueryTypes.SELECT },
    );
  t.deepEqual(await connected(), [{ name: 'almanac jobs' }]);
  await workerOf(t, service, mailbox.smtpUrl);
  t.deepEqual((await connected()).at(-1), { name: 'almanac worker' }); // a pool closes idle connections, such as the other one
  await untilNoneIsLeft(service);
  t.deepEqual(
    mailbox.received.map(({ to, subject }) => `${to} ${subject}`).sort(),
    [
      `${taken} You have an account already`,
      `${respelled} Confirm your new e-mail address`,
      `${reported.email} An API key expires soon`,
      `${own} 80 % of this month's calls are used`,
      `${watching.email} The source prices.gold is failing`,
    ].sort(),
  );
});

test('a permanently refused e-mail is not sent again; its account is marked until an e-mail is accepted', async (t) => {
  let isRefused = true;
  const smtp = await startScriptedSmtp((stage) =>
    isRefused && stage === 'RCPT' ? '550 5.1.1 no such mailbox' : undefined,
  );
  t.teardown(() => smtp.close());
  const service = await startAccountsService();
  t.teardown(() => service.close());
  const jobs = openJobs(service.deps.db.sequelize, service.databaseUrl, silentLog);
  t.teardown(() => jobs.close());
  const { newHolder, newSignUp, mailLink } = await holdersOf(service);
  const [holder, other, { signupId }] = [await newHolder(), await newHolder(), await newSignUp()];
  const lines: string[] = [];
  await workerOf(
    t,
    service,
    smtp.smtpUrl,
    createLog('test', 'warn', { write: (line) => void lines.push(line) }),
  );
  const send = async (...wanted: MailJob[]) => {
    await service.deps.db.inTransaction((transaction) => jobs.enqueue(transaction, ...wanted));
    await untilNoneIsLeft(service);
  };
  const refusedAt = async (who: typeof holder) =>
    (dataOf(t, await service.signedIn(who, '/v1/account')) as { mail_refused_at: string | null })
      .mail_refused_at;
  const notice: MailJob = {
    ...{ mail: 'notice', notice: 'password_changed', at: '2026-11-20T10:00:00.000Z' },
    email: holder.email.toUpperCase(),
  };

  await send(notice, { mail: 'sign_up', signupId });
  t.is(smtp.received.filter((stage) => stage === 'RCPT').length, 2, 'each is sent once');
  t.is(await refusedAt(holder), '2026-11-20T10:00:00Z');
  t.is(await refusedAt(other), null);
  const logged = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  t.deepEqual(
    logged.map(({ event, account_id, reply }) => [event, account_id, reply]).sort(),
    [
      ['mail_refused', holder.accountId, '550 5.1.1 no such mailbox'],
      ['mail_refused', null, '550 5.1.1 no such mailbox'],
    ].sort(),
  );

  isRefused = false;
  await send(notice);
  t.is(await refusedAt(holder), null);

  // The mark belongs to the e-mail address, not to its holder.
  await service.deps.db.accounts.update({ mailRefusedAt: new Date() }, { where: { id: other.accountId } });
  const body = { token: await mailLink(other, 'change_email', newEmail()) };
  dataOf(t, await service.signedIn(other, '/auth/verify-email', { body }));
  const [account] = await service.deps.db.accounts.findAll({ where: { id: other.accountId } });
  t.is(account?.mailRefusedAt, null);
});
