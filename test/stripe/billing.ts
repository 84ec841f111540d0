// The life of a subscription where it makes invoices: begin, renew, end of trial, another plan, resume; and its endpoints.
import type { Stripe } from 'stripe';
import { invalid } from './http/errors.ts';
import { flag, integer, metadata, oneOf, required, text, type Form } from './http/form.ts';
import { attempt, draftInvoice, finalize, giveUp, unpaidLatestInvoice } from './invoices.ts';
import { createdFits, names, page, type Route } from './http/route.ts';
import {
  buildSubscription,
  cancelAtPeriodEnd,
  cancelNow,
  itemOf,
  itemsWith,
  pause,
  periodEnd,
  planOf,
  refuseEnded,
  update,
  type NewSubscription,
} from './subscriptions.ts';
import { emit, findObject, idOf, liveCustomer, now, type World } from './world.ts';

const amountOf = (subscription: Stripe.Subscription): number => itemOf(subscription).price.unit_amount ?? 0;

/** A new subscription with its first invoice, which is tried at once if `pays`; otherwise it waits, and the subscription is incomplete. */
export function begin(world: World, wanted: NewSubscription, pays: boolean): Stripe.Subscription {
  const subscription = buildSubscription(world, wanted);
  const trial = subscription.status === 'trialing';
  const invoice = draftInvoice(
    world,
    subscription,
    'subscription_create',
    trial ? 0 : amountOf(subscription),
  );
  emit(world, 'customer.subscription.created', subscription);
  emit(world, 'invoice.created', invoice);
  Object.assign(invoice, { next_payment_attempt: null } satisfies Partial<Stripe.Invoice>);
  finalize(world, invoice);
  if (pays || trial) attempt(world, invoice);
  return subscription;
}

/** The next period begins, with a draft of its invoice. A subscription that is `unpaid` gets drafts that nobody tries. */
export function renew(world: World, subscription: Stripe.Subscription): Stripe.Invoice {
  const item = itemOf(subscription);
  return startPeriod(world, subscription, item.current_period_end, {
    ...(subscription.status === 'trialing' && { status: 'active' }),
  });
}

/** A period from `start` (Unix seconds), and the draft over it. */
function startPeriod(
  world: World,
  subscription: Stripe.Subscription,
  start: number,
  fields: Partial<Stripe.Subscription> = {},
  reason: 'subscription_cycle' | 'subscription_update' = 'subscription_cycle',
): Stripe.Invoice {
  const { price } = itemsWith(subscription, fields.items?.data[0] ?? {}).data[0]!;
  const anchor = fields.billing_cycle_anchor ?? subscription.billing_cycle_anchor;
  const period = { current_period_start: start, current_period_end: periodEnd(price, anchor, start) };
  const items = itemsWith(subscription, { ...fields.items?.data[0], ...period });
  const before = subscription.latest_invoice;
  const invoice = draftInvoice(world, { ...subscription, items }, reason, price.unit_amount ?? 0);
  subscription.latest_invoice = before;
  update(world, subscription, { ...fields, items, latest_invoice: invoice.id });
  if (subscription.status === 'unpaid' || subscription.pause_collection?.behavior === 'keep_as_draft')
    Object.assign(invoice, {
      auto_advance: false,
      automatically_finalizes_at: null,
      next_payment_attempt: null,
    });
  emit(world, 'invoice.created', invoice);
  return invoice;
}

/** Finalises a draft whose hour is over, or that need not wait, and attempts its payment. */
export function advanceDraft(world: World, subscription: Stripe.Subscription, invoice: Stripe.Invoice): void {
  finalize(world, invoice);
  const paused = subscription.pause_collection?.behavior;
  if (paused === 'void') giveUp(world, invoice, 'void');
  else if (paused === 'mark_uncollectible') giveUp(world, invoice, 'uncollectible');
  else attempt(world, invoice);
}

/** Without a card, the trial settings may ask for a pause; otherwise the first paid period begins. */
export function endTrial(world: World, subscription: Stripe.Subscription): void {
  const noCard = world.cards.get(idOf(subscription.customer)) === 'none';
  if (noCard && subscription.trial_settings?.end_behavior.missing_payment_method === 'pause')
    pause(world, subscription);
  else renew(world, subscription);
}

/** 23 hours without the first payment. */
export function expire(world: World, subscription: Stripe.Subscription): void {
  const invoice = unpaidLatestInvoice(world, subscription);
  if (invoice) giveUp(world, invoice, 'void');
  update(world, subscription, { status: 'incomplete_expired', ended_at: now(world) });
}

/**
 * Changes the price like the portal. There is no proration: the period and the paid amount stay, and the new amount is in the next
 * invoice. Only another interval begins a new period, with an invoice of the whole amount that is tried at once.
 */
export function changePlan(
  world: World,
  subscription: Stripe.Subscription,
  priceId: string,
): Stripe.Subscription {
  refuseEnded(subscription);
  const price = findObject(world.prices, 'price', priceId, 'items[0][price]');
  const before = itemOf(subscription).price;
  if (!price.active) throw invalid('The price specified is inactive.', { param: 'items[0][price]' });
  if (price.currency !== subscription.currency)
    throw invalid('The price is in another currency than the subscription.', { param: 'items[0][price]' });
  const items = itemsWith(subscription, { price, plan: planOf(price) });
  const sameInterval =
    price.recurring?.interval === before.recurring?.interval &&
    price.recurring?.interval_count === before.recurring?.interval_count;
  if (sameInterval || subscription.status === 'trialing') return update(world, subscription, { items });
  const start = now(world);
  const fields = { items, billing_cycle_anchor: start };
  advanceDraft(world, subscription, startPeriod(world, subscription, start, fields, 'subscription_update'));
  return subscription;
}

