// Create a key that is pinned to a day: refused by the Free plan, made by Pro, shown with its day, and answered as of that day.
import { assert, newPerson, signUp } from '../../people.ts';
import type { Walk } from '../../walks.ts';

export const pinnedKey: Walk = {
  name: 'create a key that is pinned to a day',
  async run(stage, visitor) {
    const { page } = visitor;
    const person = newPerson();
    await signUp(stage, visitor, person);
    visitor.expectStatus(403);
    await visitor.open('/dashboard/keys');
    await page.getByRole('button', { name: 'Create a key' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Backtest');
    await dialog.getByLabel('Pinned to a day').fill('2026-08-20');
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    await dialog.getByText('This requires the Pro plan, which includes pinned keys').waitFor();
    await visitor.look('keys-pinned-refused');

    const account = await stage.services.accounts.db.accounts.findOne({ where: { email: person.email } });
    await stage.services.setPlan(account?.id ?? '', 'pro');
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    const secret = (await dialog.getByText(/^pk_live_/).textContent()) ?? '';
    const answer = await fetch(`${stage.url}/v1/series/DEMO.CPI?limit=1`, {
      headers: { 'x-api-key': secret.trim() },
    });
    const { meta } = (await answer.json()) as { meta: { last_updated: string } };
    assert(answer.headers.get('x-as-of') === '2026-08-20', 'the answer names the day of its key');
    assert(meta.last_updated <= '2026-08-20', 'the answer has nothing that was published later');

    await dialog.getByLabel('stored').check();
    await dialog.getByRole('button', { name: 'Done' }).click();
    await page.getByText('as of 20 Aug 2026').waitFor();
    await visitor.look('keys-pinned');
  },
};
