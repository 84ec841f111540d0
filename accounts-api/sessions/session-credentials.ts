// Looks up sessions for the gateway. PostgreSQL is asked on each call, so that an ended session is refused at once.
import { timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { planOf } from '../../kernel/plans.ts';
import type { ServiceDeps } from '../deps.ts';
import { internalEndpoint } from '../internal-endpoint.ts';
import { freshMinutes } from './session-limits.ts';
import { selectSessions, touchSessions, type SessionCredentialRow } from './sessions.sql.ts';

const sessionsMax = 500;

const sessionCredential = z.object({
  account_id: z.string(),
  plan: z.string(),
  /** False while the subscription is unpaid. */
  active: z.boolean(),
  session_id: z.string(),
  /**
   * Whether the session is an operator's. `stale`: the last sign-in is too old for `/v1/operator/*`, or was made without the second factor that the
   * account has; `unenrolled`: the account has no second factor, which is required here.
   */
  operator: z.enum(['no', 'unenrolled', 'stale', 'fresh']),
});

/** The owners of sessions, in their order; null if unknown, ended, or the account is disabled. */
export const findSessions = internalEndpoint({
  body: z.strictObject({
    sessions: z
      .array(
        z.string().regex(/^sess_[a-z2-7]{16}\.[0-9a-f]{64}$/, 'must be the id and the SHA-256 of a session'),
      )
      .max(sessionsMax),
  }),
  answer: z.object({ sessions: z.array(sessionCredential.nullable()) }),
  handler: async (deps, { body: { sessions }, call }) => ({
    sessions: await call.stage('sql', () => sessionsOf(deps, sessions)),
  }),
});

async function sessionsOf(
  deps: ServiceDeps,
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
    const { session_id, account_id, active, plan } = row;
    const operator = operatorOf(deps, row, now);
    return { session_id, account_id, active, plan: planOf(deps.plans, plan).id, operator };
  });
}

function operatorOf(
  { settings }: ServiceDeps,
  {
    role,
    auth_time: authTime,
    has_second_factor: hasSecondFactor,
    two_factors: twoFactors,
  }: SessionCredentialRow,
  now: Date,
): z.output<typeof sessionCredential>['operator'] {
  if (role !== 'operator') return 'no';
  if (settings.operatorSecondFactor === 'required' && !hasSecondFactor) return 'unenrolled';
  if (hasSecondFactor && !twoFactors) return 'stale';
  return now.getTime() - authTime.getTime() <= freshMinutes.operator * 60_000 ? 'fresh' : 'stale';
}

function isSameHash(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}
