// The stage of the tests of follows: all services with a clock of the test, a worker that e-mails, a mailbox, and series.
import type { ExecutionContext } from 'ava';
import { mailChanges } from '../../accounts-api/follows/mail-changes.ts';
import { openJobs } from '../../accounts-api/jobs/jobs.ts';
import { until } from '../run/until.ts';
import { mailJobsLeft } from '../auth/mail-jobs.ts';
import { fakeClock, silentLog } from '../services/harness.ts';
import { startServices } from '../services/services.ts';
import { startMailbox, type ReceivedMail } from '../services/sign-in.ts';

export const minute = 60_000;
export const hour = 60 * minute;

export interface Holder {
  accountId: string;
  email: string;
  key: string;
}

/** @param start the instant at which the clock is. */
export async function followStage(start = '2026-11-20T10:00:00.000Z') {
  const clock = fakeClock(start);
  const mailbox = await startMailbox();
  const services = await startServices({ clock, mail: { smtpUrl: mailbox.smtpUrl } });
  const { deps } = { deps: services.accounts };
  const jobs = openJobs(deps.db.sequelize, services.databaseUrl, silentLog);
  const close = async () => {
    await jobs.close();
    await services.close();
    await mailbox.close();
  };

  const ask = (holder: Pick<Holder, 'key'>, method: string, target: string, body?: unknown) =>
    services.call(target, {
      ...{ method, key: holder.key },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(body === undefined ? {} : { headers: { 'content-type': 'application/json' } }),
    });

  return {
    ...{ clock, mailbox, services, deps, jobs, close, ask },
    /** A new account whose e-mail address is confirmed, with a key. */
    async newHolder(): Promise<Holder> {
      const { accountId, key } = await services.accountWithKey('free');
      const account = await deps.db.accounts.findByPk(accountId);
      return { accountId, key, email: account?.email ?? '' };
    },
    /** Follows something. @returns the id of the follow. */
    async follow(
      t: ExecutionContext,
      holder: Holder,
      wish: { kind: 'series' | 'source' | 'search'; of: string; mode?: 'at_once' | 'daily' },
    ): Promise<string> {
      const answer = await ask(holder, 'POST', '/v1/follows', wish);
      t.is(answer.status, 201, answer.text);
      return (answer.json as { data: { id: string } }).data.id;
    },
    /** Loads points of a series, `2026-01 to value`, as of the clock. */
    load: (rows: readonly (readonly [series: string, period: string, value: number])[], source = 'Tests') =>
      services.ingest(`series_id,date,value\n${rows.map((row) => row.join(',')).join('\n')}\n`, {
        set: { source },
      }),
    /** The worker looks, and looks again so much later; every e-mail that is due then has been sent. */
    async look(afterMs = minute): Promise<void> {
      await mailChanges({ ...deps, jobs });
      clock.advance(afterMs);
      await mailChanges({ ...deps, jobs });
      await until(
        'every e-mail is sent',
        async () => (await mailJobsLeft(services.databaseUrl)).length === 0,
      );
    },
    /** The e-mails to an account so far. */
    mailsTo: ({ email }: Holder): ReceivedMail[] => mailbox.received.filter(({ to }) => to === email),
  };
}
