// An operator finds the series without a unit, sets it for all of them and a fact of one, sees a wrong cell reported at its row,
// and saves the other cells after a preview.
import { setRole } from '../../../../accounts-api/operator/account-access.ts';
import { refreshSearch } from '../../../migrations/search-entries.ts';
import { assertSame, newPerson, signUp } from '../../people.ts';
import type { Visitor } from '../../browser.ts';
import type { Walk } from '../../walks.ts';

const seriesCount = 60;
const longName = `Prices of ${'everything-that-is-sold-in-a-market-'.repeat(8)}`;

export const operatorFacts: Walk = {
  name: 'set facts of many series as an operator',
  async run(stage, visitor) {
    const { page } = visitor;
    const { accounts, database } = stage.services;
    const person = newPerson();
    const prefix = `FACTS.${visitor.width}`;
    const id = (n: number) => `${prefix}.${String(n).padStart(3, '0')}`;
    await database.query(
      `insert into data.series (series_id, name, frequency, source)
       select $1 || '.' || lpad(n::text, 3, '0'), $2, 'monthly', case when n > 1 then 'Bureau' end
       from generate_series(1, $3) n`,
      [prefix, longName, seriesCount],
    );
    await refreshSearch(database);
    const unitsOf = async () =>
      database.query<{ unit: string | null; count: number }>(
        `select unit, count(*)::int as count from data.series where series_id like $1 || '.%' group by unit order by unit`,
        [prefix],
      );

    await signUp(stage, visitor, person);
    await setRole(accounts, person.email, 'operator');
    await visitor.open('/dashboard');
    await page.getByRole('link', { name: 'Series metadata' }).click();
    await page.getByLabel('Id or name').fill(prefix);
    await page.getByLabel('Id or name').press('Enter');
    await page.getByLabel('Unknown field').selectOption('source');
    await page.waitForURL(/missing=source/);
    await page.getByLabel(`Source of ${id(1)}`).waitFor();
    await page.getByLabel(`Source of ${id(2)}`).waitFor({ state: 'detached' });
    assertSame(
      await page.getByLabel(`Source of ${id(1)}`).inputValue(),
      '',
      'a source that nobody has stated',
    );
    await page.getByLabel('Unknown field').selectOption('unit');
    await page.getByLabel(`Unit of ${id(50)}`).waitFor();

    // One cell by hand, by the keyboard, then the others of the page, and of the next one.
    await page.getByLabel(`Unit of ${id(1)}`).focus();
    await page.keyboard.type('Percent');
    await page.keyboard.press('Enter');
    await page.keyboard.type('x'.repeat(201));
    assertSame((await page.getByLabel(`Unit of ${id(2)}`).inputValue()).length, 201, 'what Enter led to');
    await page.getByLabel('Unit to set').fill('Index');
    await page.getByRole('button', { name: 'Set for 50 series' }).click();
    await page.getByText('50 changes in 50 series not saved').waitFor();
    await page.getByRole('button', { name: 'Next 50' }).click();
    await page.getByLabel(`Unit of ${id(60)}`).waitFor();
    await page.getByLabel(`Select ${id(60)}`).check();
    await page.getByLabel('Unit to set').fill('Tonnes');
    await page.getByRole('button', { name: 'Set for 1 series' }).click();
    await page.getByText('51 changes in 51 series not saved').waitFor();
    await visitor.open(`/dashboard/operator/facts?q=${prefix}`);
    assertSame(
      await page.getByLabel(`Unit of ${id(1)}`).inputValue(),
      'Percent',
      'what was typed, after a reload',
    );

    await page.getByRole('button', { name: 'See what changes' }).click();
    await page.getByText('text of at most 200 characters is expected').first().waitFor();
    const wrong = page.getByLabel(`Unit of ${id(2)}`);
    assertSame(await wrong.getAttribute('aria-invalid'), 'true', 'the cell that is wrong');
    await visitor.look('operator-facts');
    await wrong.fill('Index');
    await page.getByRole('button', { name: 'See what changes' }).click();
    const dialog = page.getByRole('dialog', { name: 'What changes' });
    await dialog.getByText('51 changes in 51 series').waitFor();
    await visitor.look('operator-facts-changes');
    assertSame(
      JSON.stringify(await unitsOf()),
      JSON.stringify([{ unit: null, count: seriesCount }]),
      'units before',
    );
    await dialog.getByLabel('Reason').fill('units of the handbook');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByText('51 series changed').waitFor();
    await page.getByText('not saved').waitFor({ state: 'detached' });
    assertSame(
      JSON.stringify(await unitsOf()),
      JSON.stringify([
        { unit: 'Index', count: 49 },
        { unit: 'Percent', count: 1 },
        { unit: 'Tonnes', count: 1 },
        { unit: null, count: 9 },
      ]),
      'units after',
    );
    await page.getByRole('link', { name: /^load \d+$/ }).click();
    await page.getByText('units of the handbook').waitFor();

    await visitor.open(`/dashboard/operator/facts?q=${prefix}&missing=unit`);
    await page.getByLabel(`Unit of ${id(59)}`).fill('Tonnes');
    await page.getByText('1 change in 1 series not saved').waitFor();
    const second = await page.context().newPage();
    await second.goto(stage.url + '/dashboard');
    await second.getByRole('heading', { name: 'Overview' }).waitFor();
    await second.evaluate(() => sessionStorage.setItem('draft', 'Tonnes'));
    await visitor.open('/dashboard');
    await signOutWhileCalling(visitor);
    await page.getByText('You are signed out').waitFor();
    await second.waitForURL((url) => url.pathname === '/sign-in');
    for (const tab of [page, second])
      assertSame(await tab.evaluate(() => sessionStorage.length), 0, 'what a tab stores after a sign-out');
    await second.close();
  },
};

/** A call that was sent before the sign-out is answered 401 before the page has the answer to its sign-out. */
async function signOutWhileCalling(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  const out = Promise.withResolvers<void>();
  visitor.expectStatus(401);
  await page.route(/\/v1\/account$/, async (route) => {
    await out.promise;
    await route.continue();
  });
  await page.route(/\/auth\/logout$/, async (route) => {
    const response = await route.fetch();
    const refused = page.waitForResponse((answer) => answer.status() === 401);
    out.resolve();
    await refused;
    await route.fulfill({ response });
  });
  await page.reload();
  await page.getByRole('button', { name: 'Sign out' }).click();
}
