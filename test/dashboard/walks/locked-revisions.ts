// Meet the revisions of a series locked with a free plan, pay for Pro, and open them with the same key.
import { until } from '../../run/until.ts';
import { assertSame, askApi, makeKey, newPerson, signUp } from '../people.ts';
import { readApi } from '../reading.ts';
import type { Walk } from '../walks.ts';

interface Plans {
  data: { name: string; features: string[]; price_usd_month: number | null }[];
}

export const lockedRevisions: Walk = {
  name: 'meet locked revisions, pay for Pro, open them',
  async run(stage, visitor) {
    const { page } = visitor;
    const { data: plans } = await readApi<Plans>(stage, '/v1/plans');
    const plan = plans.find(({ features }) => features.includes('vintages'));
    await signUp(stage, visitor, newPerson());
    await page.getByRole('link', { name: 'Create a key' }).click();
    const key = await makeKey(page, 'Revisions');

    visitor.expectStatus(403); // the plan of the key
    await visitor.open('/series/DEMO.GDP/revisions');
    await page.getByRole('heading', { name: `Vintages come with ${plan?.name}` }).waitFor();
    await page
      .getByRole('link', { name: `Move to ${plan?.name}, $${plan?.price_usd_month} a month` })
      .waitFor();
    const giveKey = async () => {
      await page.getByLabel(`Have a key of ${plan?.name}?`).fill(key);
      await page.getByRole('button', { name: 'Show the revisions' }).click();
    };
    await giveKey();
    await page.getByRole('alert').filter({ hasText: 'plan' }).waitFor();
    await visitor.look('revisions-locked');
    await page.getByRole('link', { name: 'Move to Pro' }).click();
    await page.getByRole('link', { name: 'Choose in billing' }).first().click();
    await page.getByRole('button', { name: 'Move to Pro' }).click();
    await page.getByRole('button', { name: 'Pay', exact: true }).click();
    await page.getByRole('heading', { name: 'Thank you' }).waitFor();
    await until('the account has the plan', async () => {
      const { data } = (await askApi(visitor, '/v1/account')) as { data: { plan: string } };
      return data.plan === 'pro';
    });
    await visitor.open('/series/DEMO.GDP/revisions');
    await giveKey();
    await page.getByRole('slider', { name: 'Vintage' }).waitFor();
    const { data: vintages } = await readApi<{ data: unknown[] }>(stage, '/v1/series/DEMO.GDP/vintages');
    assertSame(
      Number(await page.getByRole('slider', { name: 'Vintage' }).getAttribute('max')) + 1,
      vintages.length,
      'the vintages to play',
    );
    await visitor.look('revisions-opened');
  },
};
