// Creates, lists and ends sessions. A token is shown in one answer: one half names the session; of the other half only the SHA-256 is stored. The
// gateway looks up the session on each call, so an ended one is refused at once.
import { instantText } from '../../kernel/clock.ts';
import { Op, type Transaction } from 'sequelize';
import { z } from 'zod';
import { audit } from '../audit.ts';
import { entryAt, memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { listParams } from '../../kernel/http/list.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { mintSessionToken } from '../../kernel/credentials/session-token.ts';
import type { SignedIn } from '../requester.ts';
import type { Deps } from '../database.ts';
import { endpoint } from '../endpoint.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { inMemory, page } from '../../kernel/http/pages.ts';
import type { Account } from '../models/account.ts';
import { absoluteDays, freshMinutes, idleHours, sessionsMax } from './session-limits.ts';
import { endOldestSessions, endSessionsOf } from './sessions.sql.ts';
import { hasPasskey } from './passkeys.sql.ts';
import { hasSecondFactor } from './second-factor.sql.ts';
import type { ClientInfo } from './client-info.ts';

/** The answer to a sign-in; the token is shown once. */
export const sessionAnswer = z.object({
  session_token: z.string().describe('Send it in `X-Session-Token`.'),
  expires_at: z.iso.datetime().describe(`The session ends earlier after ${idleHours} hours without a call.`),
});
export type SessionAnswer = z.output<typeof sessionAnswer>;

/** The same, after a sign-in with a password. */
export const deviceAnswer = z.object({
  device_token: z.string().describe('Send it with the next sign-in from this device.'),
});

/** The answer to a sign-in by password or by a mailed link. */
export const signedInAnswer = sessionAnswer.extend(deviceAnswer.shape);
export type SignedInAnswer = z.output<typeof signedInAnswer>;

/**
 * Signs an account in, within a transaction. @param how for the audit log. @param factor the second factor.
 * @param authTime when all factors of the account were last proved: now, unless a session is replaced after fewer factors were proved.
 * @param twoFactors whether two were proved, by a passkey or a second factor; a replaced session passes its own value on.
 */
export async function openSession(
  deps: Deps,
  transaction: Transaction,
  accountId: string,
  {
    clientInfo,
    how,
    factor,
    authTime,
    twoFactors,
  }: {
    clientInfo: ClientInfo;
    how: 'password' | 'google' | 'mailed_link' | 'sign_up' | 'passkey';
    factor?: 'totp' | 'recovery_code';
    authTime?: Date;
    twoFactors?: boolean;
  },
): Promise<SessionAnswer> {
  const now = deps.clock.now();
  const { token, id, secretHash } = mintSessionToken();
  const idleExpiresAt = new Date(now.getTime() + idleHours * 60 * 60_000);
  const absoluteExpiresAt = new Date(now.getTime() + absoluteDays * 24 * 60 * 60_000);
  const proved = {
    authTime: authTime ?? now,
    twoFactors: twoFactors ?? (how === 'passkey' || factor !== undefined),
  };
  const times = { createdAt: now, lastSeenAt: now, ...proved, idleExpiresAt, absoluteExpiresAt };
  await deps.db.sessions.create({ id, accountId, secretHash, ...times, ...clientInfo }, { transaction });
  await endOldestSessions(deps.db, transaction, { accountId, id }, sessionsMax);
  await audit(deps, transaction, {
    accountId,
    actor: { actorKind: 'session', actorId: id },
    action: 'session.created',
    subject: id,
    detail: {
      how,
      ...(factor === undefined ? {} : { second_factor: factor }),
      ip: clientInfo.ip,
      user_agent: clientInfo.userAgent,
    },
  });
  return { session_token: token, expires_at: instantText(absoluteExpiresAt) };
}

/** Ends the session that a sign-in presents if it belongs to the account: the new session has a new token. */
export async function endPresented(
  { db }: Deps,
  transaction: Transaction,
  accountId: string,
  { identity }: ServiceCall,
): Promise<void> {
  if (identity.sessionId === null || identity.accountId !== accountId) return;
  await db.sessions.destroy({ where: { accountId, id: identity.sessionId }, transaction });
}

/**
 * The proof of identity of a session that replaces the caller's after a password or a mailed link alone. For an account with a second factor, and for
 * a session opened by a passkey, it stays that of the old session; otherwise a stolen session and a password would yield a fresh session.
 * @returns options for `openSession`; empty if the password is the only factor. @throws Failure `unauthorized` if the session has ended meanwhile.
 */
export async function proofOf(
  { db }: Deps,
  transaction: Transaction,
  { accountId, sessionId }: { accountId: string; sessionId: string },
): Promise<{ authTime?: Date; twoFactors?: boolean }> {
  const session = await db.sessions.findOne({ where: { id: sessionId, accountId }, transaction });
  if (session === null) fail('unauthorized', 'The session has ended. Sign in again.');
  const { authTime, twoFactors } = session;
  return twoFactors || (await hasSecondFactor(db, transaction, accountId)) ? { authTime, twoFactors } : {};
}

/** Records that a second factor was proved in a session, besides the factor that opened it. The session becomes no fresher. */
export async function noteTwoFactors(
  { db }: Deps,
  transaction: Transaction,
  { accountId, sessionId }: SignedIn,
): Promise<void> {
  await db.sessions.update({ twoFactors: true }, { where: { id: sessionId, accountId }, transaction });
}

/** The earliest proof of identity that counts as fresh for an account. */
export function freshSince({ clock }: Deps, { role }: Pick<Account, 'role'>): Date {
  const minutes = role === 'operator' ? freshMinutes.operator : freshMinutes.holder;
  return new Date(clock.now().getTime() - minutes * 60_000);
}

/**
 * @throws Failure `reauthentication_required` if the session's last proof is more than an hour old, or 15 minutes for an operator's; for an operator
 * also if it was made without the second factor that the account has.
 */
export async function requireFresh(
  deps: Deps,
  { sessionId }: SignedIn,
  account: Pick<Account, 'id' | 'role'>,
): Promise<void> {
  const session = await deps.db.sessions.findByPk(sessionId);
  const isRecent = session !== null && session.authTime >= freshSince(deps, account);
  if (account.role !== 'operator') {
    if (isRecent) return;
    fail('reauthentication_required', 'You signed in more than an hour ago. Sign in again to do this.');
  }
  const { db } = deps;
  const hasMore = (await hasSecondFactor(db, null, account.id)) || (await hasPasskey(db, null, account.id));
  if (isRecent && (session.twoFactors || !hasMore)) return;
  fail(
    'reauthentication_required',
    'You signed in more than 15 minutes ago, or without the second factor of the account. Sign in again to do this, with a passkey or a code if you have one.',
  );
}

/**
 * Refuses to add a way to sign in to an operator's account from a session alone, however fresh: otherwise a stolen session would give lasting access.
 * @throws Failure `forbidden` for an operator's account. @param instead what the holder can do.
 */
export function refuseOperator({ role }: Pick<Account, 'role'>, instead: string): void {
  if (role !== 'operator') return;
  fail('forbidden', `A session alone cannot add a sign-in method to the account of an operator. ${instead}`);
}

export const logOut = endpoint({
  summary: 'Ends the session.',
  requester: 'signed_in',
  answers: { 204: null },
  headers: ['Clear-Site-Data'],
  handler: async (deps, { requester }) => {
    await endSession(deps, requester, requester.sessionId);
    // Clears the data that the browser has stored for the account.
    return { status: 204, headers: { 'clear-site-data': '"cache", "storage"' } };
  },
});

const sessionSchema = z.object({
  id: z.string(),
  current: z.boolean().describe('Whether it is the session of this request.'),
  created_at: z.iso.datetime(),
  last_seen_at: z.iso.datetime().describe('Accurate to five minutes.'),
  expires_at: z.iso.datetime().describe('If no further call is made.'),
  ip: z.string().describe('The client IP at sign-in.'),
  user_agent: z.string(),
});

export const listSessions = endpoint({
  summary: 'The sessions of the account.',
  requester: 'signed_in',
  query: listParams({
    fields: sessionSchema.keyof().options,
    sorts: ['last_seen_at', 'created_at'],
    sort: '-last_seen_at',
  }),
  rows: sessionSchema,
  handler: async ({ db, clock, cursors }, { requester: { accountId, sessionId }, query }) => {
    const ahead = { [Op.gt]: clock.now() };
    const found = await db.sessions.findAll({
      where: { accountId, idleExpiresAt: ahead, absoluteExpiresAt: ahead },
    });
    const rows = found.map((session) => ({
      id: session.id,
      current: session.id === sessionId,
      created_at: instantText(session.createdAt),
      last_seen_at: instantText(session.lastSeenAt),
      expires_at: instantText(earlier(session.idleExpiresAt, session.absoluteExpiresAt)),
      ip: session.ip,
      user_agent: session.userAgent,
    }));
    const { sort } = query;
    return page(cursors, {
      query,
      of: ['sessions', accountId],
      // Sorted by the stored instants, which are more precise than those in answers.
      read: inMemory(rows, sort, ({ id }, position) => {
        const { createdAt, lastSeenAt } = entryAt(found, position);
        const made = createdAt.getTime();
        return sort.endsWith('created_at') ? [made, id] : [lastSeenAt.getTime(), made, id];
      }),
      fileName: 'sessions',
    });
  },
});

export const deleteOneSession = endpoint({
  summary: 'Ends a session of the account.',
  params: { id: z.string().describe('An id of `/auth/sessions`.') },
  requester: 'signed_in',
  answers: { 204: null },
  errors: ['not_found'],
  handler: async (deps, { requester, params }) => {
    const ended = await endSession(deps, requester, memberOf(params, 'id'));
    if (!ended) fail('not_found', 'The account has no session with this id.');
    return { status: 204 };
  },
});

export const deleteOtherSessions = endpoint({
  summary: 'Ends all sessions of the account except the current one.',
  requester: 'signed_in',
  answers: { 200: z.object({ ended: z.int().describe('The number of sessions ended.') }) },
  handler: async (deps, { requester: { accountId, sessionId, actor } }) => {
    const ended = await deps.db.inLedgerTransaction(async (transaction) => {
      const count = await endSessionsOf(deps.db, transaction, accountId, sessionId);
      await audit(deps, transaction, {
        accountId,
        actor,
        action: 'session.ended',
        detail: { others: count },
      });
      return count;
    });
    return one({ ended });
  },
});

/** Ends a session of the caller's account. @returns false if the account has no session with this id. */
async function endSession(deps: Deps, { accountId, actor }: SignedIn, id: string): Promise<boolean> {
  return deps.db.inLedgerTransaction(async (transaction) => {
    const ended = await deps.db.sessions.destroy({ where: { accountId, id }, transaction });
    if (ended === 0) return false;
    await audit(deps, transaction, { accountId, actor, action: 'session.ended', subject: id });
    return true;
  });
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
