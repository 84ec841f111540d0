// An operator sees the releases under embargo, publishes one before its release time, and cancels another.
import { Readable } from 'node:stream';
import { createAccount, createKey } from '../../../../accounts-api/operator/operator.ts';
import { setRole } from '../../../../accounts-api/operator/account-access.ts';
import { acceptUnderEmbargo } from '../../../../ingest/publisher/releases/accept.ts';
import { recordSecret } from '../../../run/traces.ts';
import { assertSame, newPerson, signUp } from '../../people.ts';
import type { Walk } from '../../walks.ts';

export const operatorReleases: Walk = {
  name: 'publish and cancel releases as an operator',
  async run(stage, visitor) {
    const { page } = visitor;
    const { accounts, call, database } = stage.services;
    const person = newPerson();
    const { id } = await createAccount(accounts, { email: newPerson().email, plan: 'pro' });
    const { key } = await createKey(accounts, id, 'reader');
    recordSecret(key);
    const accept = async (series: string) => {
      const accepted = await acceptUnderEmbargo(
        database,
        {
          dataset: 'observations',
          input: Readable.from([`series_id,date,value\n${series},2024-01,101\n`]),
          sourceName: `${series}.csv`,
          create: true,
          set: { name: series, unit: 'Index', frequency: 'monthly', source: 'Walks' },
          seriesTimeZone: 'UTC',
        },
        { instant: `${stage.clock.now().getUTCFullYear() + 1}-01-15T10:00:00Z` },
      );
      return String(accepted.releaseNo);
    };
    const [early, never] = [`WALK.EARLY.${visitor.width}`, `WALK.NEVER.${visitor.width}`];
    const [earlyNo, neverNo] = [await accept(early), await accept(never)];
    const statusOf = async (series: string) => (await call(`/v1/series/${series}`, { key })).status;

    await signUp(stage, visitor, person);
    await setRole(accounts, person.email, 'operator');
    await visitor.open('/dashboard');
    await page.getByRole('link', { name: 'Releases' }).click();
    await page.getByText('Under embargo', { exact: true }).first().click();
    await page.waitForURL(/state=pending/);
    await page.getByRole('link', { name: new RegExp(`^${neverNo} `) }).waitFor();
    await visitor.look('operator-releases');

    const dialog = page.getByRole('dialog');
    await page.getByRole('link', { name: new RegExp(`^${earlyNo} `) }).click();
    await page.getByRole('heading', { name: 'Expected changes' }).waitFor();
    assertSame(await page.locator('[data-test=new]').textContent(), '1', 'new points by the check');
    assertSame(await statusOf(early), 404, 'the series under embargo');
    await visitor.look('operator-release');
    await page.getByRole('button', { name: 'Publish now' }).click();
    await dialog.getByText(`almanac releases now ${earlyNo}`).waitFor();
    await visitor.look('operator-release-now');
    await dialog.getByLabel(`Type “${earlyNo}” to confirm`).fill(earlyNo);
    await dialog.getByRole('button', { name: 'Publish now' }).click();
    await page.getByRole('heading', { name: 'What it changed' }).waitFor();
    await page.locator('[data-test=state]').getByText('Published').waitFor();
    assertSame(await statusOf(early), 200, 'the series that was published');

    await page.goBack();
    await page.getByRole('link', { name: new RegExp(`^${neverNo} `) }).click();
    await page.getByRole('button', { name: 'Cancel the release' }).click();
    await dialog.getByLabel(`Type “${neverNo}” to confirm`).fill(neverNo);
    await dialog.getByRole('button', { name: 'Cancel the release' }).click();
    await page.locator('[data-test=state]').getByText('Cancelled').waitFor();
    assertSame(await page.getByRole('button', { name: 'Publish now' }).count(), 0, 'ways to publish it');
    assertSame(await statusOf(never), 404, 'the series that was cancelled');
  },
};
