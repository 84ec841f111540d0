// Finds or creates the account of a Google identity. The identity is (issuer, subject). An e-mail address alone signs in only if Google operates the
// mailbox and the account has proved the same address. Anyone refused here can still sign in with the password.
import type { Transaction } from 'sequelize';
import { audit } from '../audit.ts';
import { notify } from '../jobs/jobs.ts';
import type { ServiceDeps } from '../deps.ts';
import { nameField } from '../fields.ts';
import { insertIdentity, selectAccountIdOf } from './identities.sql.ts';
import { newId } from '../ids.ts';
import type { GoogleIdentity } from './google-openid.ts';
import { findAccountByEmail } from '../models/accounts.sql.ts';
import { visitor } from './sign-up.ts';

/** Why a Google identity cannot sign in; the dashboard has a message for each. */
export type Refusal = 'email_unverified' | 'link_needed' | 'account_disabled' | 'identity_taken';

/** The account that the identity signs in to: its own, a new one, or one whose e-mail address both have verified. */
export async function accountOf(
  deps: ServiceDeps,
  transaction: Transaction,
  identity: GoogleIdentity,
  ip: string,
): Promise<{ accountId: string } | { refusal: Refusal }> {
  const known = await selectAccountIdOf(deps.db, transaction, identity);
  if (known !== null) {
    const account = await deps.db.accounts.findByPk(known, { transaction });
    return account?.status === 'active' ? { accountId: known } : { refusal: 'account_disabled' };
  }
  const email = identity.verifiedEmail;
  if (email === null) return { refusal: 'email_unverified' };
  const account = await findAccountByEmail(deps.db, email, transaction);
  if (account === null) return makeAccount(deps, transaction, { identity, email, ip });
  if (account.status === 'disabled') return { refusal: 'account_disabled' };
  if (!identity.isAuthoritative || account.emailVerifiedAt === null) return { refusal: 'link_needed' };
  return link(deps, transaction, { accountId: account.id, identity, ip });
}

/** Links the identity to an account and notifies the holder. An account can have one Google identity, which is not replaced. */
export async function link(
  deps: ServiceDeps,
  transaction: Transaction,
  { accountId, identity, ip }: { accountId: string; identity: GoogleIdentity; ip: string },
): Promise<{ accountId: string } | { refusal: Refusal }> {
  const now = deps.clock.now();
  const account = await deps.db.accounts.findByPk(accountId, { transaction });
  if (account === null) return { refusal: 'account_disabled' };
  const { issuer, subject } = identity;
  const email = identity.verifiedEmail ?? account.email;
  const inserted = await insertIdentity(deps.db, transaction, { issuer, subject, accountId, email, now });
  if (!inserted) return { refusal: 'identity_taken' };
  await audit(deps, transaction, {
    accountId,
    actor: visitor,
    action: 'google.linked',
    detail: { issuer, email, ip },
  });
  await notify(deps, transaction, 'google_linked', account.email);
  return { accountId };
}

async function makeAccount(
  deps: ServiceDeps,
  transaction: Transaction,
  { identity, email, ip }: { identity: GoogleIdentity; email: string; ip: string },
): Promise<{ accountId: string }> {
  const now = deps.clock.now();
  const id = newId('acct');
  const name = nameField.safeParse(identity.name).data ?? null;
  await deps.db.accounts.create(
    { id, email, name, plan: 'free', createdAt: now, emailVerifiedAt: now },
    { transaction },
  );
  const { issuer, subject } = identity;
  await insertIdentity(deps.db, transaction, { issuer, subject, accountId: id, email, now });
  const detail = { email, plan: 'free', issuer, ip };
  await audit(deps, transaction, { accountId: id, actor: visitor, action: 'account.created', detail });
  return { accountId: id };
}
