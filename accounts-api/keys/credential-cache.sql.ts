// The statements for credentials that have changed but are still cached in their old state, and for the generation of the cache.
import { QueryTypes, type Sequelize } from 'sequelize';
import { credentialLeaseMs } from '../../kernel/credentials/cache.ts';
import { entryAt } from '../../kernel/entries.ts';

/** The generation that cache entries are written under. */
export interface Generation {
  generation: number;
  /** The Redis server's; null: none yet. */
  replicationId: string | null;
}

export interface ChangedRow {
  change_no: number;
  hash: string;
}

/** Changed credentials that may still be cached in their old state, oldest change first. */
export function selectChanged(sequelize: Sequelize, limit: number): Promise<ChangedRow[]> {
  return sequelize.query(
    'select change_no::float8 as change_no, hash from accounts.changed_credentials order by change_no limit $1',
    { bind: [limit], type: QueryTypes.SELECT },
  );
}

/** Deletes changes that are in force everywhere. */
export async function deleteChanged(sequelize: Sequelize, changeNos: readonly number[]): Promise<void> {
  await sequelize.query('delete from accounts.changed_credentials where change_no = any($1::bigint[])', {
    bind: [changeNos],
    type: QueryTypes.RAW,
  });
}

export interface CredentialStateRow {
  hash: string;
  revision: number;
  account_id: string;
  key_id: string;
  /** As stored. */
  plan: string;
  active: boolean;
  expires_at: Date | null;
  /** Neither revoked nor of a disabled account. It may have expired. */
  works: boolean;
}

/** The current state of the keys with the hashes; deleted keys have none. */
export function selectCredentialStates(
  sequelize: Sequelize,
  hashes: readonly string[],
): Promise<CredentialStateRow[]> {
  return sequelize.query(
    `select key.hash, (account.revision + key.revision)::float8 as revision, key.account_id, key.id as key_id,
            account.plan, account.subscription_state <> 'inactive' as active, key.expires_at,
            key.revoked_at is null and account.status = 'active' as works
     from accounts.api_keys as key join accounts.accounts as account on account.id = key.account_id
     where key.hash = any($1::text[])`,
    { bind: [hashes], type: QueryTypes.SELECT },
  );
}

export interface PresentGeneration extends Generation {
  /** How long a gateway may still use an earlier generation, in ms. */
  beforeEndsInMs: number;
  /** A gateway may use credentials cached in its process, which no entry in Redis can invalidate. */
  inProcesses: boolean;
}

export async function selectGeneration(sequelize: Sequelize): Promise<PresentGeneration> {
  const rows = await sequelize.query<Generation & { inProcesses: boolean; ms: number }>(
    `select generation::float8 as generation, replication_id as "replicationId",
            process_leased_until > clock_timestamp() as "inProcesses",
            greatest(0, extract(epoch from greatest(before_until, clock_timestamp()) - clock_timestamp()) * 1000)::float8 as ms
     from accounts.credential_cache`,
    { type: QueryTypes.SELECT },
  );
  const { ms, ...generation } = entryAt(rows, 0);
  return { ...generation, beforeEndsInMs: ms };
}

/** Leases the cached credentials of the current generation to a gateway for a while from now. @returns the generation. */
export async function leaseGeneration(sequelize: Sequelize, cacheIn: 'redis' | 'process'): Promise<number> {
  const rows = await sequelize.query<{ generation: number }>(
    `with lease as (select clock_timestamp() + $1 * interval '1 ms' as until)
     update accounts.credential_cache
     set leased_until = greatest(leased_until, until),
         process_leased_until = case when $2 then greatest(process_leased_until, until) else process_leased_until end
     from lease
     returning generation::float8 as generation`,
    { bind: [credentialLeaseMs[cacheIn], cacheIn === 'process'], type: QueryTypes.SELECT },
  );
  return entryAt(rows, 0).generation;
}

/**
 * Begins a new generation. @param replicationId of the Redis server that its entries are written to; null: unchanged.
 * @returns how long a gateway may still use an earlier one, in ms.
 */
export async function beginGeneration(sequelize: Sequelize, replicationId: string | null): Promise<number> {
  const rows = await sequelize.query<{ ms: number }>(
    `update accounts.credential_cache set generation = generation + 1, before_until = greatest(before_until, leased_until),
            replication_id = coalesce($1, replication_id)
     returning greatest(0, extract(epoch from greatest(before_until, clock_timestamp()) - clock_timestamp()) * 1000)::float8 as ms`,
    { bind: [replicationId], type: QueryTypes.SELECT },
  );
  return entryAt(rows, 0).ms;
}

/** Begins a new generation if the current one was written to a server with another replication id. */
export async function moveToReplicationId(sequelize: Sequelize, replicationId: string): Promise<void> {
  await sequelize.query(
    `update accounts.credential_cache set generation = generation + 1, before_until = greatest(before_until, leased_until), replication_id = $1
     where replication_id is distinct from $1`,
    { bind: [replicationId], type: QueryTypes.RAW },
  );
}
