// How fast the dashboard is: how soon its front page answers, and how smoothly a long series plays. Measured, never judged.
import { periodEnd } from '../../../domain/periods.ts';
import { linesInput } from '../../../ingest/demo/load-demo.ts';
import { load } from '../../../ingest/load/load.ts';
import { addDays, addMonths } from '../../../kernel/dates.ts';
import type { Stage } from '../stage.ts';
import type { Walk } from '../walks.ts';

const id = 'WALK.LONG';
const [pointCount, vintageCount] = [800, 200];

export const pace: Walk = {
  name: `open the front page, and play ${vintageCount} vintages of ${pointCount} points`,
  async run(stage, visitor) {
    const { page } = visitor;
    await page.goto(stage.url, { waitUntil: 'commit' });
    const readyMs = await page.evaluate<number>(readyScript);
    await page.getByRole('table', { name: 'Newest releases' }).waitFor();
    visitor.measured.push(
      `The search of the front page takes text ${Math.round(readyMs)} ms after it is asked for.`,
    );

    await loadLong(stage);
    await visitor.open(`/series/${id}/revisions?show=all`);
    await page.locator('#data-key').fill(stage.apiKey);
    await page.getByRole('button', { name: 'Show the revisions' }).click();
    await page.getByRole('slider', { name: 'Vintage' }).focus();
    await page.keyboard.press('Home');
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    const { frames, vintages, seconds, worstMs } = await page.evaluate<Frames>(framesScript);
    await page.keyboard.press(' ');
    await page.getByRole('button', { name: 'Play the vintages' }).waitFor();
    visitor.measured.push(
      `Of ${vintageCount} vintages of ${pointCount} points, ${vintages} were shown in ${seconds.toFixed(1)} s at ${Math.round(frames / seconds)} frames a second, the slowest after ${Math.round(worstMs)} ms.`,
    );
  },
};

/** Milliseconds from the beginning of the navigation until the search of the page is there. */
const readyScript = `new Promise((done) => {
  const look = () => document.querySelector('input[data-search=large]') === null
    ? requestAnimationFrame(look) : done(performance.now());
  look();
})`;

interface Frames {
  frames: number;
  /** How many of them were on the screen. */
  vintages: number;
  seconds: number;
  worstMs: number;
}

const framesScript = `new Promise((done) => {
  const begun = performance.now();
  let [frames, before, worstMs] = [0, begun, 0];
  const day = document.querySelector('.player .now b');
  const days = new Set();
  requestAnimationFrame(function next(now) {
    frames += 1;
    worstMs = Math.max(worstMs, now - before);
    before = now;
    days.add(day.textContent);
    if (now - begun < 3000) requestAnimationFrame(next);
    else done({ frames, vintages: days.size, seconds: (now - begun) / 1000, worstMs });
  });
})`;

/** Loads the series, if it is not there yet. */
async function loadLong({ services, clock }: Stage): Promise<void> {
  if ((await services.call(`/v1/catalog/${id}`)).status === 200) return;
  await load(services.database, {
    dataset: 'observations',
    input: linesInput(longLines()),
    clock,
    create: true,
    set: { name: 'Many vintages', unit: 'Index', frequency: 'monthly', source: 'Almanac' },
    seriesTimeZone: 'UTC',
    fiscalYearFirstMonth: 7,
  });
}

/** Each vintage adds a month and revises a year; every twelfth revises everything. */
function* longLines(): Iterable<string> {
  yield 'series_id,date,value,vintage';
  const dates = Array.from({ length: pointCount }, (_, i) =>
    periodEnd(addMonths('1958-01-31', i), 'monthly'),
  );
  for (let no = 0; no < vintageCount; no += 1) {
    const last = pointCount - vintageCount + no;
    const vintage = addDays(dates[last] ?? '', 15);
    const from = no % 12 === 0 ? 0 : last - 12;
    for (const [i, date] of dates.slice(0, last + 1).entries())
      if (i >= from)
        yield `${id},${date},${(100 + i / 4 + Math.sin(i + no) + no / 50).toFixed(2)},${vintage}`;
  }
}
