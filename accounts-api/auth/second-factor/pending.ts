// The second step of a sign-in. For an account with a second factor, the first step creates a pending sign-in instead of a session. It grants no
// access, lasts five minutes, becomes invalid with the credentials that it was made with, and can be exchanged for a session once, with a code.
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { instantText } from '../../../kernel/clock.ts';
import { sha256 } from '../../../kernel/credentials/sha256.ts';
import { fail } from '../../../kernel/errors.ts';
import { one } from '../../../kernel/http/service-endpoint.ts';
import { lockAccountIfUnchanged } from '../../models/find-account.ts';
import type { ServiceDeps } from '../../deps.ts';
import { endpoint } from '../../endpoint.ts';
import type { Account } from '../../models/account.ts';
import { clientInfoOf, type ClientInfo } from '../../sessions/client-info.ts';
import { endPresented, openSession, signedInAnswer, type SessionAnswer } from '../../sessions/sessions.ts';
import { acceptCode, codeField } from './codes.ts';
import { insertPending, selectPending, consumePending, type FirstStep } from '../../sessions/pending.sql.ts';
import { hasSecondFactor } from '../../sessions/second-factor.sql.ts';

const pendingLastsMs = 5 * 60_000;

/** The answer to the first step of a sign-in for an account with a second factor. */
export const secondStepAnswer = z
  .object({
    sign_in_token: z
      .string()
      .describe('Send it with a code to `POST /auth/login/second-factor`. It is not a session.'),
    expires_at: z.iso.datetime().describe('Five minutes after the first step.'),
  })
  .describe('The account has a second factor: a code is needed.');
export type SecondStepAnswer = z.output<typeof secondStepAnswer>;

/**
 * Opens a session after the first step, or begins the second step. The transaction has locked the account.
 * @param knownDevice whether the first step came from a device that has signed in before.
 */
export async function finishFirstStep(
  deps: ServiceDeps,
  transaction: Transaction,
  account: Pick<Account, 'id' | 'credentialVersion'>,
  { clientInfo, how, knownDevice }: { clientInfo: ClientInfo; how: FirstStep; knownDevice: boolean },
): Promise<SessionAnswer | SecondStepAnswer> {
  const { id, credentialVersion: credential_version } = account;
  if (!(await hasSecondFactor(deps.db, transaction, id)))
    return openSession(deps, transaction, id, { clientInfo, how });
  const token = randomBytes(32).toString('base64url');
  const now = deps.clock.now();
  const expiresAt = new Date(now.getTime() + pendingLastsMs);
  const pending = { account_id: id, credential_version, how, known_device: knownDevice };
  await insertPending(deps.db, transaction, { ...pending, hash: sha256(token), now, expiresAt });
  return { sign_in_token: token, expires_at: instantText(expiresAt) };
}

/** The reply to a first step: 202 if a code is still needed. @param more what a completed sign-in also returns. */
export function firstStepReply(
  result: SessionAnswer | SecondStepAnswer,
  more: object = {},
  headers: Readonly<Record<string, string>> = {},
) {
  return 'sign_in_token' in result
    ? one(result, { status: 202, headers })
    : one({ ...result, ...more }, { headers });
}

export const finishSignIn = endpoint({
  summary: 'Completes a sign-in with a code of the authenticator app, or with a recovery code.',
  requester: 'anyone',
  body: z.strictObject({
    sign_in_token: z
      .string()
      .regex(/^[A-Za-z0-9_-]{43}$/, 'must be the token of the first step')
      .describe('From the first step.'),
    code: codeField,
  }),
  answers: { 200: signedInAnswer },
  errors: ['invalid_credentials', 'gone', 'rate_limited', 'unavailable'],
  handler: async (deps, { body: { sign_in_token: token, code }, call, request }) => {
    const clientInfo = clientInfoOf(request);
    const { ip } = clientInfo;
    const hash = sha256(token);
    const pending = await selectPending(deps.db, hash, deps.clock.now());
    const account = pending && (await deps.db.accounts.findByPk(pending.account_id));
    if (account?.credentialVersion !== pending?.credential_version) failEnded();
    if (account === null || pending === null || account.status === 'disabled') failEnded();
    const attempt = { codeOf: account, ip: pending.known_device ? null : ip };
    let session: SessionAnswer | null = null;
    const isRight = await deps.throttle.signIn(attempt, async () => {
      session = await deps.db.inLedgerTransaction(async (transaction) => {
        if (!(await lockAccountIfUnchanged(deps, transaction, account))) failEnded();
        const actor = { actorKind: 'visitor', actorId: null } as const;
        const factor = await acceptCode(deps, transaction, account, { code, actor, ip });
        if (factor === null) return null;
        if (!(await consumePending(deps.db, transaction, hash))) failEnded();
        await endPresented(deps, transaction, account.id, call);
        return openSession(deps, transaction, account.id, { clientInfo, how: pending.how, factor });
      });
      return session !== null;
    });
    if (!isRight || session === null) {
      const event = { event: 'second_step_refused', account_id: account.id, ip };
      deps.log.info(event, 'a code was refused');
      fail('invalid_credentials', 'Incorrect code, or one that was used before.', { param: 'code' });
    }
    return one({ ...(session as SessionAnswer), device_token: deps.throttle.deviceToken(account) });
  },
});

function failEnded(): never {
  fail('gone', 'This sign-in was already finished or took too long. Sign in again.');
}
