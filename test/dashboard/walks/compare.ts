// Compare two series, one as it was earlier; pin them by a link; and try to add a ninth.
import type { Page } from 'playwright-core';
import { assert, assertSame } from '../people.ts';
import { cellsOf, monthOf, readApi, useKey, written, type Observation } from '../reading.ts';
import type { Stage } from '../stage.ts';
import type { Visitor } from '../browser.ts';
import type { Walk } from '../walks.ts';

interface Listed {
  data: { id: string; name: string }[];
}

const [older, newer] = ['DEMO.CPI', 'DEMO.UNEMPLOYMENT'] as const;

export const compare: Walk = {
  name: 'compare two series, pin them, add a ninth',
  async run(stage, visitor) {
    const { page } = visitor;
    const vintages = await readApi<{ data: { vintage: string }[] }>(
      stage,
      `/v1/series/${older}/vintages?sort=-vintage`,
    );
    const vintage = vintages.data[3]?.vintage ?? '';
    await visitor.open('/compare');
    for (const id of [older, newer]) await add(page, id);
    await useKey(page, stage.apiKey);
    await page.getByLabel(`As of, for ${older}`).selectOption(vintage);
    await page.waitForURL(`**${vintage}*`);
    await page.locator('[aria-busy=false] .compared').first().waitFor();
    await page.getByText('Values as a table').click();
    const table = page.getByRole('region', { name: 'Values', exact: true }).getByRole('table');
    const shown = await cellsOf(table);
    assertSame(JSON.stringify(shown), JSON.stringify(await expectedRows(stage, vintage)), 'the values');
    await visitor.look('compare');

    await page.getByRole('button', { name: 'Copy link to this version' }).click();
    const link = await page.evaluate<string>('navigator.clipboard.readText()');
    assert(!link.includes(stage.apiKey), 'the key is not in the link');
    await page.goto('about:blank');
    await page.goto(link);
    await useKey(page, stage.apiKey);
    await page.getByText('permanently').nth(1).waitFor();
    await page.getByText('Values as a table').click();
    assertSame(JSON.stringify(await cellsOf(table)), JSON.stringify(shown), 'the values behind the link');

    const { data: all } = await readApi<Listed>(stage, '/v1/catalog?limit=9');
    const eight = all.filter(({ id }) => id !== older).slice(0, 8);
    const query = new URLSearchParams(eight.map(({ id }) => ['s', id]));
    await visitor.open(`/compare?${query.toString()}`);
    await page.getByText('8 of 8').waitFor();
    // Each preview is that of its own series.
    assertSame(
      JSON.stringify(await page.locator('.compared b').allTextContents()),
      JSON.stringify(eight.map(({ name }) => name)),
      'the names of the eight',
    );
    await add(page, older);
    await page.getByText(`Remove one to add ${older}`).waitFor();
    assertSame(new URL(page.url()).searchParams.getAll('s').length, 8, 'the series in the URL');
    await visitor.look('compare-ninth');

    query.append('s', older);
    await visitor.open(`/compare?${query.toString()}`);
    await page.getByText(`Only the first eight series are compared. Omitted: ${older}.`).waitFor();
    await visitor.look('compare-left-out');
    await compareDisjoint(stage, visitor);
  },
};

/** Two series that have no month in common, and the name of a combination of dimension values. */
async function compareDisjoint({ services }: Stage, { page, open, look, width }: Visitor): Promise<void> {
  const [ended, started] = ['ENDED', 'BEGAN'].map((end) => `WALK.APART.${width}.${end}`);
  await services.ingest(
    `series_id,date,value\n${ended},2010-01,1\n${ended},2010-02,2\n${started},2024-01,3\n${started},2024-02,4`,
  );
  await open(`/compare?s=${ended}&s=${started}`);
  await page.getByRole('heading', { name: 'The series have no period in common' }).waitFor();
  await look('compare-apart');
  await page.getByText('As published', { exact: true }).click();
  await page.locator('.chart-holder svg').waitFor();

  await open('/compare?s=DEMO.FX&s=DEMO.CPI');
  const line = page.getByLabel('Line of DEMO.FX');
  assertSame(await line.locator('option:checked').textContent(), 'EUR, buy', 'the name of the line');
}

/** Adds a series by the search below the table. */
async function add(page: Page, id: string): Promise<void> {
  await page.getByRole('combobox', { name: 'Add a series' }).fill(id);
  await page.getByRole('option', { name: id }).first().waitFor();
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
}

/** The newest hundred rows from five years before the last common value on, rebased to the first month that both have. */
async function expectedRows(stage: Stage, vintage: string): Promise<string[][]> {
  const read = async (target: string) =>
    new Map(
      (await readApi<{ data: Observation[] }>(stage, target)).data.map(({ date, value }) => [date, value]),
    );
  const lines = [await read(`/v1/series/${older}?vintage=${vintage}`), await read(`/v1/series/${newer}`)];
  const dates = [...new Set(lines.flatMap((line) => [...line.keys()]))].sort();
  const [until = ''] = lines.map((line) => [...line.keys()].sort().at(-1) ?? '').sort();
  const from = `${Number(until.slice(0, 4)) - 5}${until.slice(4)}`;
  const shown = dates.filter((date) => date > from);
  const base = shown.find((date) => lines.every((line) => typeof line.get(date) === 'number')) ?? '';
  return shown
    .toReversed()
    .slice(0, 100)
    .map((date) => [
      monthOf(date),
      ...lines.map((line) => {
        const value = line.get(date) ?? null;
        return written(value === null ? null : (value / (line.get(base) ?? 0)) * 100, 2);
      }),
    ]);
}
