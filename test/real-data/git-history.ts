// The World Bank's GDP and consumer prices from a mirror's git history: fourteen states of two files, each loaded with --full as a vintage.
// They include a release with shifted years, corrected the next day, and a column that changed its meaning but not its name.
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { ingest, points, type Instance, type Loaded } from './answers.ts';
import { changes, endOfPeriod, linesOf, rowsOf } from './published-files.ts';
import type { Check } from './run.ts';
import { comparePublished, compareTransforms, type Lines } from './transforms.ts';
import { compareTriangle } from './vintages/triangles.ts';

interface TrackedSeries {
  folder: string;
  id: string;
  value: string;
  unit: string;
}

/** One state of a file, as it was loaded. */
interface State {
  rows: number;
  countries: number;
  points_deleted: number;
}

const trackedSeries: readonly [TrackedSeries, TrackedSeries] = [
  { folder: 'gdp', id: 'WB.GDP', value: 'Value', unit: 'Current US dollars' },
  { folder: 'cpi', id: 'WB.CPI', value: 'CPI', unit: 'As published' },
];

export async function checkGitHistory({ instance, folder, seen }: Check): Promise<void> {
  const states: State[] = [];
  for (const each of trackedSeries)
    states.push(...(await checkStates(instance, path.join(folder, '04_vintages_git_history'), each, seen)));
  assert.equal(
    states.map(({ rows }) => rows).reduce((sum, rows) => sum + rows),
    145_525,
  );
  const [gdp, cpi] = [states.slice(0, 7), states.slice(7)];
  assert.deepEqual(
    [gdp[0]?.countries, Math.max(...gdp.map(({ countries }) => countries)), cpi.at(-1)?.countries],
    [235, 262, 240],
  );
  assert.equal(gdp[5]?.points_deleted, 1588);
  seen(
    '145525 rows of 14 states load; up to 262 countries, and up to 1588 points of the state before vanish',
  );

  await checkNewestFirst(instance, path.join(folder, '04_vintages_git_history'), trackedSeries[0], seen);

  const facts: [string, string, string, string, number | undefined][] = [
    ['WB.GDP', 'Pakistan', '2010', '2012-09-19', undefined],
    ['WB.GDP', 'Pakistan', '2010', '2012-09-20', 176869569654.043],
    ['WB.GDP', 'Pakistan', '2010', '2013-06-28', 176477528501.874],
    ['WB.GDP', 'Pakistan', '2010', '2015-08-15', 176477528501.874],
    ['WB.GDP', 'Pakistan', '2010', '2015-08-16', 177406854514.885],
    ['WB.GDP', 'Pakistan', '2010', '2024-10-19', 177406854514.885],
    ['WB.GDP', 'Pakistan', '2010', '2024-10-20', 196709621849.58618],
    ['WB.GDP', 'Pakistan', '2010', '2026-01-01', 196709621849.58618],
    // The bad release: the value of 2000 was under 1960, for one day.
    ['WB.GDP', 'Afghanistan', '1960', '2024-10-20', 3521418059.923445],
    ['WB.GDP', 'Afghanistan', '1960', '2024-10-21', undefined],
    ['WB.GDP', 'Afghanistan', '2000', '2024-10-21', 3521418059.923445],
    // 2005 = 100, then 2010 = 100, then annual inflation in percent.
    ['WB.CPI', 'Pakistan', '2010', '2013-05-27', 180.77629645],
    ['WB.CPI', 'Pakistan', '2010', '2016-03-02', 100],
    ['WB.CPI', 'Pakistan', '2010', '2024-12-10', 100],
    ['WB.CPI', 'Pakistan', '2010', '2024-12-11', 12.9388705634889],
  ];
  for (const [id, country, year, vintage, value] of facts) {
    const target = `/v1/series/${id}?dims=country:${country}&from=${year}&to=${year}&vintage=${vintage}`;
    const [point] = await points(instance, target);
    assert.equal(point?.value, value, target);
    seen(`${id} of ${country} ${year} as of ${vintage} is ${value ?? 'absent'}`);
  }
}

const countryOf = (rows: readonly object[]): string =>
  'Country Name' in (rows[0] ?? {}) ? 'Country Name' : 'Country';

