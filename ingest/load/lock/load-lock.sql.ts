// The load lock, so that one load runs at a time, the lock of the preparation of releases, and the settings of a long transaction.
import type { Queryable, Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';

const loadsLock = 4_115_202; // an arbitrary constant

/** Additionally locked by the process that prepares releases under embargo. */
const releasesLock = 4_115_221;

/** The load that holds the lock, as PostgreSQL reports its connection. */
export interface RunningLoad {
  /** When it began. */
  since: Date;
  /** The connection's program: `almanac ingest`. */
  program: string;
  /** Its IP address; null for this machine, by a Unix socket. */
  clientAddress: string | null;
}

/** Locks until the transaction ends. @param lock its arbitrary number. @returns false if another transaction holds the lock. */
export async function tryLock(on: Transaction, lock: number): Promise<boolean> {
  const tried = await on.query<{ locked: boolean }>('select pg_try_advisory_xact_lock($1) as locked', [lock]);
  return entryAt(tried, 0).locked;
}

/** Locks the preparation of releases, so that one process prepares at a time. @returns as `tryLock`. */
export const tryLockReleases = (on: Transaction): Promise<boolean> => tryLock(on, releasesLock);

/**
 * Whether releases under embargo are being prepared: their publisher holds the load lock until their instant, or is taking it from its
 * holder. Any role may call it.
 */
export async function isReleaseBeingPrepared(on: Pick<Queryable, 'query'>): Promise<boolean> {
  const found = await on.query(
    `select from pg_locks where locktype = 'advisory' and classid = 0 and objid = $1 and granted
       and database = (select oid from pg_database where datname = current_database())`,
    [releasesLock],
  );
  return found.length > 0;
}

/** @returns false if another transaction holds the load lock. */
export const tryLockLoads = (on: Transaction): Promise<boolean> => tryLock(on, loadsLock);

/** The transaction that holds the load lock, as PostgreSQL names it until it ends. Any role may call it. */
export async function findLockHolder(on: Pick<Queryable, 'query'>): Promise<string | undefined> {
  const [holder] = await on.query<{ transaction: string }>(
    `select virtualtransaction as transaction from pg_locks
     where locktype = 'advisory' and classid = 0 and objid = $1 and granted
       and database = (select oid from pg_database where datname = current_database())`,
    [loadsLock],
  );
  return holder?.transaction;
}

/**
 * Serialises loads: waits for the running load, and holds the lock until the transaction ends.
 * @param onWaiting called once before waiting. `load` is undefined if the holder has just ended or its role is hidden from this one.
 * `isRelease`: the holder may be a release under embargo, which holds the lock until its instant.
 */
export async function lockLoads(
  on: Transaction,
  onWaiting?: (load: RunningLoad | undefined, isRelease: boolean) => void,
): Promise<void> {
  if (await tryLockLoads(on)) return;
  onWaiting?.(await findRunningLoad(on), await isReleaseBeingPrepared(on));
  await on.query('select pg_advisory_xact_lock($1)', [loadsLock]);
}

async function findRunningLoad(on: Transaction): Promise<RunningLoad | undefined> {
  const [load] = await on.query<RunningLoad>(
    `select a.xact_start as since, a.application_name as program, host(a.client_addr) as "clientAddress"
     from pg_locks l join pg_stat_activity a using (pid)
     where l.locktype = 'advisory' and l.objid = $1 and l.granted and a.datname = current_database() and a.xact_start is not null`,
    [loadsLock],
  );
  return load;
}

/**
 * Prepares the transaction for a long load: no timeouts; no JIT compilation and no memoization, as every point is looked up only once,
 * which the planner cannot know. If the client is killed or loses its network, its lock is released within some 30 s, also while a
 * statement runs: PostgreSQL would otherwise finish the statement first, and notice a lost network after hours.
 */
export async function relaxLimits(on: Transaction): Promise<void> {
  await on.query(
    `select set_config('statement_timeout', '0', true), set_config('idle_in_transaction_session_timeout', '0', true),
       set_config('jit', 'off', true), set_config('work_mem', '128MB', true),
       set_config('enable_memoize', 'off', true),
       set_config('tcp_keepalives_idle', '10', true), set_config('tcp_keepalives_interval', '5', true),
       set_config('tcp_keepalives_count', '4', true),
       -- PostgreSQL on Windows refuses any other value than 0.
       case when version() !~* 'windows|mingw|visual c' then set_config('client_connection_check_interval', '2s', true) end`,
  );
}
