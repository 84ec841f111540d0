// The statements for Idempotency-Key.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';

/** A request that claims a key, identified by account, route, key and instant. */
export interface Claim {
  accountId: string;
  route: string;
  /** SHA-256, 64 hex digits. */
  keyHash: string;
  /** SHA-256 of the body. */
  requestHash: string;
  claimedAt: Date;
}

/**
 * Claims the key for a request that is about to run. The key is free if it is new, if its day is over, or if the process that ran the same request
 * has died. @returns false if another request has claimed it, or the account was closed.
 */
export async function claimKey(
  db: AccountsDatabase,
  claim: Claim,
  free: { claimedBefore: Date; runningSince: Date },
): Promise<boolean> {
  return db.hasRow(
    `insert into accounts.idempotency_keys as held (account_id, route, key_hash, request_hash, claimed_at)
     select id, $2, $3, $4, $5 from accounts.accounts where id = $1 for key share
     on conflict (account_id, route, key_hash) do update
       set request_hash = excluded.request_hash, claimed_at = excluded.claimed_at, status = null, answer = null
       where held.claimed_at < $6
          or (held.status is null and held.claimed_at < $7 and held.request_hash = excluded.request_hash)
     returning true`,
    {
      bind: [...identify(claim), claim.requestHash, claim.claimedAt, free.claimedBefore, free.runningSince],
    },
  );
}

export interface ClaimedKey {
  requestHash: string;
  /** Null while the first request is running. */
  status: number | null;
  answer: object | null;
}

/** The claim of the key, or null if it was released meanwhile. */
export async function selectClaimedKey(db: AccountsDatabase, claim: Claim): Promise<ClaimedKey | null> {
  return db.readFirst<ClaimedKey>(
    `select request_hash as "requestHash", status, answer from accounts.idempotency_keys
     where account_id = $1 and route = $2 and key_hash = $3`,
    { bind: identify(claim) },
  );
}

/**
 * Stores the answer, in the transaction of the change that it reports.
 * @returns false if a retry has taken over the claim: the transaction must then not commit.
 */
export async function storeAnswer(
  db: AccountsDatabase,
  transaction: Transaction,
  claim: Claim,
  answer: { status: number; data: object },
): Promise<boolean> {
  return db.hasRow(
    `update accounts.idempotency_keys set status = $5, answer = $6
     where account_id = $1 and route = $2 and key_hash = $3 and claimed_at = $4 and status is null
     returning true`,
    {
      bind: [...identify(claim), claim.claimedAt, answer.status, JSON.stringify(answer.data)],
      transaction,
    },
  );
}

/** Releases the key after a failure, so that a retry runs. */
export async function releaseKey(db: AccountsDatabase, claim: Claim): Promise<void> {
  await db.sequelize.query(
    `delete from accounts.idempotency_keys
     where account_id = $1 and route = $2 and key_hash = $3 and claimed_at = $4 and status is null`,
    { bind: [...identify(claim), claim.claimedAt] },
  );
}

function identify({ accountId, route, keyHash }: Claim): [string, string, string] {
  return [accountId, route, keyHash];
}
