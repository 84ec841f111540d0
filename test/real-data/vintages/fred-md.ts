// FRED-MD: eighteen monthly vintages of 128 US series, loaded wide: every value as of every vintage, the changes of each one,
// the known revisions of payroll employment, the two series that were replaced.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { addMonths } from '../../../kernel/dates.ts';
import { periodEnd } from '../../../domain/periods.ts';
import { manySeries, points, series, type Instance } from '../answers.ts';
import { changes, endOfPeriod, rowsOf, type Changes } from '../published-files.ts';
import type { Check } from '../run.ts';
import { comparePublished, compareTransforms, type History } from '../transforms.ts';
import { compareFredTriangle, compareTriangle } from './triangles.ts';

export async function checkFredMd({ instance, folder, seen }: Check): Promise<void> {
  const files = readdirSync(path.join(folder, '02_vintages_fred_md'))
    .filter((name) => name.endsWith('.csv.gz'))
    .sort();
  assert.equal(files.length, 18);
  const load = (name: string) => loadFredMd(instance, folder, name);
  const start = performance.now();
  const loaded: Changes[] = [];
  for (const name of files) loaded.push(JSON.parse(await load(name)) as Changes);
  const milliseconds = performance.now() - start;
  seen(`18 vintages of FRED-MD load in ${(milliseconds / 1000).toFixed(1)} s`);

  const vintages = files.map((name) => readVintage(path.join(folder, '02_vintages_fred_md', name)));
  checkCounts(vintages, loaded, seen);
  await checkEveryVintage(instance, vintages, seen);
  await checkReplaced(instance, seen);
  await checkFredClients(instance, vintages, seen);
  for (const id of ['PAYEMS', 'INDPRO', 'UNRATE', 'AMBSL']) {
    const { cells, vintages: compared } = await compareTriangle(instance, id);
    seen(`the ${cells} cells of the triangle of ${id} are the answers of its ${compared} vintages`);
  }

  const published: [string, string, number | undefined][] = [
    ['2020-03-31', '2020-03', undefined],
    ['2020-04-30', '2020-03', 151786],
    ['2020-05-31', '2020-03', 151582],
    ['2020-06-30', '2020-03', 151090],
    ['2020-04-30', '2020-04', undefined],
    ['2020-05-31', '2020-04', 131045],
    ['2020-06-30', '2020-04', 130403],
    ['2020-07-31', '2020-04', 130303],
    ['2020-12-31', '2020-04', 130303],
    ['2020-06-29', '2020-04', 131045], // the day before a vintage still shows the previous one
  ];
  for (const [vintage, month, value] of published) {
    const [point] = await points(instance, `/v1/series/PAYEMS?from=${month}&to=${month}&vintage=${vintage}`);
    assert.equal(point?.value, value, `PAYEMS of ${month} as of ${vintage}`);
    seen(`PAYEMS of ${month} as of ${vintage} is ${value ?? 'absent'}`);
  }
  const before = await points(instance, '/v1/series/PAYEMS?limit=100000');
  for (const name of files) {
    const again = JSON.parse(await load(name)) as Record<string, number>;
    assert.deepEqual(
      [again['points_new'], again['points_revised'], again['points_deleted']],
      [0, 0, 0],
      name,
    );
  }
  assert.deepEqual(await points(instance, '/v1/series/PAYEMS?limit=100000'), before);
  assert.equal(before.at(-1)?.date, periodEnd(addMonths('2020-12-01', -1), 'monthly'));
  seen('loading all eighteen a second time, the oldest first, changes nothing');
}

/** Loads the vintage of a file. @returns the output of the command. */
export function loadFredMd(instance: Instance, folder: string, name: string): Promise<string> {
  const file = path.join(folder, '02_vintages_fred_md', name);
  const vintage = periodEnd(`${name.slice(0, 7)}-01`, 'monthly');
  return instance.almanac(
    ...['ingest', 'observations', file, '--wide', '--map', 'date=sasdate', '--skip-rows', '1'],
    ...['--date-format', 'M/D/YYYY', '--vintage', vintage, '--full', '--create'],
    ...['--set', 'frequency=monthly,unit=As published,source=FRED-MD', '--json'],
  );
}

/** Series → its values as of the vintage; the last day of it. */
interface Vintage {
  day: string;
  histories: ReadonlyMap<string, History>;
}

function readVintage(file: string): Vintage {
  const rows = rowsOf(file, 1).filter((row) => row['sasdate'] !== '');
  const titles = Object.keys(rows[0] ?? {}).filter((title) => title !== 'sasdate');
  const dateOf = (text = ''): string => {
    const [month = '', , year = ''] = text.split('/');
    return endOfPeriod(`${year}-${month}`, 1);
  };
  const histories = titles.map((title): [string, History] => [
    title.replaceAll(/[^\w.-]+/g, '_'),
    new Map(rows.flatMap((row) => (row[title] ? [[dateOf(row['sasdate']), row[title]]] : []))),
  ]);
  return { day: endOfPeriod(path.basename(file).slice(0, 7), 1), histories: new Map(histories) };
}

/** Series that are compared at once. */
const comparedAtOnce = 4;

/** Every series as FRED's clients read its releases, a few at once. */
async function checkFredClients(
  instance: Check['instance'],
  vintages: readonly Vintage[],
  seen: Check['seen'],
): Promise<void> {
  const ids = [...new Set(vintages.flatMap(({ histories }) => [...histories.keys()]))];
  const started = performance.now();
  const sum = { rows: 0, cells: 0 };
  const left = ids.values();
  const compareOthers = async () => {
    for (const id of left) {
      // A file without the series does not end it.
      const editions = vintages.flatMap(({ day, histories }) => {
        const history = histories.get(id);
        return history === undefined ? [] : [{ day, history }];
      });
      const { rows, cells } = await compareFredTriangle(instance, id, editions);
      sum.rows += rows;
      sum.cells += cells;
    }
  };
  await Promise.all(Array.from({ length: comparedAtOnce }, compareOthers));
  const seconds = ((performance.now() - started) / 1000).toFixed(1);
  seen(
    `all ${ids.length} series have ${sum.rows} releases for fredapi, as the files have: all, as of each vintage, and first; ` +
      `output types 2 and 3 are the ${sum.cells} cells of the triangles (${seconds} s)`,
  );
}

