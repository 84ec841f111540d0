// Pay with the fake of Stripe: with an account, whose plan changes; and without one, which shows the first key once.
import { recordSecret } from '../../../run/traces.ts';
import { until } from '../../../run/until.ts';
import { assert, assertSame, askApi, newPerson, signIn, signUp } from '../../people.ts';
import type { Walk } from '../../walks.ts';

interface Account {
  data: { subscription: { status: string } | null };
}

const dayMs = 86_400_000;

export const paying: Walk = {
  name: 'pay for Pro, change in the portal, miss a payment',
  async run(stage, visitor) {
    const { page } = visitor;
    const person = newPerson();
    await signUp(stage, visitor, person);
    await page.getByRole('link', { name: 'Billing' }).click();
    await page.getByRole('button', { name: 'Move to Pro' }).waitFor();
    await visitor.look('billing-free');
    await page.getByRole('button', { name: 'Move to Pro' }).click();
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    assertSame(new URL(page.url()).hash, '', 'what is after #');
    await visitor.look('billing-return');
    await page.getByRole('link', { name: 'To billing' }).click();
    await page.locator('[data-test=plan]', { hasText: 'Pro' }).waitFor();
    await visitor.look('billing-pro');

    await page.getByRole('button', { name: 'Invoices and card at Stripe' }).click();
    await page.getByRole('button', { name: 'Cancel at the end of the period' }).click();
    await page.getByRole('link', { name: 'Back' }).click();
    await page.getByText('The plan ends on').waitFor();
    await visitor.look('billing-cancelled');
    await page.getByRole('button', { name: 'Keep the plan' }).click();
    await page.getByRole('button', { name: 'Do not cancel' }).click();
    await page.getByRole('button', { name: 'Cancel at the end of the period' }).waitFor();

    const customer = stage.stripe
      .customers()
      .find((each) => each.deleted !== true && each.email === person.email);
    stage.stripe.setCard(customer?.id ?? '', 'declines');
    await stage.advance(32 * dayMs); // past the renewal, and the hour after which it is charged
    visitor.expectStatus(401); // the session has run out
    await visitor.open('/dashboard/billing');
    await page.getByText('Your session has ended').waitFor();
    await signIn(page, person);
    await page.locator('[data-test=plan]').waitFor();
    await until('the missed payment is known', async () => {
      const { data } = (await askApi(visitor, '/v1/account')) as Account;
      return data.subscription?.status === 'past_due';
    });
    await page.reload();
    await page.getByText('The last payment failed').waitFor();
    await visitor.look('billing-overdue');
    await page.getByRole('link', { name: 'Pay the invoice' }).click();
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await until('the payment is known', async () => {
      await visitor.open('/dashboard/billing');
      await page.locator('[data-test=plan]').waitFor();
      return (await page.getByText('The last payment failed').count()) === 0;
    });
  },
};

export const payingFirst: Walk = {
  name: 'pay without an account, and take the first key',
  async run({ services, stripe, url }, visitor) {
    const { page } = visitor;
    const { email } = newPerson();
    const { json } = await services.call('/v1/checkout', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-forwarded-for': '198.51.100.8' },
      body: JSON.stringify({ plan: 'pro', email }),
    });
    await page.goto((json as { data: { url: string } }).data.url);
    const session = stripe.sessions().find((each) => each.customer_email === email);
    recordSecret(new URL(session?.success_url ?? '').hash.slice('#claim='.length));
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await page.getByRole('button', { name: 'Show my API key' }).waitFor();
    assertSame(page.url(), `${url}/billing/return`, 'the URL, without its token');
    await visitor.look('purchase');
    await page.getByRole('button', { name: 'Show my API key' }).click();
    const key = recordSecret((await page.locator('[data-test=secret]').textContent()) ?? '');
    await visitor.look('purchase-key');
    assertSame(
      (await services.call('/v1/series/DEMO.CPI/latest', { key })).status,
      200,
      'a call with the key',
    );
    assert(
      !(await page.evaluate<string>('JSON.stringify(sessionStorage)')).includes(key),
      'the key is kept nowhere',
    );
    await page.reload();
    await page.getByText('There is no purchase to show here').waitFor();
  },
};
