// The account itself: its fields, and those that its holder may change.
import { instantText } from '../../kernel/clock.ts';
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { audit } from '../audit.ts';
import { notify } from '../jobs/jobs.ts';
import { entryAt } from '../../kernel/entries.ts';
import { planOf } from '../../kernel/plans.ts';
import { signedInOf, type Requester } from '../requester.ts';
import type { Deps } from '../database.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { emailField, nameField, passwordField } from '../fields.ts';
import { selectSubscriptions } from '../billing/customers.sql.ts';
import { currentOf, subscriptionDataOf, type Subscription } from '../billing/subscription-status.ts';
import { eventKinds } from '../../kernel/events/catalogue.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { selectLinked } from '../auth/identities.sql.ts';
import { countActiveKeys } from '../keys/keys.sql.ts';
import { keysMax } from '../keys/keys.ts';
import type { Account } from '../models/account.ts';
import { failPassword, proveHolder } from '../sessions/prove-holder.ts';
import { findAccount, lockAccountIfUnchanged } from '../models/find-account.ts';
import { clientInfoOf } from '../sessions/client-info.ts';

const updated = eventKinds['subscription.updated'].data;
const subscriptionSchema = updated
  .extend({
    latest_invoice: z
      .object({
        id: z.string(),
        status: z.string().nullable().describe("Stripe's, such as `open` or `paid`."),
        amount_due: z.int().describe('In the smallest unit of the currency.'),
        currency: z.string(),
        hosted_invoice_url: z.string().nullable().describe('The page to pay it on.'),
        next_attempt_at: z.iso.datetime().nullable(),
      })
      .nullable(),
  })
  .nullable()
  .describe('The subscription, as last reported by Stripe; null without one.');

export const accountSchema = z.object({
  id: z.string(),
  email: z.string(),
  email_verified: z.boolean(),
  has_password: z.boolean().describe('Whether the holder can sign in with a password.'),
  google_linked: z.boolean().describe('Whether the holder can sign in with Google.'),
  name: z.string().nullable(),
  plan: z.string().describe('An id of `/v1/plans`.'),
  status: z.enum(['active', 'disabled']),
  subscription_state: z.enum(['none', 'active', 'inactive']),
  subscription: subscriptionSchema,
  role: z
    .enum(['operator'])
    .nullable()
    .describe('`operator`: may manage all accounts of this installation; null for everybody else.'),
  created_at: z.iso.datetime(),
  notifications: z
    .object({ usage: z.boolean(), key_expiry: z.boolean() })
    .describe('Which e-mails are sent. Security e-mails are always sent.'),
  mail_refused_at: z.iso
    .datetime()
    .nullable()
    .describe(
      'When the mail server last refused an e-mail to `email` for good; null once it has accepted one.',
    ),
  active_keys: z.int(),
  key_limit: z.int().describe('The maximum number of active keys.'),
});
/** An account, as its holder and operators see it. */
export type AccountRecord = z.output<typeof accountSchema>;

const wanted = z.boolean({ error: 'must be true or false' }).optional();
const change = z
  .strictObject({
    name: nameField.optional(),
    email: emailField.optional().describe('Takes effect once the mailed link is confirmed.'),
    password: passwordField
      .optional()
      .describe('The current one; needed for a new e-mail address, if the account has a password.'),
    notifications: z.strictObject({ usage: wanted, key_expiry: wanted }).optional(),
  })
  .refine(
    (wish) => [wish.name, wish.email, wish.notifications].some((each) => each !== undefined),
    'must have "name", "email" or "notifications"',
  );

export const readAccount = endpoint({
  summary: 'The account.',
  requester: 'account',
  answers: { 200: accountSchema },
  handler: async (deps, { requester, call }) => {
    const account = await call.stage('sql', () => findAccount(deps, requester.accountId));
    return one(await call.stage('sql', () => accountRecord(deps, account)));
  },
});

