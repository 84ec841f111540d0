// Checkout: a session is made by the operator's server, paid on Stripe's page, and expires after a day.
import type { Stripe } from 'stripe';
import { begin } from './billing.ts';
import { createCustomer } from './customers.ts';
import { invalid } from './http/errors.ts';
import { flag, integer, list, metadata, oneOf, required, text, type Form } from './http/form.ts';
import { attempt, markPaid } from './invoices.ts';
import { createdFits, names, page, type Route } from './http/route.ts';
import { daySeconds } from './subscriptions.ts';
import { change, emit, findObject, idOf, liveCustomer, now, type World } from './world.ts';

function createSession(world: World, form: Form): Stripe.Checkout.Session {
  const { price, quantity } = lineItem(world, form);
  const id = world.newId(world.livemode ? 'cs_live' : 'cs_test');
  const customer = text(form, 'customer');
  const email = text(form, 'customer_email');
  if (customer !== undefined && email !== undefined)
    throw invalid('You may only specify one of these parameters: customer, customer_email.');
  const session = buildSession(world, id, price, {
    customer: customer === undefined ? null : liveCustomer(world, customer, 'customer').id,
    customer_email: email ?? null,
    client_reference_id: text(form, 'client_reference_id') ?? null,
    success_url: required(form, 'success_url'),
    cancel_url: text(form, 'cancel_url') ?? null,
    expires_at: expiry(world, form),
    metadata: metadata(form, {}, 'metadata'),
    allow_promotion_codes: flag(form, 'allow_promotion_codes') ?? null,
  });
  world.sessions.set(id, session);
  world.lineItems.set(id, [itemOf(world, price, quantity)]);
  world.plannedSubscriptions.set(id, {
    metadata: metadata(form, {}, 'subscription_data', 'metadata'),
    trialDays: integer(form, 'subscription_data', 'trial_period_days') ?? 0,
  });
  return session;
}

function lineItem(world: World, form: Form): { price: Stripe.Price; quantity: number } {
  const mode = required(form, 'mode');
  if (mode !== 'subscription')
    throw invalid('This fake implements only the mode subscription.', { param: 'mode' });
  oneOf(form, ['hosted_page'], 'ui_mode');
  if (list(form, 'line_items').length !== 1)
    throw invalid('This fake wants exactly one line item.', { param: 'line_items' });
  const price = findObject(
    world.prices,
    'price',
    required(form, 'line_items', 0, 'price'),
    'line_items[0][price]',
  );
  if (!price.active)
    throw invalid('The price specified is inactive. This field only accepts active prices.', {
      param: 'line_items[0][price]',
    });
  const quantity = integer(form, 'line_items', 0, 'quantity');
  if (quantity !== 1)
    throw invalid('Quantity is required, and must be 1.', { param: 'line_items[0][quantity]' });
  return { price, quantity };
}

/** From 30 minutes to a day ahead. */
function expiry(world: World, form: Form): number {
  const expiresAt = integer(form, 'expires_at') ?? now(world) + daySeconds;
  const ahead = expiresAt - now(world);
  if (ahead >= 1_800 && ahead <= daySeconds) return expiresAt;
  throw invalid(
    'The `expires_at` timestamp must be between 30 minutes and 24 hours from Checkout Session creation.',
    {
      param: 'expires_at',
    },
  );
}

const itemOf = (world: World, price: Stripe.Price, quantity: number): Stripe.LineItem => ({
  id: world.newId('li'),
  object: 'item',
  adjustable_quantity: null,
  amount_discount: 0,
  amount_subtotal: price.unit_amount ?? 0,
  amount_tax: 0,
  amount_total: price.unit_amount ?? 0,
  currency: price.currency,
  description: world.products.get(idOf(price.product))?.name ?? null,
  metadata: {},
  price,
  quantity,
});

type Wanted = Pick<
  Stripe.Checkout.Session,
  | 'customer'
  | 'customer_email'
  | 'client_reference_id'
  | 'success_url'
  | 'cancel_url'
  | 'expires_at'
  | 'metadata'
  | 'allow_promotion_codes'
>;

function buildSession(
  world: World,
  id: string,
  price: Stripe.Price,
  wanted: Wanted,
): Stripe.Checkout.Session {
  return {
    id,
    object: 'checkout.session',
    adaptive_pricing: null,
    after_expiration: null,
    allowed_payment_method_types: null,
    amount_subtotal: price.unit_amount,
    amount_total: price.unit_amount,
    automatic_tax: { enabled: false, liability: null, provider: null, status: null },
    billing_address_collection: null,
    client_secret: null,
    collected_information: null,
    consent: null,
    consent_collection: null,
    created: now(world),
    currency: price.currency,
    currency_conversion: null,
    custom_fields: [],
    custom_text: {
      after_submit: null,
      shipping_address: null,
      submit: null,
      terms_of_service_acceptance: null,
    },
    customer_account: null,
    customer_creation: wanted.customer === null ? 'always' : null,
    customer_details: null,
    discounts: [],
    integration_identifier: null,
    invoice: null,
    invoice_creation: null,
    livemode: world.livemode,
    locale: null,
    managed_payments: null,
    mode: 'subscription',
    origin_context: null,
    payment_intent: null,
    payment_link: null,
    payment_method_collection: 'always',
    payment_method_configuration_details: null,
    payment_method_options: null,
    payment_method_types: ['card'],
    payment_status: 'unpaid',
    permissions: null,
    recovered_from: null,
    saved_payment_method_options: null,
    setup_intent: null,
    shipping_address_collection: null,
    shipping_cost: null,
    shipping_options: [],
    status: 'open',
    submit_type: null,
    subscription: null,
    total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
    ui_mode: 'hosted_page',
    url: `${world.url}/c/pay/${id}`,
    wallet_options: null,
    ...wanted,
  };
}

