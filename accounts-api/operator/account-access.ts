// The operator's commands for access to an account: set its password, mail a reset link, remove its second factor, disable and enable it, make it an
// operator's. The same rules as for its holder apply; every change writes an audit row.
import type { Transaction } from 'sequelize';
import { audit } from '../audit.ts';
import type { Deps } from '../database.ts';
import { accountRecord, type AccountRecord } from '../account/account.ts';
import { failIfTaken, lockAccountIfUnchanged } from '../models/find-account.ts';
import { fail } from '../../kernel/errors.ts';
import { notify, type Jobs } from '../jobs/jobs.ts';
import type { Account } from '../models/account.ts';
import type { Actor } from '../models/audit-event.ts';
import { findAccountByRef, operator } from './operator.ts';
import { replacePassword } from '../auth/password-change.ts';
import { requireGoodPassword } from '../auth/password-rules.ts';
import { createPasswords } from '../auth/passwords.ts';
import { deletePasskeys } from '../sessions/passkeys.sql.ts';
import { deleteAuthenticator } from '../sessions/second-factor.sql.ts';
import { endSessionsOf } from '../sessions/sessions.sql.ts';

/**
 * Sets the password of an account. Its sessions end, mailed links become invalid, and its holder is notified by e-mail.
 * @throws Failure `not_found`, `invalid_body` for a password that is short or common, `conflict` if it changes concurrently.
 */
export async function setPassword(
  deps: Deps & { jobs: Jobs },
  accountRef: string,
  { password, lengthMin }: { password: string; lengthMin: number },
): Promise<AccountRecord> {
  const account = await findAccountByRef(deps, accountRef);
  requireGoodPassword(password, { field: 'password', lengthMin, context: [account.email, account.name] });
  const passwordHash = await createPasswords().hash(password);
  await deps.db
    .inLedgerTransaction(async (transaction) => {
      if (!(await lockAccountIfUnchanged(deps, transaction, account))) failChanged();
      // The operator confirms the e-mail address that a payer has typed.
      if (!account.emailSignsIn) await account.update({ emailSignsIn: true }, { transaction });
      await replacePassword(deps, transaction, account, { passwordHash, actor: operator });
    })
    .catch(
      failIfTaken(
        'Another account signs in with this e-mail address. Its holder can move the purchase into that account.',
      ),
    );
  return accountRecord(deps, account);
}

/** E-mails a link for a new password, as the holder could request. @throws Failure `not_found`, `conflict` for a disabled account. */
export async function sendReset(deps: Deps & { jobs: Jobs }, accountRef: string): Promise<AccountRecord> {
  const account = await findAccountByRef(deps, accountRef);
  if (account.status === 'disabled') fail('conflict', 'The account is disabled: enable it first.');
  const { id: accountId, email, emailSignsIn, plan } = account;
  await deps.db.inLedgerTransaction((transaction) =>
    deps.jobs.enqueue(
      transaction,
      // The mailbox of a purchase may also be another account's, which would receive a link sent by address.
      emailSignsIn ? { mail: 'reset_password', email } : { mail: 'purchase', accountId, plan },
    ),
  );
  return accountRecord(deps, account);
}

/**
 * Disables an account, or enables it again. While it is disabled, its keys are refused and sign-in is impossible. Its sessions and mailed links end
 * permanently; its keys work again afterwards. Setting the same status changes nothing.
 * @throws Failure `not_found`, `conflict` if it changes concurrently.
 */
export async function setStatus(
  deps: Deps,
  accountRef: string,
  status: Account['status'],
): Promise<AccountRecord> {
  const account = await findAccountByRef(deps, accountRef);
  if (account.status === status) return accountRecord(deps, account);
  await deps.db.inTransaction(async (transaction) => {
    if (!(await lockAccountIfUnchanged(deps, transaction, account))) failChanged();
    await setStatusWithin(deps, transaction, account, { status, actor: operator });
  });
  return accountRecord(deps, account);
}

/** The same for an account that the transaction has locked. */
export async function setStatusWithin(
  deps: Deps,
  transaction: Transaction,
  account: Account,
  { status, actor }: { status: Account['status']; actor: Actor },
): Promise<void> {
  if (account.status === status) return;
  const credentialVersion = account.credentialVersion + 1;
  await account.update({ status, credentialVersion }, { transaction });
  await endSessionsOf(deps.db, transaction, account.id, null);
  const action = status === 'disabled' ? 'account.disabled' : 'account.enabled';
  await audit(deps, transaction, { accountId: account.id, actor, action });
}

/**
 * Makes an account an operator's, or an ordinary one again. This applies to the next request, as sessions are looked up on each. Mailed links and
 * Google flows that have begun end. Setting the same role changes nothing.
 * @throws Failure `not_found`, `conflict` for an account whose ownership nobody has proved.
 */
export async function setRole(deps: Deps, accountRef: string, role: Account['role']): Promise<AccountRecord> {
  const account = await findAccountByRef(deps, accountRef);
  await deps.db.inTransaction(async (transaction) => {
    const lock = transaction.LOCK.NO_KEY_UPDATE;
    await account.reload({ transaction, lock });
    const { id: accountId, role: before } = account;
    if (before === role) return;
    if (!account.emailSignsIn)
      fail('conflict', 'The account was created by a payment, and nobody has proved its e-mail address yet.');
    // Processes begun with fewer checks than an operator needs, such as a link to another e-mail address, end here.
    await account.update({ role, credentialVersion: account.credentialVersion + 1 }, { transaction });
    const detail = { before, role };
    await audit(deps, transaction, { accountId, actor: operator, action: 'account.role_changed', detail });
  });
  return accountRecord(deps, account);
}

/**
 * Removes the second factor and the passkeys of an account whose holder has lost them and the recovery codes; the holder is notified by e-mail. Its
 * sessions continue. Nothing changes for an account without any. @throws Failure `not_found`.
 */
export async function removeSecondFactor(
  deps: Deps & { jobs: Jobs },
  accountRef: string,
): Promise<AccountRecord> {
  const account = await findAccountByRef(deps, accountRef);
  await deps.db.inLedgerTransaction(async (transaction) => {
    const lock = transaction.LOCK.NO_KEY_UPDATE;
    await account.reload({ transaction, lock });
    const { id: accountId, email } = account;
    for (const { id: subject, name } of await deletePasskeys(deps.db, transaction, { accountId })) {
      const removed = { action: 'passkey.removed', subject, detail: { name } } as const;
      await audit(deps, transaction, { accountId, actor: operator, ...removed });
      await notify(deps, transaction, 'passkey_removed', email);
    }
    if (!(await deleteAuthenticator(deps.db, transaction, accountId))) return;
    await audit(deps, transaction, { accountId, actor: operator, action: 'totp.removed' });
    await notify(deps, transaction, 'totp_removed', email);
  });
  return accountRecord(deps, account);
}

function failChanged(): never {
  fail('conflict', 'The account has just been changed elsewhere. Look at it again, then repeat the command.');
}
