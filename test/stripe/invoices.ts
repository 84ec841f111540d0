// Invoices: drafted, finalised, attempted, paid, given up; and the effect of each step on the subscription.
import { Stripe } from 'stripe';
import { cardDeclined, invalid } from './http/errors.ts';
import { flag, oneOf, text } from './http/form.ts';
import { createdFits, names, page, type Route } from './http/route.ts';
import { cancelNow, daySeconds, isUnpaid, itemOf, subscriptionOf, update } from './subscriptions.ts';
import { emit, findObject, idOf, listOf, liveCustomer, now, type World } from './world.ts';

/** A renewal's draft is finalised and tried after this long. */
const draftSeconds = 3_600;

export type Reason = 'subscription_create' | 'subscription_cycle' | 'subscription_update';

/** A draft over the current period, which becomes the latest invoice; no event of the subscription. */
export function draftInvoice(
  world: World,
  subscription: Stripe.Subscription,
  reason: Reason,
  amount: number,
): Stripe.Invoice {
  const customer = liveCustomer(world, idOf(subscription.customer));
  const { price, current_period_start: start, current_period_end: end } = itemOf(subscription);
  const id = world.newId('in');
  const invoice: Stripe.Invoice = {
    id,
    object: 'invoice',
    account_country: 'US',
    account_name: 'Almanac',
    account_tax_ids: null,
    amount_due: amount,
    amount_overpaid: 0,
    amount_paid: 0,
    amount_remaining: amount,
    amount_shipping: 0,
    application: null,
    attempt_count: 0,
    attempted: false,
    auto_advance: true,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    automatically_finalizes_at: now(world) + draftSeconds,
    billing_reason: reason,
    collection_method: 'charge_automatically',
    created: now(world),
    currency: price.currency,
    custom_fields: null,
    customer: customer.id,
    customer_account: null,
    customer_address: null,
    customer_email: customer.email,
    customer_name: customer.name ?? null,
    customer_phone: null,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    default_payment_method: null,
    default_source: null,
    default_tax_rates: [],
    description: null,
    discounts: [],
    due_date: null,
    effective_at: null,
    ending_balance: null,
    footer: null,
    from_invoice: null,
    hosted_invoice_url: null,
    invoice_pdf: null,
    issuer: { type: 'self' },
    last_finalization_error: null,
    latest_revision: null,
    lines: listOf([lineOf(world, id, subscription, amount)], `/v1/invoices/${id}/lines`),
    livemode: world.livemode,
    metadata: {},
    next_payment_attempt: now(world) + draftSeconds,
    number: null,
    on_behalf_of: null,
    parent: {
      quote_details: null,
      subscription_details: { metadata: subscription.metadata, subscription: subscription.id },
      type: 'subscription_details',
    },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: reason === 'subscription_cycle' ? start : end,
    period_start: start,
    post_payment_credit_notes_amount: 0,
    pre_payment_credit_notes_amount: 0,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: 0,
    statement_descriptor: null,
    status: 'draft',
    status_transitions: { finalized_at: null, marked_uncollectible_at: null, paid_at: null, voided_at: null },
    subtotal: amount,
    subtotal_excluding_tax: amount,
    test_clock: null,
    total: amount,
    total_discount_amounts: [],
    total_excluding_tax: amount,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: null,
  };
  world.invoices.set(id, invoice);
  subscription.latest_invoice = id;
  return invoice;
}

function lineOf(
  world: World,
  invoice: string,
  subscription: Stripe.Subscription,
  amount: number,
): Stripe.InvoiceLineItem {
  const item = itemOf(subscription);
  return {
    id: world.newId('il'),
    object: 'line_item',
    amount,
    currency: item.price.currency,
    description: null,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice,
    livemode: world.livemode,
    metadata: {},
    parent: {
      invoice_item_details: null,
      subscription_item_details: {
        invoice_item: null,
        proration: false,
        proration_details: null,
        subscription: subscription.id,
        subscription_item: item.id,
      },
      type: 'subscription_item_details',
    },
    period: { start: item.current_period_start, end: item.current_period_end },
    pretax_credit_amounts: [],
    pricing: {
      price_details: { price: item.price.id, product: idOf(item.price.product) },
      type: 'price_details',
      unit_amount_decimal: item.price.unit_amount_decimal,
    },
    quantity: 1,
    quantity_decimal: Stripe.Decimal.from(1),
    subscription: subscription.id,
    subtotal: amount,
    taxes: [],
  };
}

