// The statements for credentials that have changed but are still cached in their old state, and for the generation of the cache.
import { QueryTypes, type Sequelize } from 'sequelize';
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

export async function selectGeneration(sequelize: Sequelize): Promise<Generation> {
  const rows = await sequelize.query<Generation>(
    'select generation::float8 as generation, replication_id as "replicationId" from accounts.credential_cache',
    { type: QueryTypes.SELECT },
  );
  return entryAt(rows, 0);
}

/** Begins a new generation. @param replicationId of the Redis server that its entries are written to; null: unchanged. @returns it. */
export async function beginGeneration(sequelize: Sequelize, replicationId: string | null): Promise<number> {
  const rows = await sequelize.query<{ generation: number }>(
    `update accounts.credential_cache set generation = generation + 1, replication_id = coalesce($1, replication_id)
     returning generation::float8 as generation`,
    { bind: [replicationId], type: QueryTypes.SELECT },
  );
  return entryAt(rows, 0).generation;
}

/** Begins a new generation if the current one was written to a server with another replication id. */
export async function moveToReplicationId(sequelize: Sequelize, replicationId: string): Promise<void> {
  await sequelize.query(
    `update accounts.credential_cache set generation = generation + 1, replication_id = $1
     where replication_id is distinct from $1`,
    { bind: [replicationId], type: QueryTypes.RAW },
  );
}
