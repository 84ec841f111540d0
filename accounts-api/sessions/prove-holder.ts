// The proof that a signed-in caller is the holder of the account: the password, or a recent sign-in.
import { fail, refuseField } from '../../kernel/errors.ts';
import type { ServiceDeps } from '../deps.ts';
import type { Account } from '../models/account.ts';
import type { SignedIn } from '../requester.ts';
import { refuseOperator, requireFresh } from '../sessions/sessions.ts';

/**
 * Checks the password of an account, or for an account without one, that the sign-in is recent. @param to the purpose, for the message.
 * @throws Failure `invalid_body` without the password, `invalid_credentials`, `rate_limited`; for an account without a password
 * `reauthentication_required`, or `forbidden` for an operator's.
 */
export async function proveHolder(
  deps: ServiceDeps,
  account: Account,
  { caller, password, to }: { caller: SignedIn; password: string | undefined; to: string },
): Promise<void> {
  if (account.passwordHash === null) {
    refuseOperator(account, 'Set a password first: POST /auth/forgot-password e-mails a link.');
    return requireFresh(deps, caller, account);
  }
  if (password === undefined) refuseField('password', `"password" is required to ${to}.`);
  const { passwordHash } = account;
  const matches = () => deps.passwords.matches(passwordHash, password);
  if (await deps.throttle.signIn({ sessionOf: account }, matches)) return;
  failPassword();
}

/** @throws Failure `invalid_credentials`. */
export function failPassword(): never {
  fail('invalid_credentials', 'Incorrect password.', { param: 'password' });
}
