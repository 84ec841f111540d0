// The proof required to change how an account is signed in to: the password, and a code if there is an authenticator app. So no change bypasses a
// factor.
import type { Transaction } from 'sequelize';
import { fail, refuseField } from '../../../kernel/errors.ts';
import { lockAccountIfUnchanged } from '../../models/find-account.ts';
import { proveHolder } from '../../sessions/prove-holder.ts';
import type { ServiceDeps } from '../../deps.ts';
import { passwordField } from '../../fields.ts';
import type { Account } from '../../models/account.ts';
import type { SignedIn } from '../../requester.ts';
import { hasPasskey } from '../../sessions/passkeys.sql.ts';
import { requireFresh } from '../../sessions/sessions.ts';
import { acceptCode } from './codes.ts';
import { hasSecondFactor } from '../../sessions/second-factor.sql.ts';

export const currentPassword = passwordField
  .optional()
  .describe('The current one, if the account has a password. Otherwise the sign-in must be recent.');

/** The errors of a change that requires this proof. */
export const proofErrors = [
  'forbidden',
  'invalid_credentials',
  'reauthentication_required',
  'conflict',
  'rate_limited',
  'unavailable',
] as const;

export interface Proof {
  requester: SignedIn;
  password?: string | undefined;
  /** Required if the account has an app. */
  code?: string | undefined;
  ip: string;
  /** The purpose, for messages. */
  to: string;
}

/**
 * Checks the password. An operator with a passkey must also have signed in with it recently; otherwise the password alone could add another way to
 * sign in.
 * @throws Failure as `proofErrors` lists.
 */
export async function proveSession(
  deps: ServiceDeps,
  account: Account,
  { requester, password, to }: Pick<Proof, 'requester' | 'password' | 'to'>,
): Promise<void> {
  await proveHolder(deps, account, { caller: requester, password, to });
  if (account.role === 'operator' && (await hasPasskey(deps.db, null, account.id)))
    await requireFresh(deps, requester, account);
}

/** Runs work after all factors of the account are proved. The transaction has locked the account. @throws Failure as `proofErrors` lists. */
export async function byAllFactors<T>(
  deps: ServiceDeps,
  account: Account,
  proof: Proof,
  work: (transaction: Transaction) => Promise<T>,
): Promise<T> {
  const { requester, code, ip, to } = proof;
  const hasApp = await hasSecondFactor(deps.db, null, account.id);
  if (hasApp && code === undefined) refuseField('code', `"code" is required to ${to}.`);
  await proveSession(deps, account, proof);
  if (code === undefined || !hasApp)
    return deps.db.inLedgerTransaction(async (transaction) => {
      await lockAccountOrFail(deps, transaction, account);
      return work(transaction);
    });
  const { actor } = requester;
  return byCode(deps, account, async (transaction) => {
    const factor = await acceptCode(deps, transaction, account, { code, actor, ip });
    return factor === null ? null : { done: await work(transaction) };
  }).then(({ done }) => done);
}

/**
 * Runs work that checks a code, throttled like any attempt at a code. @param work returns null if the code was wrong.
 * @throws Failure `invalid_credentials`, `rate_limited`.
 */
export async function byCode<T extends object>(
  deps: ServiceDeps,
  account: Account,
  work: (transaction: Transaction) => Promise<T | null>,
): Promise<T> {
  let result: T | null = null;
  await deps.throttle.signIn({ codeOf: account, ip: null }, async () => {
    result = await deps.db.inLedgerTransaction(async (transaction) => {
      await lockAccountOrFail(deps, transaction, account);
      return work(transaction);
    });
    return result !== null;
  });
  return (
    result ?? fail('invalid_credentials', 'Incorrect code, or one that was used before.', { param: 'code' })
  );
}

/** Locks an account. @throws Failure `conflict` if it has changed since it was read. */
export async function lockAccountOrFail(
  deps: ServiceDeps,
  transaction: Transaction,
  account: Account,
): Promise<void> {
  if (await lockAccountIfUnchanged(deps, transaction, account)) return;
  fail('conflict', 'The account has just been changed elsewhere. Reload it and try again.');
}
