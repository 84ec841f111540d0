// Distinguish the lines of a series with many of them, and hide and show them by the legend.
import { readFile } from 'node:fs/promises';
import { until } from '../../run/until.ts';
import type { Walk } from '../walks.ts';
import { assert, assertSame } from '../people.ts';
import type { Visitor } from '../browser.ts';

const cities = Array.from({ length: 12 }, (_, i) => `City ${String.fromCharCode(65 + i)}`);

export const manyLines: Walk = {
  name: 'distinguish many lines, hide and show them',
  async run({ services }, visitor) {
    const { page, width } = visitor;
    const id = `WALK.LINES.${width}`;
    const rows = ['2024-01', '2024-02', '2024-03'].flatMap((month, m) =>
      cities.map((city, c) => `${id},${month},${10 + c * 5 + ((c + m) % 3)},${city}`),
    );
    await services.ingest(`series_id,date,value,city\n${rows.join('\n')}`);
    await visitor.open(`/series/${id}`);
    await page.locator('.brush').waitFor();
    assertSame(await styles(visitor), 8, 'the lines by default');
    for (const city of cities.slice(8)) await page.locator('.chip', { hasText: city }).click();
    await page.waitForURL(/dims=/);
    await until('all lines are drawn', async () => (await stylesOf(visitor)).length === cities.length);
    assertSame(await styles(visitor), 12, 'the styles of twelve lines');
    await visitor.look('series-many-lines');
    if (width < 720) await toggle(visitor);
  },
};

async function toggle(visitor: Visitor): Promise<void> {
  const { page } = visitor;
  const legend = page.getByRole('group', { name: 'Lines' });
  const buttons = legend.getByRole('button');
  assertSame(await buttons.count(), cities.length, 'the entries of the legend');
  const before = await styleOf(visitor, 11);
  await legend.getByRole('button', { name: 'City A' }).click();
  await legend.getByRole('button', { name: 'City A', pressed: false }).waitFor();
  assertSame(await styles(visitor), 11, 'the lines without one');
  assertSame(await styleOf(visitor, 10), before, 'the style of the last line, which stays');
  await visitor.look('series-hidden-line');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Download SVG' }).click(),
  ]);
  const saved = await readFile(await file.path(), 'utf8');
  assert(!saved.includes('City A') && saved.includes('City L'), 'the file has the lines on the page');
  for (const city of cities.slice(1, -1)) await legend.getByRole('button', { name: city }).click();
  await legend.getByRole('button', { name: 'City L', disabled: true }).waitFor();
  assertSame(await styles(visitor), 1, 'one line stays');
  await legend.getByRole('button', { name: 'City A' }).click();
  await legend.getByRole('button', { name: 'City A', pressed: true }).waitFor();
  assertSame(await styles(visitor), 2, 'the lines with it');
}

/** How many different styles the lines of the chart have. */
async function styles(visitor: Visitor): Promise<number> {
  return new Set(await stylesOf(visitor)).size;
}

async function styleOf(visitor: Visitor, position: number): Promise<string | undefined> {
  return (await stylesOf(visitor))[position];
}

function stylesOf({ page }: Visitor): Promise<string[]> {
  return page.evaluate<string[]>(
    `[...document.querySelectorAll('.chart-area .chart-line')].map((line) =>
      [line.getAttribute('stroke'), line.getAttribute('stroke-dasharray')].join())`,
  );
}
