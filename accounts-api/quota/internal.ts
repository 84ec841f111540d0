// The gateway's own calls: credentials of keys and sessions, quota and the settling of what was served, each a whole batch at once.
// PostgreSQL is the truth: nothing is kept here, so a revoked key or a changed plan is in force on the next call.
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { dateParam } from '../../kernel/http/params.ts';
import { planOf } from '../../kernel/plans.ts';
import { endLease, leaseGeneration } from '../keys/credential-leases.sql.ts';
import type { Deps } from '../database.ts';
import { internalEndpoint } from '../internal-endpoint.ts';
import {
  addUsage,
  chargeQuota,
  insertSettledBatch,
  lockMonths,
  selectCredentials,
  touchKeys,
} from './internal.sql.ts';
import { spentEntry } from './allotments.ts';
import { addSpent } from './allotments.sql.ts';
import { freshMinutes, selectSessions, touchSessions } from '../auth/sessions.sql.ts';
import { addServed } from '../usage/thresholds.ts';

const batchMax = 500;
const settleMax = 10_000;
// How long after a proof by password or Google an operator may manage accounts.

const id = z.string().min(1).max(64);
const count = z.int().min(0).max(1_000_000_000);

const monthField = dateParam.refine((day) => day.endsWith('-01'), 'must be the first day of a month');

