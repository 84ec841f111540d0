// The banner of the billing page.
import test from 'ava';
import { bannerOf, type SubscriptionFacts } from './banner.ts';

const subscription: NonNullable<SubscriptionFacts['subscription']> = {
  status: 'active',
  current_period_end: '2026-12-14T10:00:00Z',
  cancels_at: null,
  grace_ends_at: null,
  latest_invoice: null,
};
const invoice = {
  status: 'open',
  amount_due: 9900,
  currency: 'usd',
  hosted_invoice_url: 'https://stripe.example/i/1',
  next_attempt_at: '2026-11-17T10:00:00Z',
};
const current = (
  of: Partial<NonNullable<SubscriptionFacts['subscription']>>,
  subscription_state: SubscriptionFacts['subscription_state'] = 'active',
): SubscriptionFacts => ({ plan: 'pro', subscription_state, subscription: { ...subscription, ...of } });

test('there is no banner if nothing is wrong', (t) => {
  t.is(bannerOf({ plan: 'free', subscription_state: 'none', subscription: null }), null);
  t.is(bannerOf(current({})), null);
  t.is(bannerOf(current({ status: 'canceled', cancels_at: '2026-11-01T00:00:00Z' }, 'none')), null);
});

test('a failed payment shows the amount due, the end of service and the next attempt', (t) => {
  const found = bannerOf(
    current({ status: 'past_due', grace_ends_at: '2026-11-28T10:00:00Z', latest_invoice: invoice }),
  );
  t.is(found?.kind, 'warn');
  t.is(
    found?.text,
    '$99 is due. Calls are served until 28 Nov 2026, 10:00 UTC; then they are refused with 402. The card is tried again on 17 Nov 2026.',
  );
  t.deepEqual(found?.action, { label: 'Pay the invoice', url: 'https://stripe.example/i/1' });
});

test('refused calls are graver than a cancellation, and a cancellation is reported in blue', (t) => {
  const cancels = { cancels_at: '2026-12-14T10:00:00Z' };
  t.is(bannerOf(current({ status: 'unpaid', ...cancels }, 'inactive'))?.kind, 'bad');
  t.is(bannerOf(current({ status: 'past_due', ...cancels }))?.kind, 'warn');
  t.like(bannerOf(current(cancels)), { kind: 'acc', title: 'The plan ends on 14 Dec 2026' });
});

test('a paused subscription leads to the portal', (t) => {
  t.deepEqual(bannerOf(current({ status: 'paused' }, 'inactive'))?.action, {
    label: 'Open the billing portal',
    url: null,
  });
});
