// Sessions: made at each sign-in, listed, ended. A token leaves in one answer; half of it names the session, of the other
// half only the SHA-256 is kept. The gateway asks for the session on each call, so one that has ended is out at once.
import type { Transaction } from 'sequelize';
import { audit } from '../audit.ts';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { parseQuery } from '../../kernel/http/params.ts';
import { mintSessionToken } from '../../kernel/credentials/session-token.ts';
import { signedInOf, type SignedIn } from '../requester.ts';
import type { Deps } from '../database.ts';
import { sendList, sendOne } from '../envelope.ts';
import { noParameters } from '../fields.ts';
import {
  deleteSession,
  endSessionsOf,
  insertSession,
  selectAuthTime,
  selectSessionsOf,
} from './sessions.sql.ts';
import type { ClientInfo } from '../client-info.ts';

// An account's twenty-first session ends the one that was used least recently.
const sessionsMax = 20;
// How long after a password or Google has proved who it is the dangerous things can be done.
const freshMs = 60 * 60_000;

/** What whoever signed in is given, once. */
export interface SessionAnswer {
  session_token: string;
  /** ISO instant; earlier after 24 hours without a call. */
  expires_at: string;
}

/** Signs an account in, in a transaction that is under way. @param how for the audit. */
export async function openSession(
  deps: Deps,
  transaction: Transaction,
  accountId: string,
  { clientInfo, how }: { clientInfo: ClientInfo; how: 'password' | 'google' | 'mailed_link' | 'sign_up' },
): Promise<SessionAnswer> {
  const now = deps.clock.now();
  const { token, id, secretHash } = mintSessionToken();
  const session = { id, accountId, secretHash, now, ...clientInfo };
  const { absolute_expires_at } = await insertSession(deps.db, transaction, session, sessionsMax);
  await audit(deps, transaction, {
    accountId,
    actor: { actorKind: 'session', actorId: id },
    action: 'session.created',
    subject: id,
    detail: { how, ip: clientInfo.ip, user_agent: clientInfo.userAgent },
  });
  return { session_token: token, expires_at: absolute_expires_at.toISOString() };
}

/** @throws Failure `reauthentication_required` where the session's last proof is more than an hour old. */
export async function requireFresh(deps: Deps, { sessionId }: SignedIn): Promise<void> {
  const authTime = await selectAuthTime(deps.db, sessionId);
  if (authTime !== null && deps.clock.now().getTime() - authTime.getTime() <= freshMs) return;
  fail('reauthentication_required', 'You signed in more than an hour ago: for this, sign in again.');
}

/** POST /auth/logout → 204. */
export function logOut(deps: Deps): Handler {
  return async (request, response, call) => {
    const caller = signedInOf(call);
    parseQuery(noParameters, request.url);
    await endSession(deps, caller, caller.sessionId);
    // What the browser kept of the account goes with the session.
    response.set('clear-site-data', '"cache", "storage"').set('cache-control', 'no-store').status(204).end();
  };
}

/** GET /auth/sessions: the last used first. */
export function listSessions(deps: Deps): Handler {
  return async (request, response, call) => {
    const { accountId, sessionId } = signedInOf(call);
    parseQuery(noParameters, request.url);
    const rows = await selectSessionsOf(deps.db, accountId, deps.clock.now());
    const records = rows.map(({ id, ip, user_agent, ...row }) => ({
      id,
      current: id === sessionId,
      created_at: row.created_at.toISOString(),
      last_seen_at: row.last_seen_at.toISOString(),
      expires_at: earlier(row.idle_expires_at, row.absolute_expires_at).toISOString(),
      ip,
      user_agent,
    }));
    sendList(response, records, null);
  };
}

/** DELETE /auth/sessions/{id} → 204. */
export function deleteOneSession(deps: Deps): Handler {
  return async (request, response, call) => {
    const caller = signedInOf(call);
    parseQuery(noParameters, request.url);
    const ended = await endSession(deps, caller, String(request.params['id']));
    if (!ended) fail('not_found', 'The account has no session of that id.');
    response.set('cache-control', 'no-store').status(204).end();
  };
}

/** DELETE /auth/sessions: ends all but the one that asks, and says how many that were. */
export function deleteOtherSessions(deps: Deps): Handler {
  return async (request, response, call) => {
    const { accountId, sessionId, actor } = signedInOf(call);
    parseQuery(noParameters, request.url);
    const ended = await deps.db.inTransaction(async (transaction) => {
      const count = await endSessionsOf(deps.db, transaction, accountId, sessionId);
      await audit(deps, transaction, {
        accountId,
        actor,
        action: 'session.ended',
        detail: { others: count },
      });
      return count;
    });
    sendOne(response, 200, { ended });
  };
}

/** Ends a session of the caller's account. @returns false where there is none of that id. */
async function endSession(deps: Deps, { accountId, actor }: SignedIn, id: string): Promise<boolean> {
  return deps.db.inTransaction(async (transaction) => {
    const ended = await deleteSession(deps.db, transaction, accountId, id);
    if (!ended) return false;
    await audit(deps, transaction, { accountId, actor, action: 'session.ended', subject: id });
    return true;
  });
}

function earlier(a: Date, b: Date): Date {
  return a < b ? a : b;
}
