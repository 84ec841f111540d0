// The hosted pages of the fake, as a browser uses them: pay, manage a subscription, pay an invoice.
import test from 'ava';
import { setUp } from './set-up.ts';

const submit = (url: string, fields: Record<string, string>): Promise<Response> =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), redirect: 'manual' });
const page = async (url: string): Promise<string> => (await fetch(url)).text();

test('who pays on the page of Checkout is sent to the success page with the id of the session', async (t) => {
  const { fake, session } = await setUp(t);
  const { id, url } = await session({ cancel_url: 'https://almanac.example/back?a=1&b=2' });
  const shown = await page(url!);
  t.regex(shown, /Starter: 29\.00 USD per month/);
  t.regex(shown, /name="email"/);
  t.regex(shown, /href="https:\/\/almanac\.example\/back\?a=1&#38;b=2"/);
  const declined = await submit(url!, { outcome: 'declined', email: 'payer@example.org' });
  t.is(declined.status, 303);
  t.is(fake.session(id).status, 'open');
  t.deepEqual(fake.events, []);
  const paid = await submit(url!, { outcome: 'paid', email: 'payer@example.org' });
  t.is(paid.status, 303);
  t.is(paid.headers.get('location'), `https://almanac.example/return?session_id=${id}`);
  t.is(fake.session(id).customer_details?.email, 'payer@example.org');
  t.is(fake.session(id).payment_status, 'paid');
  t.is((await submit(url!, { outcome: 'paid' })).status, 400, 'a second press of the button pays nothing');
  t.is(fake.customers().length, 1);
  t.regex(await page(url!), /This session is complete/);
});

test('a payer can choose a delayed method, and a known e-mail is not asked for', async (t) => {
  const { fake, session } = await setUp(t);
  const { id, url } = await session({ customer_email: '<b>@example.org' });
  const shown = await page(url!);
  t.notRegex(shown, /name="email"/);
  t.regex(shown, /&#60;b&#62;@example\.org/);
  await submit(url!, { outcome: 'later', email: 'other@example.org' });
  t.is(fake.session(id).payment_status, 'unpaid');
  t.is(fake.session(id).customer_details?.email, '<b>@example.org');
});

test('the portal shows and changes only the subscriptions of its customer', async (t) => {
  const { fake, stripe, subscriber, pro } = await setUp(t);
  const { subscription, customer } = await subscriber();
  const other = await subscriber();
  fake.addPrice({ amount: 2500, currency: 'eur', product: 'In euros' });
  const { url } = await stripe.billingPortal.sessions.create({
    customer: customer.id,
    return_url: 'https://almanac.example/account',
  });
  const shown = await page(url);
  t.regex(shown, /Starter: active/);
  t.regex(shown, /Change to Pro, 99\.00 USD per month/);
  t.notRegex(shown, new RegExp(other.subscription.id));
  t.notRegex(shown, /In euros/);
  t.is((await submit(url, { subscription: subscription.id, price: pro.id })).status, 303);
  t.is(fake.subscription(subscription.id).items.data[0]!.price.id, pro.id);
  await submit(url, { subscription: subscription.id, action: 'cancel' });
  t.true(fake.subscription(subscription.id).cancel_at_period_end);
  t.regex(await page(url), /Do not cancel/);
  await submit(url, { subscription: subscription.id, action: 'keep' });
  t.false(fake.subscription(subscription.id).cancel_at_period_end);
  t.is((await submit(url, { subscription: other.subscription.id, action: 'cancel' })).status, 400);
  t.false(fake.subscription(other.subscription.id).cancel_at_period_end);
  await t.throwsAsync(stripe.billingPortal.sessions.create({ customer: 'cus_none' }), {
    message: /No such customer/,
  });
});

test('an open invoice is paid on its page, which the portal links to', async (t) => {
  const { fake, stripe, subscriber } = await setUp(t);
  const { subscription, customer } = await subscriber();
  const invoice = fake.failPayment(subscription.id);
  const { url } = await stripe.billingPortal.sessions.create({ customer: customer.id });
  t.regex(await page(url), new RegExp(`href="/i/${invoice.id}"`));
  t.is((await submit(invoice.hosted_invoice_url!, {})).status, 303);
  t.is(fake.subscription(subscription.id).status, 'active');
  t.regex(await page(invoice.hosted_invoice_url!), /<p>paid<\/p>/);
});

test('an unknown page is 404', async (t) => {
  const { fake } = await setUp(t);
  for (const path of ['/', '/c/pay/cs_none', '/p/session/bps_none', '/i/in_none'])
    t.is((await fetch(fake.url + path)).status, 404, path);
});
