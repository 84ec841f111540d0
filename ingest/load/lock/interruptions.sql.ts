// The statements on embargo.interruptions: which transactions under the load lock a release has ended.
import pg from 'pg';
import type { Queryable, Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';

/** Identifies a transaction, to find out after its end what became of it. */
export interface OwnTransaction {
  /** As pg_locks names it. */
  transaction: string;
  startedAt: Date;
  /** Its number, for `isCommitted`. */
  number: string;
}

/** When it began, by the clock of the database. */
export interface InterruptedAt {
  releaseNo: number;
  at: Date;
}

type Asked = Pick<Queryable, 'query'>;

export async function readOwnTransaction(on: Transaction): Promise<OwnTransaction> {
  const rows = await on.query<OwnTransaction>(
    `select virtualtransaction as transaction, now() as "startedAt", pg_current_xact_id()::text as number
     from pg_locks where locktype = 'virtualxid' and pid = pg_backend_pid() limit 1`,
  );
  return entryAt(rows, 0);
}

/** Whether a transaction that has ended was committed: its client may have lost the reply. */
export async function isCommitted(on: Asked, { number }: OwnTransaction): Promise<boolean> {
  const rows = await on.query<{ status: string | null }>('select pg_xact_status($1::xid8) as status', [
    number,
  ]);
  return entryAt(rows, 0).status === 'committed';
}

/**
 * Records that a release interrupts a transaction. Runs before the interruption, as the interrupted client looks for the record at once.
 */
export async function noteInterruption(on: Asked, releaseNo: number, transaction: string): Promise<void> {
  await on.query(
    `insert into embargo.interruptions (release_no, transaction) values ($1, $2)
     on conflict (release_no, transaction) do update set at = excluded.at`,
    [releaseNo, transaction],
  );
}

/** @returns undefined if no release has interrupted it. PostgreSQL reuses the names of transactions after a restart. */
export async function findInterruption(
  on: Asked,
  { transaction, startedAt }: OwnTransaction,
): Promise<InterruptedAt | undefined> {
  const [found] = await on.query<InterruptedAt>(
    `select release_no as "releaseNo", at from embargo.interruptions
     where transaction = $1 and at >= $2 order by at desc limit 1`,
    [transaction, startedAt],
  );
  return found;
}

export async function deleteOldInterruptions(on: Asked): Promise<void> {
  await on.query(`delete from embargo.interruptions where at < clock_timestamp() - interval '1 day'`);
}

const forbidden = '42501';

/**
 * Ends the connection whose transaction holds the load lock.
 * @returns false if this role may not end it, so that the connection stays.
 */
export async function terminateHolder(on: Asked, transaction: string): Promise<boolean> {
  const own = `select pg_terminate_backend(pid) from pg_locks
    where locktype = 'virtualxid' and granted and virtualtransaction = $1`;
  for (const statement of [own, 'select embargo.end_load($1)'])
    try {
      await on.query(statement, [transaction]);
      return true;
    } catch (error) {
      if (!(error instanceof pg.DatabaseError) || error.code !== forbidden) throw error;
    }
  return false;
}
