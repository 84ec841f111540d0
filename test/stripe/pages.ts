// The hosted pages, as plain HTML with forms: Checkout, the Customer Portal, an invoice. A browser, or a test by fetch, can use them.
import type { ServerResponse } from 'node:http';
import type { Stripe } from 'stripe';
import { changePlan } from './billing.ts';
import { complete } from './checkout.ts';
import { StripeFailure } from './http/errors.ts';
import { oneOf, parseForm, required, text, type Form } from './http/form.ts';
import { payWithNewCard } from './invoices.ts';
import { names, type Route } from './http/route.ts';
import { cancelAtPeriodEnd, isUnpaid, itemOf } from './subscriptions.ts';
import { findObject, idOf, liveCustomer, now, type World } from './world.ts';

export const portalRoutes: Route[] = [
  {
    method: 'POST',
    path: '/v1/billing_portal/sessions',
    accepts: names<Stripe.BillingPortal.SessionCreateParams>('customer', 'return_url'),
    run(world, form): Stripe.BillingPortal.Session {
      const customer = liveCustomer(world, required(form, 'customer'), 'customer');
      const id = world.newId('bps');
      const session: Stripe.BillingPortal.Session = {
        id,
        object: 'billing_portal.session',
        configuration: 'bpc_default',
        created: now(world),
        customer: customer.id,
        customer_account: null,
        flow: null,
        livemode: world.livemode,
        locale: null,
        on_behalf_of: null,
        return_url: text(form, 'return_url') ?? null,
        url: `${world.url}/p/session/${id}`,
      };
      world.portals.set(id, session);
      return session;
    },
  },
];

interface Page {
  show(world: World, id: string): string;
  /** Performs the action of the form. @returns the address to go to next. */
  submit(world: World, id: string, form: Form): string;
}

const pages: Record<string, Page> = {
  '/c/pay/': { show: checkoutPage, submit: submitCheckout },
  '/p/session/': { show: portalPage, submit: submitPortal },
  '/i/': { show: invoicePage, submit: submitInvoice },
};

/** Answers a browser: GET shows, POST acts and redirects (303). */
export function showPage(
  world: World,
  method: string,
  path: string,
  body: string,
  res: ServerResponse,
): void {
  const found = Object.entries(pages).find(([prefix]) => path.startsWith(prefix));
  const answer = (status: number, html: string): void =>
    void res.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(html);
  if (!found || (method !== 'GET' && method !== 'POST')) return answer(404, document('Not found', ''));
  const [prefix, page] = found;
  const id = path.slice(prefix.length);
  try {
    if (method === 'GET') return answer(200, page.show(world, id));
    res.writeHead(303, { location: page.submit(world, id, parseForm(body)) }).end();
  } catch (error) {
    if (!(error instanceof StripeFailure)) throw error;
    answer(error.status, document('Error', `<p>${escape(error.message)}</p>`));
  }
}

function checkoutPage(world: World, id: string): string {
  const session = findObject(world.sessions, 'checkout.session', id);
  if (session.status !== 'open')
    return document('Checkout', `<p>This session is ${escape(session.status)}.</p>`);
  const [line] = world.lineItems.get(id)!;
  const known =
    session.customer_email ?? (session.customer && liveCustomer(world, idOf(session.customer)).email);
  const email = known
    ? `<p>${escape(known)}</p>`
    : '<label>E-mail <input name="email" type="email" required></label>';
  return document(
    'Checkout',
    `<p>${escape(line?.description)}: ${price(line!.price!)}</p><form method="post">${email}
    ${button('outcome', 'paid', 'Pay')} ${button('outcome', 'later', 'Pay by bank debit')}
    ${button('outcome', 'declined', 'Try a card that is declined')}</form>
    ${session.cancel_url ? `<a href="${escape(session.cancel_url)}">Back</a>` : ''}`,
  );
}

function submitCheckout(world: World, id: string, form: Form): string {
  const session = findObject(world.sessions, 'checkout.session', id);
  const outcome = oneOf(form, ['paid', 'later', 'declined'], 'outcome') ?? 'paid';
  if (outcome === 'declined') return `/c/pay/${id}`;
  const email = text(form, 'email');
  complete(world, session, { paid: outcome === 'paid', ...(email !== undefined && { email }) });
  return session.success_url!.replaceAll('{CHECKOUT_SESSION_ID}', id);
}

function portalPage(world: World, id: string): string {
  const portal = findObject(world.portals, 'portal', id);
  const others = [...world.prices.values()].filter(({ active }) => active);
  const parts = [...world.subscriptions.values()]
    .filter(({ customer, ended_at: ended }) => customer === portal.customer && ended === null)
    .map((subscription) => {
      const current = itemOf(subscription).price;
      const changes = others
        .filter((other) => other.id !== current.id && other.currency === current.currency)
        .map((other) => button('price', other.id, `Change to ${productName(world, other)}, ${price(other)}`));
      const end = subscription.cancel_at_period_end
        ? button('action', 'keep', 'Do not cancel')
        : button('action', 'cancel', 'Cancel at the end of the period');
      return `<form method="post"><h2>${escape(productName(world, current))}: ${escape(subscription.status)}</h2>
        <input type="hidden" name="subscription" value="${subscription.id}">${[end, ...changes].join(' ')}</form>`;
    });
  const open = [...world.invoices.values()]
    .filter((invoice) => invoice.customer === portal.customer && isUnpaid(invoice))
    .map(({ id, number }) => `<a href="/i/${id}">Pay invoice ${escape(number)}</a>`);
  const back = portal.return_url ? [`<a href="${escape(portal.return_url)}">Back</a>`] : [];
  return document('Customer Portal', [...parts, ...open, ...back].join('\n'));
}

/** Only objects of the customer of the portal's session. */
function submitPortal(world: World, id: string, form: Form): string {
  const portal = findObject(world.portals, 'portal', id);
  const own = new Map(
    [...world.subscriptions].filter(([, subscription]) => subscription.customer === portal.customer),
  );
  const subscription = findObject(own, 'subscription', required(form, 'subscription'), 'subscription');
  const priceId = text(form, 'price');
  if (priceId !== undefined) changePlan(world, subscription, priceId);
  else cancelAtPeriodEnd(world, subscription, oneOf(form, ['cancel', 'keep'], 'action') === 'cancel');
  return `/p/session/${id}`;
}

function invoicePage(world: World, id: string): string {
  const invoice = findObject(world.invoices, 'invoice', id);
  const pay = invoice.status === 'open' ? `<form method="post">${button('action', 'pay', 'Pay')}</form>` : '';
  return document(`Invoice ${invoice.number}`, `<p>${escape(invoice.status)}</p>${pay}`);
}

function submitInvoice(world: World, id: string): string {
  payWithNewCard(world, findObject(world.invoices, 'invoice', id));
  return `/i/${id}`;
}

const productName = (world: World, of: Stripe.Price): string =>
  world.products.get(idOf(of.product))?.name ?? of.id;

const price = (of: Stripe.Price): string =>
  escape(
    `${((of.unit_amount ?? 0) / 100).toFixed(2)} ${of.currency.toUpperCase()} per ${of.recurring?.interval ?? ''}`,
  );

const button = (name: string, value: string, label: string): string =>
  `<button name="${name}" value="${escape(value)}">${escape(label)}</button>`;

const document = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${escape(title)}</title></head>
<body><h1>${escape(title)}</h1>${body}</body></html>`;

const escape = (value: string | null | undefined): string =>
  (value ?? '').replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
