// A subscription: its object, its periods, and the changes that concern no invoice but its own open ones.
import type { Stripe } from 'stripe';
import { invalid } from './http/errors.ts';
import { change, emit, findObject, idOf, listOf, now, type World } from './world.ts';

export const daySeconds = 86_400;

export interface NewSubscription {
  customer: string;
  price: string;
  metadata?: Record<string, string>;
  trialDays?: number;
}

/** The object alone: no event yet, no invoice. */
export function buildSubscription(world: World, wanted: NewSubscription): Stripe.Subscription {
  const price = findObject(world.prices, 'price', wanted.price, 'items[0][price]');
  const id = world.newId('sub');
  const start = now(world);
  const trialEnd = wanted.trialDays ? start + wanted.trialDays * daySeconds : null;
  const anchor = trialEnd ?? start;
  const period = { start, end: trialEnd ?? periodEnd(price, anchor, start) };
  const subscription: Stripe.Subscription = {
    id,
    object: 'subscription',
    application: null,
    application_fee_percent: null,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null },
    billing_cycle_anchor: anchor,
    billing_cycle_anchor_config: null,
    billing_mode: { flexible: null, type: 'classic' },
    billing_schedules: [],
    billing_thresholds: null,
    cancel_at: null,
    cancel_at_period_end: false,
    canceled_at: null,
    cancellation_details: { comment: null, feedback: null, feedback_option: null, reason: null },
    collection_method: 'charge_automatically',
    created: start,
    currency: price.currency,
    customer: wanted.customer,
    customer_account: null,
    days_until_due: null,
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    ended_at: null,
    invoice_settings: {
      account_tax_ids: null,
      custom_fields: null,
      description: null,
      footer: null,
      issuer: { type: 'self' },
    },
    items: listOf([buildItem(world, id, price, period)], `/v1/subscription_items?subscription=${id}`),
    latest_invoice: null,
    livemode: world.livemode,
    managed_payments: null,
    metadata: wanted.metadata ?? {},
    next_pending_invoice_item_invoice: null,
    on_behalf_of: null,
    pause_collection: null,
    payment_settings: {
      payment_method_options: null,
      payment_method_types: null,
      save_default_payment_method: 'off',
    },
    pending_invoice_item_interval: null,
    pending_setup_intent: null,
    pending_update: null,
    schedule: null,
    start_date: start,
    status: trialEnd === null ? 'incomplete' : 'trialing',
    test_clock: null,
    transfer_data: null,
    trial_end: trialEnd,
    trial_settings: {
      end_behavior: { billing_cycle_anchor: null, missing_payment_method: 'create_invoice' },
    },
    trial_start: trialEnd === null ? null : start,
  };
  world.subscriptions.set(id, subscription);
  return subscription;
}

function buildItem(
  world: World,
  subscription: string,
  price: Stripe.Price,
  period: { start: number; end: number },
): Stripe.SubscriptionItem {
  return {
    id: world.newId('si'),
    object: 'subscription_item',
    billing_thresholds: null,
    created: now(world),
    current_period_end: period.end,
    current_period_start: period.start,
    current_trial: null,
    discounts: [],
    metadata: {},
    plan: planOf(price),
    price,
    quantity: 1,
    subscription,
    tax_rates: [],
  };
}

/** The older form of a price, which Stripe still sends as well. */
export function planOf(price: Stripe.Price): Stripe.Plan {
  return {
    id: price.id,
    object: 'plan',
    active: price.active,
    amount: price.unit_amount,
    amount_decimal: price.unit_amount_decimal,
    billing_scheme: 'per_unit',
    created: price.created,
    currency: price.currency,
    interval: price.recurring?.interval ?? 'month',
    interval_count: price.recurring?.interval_count ?? 1,
    livemode: price.livemode,
    metadata: price.metadata,
    meter: null,
    nickname: price.nickname,
    product: price.product,
    tiers_mode: null,
    transform_usage: null,
    trial_period_days: null,
    usage_type: 'licensed',
  };
}