/** draft → open: from now on it can be paid. */
export function finalize(world: World, invoice: Stripe.Invoice): Stripe.Invoice {
  if (invoice.status !== 'draft') throw invalid('This invoice is already finalized.');
  const customer = liveCustomer(world, idOf(invoice.customer));
  const sequence = customer.next_invoice_sequence ?? 1;
  customer.next_invoice_sequence = sequence + 1;
  Object.assign(invoice, {
    status: 'open',
    automatically_finalizes_at: null,
    effective_at: now(world),
    number: `${customer.invoice_prefix}-${String(sequence).padStart(4, '0')}`,
    hosted_invoice_url: `${world.url}/i/${invoice.id}`,
    invoice_pdf: `${world.url}/i/${invoice.id}/pdf`,
    status_transitions: { ...invoice.status_transitions, finalized_at: now(world) },
  } satisfies Partial<Stripe.Invoice>);
  emit(world, 'invoice.finalized', invoice);
  return invoice;
}

/**
 * Tries to charge the customer's card. Only an automatic attempt, or the first, moves the schedule of retries
 * (`attempt_count`, `next_payment_attempt`); the first invoice of a subscription is never retried automatically.
 */
export function attempt(world: World, invoice: Stripe.Invoice, { automatic = false } = {}): boolean {
  const accepted = invoice.amount_due === 0 || world.cards.get(idOf(invoice.customer)) === 'works';
  const counts = automatic || !invoice.attempted;
  invoice.attempted = true;
  if (counts) invoice.attempt_count += 1;
  if (accepted) markPaid(world, invoice);
  else failed(world, invoice, counts);
  return accepted;
}

/** open → paid, and the subscription is in service again if this was its latest invoice. */
export function markPaid(world: World, invoice: Stripe.Invoice): void {
  Object.assign(invoice, {
    status: 'paid',
    amount_paid: invoice.amount_due,
    amount_remaining: 0,
    auto_advance: false,
    next_payment_attempt: null,
    status_transitions: { ...invoice.status_transitions, paid_at: now(world) },
  } satisfies Partial<Stripe.Invoice>);
  emit(world, 'invoice.paid', invoice);
  emit(world, 'invoice.payment_succeeded', invoice);
  const subscription = world.subscriptions.get(subscriptionOf(invoice));
  if (subscription) reactivate(world, subscription, invoice, ['incomplete', 'past_due', 'unpaid', 'paused']);
}

function failed(world: World, invoice: Stripe.Invoice, counts: boolean): void {
  const { afterDays, outcome } = world.retries;
  const days = afterDays[invoice.attempt_count - 1];
  const subscription = world.subscriptions.get(subscriptionOf(invoice));
  const retried = invoice.billing_reason !== 'subscription_create' && subscription?.ended_at === null;
  if (counts)
    invoice.next_payment_attempt = retried && days !== undefined ? now(world) + days * daySeconds : null;
  emit(world, 'invoice.payment_failed', invoice);
  if (!retried) return;
  const isLatest = idOf(subscription.latest_invoice) === invoice.id;
  if (subscription.status === 'active' && isLatest) update(world, subscription, { status: 'past_due' });
  if (!counts || days !== undefined || subscription.status !== 'past_due') return;
  if (outcome === 'canceled') cancelNow(world, subscription, 'payment_failed');
  else update(world, subscription, { status: outcome });
}

