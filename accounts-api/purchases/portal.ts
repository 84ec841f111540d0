// GET /v1/billing/portal: the Stripe page where the holder pays, changes or cancels the subscription and finds invoices.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { selectPurchasesFor } from './purchases.sql.ts';
import { signedInOf } from '../requester.ts';
import { askStripe, isMissing, requireBilling, type Billing } from '../billing/connection.ts';
import { noteDeleted, selectCustomersOf } from '../billing/customers.sql.ts';

/** The dashboard page that the portal returns to; it polls the state until it has changed. */
const backPath = '/dashboard/billing?back=portal';

export const openPortal = endpoint({
  summary: 'The billing portal: a URL to pay, change or cancel the subscription.',
  description:
    'Each call creates a new URL, which works for a few minutes. Open it at once, and do not store it.',
  requester: 'account',
  query: {
    purchase: z
      .string()
      .optional()
      .describe(
        'An id of `/v1/billing/purchases`: the portal of that purchase, before it is moved into the account. Needs a session.',
      ),
  },
  answers: { 200: z.object({ url: z.url() }) },
  errors: ['forbidden', 'not_found', 'billing_not_configured', 'unavailable'],
  handler: async (deps, { requester, query: { purchase }, call }) => {
    const billing = requireBilling(deps);
    const accountId = purchase === undefined ? requester.accountId : await purchaseOf(deps, call, purchase);
    const customers = await call.stage('sql', () => selectCustomersOf(deps.db, accountId));
    const url = await openPage(deps, billing, customers);
    if (url === null) {
      fail('not_found', 'The account has not bought anything yet. See GET /v1/plans and POST /v1/checkout.');
    }
    return one({ url });
  },
});

/** The account of a purchase that the caller may claim. @throws Failure `not_found`, `forbidden` for an API key. */
async function purchaseOf({ db }: ServiceDeps, call: ServiceCall, id: string): Promise<string> {
  const { accountId } = signedInOf(call);
  const offered = await call.stage('sql', () => selectPurchasesFor(db, null, accountId));
  if (!offered.some((each) => each.id === id)) {
    fail('not_found', 'There is no purchase with this id for the account.');
  }
  return id;
}

/** The portal page of the first customer that still exists at Stripe; null if none does. */
async function openPage(
  { db, clock, settings }: ServiceDeps,
  { stripe }: Billing,
  customers: readonly string[],
): Promise<string | null> {
  const return_url = settings.publicUrl + backPath;
  for (const customer of customers) {
    try {
      const { url } = await askStripe(stripe.billingPortal.sessions.create({ customer, return_url }));
      return url;
    } catch (error) {
      if (!isMissing(error)) throw error;
      await noteDeleted(db, customer, clock.now()); // deleted at Stripe, without an event so far
    }
  }
  return null;
}