export interface Payment {
  /** False: by a delayed method such as a bank debit, so that the session is complete and nothing is paid. */
  paid?: boolean;
  /** Entered by the payer; a session for a customer uses the customer's. */
  email?: string;
  name?: string;
}

/** The payer has pressed the button, and it went well. */
export function complete(world: World, session: Stripe.Checkout.Session, payment: Payment): void {
  if (session.status !== 'open') throw invalid(`The session is ${String(session.status)}, not open.`);
  const email = session.customer_email ?? payment.email ?? null;
  const customer =
    session.customer === null
      ? createCustomer(world, { email, name: payment.name ?? null })
      : liveCustomer(world, idOf(session.customer));
  const { paid = true } = payment;
  world.cards.set(customer.id, 'works');
  const { metadata, trialDays } = world.plannedSubscriptions.get(session.id)!;
  const price = world.lineItems.get(session.id)![0]!.price!.id;
  const subscription = begin(world, { customer: customer.id, price, metadata, trialDays }, paid);
  Object.assign(session, {
    status: 'complete',
    payment_status: trialDays > 0 ? 'no_payment_required' : paid ? 'paid' : 'unpaid',
    customer: customer.id,
    customer_details: {
      address: null,
      business_name: null,
      email: customer.email,
      individual_name: null,
      name: customer.name ?? null,
      phone: null,
      tax_exempt: 'none',
      tax_ids: [],
    },
    subscription: subscription.id,
    invoice: idOf(subscription.latest_invoice),
    url: null,
  } satisfies Partial<Stripe.Checkout.Session>);
  emit(world, 'checkout.session.completed', session);
}

/** The delayed payment has arrived, or has failed. */
export function resolveDelayedPayment(
  world: World,
  session: Stripe.Checkout.Session,
  succeeded: boolean,
): void {
  if (session.status !== 'complete' || session.payment_status !== 'unpaid')
    throw invalid('The session waits for no payment.');
  const invoice = findObject(world.invoices, 'invoice', idOf(session.invoice));
  if (succeeded) {
    markPaid(world, invoice);
    session.payment_status = 'paid';
    emit(world, 'checkout.session.async_payment_succeeded', session);
  } else {
    world.cards.set(idOf(session.customer), 'declines');
    attempt(world, invoice);
    emit(world, 'checkout.session.async_payment_failed', session);
  }
}

export function expireSession(world: World, session: Stripe.Checkout.Session): Stripe.Checkout.Session {
  if (session.status !== 'open')
    throw invalid(
      `Only Checkout Sessions with a status in ["open"] can be expired. This one is ${String(session.status)}.`,
    );
  return change(world, session, { status: 'expired', url: null }, 'checkout.session.expired');
}

export const checkoutRoutes: Route[] = [
  {
    method: 'POST',
    path: '/v1/checkout/sessions',
    accepts: names<Stripe.Checkout.SessionCreateParams>(
      'allow_promotion_codes',
      'cancel_url',
      'client_reference_id',
      'customer',
      'customer_email',
      'expires_at',
      'line_items',
      'metadata',
      'mode',
      'subscription_data',
      'success_url',
      'ui_mode',
    ),
    run: createSession,
  },
  {
    method: 'GET',
    path: '/v1/checkout/sessions',
    accepts: names<Stripe.Checkout.SessionListParams>(
      'customer',
      'customer_details',
      'subscription',
      'status',
      'created',
      'limit',
      'starting_after',
      'ending_before',
    ),
    run(world, form) {
      const [customer, subscription] = [text(form, 'customer'), text(form, 'subscription')];
      const email = text(form, 'customer_details', 'email');
      const status = oneOf(form, ['open', 'complete', 'expired'], 'status');
      const fitting = [...world.sessions.values()].filter(
        (session) =>
          session.customer === (customer ?? session.customer) &&
          session.subscription === (subscription ?? session.subscription) &&
          session.status === (status ?? session.status) &&
          (email === undefined || session.customer_details?.email === email) &&
          createdFits(form, session.created),
      );
      return page(form, fitting, '/v1/checkout/sessions');
    },
  },
  {
    method: 'GET',
    path: '/v1/checkout/sessions/:id',
    accepts: [],
    run: (world, _form, id) => findObject(world.sessions, 'checkout.session', id),
  },
  {
    method: 'POST',
    path: '/v1/checkout/sessions/:id/expire',
    accepts: [],
    run: (world, _form, id) => expireSession(world, findObject(world.sessions, 'checkout.session', id)),
  },
];
