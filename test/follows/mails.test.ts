// The e-mails about changes: immediate and daily, with each change in exactly one e-mail, even if workers fail.
import test, { type ExecutionContext } from 'ava';
import { QueryTypes } from 'sequelize';
import { mailOfChanges } from '../../accounts-api/follows/change-mail-text.ts';
import { mailChanges } from '../../accounts-api/follows/mail-changes.ts';
import { createUnsubscribeTokens } from '../../accounts-api/follows/unsubscribe-tokens.ts';
import type { MailJob } from '../../accounts-api/jobs/jobs.ts';
import { startWorker } from '../../accounts-api/worker.ts';
import { deleteSeries } from '../../ingest/history/series/delete.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { until } from '../run/until.ts';
import { mailJobsLeft } from '../auth/mail-jobs.ts';
import { silentLog, testIdentitySecret } from '../services/harness.ts';
import { testMail, type ReceivedMail } from '../services/sign-in.ts';
import { followStage, hour, minute, type Holder } from './stage.ts';

const stage = await followStage();
const { clock, mailbox, services, deps, jobs, follow, load, look, mailsTo, newHolder } = stage;
test.after.always(() => stage.close());

/** The text of the only mail to an account that came since. */
function onlyMail(t: ExecutionContext, holder: Holder, since = 0): ReceivedMail {
  const mails = mailsTo(holder).slice(since);
  t.is(mails.length, 1, mails.map(({ subject }) => subject).join(', '));
  return mails[0] ?? { to: '', from: '', subject: '', text: '', raw: '' };
}

const changeOf = (reason: string) => ({
  reason,
  actor: { program: 'tests', account: null },
  clock,
  seriesTimeZone: 'UTC',
});
const everySeries = (count: number, value: number) =>
  Array.from({ length: count }, (_, i) => [`MANY.${String(i).padStart(3, '0')}`, '2026-01', value] as const);

test.serial('new and revised values of a series are mailed at once, and once', async (t) => {
  await load([['CPI', '2026-08', 1], ['CPI', '2026-09', 2], ['OTHER', '2026-09', 1]]); // prettier-ignore
  const holder = await newHolder();
  await follow(t, holder, { kind: 'series', of: 'CPI' });
  await look();
  t.deepEqual(mailsTo(holder), [], 'what came before is not mailed');

  await load([['CPI', '2026-09', 2.5], ['CPI', '2026-10', 3], ['OTHER', '2026-10', 1]]); // prettier-ignore
  await look(minute - 1);
  t.deepEqual(mailsTo(holder), [], 'a minute is waited for what else comes');
  await look(1);
  const mail = onlyMail(t, holder);
  t.is(mail.subject, 'CPI: 1 new value, 1 revised value');
  t.true(
    mail.text.startsWith(
      'CPI (CPI): 1 new value, 1 revised value; newest period 2026-10\nhttps://almanac.example/series/CPI\n',
    ),
  );
  t.false(mail.text.includes('OTHER'));
  await look(hour);
  t.is(mailsTo(holder).length, 1);
});

test.serial(
  'changes within five minutes of an e-mail wait for the next one, which has all of them',
  async (t) => {
    const holder = await newHolder();
    await load([['A', '2026-01', 1], ['B', '2026-01', 1]]); // prettier-ignore
    for (const id of ['A', 'B']) await follow(t, holder, { kind: 'series', of: id });
    await load([['A', '2026-02', 1]]);
    await look();
    t.is(onlyMail(t, holder).subject, 'A: 1 new value');
    await load([['A', '2026-03', 1]]);
    await load([['B', '2026-02', 1]]);
    await load([['B', '2026-02', 2]]);
    await look(5 * minute - 1);
    t.is(mailsTo(holder).length, 1);
    await look(1);
    const mail = onlyMail(t, holder, 1);
    t.is(mail.subject, '2 series changed');
    t.true(mail.text.includes('A (A): 1 new value;'));
    t.true(
      mail.text.includes('B (B): 1 new value;'),
      'a value that was new and then revised is new to the reader',
    );
  },
);

test.serial('a load of many series is one e-mail, which lists 50', async (t) => {
  await load(everySeries(120, 1), 'Many');
  const holder = await newHolder();
  await follow(t, holder, { kind: 'source', of: 'Many' });
  await load(everySeries(120, 2), 'Many');
  await look();
  const mail = onlyMail(t, holder);
  t.is(mail.subject, '120 series changed');
  t.is([...mail.text.matchAll(/^https:\/\/almanac\.example\/series\/MANY\.\d{3}$/gm)].length, 50);
  t.true(mail.text.includes('And 70 more.\nhttps://almanac.example/dashboard/following\n'));
});

