// The statements about what has changed and not been copied yet, and about the generation that copies are made under.
import { QueryTypes, type Sequelize } from 'sequelize';

/** What copies are made under. */
export interface Generation {
  generation: number;
  /** Of the Redis server; null: none yet. */
  life: string | null;
}

export interface ChangedRow {
  change_no: number;
  hash: string;
}

/** Credentials that have changed and may still be believed as they were, the oldest change first. */
export function selectChanged(sequelize: Sequelize, limit: number): Promise<ChangedRow[]> {
  return sequelize.query(
    'select change_no::float8 as change_no, hash from accounts.changed_credentials order by change_no limit $1',
    { bind: [limit], type: QueryTypes.SELECT },
  );
}

/** Forgets changes that are in force everywhere. */
export async function deleteChanged(sequelize: Sequelize, changeNos: readonly number[]): Promise<void> {
  await sequelize.query('delete from accounts.changed_credentials where change_no = any($1::bigint[])', {
    bind: [changeNos],
    type: QueryTypes.RAW,
  });
}

export interface CopyStateRow {
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

/** What the keys of those hashes are now; none for a key that is gone. */
export function selectCopyStates(sequelize: Sequelize, hashes: readonly string[]): Promise<CopyStateRow[]> {
  return sequelize.query(
    `select key.hash, (account.revision + key.revision)::float8 as revision, key.account_id, key.id as key_id,
            account.plan, account.subscription_state <> 'inactive' as active, key.expires_at,
            key.revoked_at is null and account.status = 'active' as works
     from accounts.api_keys as key join accounts.accounts as account on account.id = key.account_id
     where key.hash = any($1::text[])`,
    { bind: [hashes], type: QueryTypes.SELECT },
  );
}

/** The present generation, the life that it is made in, and how long a gateway may still believe one before it, in ms. */
export async function selectGeneration(
  sequelize: Sequelize,
): Promise<Generation & { beforeEndsInMs: number }> {
  const rows = await sequelize.query<Generation & { ms: number }>(
    `select generation::float8 as generation, life,
            greatest(0, extract(epoch from greatest(before_until, clock_timestamp()) - clock_timestamp()) * 1000)::float8 as ms
     from accounts.copies`,
    { type: QueryTypes.SELECT },
  );
  const { generation = 0, life = null, ms = 0 } = rows[0] ?? {};
  return { generation, life, beforeEndsInMs: ms };
}

/** Lets a gateway believe copies of the present generation for a while from now. @returns the generation. */
export async function leaseGeneration(sequelize: Sequelize, leaseMs: number): Promise<number> {
  const rows = await sequelize.query<{ generation: number }>(
    `update accounts.copies set leased_until = greatest(leased_until, clock_timestamp() + $1 * interval '1 ms')
     returning generation::float8 as generation`,
    { bind: [leaseMs], type: QueryTypes.SELECT },
  );
  return rows[0]?.generation ?? 0;
}

/**
 * Begins a new generation. @param life that its copies are made in; null: as before.
 * @returns how long a gateway may still believe one before it, in ms.
 */
export async function beginGeneration(sequelize: Sequelize, life: string | null): Promise<number> {
  const rows = await sequelize.query<{ ms: number }>(
    `update accounts.copies set generation = generation + 1, before_until = greatest(before_until, leased_until),
            life = coalesce($1, life)
     returning greatest(0, extract(epoch from greatest(before_until, clock_timestamp()) - clock_timestamp()) * 1000)::float8 as ms`,
    { bind: [life], type: QueryTypes.SELECT },
  );
  return rows[0]?.ms ?? 0;
}

/** Begins a new generation where the present one is made in another life. */
export async function moveToLife(sequelize: Sequelize, life: string): Promise<void> {
  await sequelize.query(
    `update accounts.copies set generation = generation + 1, before_until = greatest(before_until, leased_until), life = $1
     where life is distinct from $1`,
    { bind: [life], type: QueryTypes.RAW },
  );
}
