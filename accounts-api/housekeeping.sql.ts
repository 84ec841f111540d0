// Deletes rows that have expired and can no longer be used.
import type { AccountsDatabase } from './database.ts';
import { forgetChanges } from './heartbeat/changes.sql.ts';

/**
 * Deletes settled batches after a week, answers to Idempotency-Keys after a day, and everything expired: sessions, sign-ups, mailed links, Google
 * flows, pending sign-ins, challenges of passkeys. Handled Stripe events and closed checkouts are deleted after 30 days. Changes that gateways have
 * seen are deleted by PostgreSQL's clock.
 */
export async function prune(db: AccountsDatabase, now: Date): Promise<void> {
  await db.sequelize.query(
    `with batch as (delete from accounts.settled_batches where at < $1::timestamptz - interval '7 days'),
          session as (delete from accounts.sessions where idle_expires_at <= $1 or absolute_expires_at <= $1),
          link as (delete from accounts.mail_tokens where expires_at <= $1),
          flow as (delete from accounts.google_flows where expires_at <= $1),
          pending as (delete from accounts.pending_sign_ins where expires_at <= $1),
          challenge as (delete from accounts.passkey_challenges where expires_at <= $1),
          signup as (delete from accounts.signups where expires_at <= $1),
          inbox as (delete from accounts.stripe_events where handled_at < $1::timestamptz - interval '30 days'),
          checkout as (delete from accounts.checkouts where closed_at < $1::timestamptz - interval '30 days')
     delete from accounts.idempotency_keys where claimed_at < $1::timestamptz - interval '1 day'`,
    { bind: [now] },
  );
  await forgetChanges(db.sequelize);
}
