// Read the usage of a busy month: every number on the page is the API's, filters are in the URL, and the CSV is the same.
import { readFile } from 'node:fs/promises';
import { assert, assertSame, askApi, newPerson, numberIn, signUp } from '../../people.ts';
import type { Stage } from '../../stage.ts';
import type { Walk } from '../../walks.ts';

interface Usage {
  data: { used: number; limit: number };
}
interface History {
  data: { date: string; calls: number; billed: number; endpoint?: string }[];
}

const endpoints = ['/v1/series/{id}', '/v1/series/{id}/vintages', '/v1/funds/{id}/nav'];

export const busyMonth: Walk = {
  name: 'read the usage of a busy month',
  async run(stage, visitor) {
    const { page } = visitor;
    const person = newPerson();
    await signUp(stage, visitor, person);
    await giveUsage(stage, person.email);
    await visitor.open('/dashboard/usage');
    await page.locator('[data-test=calls]').waitFor();
    const { data: month } = (await askApi(visitor, '/v1/usage')) as Usage;
    assertSame(await numberIn(page, '[data-test=used]'), month.used, 'the calls of the month');
    const shown = async (target: string) => {
      const { data } = (await askApi(visitor, target)) as History;
      return data;
    };
    const sum = (rows: History['data'], of: 'calls' | 'billed') =>
      rows.reduce((all, row) => all + row[of], 0);
    const byStatus = await shown('/v1/usage/history?by=status&limit=1000');
    assertSame(await numberIn(page, '[data-test=calls]'), sum(byStatus, 'calls'), 'the calls of 30 days');
    assertSame(await numberIn(page, '[data-test=billed]'), sum(byStatus, 'billed'), 'those that counted');
    const bars = page.getByRole('slider', { name: 'A bar for each day' });
    await bars.focus();
    await page.keyboard.press('End');
    const today = byStatus.filter(({ date }) => date === stage.clock.now().toISOString().slice(0, 10));
    await page
      .getByText(`${sum(today, 'calls').toLocaleString('en-GB')} calls`)
      .first()
      .waitFor();
    assert(
      (await bars.getAttribute('aria-valuetext'))?.includes(
        `${sum(today, 'calls').toLocaleString('en-GB')} calls`,
      ) === true,
      'a screen reader says the same numbers',
    );
    await visitor.look('usage');

    await page.getByText('Endpoint', { exact: true }).first().click();
    await page.waitForURL(/by=endpoint/);
    await page.getByLabel('Show', { exact: true }).selectOption('/v1/funds/{id}/nav');
    await page.waitForURL(/only=/);
    const byEndpoint = await shown('/v1/usage/history?by=endpoint&limit=1000');
    const nav = byEndpoint.filter(({ endpoint }) => endpoint === '/v1/funds/{id}/nav');
    assertSame(await numberIn(page, '[data-test=calls]'), sum(nav, 'calls'), 'the calls of one endpoint');
    await page.reload();
    await page.locator('[data-test=calls]').waitFor();
    assertSame(await numberIn(page, '[data-test=calls]'), sum(nav, 'calls'), 'the same after a reload');
    await page.goBack();
    await page.waitForURL((url) => !url.searchParams.has('only'));
    await page.getByText('All', { exact: true }).first().waitFor({ state: 'attached' });
    await visitor.look('usage-endpoints');

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'CSV' }).click(),
    ]);
    const lines = (await readFile(await download.path(), 'utf8')).trim().split('\r\n');
    assertSame(lines.length - 1, byEndpoint.length, 'the rows of the CSV');
    assert(download.suggestedFilename().endsWith('by-endpoint.csv'), 'the file says what it holds');
  },
};

/** A month of calls, as if they had been made. */
async function giveUsage({ services, clock }: Stage, email: string): Promise<void> {
  const { database, accounts } = services;
  const account = await accounts.db.accounts.findOne({ where: { email } });
  await services.setPlan(account?.id ?? '', 'pro');
  const today = clock.now().toISOString().slice(0, 10);
  await database.query(
    `insert into accounts.usage_daily (account_id, day, key_id, endpoint, status_class, calls, billed)
     select $1, day, 'key_of_the_walks', endpoint, class, calls, case when class = 2 then calls else 0 end
     from generate_series($2::date - 34, $2::date, '1 day') as day,
          unnest($3::text[]) with ordinality as each (endpoint, at),
          unnest('{2,4}'::int[]) as class,
          lateral (select (case when class = 2 then 1 else 0.02 end
            * (case when extract(isodow from day) > 5 then 900 else 2600 end)
            * ((4 - at) / 1.5 + 0.02 * extract(day from day)))::bigint as calls) as made`,
    [account?.id, today, endpoints],
  );
  await database.query(
    `insert into accounts.quota_months (account_id, month, used, served)
     select account_id, date_trunc('month', $2::date)::date, sum(billed), sum(billed) from accounts.usage_daily
     where account_id = $1 and day >= date_trunc('month', $2::date) group by account_id
     on conflict (account_id, month) do update set used = excluded.used, served = excluded.served`,
    [account?.id, today],
  );
}
