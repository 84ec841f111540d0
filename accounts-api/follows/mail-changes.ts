// E-mails accounts about changes of the data that they follow. A worker reads the updates from a stored position on, and marks the follows that they
// concern. An e-mail is a job. The transaction that writes it also moves the positions of its follows past the updates that it reports. So each
// change is in exactly one e-mail, whichever worker reads it, and even if a worker dies.
import type { Transaction } from 'sequelize';
import type { Deps } from '../database.ts';
import type { Jobs } from '../jobs/jobs.ts';
import { lockReader, noteFound, selectNext, claimDue, type DueFollow } from './mail-changes.sql.ts';

const minute = 60_000;
const day = 24 * 60 * minute;
/** How long changes are gathered before an e-mail, as a publisher's files arrive one after another; and the least time between two e-mails. */
const gatheredMs = minute;
const betweenMailsMs = 5 * minute;
/** When the daily e-mails are due, after midnight UTC. */
const dailyAtMs = 6 * 60 * minute;

/** The most updates of a step, each with up to 250 series. */
const updatesMax = 50;
/** The most e-mails of a step. */
const mailsMax = 200;

type ChangesDeps = Deps & { jobs: Jobs };

/** Reads all unread updates, and writes the e-mails that are due. @returns the number of e-mails. */
export async function mailChanges(deps: ChangesDeps): Promise<number> {
  let mails = 0;
  for (;;) {
    const step = await deps.db.inLedgerTransaction((transaction) => runStep(deps, transaction));
    mails += step.mails;
    if (!step.hasMore) return mails;
  }
}

/** Reads some updates, or writes some e-mails once all updates are read. */
async function runStep(
  { db, clock, jobs }: ChangesDeps,
  transaction: Transaction,
): Promise<{ mails: number; hasMore: boolean }> {
  const after = await lockReader(db, transaction);
  if (after === null) return { mails: 0, hasMore: false };
  const now = clock.now();
  const next = await selectNext(db, transaction, after, updatesMax);
  if (next !== null) {
    await noteFound(db, transaction, { after, until: next.until });
    return { mails: 0, hasMore: true };
  }
  const ago = (ms: number) => new Date(now.getTime() - ms);
  const due = await claimDue(db, transaction, {
    ...{ changed: ago(gatheredMs), mailed: ago(betweenMailsMs), digest: lastDigest(now) },
    ...{ until: after, now, limit: mailsMax },
  });
  const mails = mailsOf(due, after);
  if (mails.length > 0) await jobs.enqueue(transaction, ...mails);
  return { mails: mails.length, hasMore: due.length > 0 };
}

/** The last instant up to now at which daily e-mails were due. */
function lastDigest(now: Date): Date {
  const since = now.getTime() - dailyAtMs;
  return new Date(since - (since % day) + dailyAtMs);
}

/** An e-mail for each account and mode. */
function mailsOf(due: readonly DueFollow[], until: string) {
  const reached = due.filter(({ is_reached: isReached }) => isReached);
  const grouped = Map.groupBy(reached, ({ account_id: accountId, mode }) => `${accountId} ${mode}`);
  return [...grouped.values()].map((follows) => ({
    mail: 'changes' as const,
    accountId: follows[0]?.account_id ?? '',
    until,
    follows: follows.map(({ id, place }) => ({ id, place })),
  }));
}