/** paused → active; if the period is over, a new one begins now and has to be paid first. */
export function resume(world: World, subscription: Stripe.Subscription): Stripe.Subscription {
  if (subscription.status !== 'paused') throw invalid('The subscription is not paused.');
  if (itemOf(subscription).current_period_end > now(world)) {
    update(world, subscription, { status: 'active' });
    emit(world, 'customer.subscription.resumed', subscription);
    return subscription;
  }
  const start = now(world);
  const invoice = startPeriod(world, subscription, start, { billing_cycle_anchor: start });
  advanceDraft(world, subscription, invoice);
  return subscription;
}

/** Attempts the owed payments with the current card. */
export function retry(world: World, subscription: Stripe.Subscription): Stripe.Invoice {
  const invoice = unpaidLatestInvoice(world, subscription);
  if (!invoice) throw invalid('The subscription owes nothing.');
  if (invoice.status === 'draft') finalize(world, invoice);
  attempt(world, invoice);
  return invoice;
}

/** The card declines from now on: owed payments are attempted, or the period ends now and its invoice fails. */
export function failPayment(world: World, subscription: Stripe.Subscription): Stripe.Invoice {
  refuseEnded(subscription);
  world.cards.set(idOf(subscription.customer), 'declines');
  if (unpaidLatestInvoice(world, subscription)) return retry(world, subscription);
  const start = now(world);
  const invoice = startPeriod(world, subscription, start, { billing_cycle_anchor: start });
  advanceDraft(world, subscription, invoice);
  return invoice;
}

function updateByRequest(world: World, subscription: Stripe.Subscription, form: Form): void {
  refuseEnded(subscription);
  const price = text(form, 'items', 0, 'price');
  const item = text(form, 'items', 0, 'id');
  if (price !== undefined && item !== itemOf(subscription).id)
    throw invalid('This fake changes the one item of a subscription: items[0][id] must name it.', {
      param: 'items[0][id]',
    });
  const behaviors = ['keep_as_draft', 'mark_uncollectible', 'void'] as const;
  const behavior = oneOf(form, behaviors, 'pause_collection', 'behavior');
  const atEnd = flag(form, 'cancel_at_period_end');
  const reported = metadata(form, subscription.metadata, 'metadata');
  if (price !== undefined) changePlan(world, subscription, price);
  if (atEnd !== undefined) cancelAtPeriodEnd(world, subscription, atEnd);
  update(world, subscription, {
    metadata: reported,
    ...(form['description'] !== undefined && { description: text(form, 'description') ?? null }),
    ...(behavior && { pause_collection: { behavior, resumes_at: null } }),
    ...(form['pause_collection'] === '' && { pause_collection: null }),
  });
}

const bySubscription = (
  run: (world: World, subscription: Stripe.Subscription, form: Form) => object | void,
): Route['run'] => {
  return (world, form, id) => {
    const subscription = findObject(world.subscriptions, 'subscription', id);
    run(world, subscription, form);
    return subscription;
  };
};

export const subscriptionRoutes: Route[] = [
  {
    method: 'GET',
    path: '/v1/subscriptions',
    accepts: names<Stripe.SubscriptionListParams>(
      'customer',
      'status',
      'price',
      'created',
      'limit',
      'starting_after',
      'ending_before',
    ),
    run(world, form) {
      const [customer, price, status] = [text(form, 'customer'), text(form, 'price'), text(form, 'status')];
      const statusFits = (one: Stripe.Subscription): boolean => {
        if (status === undefined) return one.status !== 'canceled';
        if (status === 'ended') return one.ended_at !== null;
        return status === 'all' || one.status === status;
      };
      const fitting = [...world.subscriptions.values()].filter(
        (one) =>
          one.customer === (customer ?? one.customer) &&
          (price === undefined || itemOf(one).price.id === price) &&
          statusFits(one) &&
          createdFits(form, one.created),
      );
      return page(form, fitting, '/v1/subscriptions');
    },
  },
  {
    method: 'POST',
    path: '/v1/subscriptions',
    accepts: names<Stripe.SubscriptionCreateParams>('customer', 'items', 'metadata', 'trial_period_days'),
    run(world, form) {
      const customer = required(form, 'customer');
      const price = required(form, 'items', 0, 'price');
      const trialDays = integer(form, 'trial_period_days') ?? 0;
      liveCustomer(world, customer, 'customer');
      return begin(world, { customer, price, metadata: metadata(form, {}, 'metadata'), trialDays }, true);
    },
  },
  {
    method: 'GET',
    path: '/v1/subscriptions/:id',
    accepts: [],
    run: (world, _form, id) => findObject(world.subscriptions, 'subscription', id),
  },
  {
    method: 'POST',
    path: '/v1/subscriptions/:id',
    accepts: names<Stripe.SubscriptionUpdateParams>(
      'cancel_at_period_end',
      'description',
      'items',
      'metadata',
      'pause_collection',
      'proration_behavior',
    ),
    run: bySubscription(updateByRequest),
  },
  {
    method: 'DELETE',
    path: '/v1/subscriptions/:id',
    accepts: names<Stripe.SubscriptionCancelParams>('prorate', 'cancellation_details'),
    run: bySubscription((world, subscription) => cancelNow(world, subscription)),
  },
  {
    method: 'POST',
    path: '/v1/subscriptions/:id/pause',
    accepts: names<Stripe.SubscriptionPauseParams>('type'),
    run: bySubscription(pause),
  },
  {
    method: 'POST',
    path: '/v1/subscriptions/:id/resume',
    accepts: names<Stripe.SubscriptionResumeParams>('billing_cycle_anchor', 'proration_behavior'),
    run: bySubscription(resume),
  },
];