function reactivate(
  world: World,
  subscription: Stripe.Subscription,
  invoice: Stripe.Invoice,
  from: Stripe.Subscription.Status[],
): void {
  if (idOf(subscription.latest_invoice) !== invoice.id || !from.includes(subscription.status)) return;
  const resumed = subscription.status === 'paused';
  update(world, subscription, { status: 'active' });
  if (resumed) emit(world, 'customer.subscription.resumed', subscription);
}

/** Paid on its page or by the API, with a card that works and replaces the old one. */
export function payWithNewCard(world: World, invoice: Stripe.Invoice): Stripe.Invoice {
  refuseUnlessOpen(invoice);
  world.cards.set(idOf(invoice.customer), 'works');
  attempt(world, invoice);
  return invoice;
}

function refuseUnlessOpen(invoice: Stripe.Invoice): void {
  if (invoice.status === 'paid') throw invalid('Invoice is already paid');
  if (invoice.status !== 'open' && invoice.status !== 'uncollectible')
    throw invalid(`The invoice is ${String(invoice.status)}, not open.`);
}

/** Given up, by the operator: a subscription that was past due because of it is active again, as at Stripe. */
export function giveUp(
  world: World,
  invoice: Stripe.Invoice,
  status: 'uncollectible' | 'void',
): Stripe.Invoice {
  if (invoice.status !== 'open') throw invalid(`The invoice is ${String(invoice.status)}, not open.`);
  const at = status === 'void' ? 'voided_at' : 'marked_uncollectible_at';
  Object.assign(invoice, {
    status,
    auto_advance: false,
    next_payment_attempt: null,
    status_transitions: { ...invoice.status_transitions, [at]: now(world) },
  } satisfies Partial<Stripe.Invoice>);
  emit(world, status === 'void' ? 'invoice.voided' : 'invoice.marked_uncollectible', invoice);
  const subscription = world.subscriptions.get(subscriptionOf(invoice));
  if (subscription) reactivate(world, subscription, invoice, ['past_due']);
  return invoice;
}

export const invoiceRoutes: Route[] = [
  {
    method: 'GET',
    path: '/v1/invoices',
    accepts: names<Stripe.InvoiceListParams>(
      'customer',
      'subscription',
      'status',
      'created',
      'limit',
      'starting_after',
      'ending_before',
    ),
    run(world, form) {
      const [customer, subscription] = [text(form, 'customer'), text(form, 'subscription')];
      const status = oneOf(form, ['draft', 'open', 'paid', 'uncollectible', 'void'], 'status');
      const fitting = [...world.invoices.values()].filter(
        (invoice) =>
          invoice.customer === (customer ?? invoice.customer) &&
          (subscription === undefined || subscriptionOf(invoice) === subscription) &&
          invoice.status === (status ?? invoice.status) &&
          createdFits(form, invoice.created),
      );
      return page(form, fitting, '/v1/invoices');
    },
  },
  {
    method: 'GET',
    path: '/v1/invoices/:id',
    accepts: [],
    run: (world, _form, id) => findObject(world.invoices, 'invoice', id),
  },
  {
    method: 'POST',
    path: '/v1/invoices/:id/pay',
    accepts: names<Stripe.InvoicePayParams>('paid_out_of_band'),
    run(world, form, id) {
      const invoice = findObject(world.invoices, 'invoice', id);
      if (invoice.status === 'draft') finalize(world, invoice);
      refuseUnlessOpen(invoice);
      if (flag(form, 'paid_out_of_band') === true) markPaid(world, invoice);
      else if (!attempt(world, invoice)) throw cardDeclined();
      return invoice;
    },
  },
];

/** The latest invoice of a subscription, if it is open or a draft: the one that decides its status. */
export function unpaidLatestInvoice(
  world: World,
  subscription: Stripe.Subscription,
): Stripe.Invoice | undefined {
  const latest = world.invoices.get(idOf(subscription.latest_invoice));
  return latest && isUnpaid(latest) ? latest : undefined;
}