function ingestState(
  instance: Instance,
  file: string,
  { id, country, day, value, unit }: Record<'id' | 'country' | 'day' | 'value' | 'unit', string>,
): Promise<Loaded> {
  return ingest(instance, 'observations', file, {
    vintage: day,
    full: true,
    create: true,
    map: { country, date: 'Year', value },
    ignore: ['Country Code'], // Kosovo has no code in one of the states
    set: { series_id: id, frequency: 'annual', unit, source: 'World Bank' },
  });
}

/** The states again, newest first, as separate series: their vintages must equal those of the series loaded in order. */
async function checkNewestFirst(
  instance: Instance,
  folder: string,
  { folder: name, id, value, unit }: TrackedSeries,
  seen: Check['seen'],
): Promise<void> {
  const reversed = `${id}.NEWEST-FIRST`;
  const states = readdirSync(path.join(folder, name)).sort().reverse();
  for (const state of states) {
    const file = path.join(folder, name, state);
    const country = countryOf(rowsOf(file));
    await ingestState(instance, file, { id: reversed, country, day: state.slice(0, 10), value, unit });
  }
  const fields = 'fields=date,value,dims,published_on&include_missing=true';
  let rows = 0;
  for (const query of [
    '/vintages?fields=vintage,points_new,points_revised,points_deleted',
    ...['release=first', ...states.map((state) => `vintage=${state.slice(0, 10)}`)].map(
      (query) => `?${query}&${fields}`,
    ),
  ]) {
    const [inOrder, newestFirst] = await Promise.all(
      [id, reversed].map(async (each) => {
        const response = await instance.get(`/v1/series/${each}${query}&format=csv`);
        assert.equal(response.status, 200, query);
        return (await response.text()).split('\r\n').toSorted();
      }),
    );
    assert.deepEqual(newestFirst, inOrder, query);
    rows += newestFirst?.length ?? 0;
  }
  seen(`${rows} vintages, first releases and values of ${id} are the same, loaded newest first or in order`);
}

async function checkStates(
  instance: Instance,
  folder: string,
  { folder: name, id, value, unit }: TrackedSeries,
  seen: Check['seen'],
): Promise<State[]> {
  const found: State[] = [];
  const states = readdirSync(path.join(folder, name)).sort();
  assert.equal(states.length, 7);
  const vintages: { day: string; lines: Lines }[] = [];
  for (const state of states) {
    const file = path.join(folder, name, state);
    const rows = rowsOf(file);
    const country = countryOf(rows);
    const day = state.slice(0, 10);
    const lines = linesOf(
      rows.map((row) => [row[country] ?? '', endOfPeriod(row['Year'] ?? '', 12), row[value] ?? '']),
    );
    const loaded = await ingestState(instance, file, { id, country, day, value, unit });
    const { points_new, points_revised, points_deleted } = loaded;
    const wanted = changes(together(vintages.at(-1)?.lines), together(lines));
    assert.deepEqual({ points_new, points_revised, points_deleted }, wanted, state);
    vintages.push({ day, lines });
    found.push({ rows: rows.length, countries: lines.size, points_deleted });
    seen(
      `${id} of ${day}: ${points_new} new, ${points_revised} revised, ${points_deleted} gone, as in the files`,
    );
  }

  let values = 0;
  const { cells, vintages: compared } = await compareTriangle(instance, id);
  seen(`the ${cells} cells of the triangle of ${id} are the answers of its ${compared} vintages`);
  for (const { day, lines } of vintages)
    values += await comparePublished(instance, { id, frequency: 'annual', lines }, `&vintage=${day}`);
  seen(`all ${values} values of the 7 states of ${id} are served as of their days`);
  let transformed = 0;
  for (const { day, lines } of vintages.slice(-2))
    transformed += await compareTransforms(instance, [{ id, frequency: 'annual', lines }], `&vintage=${day}`);
  seen(`${transformed} transformed values of the last 2 states of ${id} are computed within their state`);
  return found;
}

/** The points of all combinations under one key each. */
function together(lines: Lines = new Map()): Map<string, string> {
  return new Map(
    [...lines].flatMap(([dims, line]) =>
      [...line].map(([date, value]) => [`${dims} ${date}`, value] as const),
    ),
  );
}