test.serial('a search is followed by its words, also for a series that is new', async (t) => {
  const holder = await newHolder();
  await follow(t, holder, { kind: 'search', of: 'harbour tonnages' });
  await services.ingest(
    'series_id,name,date,value\nPORT.1,Tonnage of the harbour,2026-01,1\nPORT.2,Tonnage,2026-01,1\n',
  );
  await look();
  t.is(onlyMail(t, holder).subject, 'Tonnage of the harbour: 1 new value');
});

test.serial(
  'the daily e-mail goes out at 06:00 UTC after changes, with all changes of the day',
  async (t) => {
    clock.set('2026-11-21T05:00:00.000Z');
    const holder = await newHolder();
    await load([['D', '2026-01', 1]]);
    await follow(t, holder, { kind: 'series', of: 'D', mode: 'daily' });
    await load([['D', '2026-02', 1]]);
    await look(hour - 1);
    t.deepEqual(mailsTo(holder), []);
    await look(1);
    t.is(onlyMail(t, holder).subject, 'D: 1 new value');
    await load([['D', '2026-03', 1]]); // at 06:00: it is of the next day
    await look(20 * hour);
    await load([['D', '2026-04', 1]]);
    await look(4 * hour - 1);
    t.is(mailsTo(holder).length, 1);
    await look(1);
    t.is(onlyMail(t, holder, 1).subject, 'D: 2 new values');
    await look(24 * hour);
    t.is(mailsTo(holder).length, 2, 'nothing changed');
  },
);

test.serial(
  'what waits for the daily e-mail is mailed at once when the follow is changed to that',
  async (t) => {
    const holder = await newHolder();
    await load([['M', '2026-01', 1]]);
    const id = await follow(t, holder, { kind: 'series', of: 'M', mode: 'daily' });
    await load([['M', '2026-02', 1]]);
    await look();
    t.is((await stage.ask(holder, 'PATCH', `/v1/follows/${id}`, { mode: 'at_once' })).status, 200);
    await look();
    t.is(onlyMail(t, holder).subject, 'M: 1 new value');
  },
);

test.serial('a renamed series is followed on, and its deletion is mailed', async (t) => {
  const holder = await newHolder();
  await load([['OLD', '2026-01', 1]]);
  await follow(t, holder, { kind: 'series', of: 'OLD' });
  await renameSeries(services.database, { id: 'OLD', newId: 'NEW', ...changeOf('clearer') });
  await look();
  t.is(onlyMail(t, holder).subject, 'OLD: renamed from OLD');
  t.true(onlyMail(t, holder).text.includes('https://almanac.example/series/NEW\n'));
  await load([['NEW', '2026-02', 1]]);
  await look(5 * minute);
  t.true(onlyMail(t, holder, 1).text.startsWith('OLD (NEW): 1 new value;'));
  await deleteSeries(services.database, { id: 'NEW', ...changeOf('wrong') });
  await look(5 * minute);
  t.true(onlyMail(t, holder, 2).text.startsWith('OLD (NEW): deleted\n'));
});

test.serial('a name is text: it adds no header, no line and no element to an e-mail', async (t) => {
  const holder = await newHolder();
  const name = 'A\r\nBcc: victim@example.org\r\n\r\n<b onclick="x">&';
  await load([['EVIL', '2026-01', 1]]);
  await follow(t, holder, { kind: 'series', of: 'EVIL' });
  await services.database.query('update data.series set name = $1 where series_id = $2', [name, 'EVIL']);
  await services.database.query(
    'select data.refresh_search(array[series_no]) from data.series where series_id = $1',
    ['EVIL'],
  );
  await load([['EVIL', '2026-02', 1]]);
  await look();
  const mail = onlyMail(t, holder);
  t.true(mail.subject.startsWith('=?UTF-8?Q?A_Bcc=3A_victim=40example=2Eorg_'), mail.subject);
  t.notRegex(mail.raw, /^Bcc:/im);
  t.true(mail.text.startsWith('A Bcc: victim@example.org <b onclick="x">& (EVIL): 1 new value;'));
  t.true(mail.raw.includes('&lt;b onclick=3D&quot;x') || mail.raw.includes('&lt;b onclick=&quot;x'));
  t.false(mail.raw.replaceAll('\r\n', '\n').split('text/html')[1]?.includes('<b '));
});

