// The audited actions on subscriptions, payments and purchases: each way to perform them, and the expected row of the audit log.
import { instantText } from '../../../kernel/clock.ts';
import type { ExecutionContext } from 'ava';
import { newId } from '../../../accounts-api/ids.ts';
import { createBilling } from '../../../accounts-api/billing/connection.ts';
import { askForCustomer } from '../../../accounts-api/billing/inbox.sql.ts';
import { syncDue } from '../../billing/sync-due.ts';
import type { Action } from '../../../accounts-api/models/audit-event.ts';
import type { Holder } from '../../auth/holders.ts';
import { settingsOf } from '../../billing/paying.ts';
import { silentLog } from '../../services/harness.ts';
import {
  fake,
  price,
  operatorDeps,
  service,
  newHolder,
  headers,
  type Act,
  bySession,
  done,
  ofAccount,
} from './audited.ts';

const billingDeps = { ...operatorDeps, log: silentLog, billing: createBilling(settingsOf(fake)) };

const byStripe = { kind: 'stripe', id: null } as const;

/** An account whose customer at Stripe has a subscription to pro. */
const newSubscriber = async () => {
  const client = await service.newClient();
  const customer = await billingDeps.billing.stripe.customers.create({
    metadata: { account_id: client.accountId },
  });
  const subscribe = () => fake.subscribe({ customer: customer.id, price });
  const { id } = subscribe();
  await fetchAgain(customer.id);
  return { ...client, customer: customer.id, id, subscribe };
};

const fetchAgain = async (customer: string) => {
  await askForCustomer(service.deps.db, null, customer, service.clock.now());
  await syncDue(billingDeps);
};

/** Lets a holder claim a purchase for the same mailbox. @returns the account of the purchase. */
const claimOne = async (t: ExecutionContext, holder: Holder) => {
  const id = newId('acct');
  const { email } = holder;
  const bought = { id, email, emailSignsIn: false, name: null, plan: 'free', createdAt: service.clock.now() };
  await service.deps.db.accounts.create(bought);
  const customer = await billingDeps.billing.stripe.customers.create({ metadata: { account_id: id } });
  fake.subscribe({ customer: customer.id, price });
  await fetchAgain(customer.id);
  done(t, await service.signedIn(holder, `/v1/billing/purchases/${id}/take`, { method: 'POST', headers }));
  return { id };
};

export const billingActs = {
  'subscription.updated': {
    async 'the first fetch of a subscription'() {
      const who = await newSubscriber();
      const end = instantText(
        new Date((fake.subscription(who.id).items.data[0]?.current_period_end ?? 0) * 1000),
      );
      const none = { current_period_end: null, cancels_at: null, grace_ends_at: null };
      return ofAccount(who, byStripe, {
        before: { plan: 'free', state: 'none', status: null, ...none },
        ...{ plan: 'pro', state: 'active', status: 'active', ...none, current_period_end: end },
      });
    },
  },
  'purchase.taken': {
    async 'the holder of the mailbox that a payer has named'(t) {
      const holder = await newHolder();
      const { id } = await claimOne(t, holder);
      return { ...ofAccount(holder, bySession(holder), { plan: 'pro' }), subject: id };
    },
  },
  'subscription.duplicate_canceled': {
    async 'a second subscription'() {
      const who = await newSubscriber();
      fake.override(who.id, { created: 1 });
      const { id } = who.subscribe();
      await fetchAgain(who.customer);
      return ofAccount(who, byStripe, {
        ...{ subscription: id, kept: who.id, customer: who.customer },
        ...{ invoice: fake.subscription(id).latest_invoice, paid: { amount: 9_900, currency: 'usd' } },
      });
    },
  },
  'payment.failed': {
    async 'a payment that failed'() {
      const who = await newSubscriber();
      const { id: invoice } = fake.failPayment(who.id);
      await fetchAgain(who.customer);
      const next = fake.invoice(invoice).next_payment_attempt ?? 0;
      const next_attempt_at = instantText(new Date(next * 1000));
      return ofAccount(who, byStripe, { invoice, amount_due: 9_900, currency: 'usd', next_attempt_at });
    },
  },
} satisfies Partial<Record<Action, Record<string, Act>>>;
