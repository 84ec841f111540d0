// An operator sees the loads, retracts one after a dry run, and undoes the retraction; each time the series is served in its new state.
import { createAccount, createKey } from '../../../../accounts-api/operator/operator.ts';
import { setRole } from '../../../../accounts-api/operator/account-access.ts';
import { recordSecret } from '../../../run/traces.ts';
import { assertSame, newPerson, numberIn, signIn, signUp } from '../../people.ts';
import type { Walk } from '../../walks.ts';

export const operatorLoads: Walk = {
  name: 'retract a load as an operator',
  async run(stage, visitor) {
    const { page } = visitor;
    const { accounts, call, database, ingest } = stage.services;
    const person = newPerson();
    const series = `WALK.RETRACT.${visitor.width}`;
    const { id } = await createAccount(accounts, { email: newPerson().email, plan: 'pro' });
    const { key } = await createKey(accounts, id, 'reader');
    recordSecret(key);
    const csv = (values: readonly number[]) =>
      `series_id,date,value\n${values.map((value, at) => `${series},2024-0${at + 1},${value}\n`).join('')}`;
    await ingest(csv([100, 101]), { vintage: '2024-03-01', set: { name: 'Retracted' } });
    await ingest(csv([100, 1010, 1020]), { vintage: '2024-04-01' });
    const served = async () => {
      const { json } = await call(`/v1/series/${series}`, { key });
      return (json as { data: { value: number }[] }).data.map(({ value }) => value).join(' ');
    };
    assertSame(await served(), '100 1010 1020', 'the values of the wrong load');

    await signUp(stage, visitor, person);
    await setRole(accounts, person.email, 'operator');
    await visitor.open('/dashboard');
    await page.getByRole('link', { name: 'Loads' }).click();
    await page.getByRole('button', { name: 'Only loads of observations' }).first().click();
    await page.waitForURL(/dataset=observations/);
    await page.getByRole('button', { name: 'Only loads of trade' }).waitFor({ state: 'detached' });
    await visitor.look('operator-loads');

    await page.locator('tbody a').first().click();
    await page.getByRole('link', { name: series }).waitFor();
    const number = new URL(page.url()).pathname.split('/').at(-1) ?? '';
    await page.getByLabel('Reason, for the record').fill('decimal point lost');
    await page.getByRole('button', { name: 'See what it changes' }).click();
    await page.getByText(`almanac loads retract ${number} --reason 'decimal point lost'`).waitFor();
    const dryRun = page.getByRole('group', { name: 'The dry run' });
    assertSame(await dryRun.locator('[data-test=revised]').textContent(), '1', 'points that change');
    assertSame(await dryRun.locator('[data-test=deleted]').textContent(), '1', 'points that are deleted');
    assertSame(await served(), '100 1010 1020', 'the values after the dry run');
    await visitor.look('operator-load');

    await page.getByRole('button', { name: 'Retract the load' }).click();
    const dialog = page.getByRole('dialog');
    assertSame(
      await dialog.getByRole('button', { name: 'Retract the load' }).isDisabled(),
      true,
      'the button before the number is typed',
    );
    await database.query(`update accounts.sessions set auth_time = auth_time - interval '16 minutes'`);
    visitor.expectStatus(401);
    await dialog.getByLabel(`Type “${number}” to confirm`).fill(number);
    await dialog.getByRole('button', { name: 'Retract the load' }).click();
    await dialog.getByRole('link', { name: 'Sign in again' }).click();
    await signIn(page, person);
    await page.getByLabel('Reason, for the record').fill('decimal point lost');
    assertSame(await served(), '100 1010 1020', 'the values after the refusal');
    await page.getByRole('button', { name: 'See what it changes' }).click();
    await page.getByRole('button', { name: 'Retract the load' }).click();
    await dialog.getByLabel(`Type “${number}” to confirm`).fill(number);
    await dialog.getByRole('button', { name: 'Retract the load' }).click();
    await page.getByText(`Load ${number} is retracted, by`).waitFor();
    assertSame(await served(), '100 101', 'the values after the retraction');
    await visitor.look('operator-load-retracted');

    await page
      .getByRole('link', { name: /^load \d+$/ })
      .first()
      .click();
    await page.getByRole('heading', { name: 'Retract' }).waitFor();
    await page.getByText('decimal point lost').waitFor();
    const retraction = await numberIn(page, 'h1');
    await page.getByRole('button', { name: 'See what it changes' }).click();
    await page.getByRole('button', { name: 'Retract the retraction' }).click();
    await dialog.getByLabel(`Type “${retraction}” to confirm`).fill(String(retraction));
    await dialog.getByRole('button', { name: 'Retract the retraction' }).click();
    await page.getByText(`Load ${retraction} is undone`).waitFor();
    assertSame(await served(), '100 1010 1020', 'the values after the retraction was retracted');
  },
};