/** The changes that the loads report are the differences between the files. */
function checkCounts(vintages: readonly Vintage[], loaded: readonly Changes[], seen: Check['seen']): void {
  const known = new Map<string, History>();
  for (const [at, { day, histories }] of vintages.entries()) {
    const sum = { points_new: 0, points_revised: 0, points_deleted: 0 };
    for (const [id, history] of histories) {
      const changed = changes(known.get(id) ?? new Map(), history);
      for (const name of Object.keys(sum) as (keyof Changes)[]) sum[name] += changed[name];
      known.set(id, history);
    }
    const { points_new, points_revised, points_deleted } = loaded[at] ?? {};
    assert.deepEqual({ points_new, points_revised, points_deleted }, sum, day);
  }
  seen('each of the 18 loads counts what is new, revised and deleted as the files do');
}

/** Ids of one call, and more points than a series has. */
const [idsOfOneCall, pointsOfOneSeries] = [64, 1_000];
/** A cell counts as revised from here on: in October 2020 three differ by less. */
const relativeChange = 1e-9;

/** Every value as of every vintage, and how many differ from the vintage before. */
async function checkEveryVintage(
  instance: Check['instance'],
  vintages: readonly Vintage[],
  seen: Check['seen'],
): Promise<void> {
  let before = new Map<string, number>();
  let values = 0;
  const revised: { cells: number; series: number }[] = [];
  for (const { day, histories } of vintages) {
    const ids = [...histories.keys()];
    assert.equal(ids.length, 128);
    const served = new Map<string, number>();
    for (let at = 0; at < ids.length; at += idsOfOneCall) {
      const some = ids.slice(at, at + idsOfOneCall).map(encodeURIComponent);
      const target = `/v1/series?ids=${some.join(',')}&vintage=${day}&limit=${pointsOfOneSeries}`;
      for (const { series: id, data } of await manySeries(instance, target)) {
        for (const { date, value } of data) served.set(`${id} ${date}`, value);
      }
    }
    const published = [...histories].flatMap(([id, history]) =>
      [...history].map(([date, text]): [string, number] => [`${id} ${date}`, Number(text)]),
    );
    assert.equal(served.size, published.length, day);
    for (const [cell, value] of published) assert.equal(served.get(cell), value, `${cell} as of ${day}`);
    values += served.size;
    const old = before;
    const changed = [...served].filter(([cell, value]) => {
      const was = old.get(cell);
      return was !== undefined && Math.abs(value - was) > relativeChange * Math.max(1, Math.abs(was));
    });
    revised.push({
      cells: changed.length,
      series: new Set(changed.map(([cell]) => cell.split(' ')[0])).size,
    });
    before = served;
  }
  seen(`all ${values} values of the 18 vintages are served as of their vintage`);
  const cells = revised.slice(1).map((each) => each.cells);
  const ofVintage = (day: string) => cells[vintages.findIndex((each) => each.day === day) - 1];
  assert.deepEqual([Math.min(...cells), Math.max(...cells)], [206, 3027]);
  assert.deepEqual([ofVintage('2019-11-30'), ofVintage('2020-10-31')], [206, 3027]);
  const series = revised.slice(1).map((each) => each.series);
  assert.deepEqual([Math.min(...series), Math.max(...series)], [64, 80]);
  seen(
    '206 (November 2019) to 3027 (October 2020) cells are revised from vintage to vintage, in 64 to 80 of 128 series',
  );

  const last = vintages.at(-1);
  const all = [...(last?.histories ?? [])].map(([id, history]) => {
    return { id, frequency: 'monthly' as const, lines: new Map([['', history]]) };
  });
  const transformed = await compareTransforms(instance, all, `&vintage=${last?.day}`);
  seen(`${transformed} transformed values of the last vintage are those of its file`);
  for (const id of ['PAYEMS', 'INDPRO', 'UNRATE']) {
    const at = Math.floor(vintages.length / 2);
    const history = vintages[at]?.histories.get(id) ?? new Map<string, string>();
    const lines = new Map([['', history]]);
    await comparePublished(instance, { id, frequency: 'monthly', lines }, `&vintage=${vintages[at]?.day}`);
  }
}

/** Two series were replaced during the period: the old ones stay as last changed, the new ones begin with their own vintage. */
async function checkReplaced(instance: Check['instance'], seen: Check['seen']): Promise<void> {
  for (const [old, lastChanged, young, begin, dayBefore] of [
    ['AMBSL', '2019-12-31', 'BOGMBASE', '2020-01-31', '2020-01-30'],
    ['TWEXMMTH', '2020-01-31', 'TWEXAFEGSMTHx', '2020-04-30', '2020-04-29'], // had ended before it was replaced
  ] as const) {
    const { meta } = await series(instance, `/v1/series/${old}?limit=1`);
    assert.equal(meta['last_updated'], lastChanged, old);
    const successor = await series(instance, `/v1/series/${young}?limit=1`);
    assert.equal(successor.meta['first_vintage'], begin, young);
    assert.deepEqual(await points(instance, `/v1/series/${young}?vintage=${dayBefore}`), []);
    seen(`${old} last changed on ${lastChanged}, ${young} begins on ${begin}`);
  }
}
