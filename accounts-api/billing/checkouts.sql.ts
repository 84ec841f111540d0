// The statements for checkouts: payments begun at Stripe, and the tokens of their return pages.
import type { Transaction } from 'sequelize';
import type { Interval } from '../../kernel/plans.ts';
import type { AccountsDatabase } from '../database.ts';

export interface Checkout {
  id: string;
  /** Null: begun without an account, and not paid yet. */
  accountId: string | null;
  email: string | null;
  plan: string;
  interval: Interval;
  /** Null, like `url`, while the session is being created at Stripe. */
  sessionId: string | null;
  url: string | null;
  expiresAt: Date;
  paidAt: Date | null;
  /** Whether its payer gets the first key. */
  hasKey: boolean;
  claimedAt: Date | null;
  closedAt: Date | null;
}

const columns = `id, account_id as "accountId", email, plan, billing_interval as interval, session_id as "sessionId", url,
  expires_at as "expiresAt", paid_at as "paidAt", has_key as "hasKey", claimed_at as "claimedAt", closed_at as "closedAt"`;

export interface NewCheckout extends Pick<
  Checkout,
  'id' | 'accountId' | 'email' | 'plan' | 'interval' | 'expiresAt'
> {
  claimHash: string;
  /** The hash of the request's Idempotency-Key and its buyer; null without a key. */
  requestHash: string | null;
  createdAt: Date;
}

/** Stores a checkout. @returns false if the account has an open one, or the request was made before. */
export async function insertCheckout(
  db: AccountsDatabase,
  transaction: Transaction,
  checkout: NewCheckout,
): Promise<boolean> {
  const { id, accountId, email, plan, interval, claimHash, requestHash, createdAt, expiresAt } = checkout;
  return db.hasRow(
    `insert into accounts.checkouts
       (id, account_id, email, plan, billing_interval, claim_hash, request_hash, created_at, expires_at, check_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $9) on conflict do nothing returning true`,
    {
      bind: [id, accountId, email, plan, interval, claimHash, requestHash, createdAt, expiresAt],
      transaction,
    },
  );
}

/** The open checkout of an account, or null. */
export function selectOpenCheckout(
  db: AccountsDatabase,
  transaction: Transaction | null,
  accountId: string,
): Promise<Checkout | null> {
  return one(db, 'account_id = $1 and closed_at is null', accountId, transaction);
}

/**
 * Frees the Idempotency-Key of a request whose checkout has expired, or was closed without payment: a retry begins a new one. Not within a
 * transaction that has locked an account: others lock a checkout first.
 */
export async function releaseRequest(db: AccountsDatabase, requestHash: string, now: Date): Promise<void> {
  await db.sequelize.query(
    `update accounts.checkouts set request_hash = null
     where request_hash = $1 and (expires_at <= $2 or (closed_at is not null and paid_at is null))`,
    { bind: [requestHash, now] },
  );
}

/** The checkout begun by a request with an Idempotency-Key, or null. */
export function selectCheckoutOfRequest(
  db: AccountsDatabase,
  transaction: Transaction,
  requestHash: string,
): Promise<Checkout | null> {
  return one(db, 'request_hash = $1', requestHash, transaction);
}

export function selectCheckout(
  db: AccountsDatabase,
  transaction: Transaction | null,
  id: string,
): Promise<Checkout | null> {
  return one(db, 'id = $1', id, transaction);
}

/** The checkout whose return page has the token, or null. */
export function selectCheckoutOfClaim(db: AccountsDatabase, claimHash: string): Promise<Checkout | null> {
  return one(db, 'claim_hash = $1', claimHash, null);
}

async function one(
  db: AccountsDatabase,
  where: string,
  value: string,
  transaction: Transaction | null,
): Promise<Checkout | null> {
  return db.readFirst<Checkout>(`select ${columns} from accounts.checkouts where ${where}`, {
    bind: [value],
    transaction,
  });
}