const credentialsBody = z.strictObject({
  keys: z.array(z.string().regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of a key, in hex')).max(batchMax),
  sessions: z
    .array(
      z.string().regex(/^sess_[a-z2-7]{16}\.[0-9a-f]{64}$/, 'must be the id and the SHA-256 of a session'),
    )
    .max(batchMax)
    .default([]),
});

const settleBody = z.strictObject({
  batch_id: z.uuid(),
  usage: z
    .array(
      z
        .strictObject({
          account_id: id,
          key_id: id,
          day: dateParam,
          endpoint: z.string().min(1).max(64),
          status_class: z.int().min(1).max(5),
          calls: count,
          billed: count,
        })
        .refine((entry) => entry.billed <= entry.calls, 'must not bill more calls than there were'),
    )
    .max(settleMax),
  // Served during an outage: charged now, even beyond the limit.
  charges: z
    .array(z.strictObject({ account_id: id, month: monthField, calls: count }))
    .max(settleMax)
    .default([]),
  spent: z.array(spentEntry).max(settleMax).default([]),
  last_used: z.array(z.strictObject({ key_id: id, at: z.iso.datetime() })).max(settleMax),
});

/** The account of a credential. `active` is false while the subscription is unpaid. */
const owner = { account_id: z.string(), plan: z.string(), active: z.boolean() };
const keyCredential = z.object({
  ...owner,
  key_id: z.string(),
  /** In ms since 1970; null: never. */
  expires_at: z.int().nullable(),
  /** From now, so that the gateway's clock does not matter; null: never. */
  expires_in_ms: z.int().nullable(),
});
const sessionCredential = z.object({
  ...owner,
  session_id: z.string(),
  /** Whether it is an operator's; `stale`: the last sign-in is too long ago for `/v1/operator/*`. */
  operator: z.enum(['no', 'stale', 'fresh']),
});

/** The owners of the hashes, each list in its order; null if unknown, revoked, expired, or the account is disabled. */
export const findCredentials = internalEndpoint({
  body: credentialsBody,
  answer: z.object({
    credentials: z.array(keyCredential.nullable()),
    sessions: z.array(sessionCredential.nullable()),
  }),
  handler:
    (deps) =>
    async ({ body: { keys, sessions }, call }) => {
      const [credentials, signedIn] = await call.stage('sql', () =>
        Promise.all([credentialsOf(deps, keys), sessionsOf(deps, sessions)]),
      );
      return { credentials, sessions: signedIn };
    },
});

async function credentialsOf(
  deps: Deps,
  keys: readonly string[],
): Promise<(z.output<typeof keyCredential> | null)[]> {
  if (keys.length === 0) return [];
  const now = deps.clock.now();
  const rows = await selectCredentials(deps.db, keys, now);
  const states = rows.map(({ hash, revision, generation, replicationId, expires_at, plan, ...row }) => {
    const credential = {
      ...row,
      plan: planOf(deps.plans, plan).id,
      expires_at: expires_at?.getTime() ?? null,
    };
    const expiresInMs = expires_at === null ? null : expires_at.getTime() - now.getTime();
    return { hash, revision, madeUnder: { generation, replicationId }, credential, expiresInMs };
  });
  const madeUnder = states[0]?.madeUnder;
  if (madeUnder !== undefined) deps.db.credentialCache.fill(madeUnder, states);
  const byHash = new Map(
    states.map(({ hash, credential, expiresInMs }) => [hash, { ...credential, expires_in_ms: expiresInMs }]),
  );
  return keys.map((hash) => byHash.get(hash) ?? null);
}

async function sessionsOf(
  deps: Deps,
  names: readonly string[],
): Promise<(z.output<typeof sessionCredential> | null)[]> {
  if (names.length === 0) return [];
  const now = deps.clock.now();
  const asked = names.map((name) => ({ id: name.slice(0, name.indexOf('.')), hash: name.slice(-64) }));
  const rows = await selectSessions(
    deps.db,
    asked.map(({ id }) => id),
    now,
  );
  const byId = new Map(rows.map((row) => [row.session_id, row]));
  const found = asked.map(({ id, hash }) => {
    const row = byId.get(id);
    return row !== undefined && isSameHash(row.secret_hash, hash) ? row : null;
  });
  const seen = found.filter((row) => row !== null).map((row) => row.session_id);
  await touchSessions(deps.db, seen, now);
  return found.map((row) => {
    if (row === null) return null;
    const { secret_hash: _hash, plan, role, auth_time: authTime, ...credential } = row;
    const isFresh = now.getTime() - authTime.getTime() <= freshMinutes.operator * 60_000;
    const operator =
      role !== 'operator' ? ('no' as const) : isFresh ? ('fresh' as const) : ('stale' as const);
    return { ...credential, plan: planOf(deps.plans, plan).id, operator };
  });
}

function isSameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/** Leases the cached credentials, in Redis or in its process, to a gateway for a while from its request. */
export const leaseCredentialCache = internalEndpoint({
  body: z.strictObject({
    gateway: z.uuid(),
    in: z.enum(['redis', 'process']),
    using: z.int().nullable(),
  }),
  answer: z.object({ generation: z.int() }),
  handler:
    (deps) =>
    async ({ body: { gateway: gatewayId, in: heldIn, using }, call }) => ({
      generation: await call.stage('sql', () =>
        leaseGeneration(deps.db.sequelize, { gatewayId, heldIn, using }),
      ),
    }),
});

/** Ends the lease of a gateway that stops. */
export const endCredentialLease = internalEndpoint({
  body: z.strictObject({ gateway: z.uuid() }),
  answer: z.object({ success: z.literal(true) }),
  handler:
    (deps) =>
    async ({ body: { gateway }, call }) => {
      await call.stage('sql', () => endLease(deps.db.sequelize, gateway));
      return { success: true as const };
    },
});

/** Settles served calls: ledger, allotments and last use. A batch counts once, however often it is sent. */
export const settleBatch = internalEndpoint({
  body: settleBody,
  answer: z.object({ success: z.literal(true) }),
  handler:
    (deps) =>
    async ({ body: batch, call }) => {
      const now = deps.clock.now();
      await call.stage('sql', () =>
        deps.db.inLedgerTransaction(async (transaction) => {
          if (!(await insertSettledBatch(deps.db, transaction, batch.batch_id, now))) return;
          await lockMonths(deps.db, transaction, monthsOf(batch));
          if (batch.usage.length > 0) {
            await addServed(deps, transaction, batch.usage);
            await addUsage(deps.db, transaction, batch.usage);
          }
          if (batch.spent.length > 0) await addSpent(deps.db, transaction, batch.spent);
          if (batch.charges.length > 0) await chargeQuota(deps.db, transaction, batch.charges);
          if (batch.last_used.length > 0) await touchKeys(deps.db, transaction, batch.last_used, now);
        }),
      );
      return { success: true as const };
    },
});

/** The months that settling the batch changes. */
function monthsOf(batch: z.output<typeof settleBody>): { account_id: string; month: string }[] {
  const billed = batch.usage
    .filter((entry) => entry.billed > 0)
    .map(({ account_id, day }) => ({ account_id, month: `${day.slice(0, 7)}-01` }));
  return [...billed, ...batch.spent, ...batch.charges].map(({ account_id, month }) => ({
    account_id,
    month,
  }));
}
