// Play the vintages of the open series, follow a point through them, and judge its first prints: every number is checked against the API.
import type { Page } from 'playwright-core';
import { until } from '../../run/until.ts';
import { assert, assertSame } from '../people.ts';
import { cellsOf, dayOf, monthOf, readApi, written, type Observation } from '../reading.ts';
import type { Stage } from '../stage.ts';
import type { Walk } from '../walks.ts';

/** Vintage → date → value, made of rows in another layout than that which the page asks for. */
type Vintages = Map<string, Map<string, number>>;

const id = 'DEMO.PAYROLLS';

export const revisions: Walk = {
  name: 'play the vintages, follow a point, judge first prints',
  async run(stage, visitor) {
    const { page } = visitor;
    const vintages = await readVintages(stage);
    await visitor.open(`/series/${id}/revisions`);
    await page.getByRole('slider', { name: 'Vintage' }).waitFor();
    await visitor.look('revisions');
    await checkStatistics(page, vintages);
    await playByKeys(page, [...vintages.keys()]);
    const day = await chooseCell(page, vintages);
    await checkChanges(stage, page, vintages, day);
    await visitor.look('revisions-cell');
  },
};

async function readVintages({ services }: Stage): Promise<Vintages> {
  const { json } = await services.call(`/v1/catalog/${id}/triangle?layout=long`);
  const { data } = json as { data: { date: string; vintage: string; value: number }[] };
  const vintages: Vintages = new Map();
  for (const { date, vintage, value } of data) {
    const points = vintages.get(vintage) ?? new Map<string, number>();
    vintages.set(vintage, points.set(date, value));
  }
  return new Map([...vintages].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The slider: Home, End, arrows; space plays and pauses. */
async function playByKeys(page: Page, days: readonly string[]): Promise<void> {
  const shows = (at: number) =>
    page
      .locator('.player .now b')
      .getByText(dayOf(days.at(at) ?? ''), { exact: true })
      .waitFor();
  await page.getByRole('slider', { name: 'Vintage' }).focus();
  await page.keyboard.press('Home');
  await shows(0);
  await page.keyboard.press('ArrowRight');
  await shows(1);
  await page.keyboard.press('End');
  await shows(-1);
  await page.keyboard.press('ArrowLeft');
  await shows(-2);
  await page.waitForURL(`**v=${days.at(-2)}`);
  await page.keyboard.press('Home');
  await shows(0);
  await page.keyboard.press(' ');
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  const slider = page.getByRole('slider', { name: 'Vintage' });
  await until('it goes on by itself', async () => Number(await slider.inputValue()) >= 2);
  await page.keyboard.press(' ');
  await page.getByRole('button', { name: 'Play the vintages' }).waitFor();
}

/** Chooses a cell by the pointer, then the one above it by the keyboard. @returns the vintage of that. */
async function chooseCell(page: Page, vintages: Vintages): Promise<string> {
  const map = page.locator('.heat-map');
  await map.scrollIntoViewIfNeeded();
  const box = await map.boundingBox();
  assert(box !== null, 'the triangle is there');
  await map.click({ position: { x: box.width * 0.6, y: box.height * 0.7 } });
  await page.waitForURL(/m=/);
  const date = new URL(page.url()).searchParams.get('m') ?? '';
  const days = [...vintages.keys()];
  const chosen = await page.locator('.player .now b').textContent();
  const day = days[days.findIndex((each) => dayOf(each) === chosen) - 1] ?? '';
  const cell = page.getByRole('grid', { name: 'Arrow keys move between cells' }).getByRole('gridcell');
  await cell.focus();
  await page.keyboard.press('ArrowUp');
  await page.waitForURL(`**v=${day}*`);
  assertSame(new URL(page.url()).searchParams.get('m'), date, 'the period, which is the same');
  const cellLabel = (await cell.getAttribute('aria-label')) ?? '';
  assert(cellLabel.startsWith(`${monthOf(date)} as of ${dayOf(day)}: `), 'a screen reader says the cell');

  const life: string[][] = [];
  let last: number | undefined;
  for (const [vintage, points] of vintages) {
    const value = points.get(date);
    if (value === undefined || value === last) continue;
    const change = last === undefined ? 'first' : written(value - last, 1, true);
    life.push([dayOf(vintage), written(value, 1), change]);
    last = value;
  }
  const shown = await cellsOf(page.getByRole('table', { name: `Every value of ${monthOf(date)}` }));
  assert(life.length > 2, 'the point was revised');
  assertSame(JSON.stringify(shown), JSON.stringify(life), `the life of ${date}, and the triangle of the API`);
  return day;
}

/** The changes of the vintage, as the difference between two answers as of a day. */
async function checkChanges(stage: Stage, page: Page, vintages: Vintages, day: string): Promise<void> {
  const days = [...vintages.keys()];
  const asOf = async (vintage: string | undefined) => {
    const { data } = await readApi<{ data: Observation[] }>(stage, `/v1/series/${id}?vintage=${vintage}`);
    return new Map(data.map(({ date, value }) => [date, value]));
  };
  const [before, after] = [await asOf(days[days.indexOf(day) - 1]), await asOf(day)];
  const changes = [...after]
    .filter(([date, value]) => before.get(date) !== value)
    .sort(([a], [b]) => (a < b ? 1 : -1))
    .map(([date, value]) => {
      const old = before.get(date);
      return [
        monthOf(date),
        written(old ?? null, 1),
        written(value, 1),
        old === undefined ? 'new' : written((value ?? 0) - (old ?? 0), 1, true),
      ];
    });
  const shown = await cellsOf(page.getByRole('table', { name: 'What this vintage changed' }));
  assert(shown.length > 0, 'the vintage changed something');
  assertSame(
    JSON.stringify(shown),
    JSON.stringify(changes.slice(0, 12)),
    'what changed, and the difference of two vintages',
  );
  const added = [...after.keys()].filter((date) => !before.has(date)).length;
  await page.getByText(`${added} month added, ${changes.length - added} revised`).waitFor();
}

/** The statistics, computed of the triangle anew. */
async function checkStatistics(page: Page, vintages: Vintages): Promise<void> {
  const all = [...vintages.values()];
  const oldest = [...(all[0]?.keys() ?? [])].sort().at(-1) ?? '';
  // A first print is known where the vintage that has it is the first to reach so far.
  const prints = [...new Set(all.flatMap((points) => [...points.keys()]))]
    .filter((date) => date >= oldest)
    .map((date) => ({ date, at: all.findIndex((points) => points.has(date)) }));
  const expected = [1, 2, 3, 5, 12, undefined].map((releases) => {
    const revised = prints.flatMap(({ date, at }) => {
      const until = releases === undefined ? all.length - 1 : at + releases;
      const [first, later] = [all[at]?.get(date), all[until]?.get(date)];
      return until === at || first === undefined || later === undefined ? [] : [later - first];
    });
    const mean = revised.reduce((sum, each) => sum + each, 0) / revised.length;
    const spread = Math.sqrt(
      revised.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (revised.length - 1),
    );
    const sizes = revised.map(Math.abs);
    return [
      releases === undefined ? 'Latest' : `${releases} release${releases === 1 ? '' : 's'}`,
      String(revised.length),
      written(mean, 2, true),
      written(mean / (spread / Math.sqrt(revised.length)), 1),
      written(sizes.reduce((sum, each) => sum + each, 0) / revised.length, 2),
      written(revised[sizes.indexOf(Math.max(...sizes))] ?? null, 1, true),
      `${revised.filter((each) => each > 0).length} of ${revised.length}`,
    ];
  });
  const table = page.getByRole('table', { name: 'Revisions of first prints' });
  assertSame(
    JSON.stringify(await cellsOf(table)),
    JSON.stringify(expected),
    'the statistics, and those computed of the triangle',
  );
}
