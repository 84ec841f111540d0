// An operator sees which of the sources that are fetched by schedule fails, and why.
import { setRole } from '../../../../accounts-api/operator/account-access.ts';
import { insertSource } from '../../../../ingest/publisher/sources/sources.sql.ts';
import { assertSame, newPerson, signUp } from '../../people.ts';
import type { Walk } from '../../walks.ts';

export const operatorSources: Walk = {
  name: 'see the health of sources as an operator',
  async run(stage, visitor) {
    const { page } = visitor;
    const { accounts, database } = stage.services;
    const person = newPerson();
    const [well, failing] = [`well-${visitor.width}`, `failing-${visitor.width}`];
    await database.transaction(async (on) => {
      for (const name of [well, failing])
        await insertSource(on, {
          ...{ name, publication: 'walks', url: `https://example.org/${name}.csv?token=hidden`, sheet: '' },
          ...{ entry: { file: 'x' }, schedule: 'daily', at: stage.clock.now() },
          fetchAt: new Date('2100-01-01T00:00:00Z'),
        });
    });
    await database.query(
      `update embargo.sources set failures = 2, failing_since = now(), fetched_at = now(),
         outcome = '{"result":"failed","message":"The server answered 404."}' where name = $1`,
      [failing],
    );

    await signUp(stage, visitor, person);
    await setRole(accounts, person.email, 'operator');
    await visitor.open('/dashboard');
    await page.getByRole('link', { name: 'Sources' }).click();
    await page.getByText(well, { exact: true }).waitFor();
    await page.getByText('Failing', { exact: true }).click();
    await page.waitForURL(/state=failing/);
    await page.getByText(well, { exact: true }).waitFor({ state: 'detached' });
    const row = page.getByRole('row').filter({ hasText: `${failing}.csv` });
    await row.getByText('Failing, 2 times').waitFor();
    await row.getByText('The server answered 404.').waitFor();
    assertSame(await page.getByText('token').count(), 0, 'queries of URLs');
    await visitor.look('operator-sources');
  },
};
