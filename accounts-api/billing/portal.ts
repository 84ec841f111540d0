// GET /v1/billing/portal: the page at Stripe where the holder pays, changes or cancels the subscription and finds the invoices.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { endpoint } from '../endpoint.ts';
import { askStripe, requireBilling } from './connection.ts';
import { selectCustomersOf } from './customers.sql.ts';

/** The page of the dashboard that the portal leads back to; it asks how things stand until they have changed. */
const backPath = '/dashboard/billing?back=portal';

export const openPortal = endpoint({
  summary: 'The billing portal: a URL to pay, change or cancel the subscription.',
  description:
    'Each call makes a URL of its own, which works for a few minutes. Open it at once, and do not store it.',
  requester: 'account',
  answers: { 200: z.object({ url: z.url() }) },
  errors: ['not_found', 'billing_not_configured', 'unavailable'],
  handler:
    (deps) =>
    async ({ requester: { accountId }, call }) => {
      const { stripe } = requireBilling(deps);
      const [customer] = await call.stage('sql', () => selectCustomersOf(deps.db, accountId));
      if (customer === undefined) {
        fail(
          'not_found',
          'The account has not bought anything yet. See GET /v1/plans and POST /v1/checkout.',
        );
      }
      const return_url = deps.settings.publicUrl + backPath;
      const { url } = await askStripe(stripe.billingPortal.sessions.create({ customer, return_url }));
      return one({ url });
    },
});