/**
 * Stores the session that Stripe has created; a repeated request creates the same one.
 * @returns false if the checkout was closed meanwhile: its session must then not be paid.
 */
export async function storeSession(
  db: AccountsDatabase,
  { id, sessionId, url, checkAt }: { id: string; sessionId: string; url: string; checkAt: Date },
): Promise<boolean> {
  return db.hasRow(
    `update accounts.checkouts set session_id = $2, url = $3, check_at = $4
     where id = $1 and (session_id is null or session_id = $2) and closed_at is null returning true`,
    { bind: [id, sessionId, url, checkAt] },
  );
}

/** Closes a checkout without a session. If it has got one meanwhile, it stays open. */
export async function closeUnmade(db: AccountsDatabase, id: string, now: Date): Promise<void> {
  await db.sequelize.query(
    `update accounts.checkouts set closed_at = $2, check_at = null
     where id = $1 and closed_at is null and session_id is null`,
    { bind: [id, now] },
  );
}

/** Closes a checkout that was not paid. */
export async function closeCheckout(
  db: AccountsDatabase,
  transaction: Transaction | null,
  id: string,
  now: Date,
): Promise<void> {
  await db.sequelize.query(
    'update accounts.checkouts set closed_at = $2, check_at = null where id = $1 and closed_at is null',
    { bind: [id, now], transaction },
  );
}

/** Records, once, that a checkout was paid, by whom, and whether the payment has created the account. */
export async function notePaid(
  db: AccountsDatabase,
  transaction: Transaction,
  { id, accountId, hasKey, now }: { id: string; accountId: string; hasKey: boolean; now: Date },
): Promise<void> {
  await db.sequelize.query(
    `update accounts.checkouts
     set paid_at = $4, has_key = $3, account_id = $2, closed_at = coalesce(closed_at, $4), check_at = null
     where id = $1 and paid_at is null`,
    { bind: [id, accountId, hasKey, now], transaction },
  );
}

/** Consumes the claim of a checkout. @returns false if it was consumed before. */
export async function spendClaim(
  db: AccountsDatabase,
  transaction: Transaction,
  id: string,
  now: Date,
): Promise<boolean> {
  return db.hasRow(
    `update accounts.checkouts set claimed_at = $2
     where id = $1 and claimed_at is null and has_key returning true`,
    { bind: [id, now], transaction },
  );
}

/** Ends the claims of an account: once the mailbox is proved, the return page gives no access. */
export async function endClaims(
  db: AccountsDatabase,
  transaction: Transaction,
  accountId: string,
  now: Date,
): Promise<void> {
  await db.sequelize.query(
    `update accounts.checkouts set claimed_at = $2 where account_id = $1 and has_key and claimed_at is null`,
    { bind: [accountId, now], transaction },
  );
}

/** Moves the checkouts of one account to another, and ends their claims. */
export async function moveCheckouts(
  db: AccountsDatabase,
  transaction: Transaction,
  { from, to, now }: { from: string; to: string; now: Date },
): Promise<void> {
  await db.sequelize.query(
    `update accounts.checkouts
     set account_id = $2, claimed_at = case when has_key then coalesce(claimed_at, $3) end
     where account_id = $1`,
    { bind: [from, to, now], transaction },
  );
}

/** The checkouts whose session should be checked at Stripe; the next check is at `nextAt`. */
export function claimCheckoutsToCheck(
  db: AccountsDatabase,
  { now, nextAt, most }: { now: Date; nextAt: Date; most: number },
): Promise<Pick<Checkout, 'id' | 'sessionId' | 'expiresAt'>[]> {
  return db.read(
    `update accounts.checkouts set check_at = $2
     where id in (select id from accounts.checkouts where check_at <= $1
                  order by check_at, id limit $3 for no key update skip locked)
     returning id, session_id as "sessionId", expires_at as "expiresAt"`,
    { bind: [now, nextAt, most] },
  );
}