test.serial('accounts that are disabled, unverified or refused get no e-mail, not even later', async (t) => {
  await load([['Q', '2026-01', 1]]);
  const holders = [await newHolder(), await newHolder(), await newHolder(), await newHolder()] as const;
  const [disabled, unverified, refused, closed] = holders;
  for (const holder of holders) await follow(t, holder, { kind: 'series', of: 'Q' });
  const verifiedAt = (await deps.db.accounts.findByPk(unverified.accountId))?.emailVerifiedAt ?? null;
  await deps.db.accounts.update({ emailVerifiedAt: null }, { where: { id: unverified.accountId } });
  await deps.db.accounts.update({ mailRefusedAt: clock.now() }, { where: { id: refused.accountId } });
  await deps.db.accounts.update({ status: 'disabled' }, { where: { id: disabled.accountId } });
  await deps.db.accounts.destroy({ where: { id: closed.accountId } });
  t.is(await deps.db.follows.count({ where: { accountId: closed.accountId } }), 0, 'erased with the account');
  await load([['Q', '2026-02', 1]]);
  await look();
  await deps.db.accounts.update({ status: 'active' }, { where: { id: disabled.accountId } });
  await deps.db.accounts.update({ emailVerifiedAt: verifiedAt }, { where: { id: unverified.accountId } });
  await deps.db.accounts.update({ mailRefusedAt: null }, { where: { id: refused.accountId } });
  await look(hour);
  for (const holder of holders) t.deepEqual(mailsTo(holder), []);
  await load([['Q', '2026-03', 1]]);
  await look();
  for (const holder of [disabled, unverified, refused]) t.is(onlyMail(t, holder).subject, 'Q: 1 new value');
});

test.serial('who ended a follow after its e-mail was written is not mailed it', async (t) => {
  await load([['E', '2026-01', 1]]);
  const holder = await newHolder();
  const id = await follow(t, holder, { kind: 'series', of: 'E' });
  await load([['E', '2026-02', 1]]);
  clock.advance(minute);
  const written: MailJob[] = [];
  const noted = { ...jobs, enqueue: async (_: unknown, ...all: MailJob[]) => void written.push(...all) };
  t.is(await mailChanges({ ...deps, jobs: noted }), 1);
  const [job] = written;
  if (job?.mail !== 'changes') throw new Error('no e-mail of changes was written');
  const tools = { publicUrl: 'https://almanac.example', unsubscribeTokens: createUnsubscribeTokens(['a']) };
  t.is((await mailOfChanges({ ...deps, ...tools }, job))?.to, holder.email);
  t.is((await stage.ask(holder, 'DELETE', `/v1/follows/${id}`)).status, 204);
  t.is(await mailOfChanges({ ...deps, ...tools }, job), null);
  await look(hour);
  t.deepEqual(mailsTo(holder), []);
});

test.serial('several workers that look at the same time send each change once', async (t) => {
  await load([['W', '2026-01', 1]]);
  const holder = await newHolder();
  await follow(t, holder, { kind: 'series', of: 'W' });
  await load([['W', '2026-02', 1]]);
  const lookAtOnce = () => Promise.all(Array.from({ length: 4 }, () => mailChanges({ ...deps, jobs })));
  await lookAtOnce();
  clock.advance(minute);
  const worker = () =>
    startWorker({
      databaseUrl: services.databaseUrl,
      plans: deps.plans,
      publicUrl: 'https://almanac.example',
      mail: { ...testMail, smtpUrl: mailbox.smtpUrl },
      unsubscribeSecrets: [testIdentitySecret],
      log: silentLog,
      clock,
    });
  const workers = await Promise.all([worker(), worker(), lookAtOnce()]);
  await mailbox.next(holder.email);
  await until('every e-mail is sent', async () => (await mailJobsLeft(services.databaseUrl)).length === 0);
  for (const each of workers.slice(0, 2)) await (each as { close(): Promise<void> }).close();
  t.is(onlyMail(t, holder).subject, 'W: 1 new value');
});

test.serial(
  'an e-mail that was written is sent after the worker ends between the reading and the sending',
  async (t) => {
    await load([['C', '2026-01', 1]]);
    const holder = await newHolder();
    await follow(t, holder, { kind: 'series', of: 'C' });
    await load([['C', '2026-02', 1]]);
    await mailChanges({ ...deps, jobs });
    clock.advance(minute);
    const failing = { ...jobs, enqueue: () => Promise.reject(new Error('the worker ends here')) };
    await t.throwsAsync(mailChanges({ ...deps, jobs: failing }), { message: 'the worker ends here' });
    const [row] = await deps.db.sequelize.query<{ found: boolean }>(
      'select changed_at is not null as found from accounts.follows where account_id = $1',
      { bind: [holder.accountId], type: QueryTypes.SELECT },
    );
    t.true(row?.found, 'nothing was put behind it');
    await look(0);
    t.is(onlyMail(t, holder).subject, 'C: 1 new value');
  },
);