/** A new e-mail address takes effect once its mailed link is confirmed; the current one is notified. */
export const changeAccount = endpoint({
  summary: 'Changes the name, the e-mail address or the notifications.',
  description:
    'A new e-mail address needs a session, and the password or, without one, a sign-in within the last hour.',
  requester: 'account',
  body: change,
  answers: { 200: accountSchema },
  errors: ['forbidden', 'invalid_credentials', 'reauthentication_required', 'rate_limited', 'unavailable'],
  handler: async (deps, { requester, body, call, request }) => {
    const { accountId } = requester;
    const account = await call.stage('sql', () => findAccount(deps, accountId));
    if (body.email !== undefined) {
      const { ip } = clientInfoOf(request);
      const to = 'change the e-mail address';
      await proveHolder(deps, account, { caller: signedInOf(call), password: body.password, to });
      await deps.throttle.mail('change_email', { email: body.email, ip });
    }
    await call.stage('sql', () =>
      deps.db.inTransaction((transaction) => applyChange(deps, transaction, account, { requester, body })),
    );
    return one(await call.stage('sql', () => accountRecord(deps, account)));
  },
});

async function applyChange(
  deps: ServiceDeps,
  transaction: Transaction,
  account: Account,
  {
    requester: { accountId, actor },
    body: { name, email, notifications },
  }: { requester: Requester; body: z.output<typeof change> },
): Promise<void> {
  if (name !== undefined) {
    await account.update({ name }, { transaction });
    await audit(deps, transaction, { accountId, actor, action: 'account.updated', detail: { name } });
  }
  if (notifications !== undefined) {
    const { usage: mailsUsage, key_expiry: mailsKeyExpiry } = notifications;
    await account.update(
      {
        ...(mailsUsage === undefined ? {} : { mailsUsage }),
        ...(mailsKeyExpiry === undefined ? {} : { mailsKeyExpiry }),
      },
      { transaction },
    );
    const detail = { notifications };
    await audit(deps, transaction, { accountId, actor, action: 'account.updated', detail });
  }
  if (email !== undefined) {
    if (!(await lockAccountIfUnchanged(deps, transaction, account))) failPassword(); // a concurrent change has invalidated the password check
    const detail = { email };
    await audit(deps, transaction, { accountId, actor, action: 'email.change_asked', detail });
    await deps.jobs.enqueue(transaction, { mail: 'change_email', accountId, email });
    await notify(deps, transaction, 'email_change_asked', account.email);
  }
}

/** The account in the format of answers. */
export async function accountRecord(deps: Deps, account: Account): Promise<AccountRecord> {
  return entryAt(await accountRecords(deps, [account]), 0);
}

/** The accounts in the format of answers, in the same order. */
export async function accountRecords(deps: Deps, accounts: readonly Account[]): Promise<AccountRecord[]> {
  const ids = accounts.map((account) => account.id);
  const activeKeys = await countActiveKeys(deps.db, ids, deps.clock.now());
  const linked = await selectLinked(deps.db, ids);
  const subscriptions = Map.groupBy(await selectSubscriptions(deps.db, ids), (each) => each.accountId);
  return accounts.map((account) => ({
    id: account.id,
    email: account.email,
    email_verified: account.emailVerifiedAt !== null,
    has_password: account.passwordHash !== null,
    google_linked: linked.has(account.id),
    name: account.name,
    plan: planOf(deps.plans, account.plan).id,
    status: account.status,
    subscription_state: account.subscriptionState,
    subscription: subscriptionRecord(deps, account, currentOf(subscriptions.get(account.id) ?? [])),
    role: account.role ?? null,
    created_at: instantText(account.createdAt),
    notifications: { usage: account.mailsUsage, key_expiry: account.mailsKeyExpiry },
    mail_refused_at: account.mailRefusedAt === null ? null : instantText(account.mailRefusedAt),
    active_keys: activeKeys.get(account.id) ?? 0,
    key_limit: keysMax,
  }));
}

function subscriptionRecord(
  { plans }: Deps,
  account: Account,
  current: Subscription | null,
): AccountRecord['subscription'] {
  if (current === null) return null;
  const { attempts: _attempts, ...latestInvoice } = current.invoice ?? { attempts: 0 };
  const plan = planOf(plans, account.plan).id;
  return {
    ...subscriptionDataOf(account, current),
    plan,
    latest_invoice: 'id' in latestInvoice ? latestInvoice : null,
  };
}
