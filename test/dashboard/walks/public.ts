// Look at the pages that are open to all, as they are when nobody has chosen anything; their numbers are those of the API.
import type { Page } from 'playwright-core';
import { until } from '../../run/until.ts';
import type { Visitor } from '../browser.ts';
import { assertSame } from '../people.ts';
import { readApi, written } from '../reading.ts';
import type { Stage } from '../stage.ts';
import type { Walk } from '../walks.ts';

type Check = (stage: Stage, page: Page) => Promise<void>;

/** Path, name in file names, the heading of the page, the source that its numbers are compared with. */
const pages: readonly (readonly [string, string, string, Check?])[] = [
  ['/', 'home', 'Every number, and every number it used to be', checkHome],
  ['/catalogue', 'catalogue', 'Catalogue', checkCatalogue],
  ['/catalogue?q=zzqx', 'catalogue-empty', 'Catalogue', checkNothingFound],
  ['/calendar', 'calendar', 'Calendar'],
  ['/status', 'status', 'Status', checkStatus],
  ['/plans', 'plans', 'Plans', checkPlans],
  ['/docs', 'docs', 'Docs'],
  ['/docs/errors', 'docs-errors', 'Errors'],
  ['/docs/reference', 'docs-reference', 'Reference'],
  ['/compare', 'compare-empty', 'Compare'],
  ['/sign-in', 'sign-in', 'Sign in'],
  ['/forgot-password', 'forgot-password', 'Set a new password'],
];

export const openPages: Walk = {
  name: 'look at the pages that are open to all',
  async run(stage, visitor) {
    for (const [path, name, heading, check] of pages) {
      await visitor.open(path);
      await visitor.page.getByRole('heading', { level: 1, name: heading }).waitFor();
      await check?.(stage, visitor.page);
      await visitor.look(name);
    }
    await openAbsent(visitor);
  },
};

async function countSeries(stage: Stage): Promise<number> {
  return (await readApi<{ data: unknown[] }>(stage, '/v1/catalog?limit=1000')).data.length;
}

async function checkHome(stage: Stage, page: Page): Promise<void> {
  await checkLatestValues(stage, page);
  const figure = page.getByLabel('In short').locator('dd').first();
  const shown = await figure.evaluate(({ firstChild }) => firstChild?.textContent);
  assertSame(shown, written(await countSeries(stage), 0), 'the number of series');
}

async function checkCatalogue(stage: Stage, page: Page): Promise<void> {
  await checkLatestValues(stage, page);
  await page.getByText(`${await countSeries(stage)} series`, { exact: true }).waitFor();
}

/** Data without rows is not offered as a file. */
async function checkNothingFound(_stage: Stage, page: Page): Promise<void> {
  await page.getByText('0 series', { exact: true }).waitFor();
  assertSame(await page.getByText('Download as CSV').count(), 0, 'links to an empty file');
  const words = page.getByLabel('Words of the name or the description');
  for (const typed of ['zzqxy ', 'zzqx%abzzqx']) {
    await words.fill(typed);
    await page.waitForURL((url) => url.searchParams.get('q') === typed.trim());
    await page.getByText('0 series', { exact: true }).waitFor();
    assertSame(await words.inputValue(), typed, 'the words as they were typed');
  }
}

/** A request for something that does not exist is not retried. */
async function openAbsent(visitor: Visitor): Promise<void> {
  visitor.expectStatus(404);
  await visitor.open('/series/ABSENT');
  await visitor.page.getByRole('heading', { name: 'Not found', exact: true }).waitFor();
  const tries = await visitor.page.getByRole('button', { name: 'Try again' }).count();
  assertSame(tries, 0, 'buttons to try again');
  await visitor.look('series-absent');
}

/** The latest value of each series in a table of them. */
async function checkLatestValues(stage: Stage, page: Page): Promise<void> {
  const rows = page.locator('tr', { has: page.locator('.row-link') });
  await rows.first().waitFor();
  const latest = rows.locator('td:nth-child(3) > span:first-child');
  await until(
    'every series has its latest value',
    async () => !(await latest.allTextContents()).includes('–'),
  );
  const ids = await rows.locator('.mono').allTextContents();
  const { data } = await readApi<{ data: { series: string; data: { value: number }[] }[] }>(
    stage,
    `/v1/previews?ids=${ids.join(',')}`,
  );
  const shown = await latest.allTextContents();
  for (const [i, { series, data: points }] of data.entries()) {
    const text = shown[i] ?? '';
    const digits = text.split('.')[1]?.length ?? 0;
    assertSame(text, written(points.at(-1)?.value ?? null, digits), `the latest value of ${series}`);
  }
}

async function checkStatus(stage: Stage, page: Page): Promise<void> {
  const { data } = await readApi<{ data: { sources: { source: string; series_count: number }[] } }>(
    stage,
    '/v1/status',
  );
  for (const { source, series_count: count } of data.sources)
    await page
      .locator('tr', { hasText: source })
      .getByText(`${written(count, 0)} series`)
      .waitFor();
}

interface Plan {
  id: string;
  calls_month: number | null;
  prices: { amount: number; interval: string }[];
}

async function checkPlans(stage: Stage, page: Page): Promise<void> {
  const { data } = await readApi<{ data: Plan[] }>(stage, '/v1/plans');
  for (const { id, calls_month: calls, prices } of data) {
    const card = page.locator(`[data-plan="${id}"]`);
    if (calls !== null) await card.getByText(`${written(calls, 0)} calls a month`).waitFor();
    for (const { amount, interval } of prices)
      await card.getByText(`$${written(amount / 100, 0)} a ${interval}`).waitFor();
  }
}