/** The one item of a subscription: this fake has no others. */
export const itemOf = (subscription: Stripe.Subscription): Stripe.SubscriptionItem =>
  subscription.items.data[0]!;

/** The first instant after `after` that is whole intervals from the anchor; the 31st becomes the last day of a shorter month. */
export function periodEnd(price: Stripe.Price, anchor: number, after: number): number {
  const months = (price.recurring?.interval === 'year' ? 12 : 1) * (price.recurring?.interval_count ?? 1);
  const from = new Date(anchor * 1000);
  for (let count = 1; ; count += 1) {
    const month = from.getUTCMonth() + months * count;
    const lastDay = new Date(Date.UTC(from.getUTCFullYear(), month + 1, 0)).getUTCDate();
    const end = new Date(from);
    end.setUTCMonth(month, Math.min(from.getUTCDate(), lastDay));
    if (end.getTime() / 1000 > after) return end.getTime() / 1000;
  }
}

/** Changes fields, with the event `customer.subscription.updated`. */
export const update = (
  world: World,
  subscription: Stripe.Subscription,
  fields: Partial<Stripe.Subscription>,
): Stripe.Subscription => change(world, subscription, fields, 'customer.subscription.updated');

/** The list of items with the one item changed. */
export const itemsWith = (
  subscription: Stripe.Subscription,
  fields: Partial<Stripe.SubscriptionItem>,
): Stripe.Subscription['items'] => ({
  ...subscription.items,
  data: [{ ...itemOf(subscription), ...fields }],
});

export function refuseEnded(subscription: Stripe.Subscription): void {
  if (subscription.ended_at === null) return;
  throw invalid(`The subscription ${subscription.id} has ended (${subscription.status}).`);
}

/** Ends at the end of the period; `cancel` false undoes it. */
export function cancelAtPeriodEnd(
  world: World,
  subscription: Stripe.Subscription,
  cancel: boolean,
): Stripe.Subscription {
  refuseEnded(subscription);
  return update(world, subscription, {
    cancel_at_period_end: cancel,
    cancel_at: cancel ? itemOf(subscription).current_period_end : null,
    canceled_at: cancel ? now(world) : null,
    cancellation_details: {
      ...noDetails,
      reason: cancel ? 'cancellation_requested' : null,
    },
  });
}
const noDetails = { comment: null, feedback: null, feedback_option: null };

/** Ends now: `customer.subscription.deleted`. Its unpaid invoices stay as they are, and are not tried again. */
export function cancelNow(
  world: World,
  subscription: Stripe.Subscription,
  reason: 'cancellation_requested' | 'payment_failed' = 'cancellation_requested',
): Stripe.Subscription {
  refuseEnded(subscription);
  Object.assign(subscription, {
    status: 'canceled',
    canceled_at: subscription.canceled_at ?? now(world),
    ended_at: now(world),
    cancellation_details: { ...noDetails, reason },
  } satisfies Partial<Stripe.Subscription>);
  for (const invoice of world.invoices.values())
    if (subscriptionOf(invoice) === subscription.id && isUnpaid(invoice))
      Object.assign(invoice, {
        auto_advance: false,
        next_payment_attempt: null,
        automatically_finalizes_at: null,
      } satisfies Partial<Stripe.Invoice>);
  emit(world, 'customer.subscription.deleted', subscription);
  return subscription;
}

export const isUnpaid = (invoice: Stripe.Invoice): boolean =>
  invoice.status === 'draft' || invoice.status === 'open';

/** The id of the subscription that an invoice is of. */
export const subscriptionOf = (invoice: Stripe.Invoice): string =>
  idOf(invoice.parent?.subscription_details?.subscription);

/** Status `paused`: no period and no invoice until it is resumed. */
export function pause(world: World, subscription: Stripe.Subscription): Stripe.Subscription {
  refuseEnded(subscription);
  update(world, subscription, { status: 'paused' });
  emit(world, 'customer.subscription.paused', subscription);
  return subscription;
}
