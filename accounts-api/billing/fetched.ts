// Fetches the current state of a customer from Stripe: the customer, its subscriptions, and its Checkout sessions.
import type { Stripe } from 'stripe';
import { instantText } from '../../kernel/clock.ts';
import type { Plans } from '../../kernel/plans.ts';
import { isMissing, type Billing } from './connection.ts';
import type { Invoice, Subscription } from './subscription-status.ts';

/** A subscription, and whether it is for a plan: the same Stripe account may sell other things. */
export interface FetchedSubscription extends Subscription {
  /** Whether its price belongs to a plan, or it was bought through our Checkout; the price may have been changed at Stripe since. */
  isOurs: boolean;
}

export interface FetchedCustomer {
  isDeleted: boolean;
  /** As stated by our own request. */
  accountId: string | null;
  subscriptions: FetchedSubscription[];
}

/** The relevant fields of a Checkout session. */
export interface FetchedSession {
  id: string;
  /** The id of our checkout, from the metadata, which a payer cannot set. */
  checkoutId: string | null;
  customerId: string | null;
  /** `open`, `complete` or `expired`. */
  status: string | null;
  isPaid: boolean;
  /** As the payer entered it at Stripe. */
  email: string | null;
}

/** Fetches a customer and all of its subscriptions. @throws StripeError. */
export async function fetchCustomer(
  { stripe, graceMs }: Pick<Billing, 'stripe' | 'graceMs'>,
  plans: Plans,
  id: string,
): Promise<FetchedCustomer> {
  // A customer that never existed is an error: the key may be of another Stripe account, which must not end subscriptions.
  const customer = await stripe.customers.retrieve(id);
  if (customer.deleted === true) {
    return { isDeleted: true, accountId: null, subscriptions: [] };
  }
  const subscriptions: FetchedSubscription[] = [];
  const query = { customer: id, status: 'all', limit: 100, expand: ['data.latest_invoice'] } as const;
  for await (const each of stripe.subscriptions.list({ ...query, expand: [...query.expand] })) {
    const since = each.status === 'past_due' ? await pastDueSince(stripe, each) : null;
    const graceEndsAt = since && new Date(since.getTime() + graceMs);
    subscriptions.push(toSubscription(plans, each, graceEndsAt));
  }
  return { isDeleted: false, accountId: customer.metadata['account_id'] ?? null, subscriptions };
}

/**
 * When the first invoice unpaid since the last payment was due. A later failed invoice begins no new grace. Stripe makes a subscription active when
 * its latest invoice is paid, and leaves older ones open; those must not shorten the grace of a later failure.
 */
async function pastDueSince(stripe: Stripe, { id, items }: Stripe.Subscription): Promise<Date> {
  let since = items.data[0]?.current_period_start ?? 0;
  // Newest first.
  for await (const { status, created, status_transitions } of stripe.invoices.list({
    ...{ subscription: id, limit: 100 },
  })) {
    if (status === 'paid') break;
    if (status === 'open') since = status_transitions.finalized_at ?? created;
  }
  return fromSeconds(since);
}

function toSubscription(
  plans: Plans,
  given: Stripe.Subscription,
  graceEndsAt: Date | null,
): FetchedSubscription {
  const { id, status, items, latest_invoice: invoice } = given;
  const item = items.data.find(({ price }) => planOfPrice(plans, price) !== null) ?? items.data[0];
  const periodEnd = item?.current_period_end;
  const cancelsAt = given.cancel_at ?? (given.cancel_at_period_end ? periodEnd : null);
  const plan = item === undefined ? null : planOfPrice(plans, item.price);
  return {
    id,
    status,
    priceId: item?.price.id ?? '',
    plan,
    isOurs: plan !== null || given.metadata['checkout']?.startsWith('chk_') === true,
    createdAt: fromSeconds(given.created),
    currentPeriodEnd: periodEnd === undefined ? null : fromSeconds(periodEnd),
    cancelsAt: typeof cancelsAt === 'number' ? fromSeconds(cancelsAt) : null,
    graceEndsAt,
    invoice: invoice === null || typeof invoice === 'string' ? null : toInvoice(invoice),
  };
}

function toInvoice(given: Stripe.Invoice): Invoice {
  const next = given.next_payment_attempt;
  return {
    id: given.id,
    status: given.status,
    amount_due: given.amount_due,
    currency: given.currency,
    hosted_invoice_url: given.hosted_invoice_url ?? null,
    next_attempt_at: next === null ? null : instantText(fromSeconds(next)),
    attempts: given.attempt_count,
  };
}

/** The plan sold at a price; null if there is none. */
function planOfPrice(plans: Plans, price: Pick<Stripe.Price, 'id' | 'lookup_key'>): string | null {
  const found = plans.all.find(({ prices }) =>
    prices.some(({ stripe }) => stripe === price.id || stripe === price.lookup_key),
  );
  return found?.id ?? null;
}

/** The newest sessions of a customer. @throws StripeError. */
export async function fetchSessionsOf(stripe: Stripe, customerId: string): Promise<FetchedSession[]> {
  const { data } = await stripe.checkout.sessions.list({ customer: customerId, limit: 100 });
  return data.map(toSession);
}

/** A session; null if Stripe no longer has it. @throws StripeError. */
export async function fetchSession(stripe: Stripe, id: string): Promise<FetchedSession | null> {
  try {
    return toSession(await stripe.checkout.sessions.retrieve(id));
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

function toSession(session: Stripe.Checkout.Session): FetchedSession {
  const { id, status, customer, payment_status: payment, customer_details: details } = session;
  return {
    id,
    checkoutId: session.metadata?.['checkout'] ?? null,
    customerId: typeof customer === 'string' ? customer : (customer?.id ?? null),
    status,
    isPaid: status === 'complete' && (payment === 'paid' || payment === 'no_payment_required'),
    email: details?.email ?? null,
  };
}

export function fromSeconds(seconds: number): Date {
  return new Date(seconds * 1000);
}
