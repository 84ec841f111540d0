// Triangles of series: against the answers of `vintage=`, cell by cell with the published digits; and as FRED's clients build them from
// /fred/series/observations, against the published files.
import assert from 'node:assert/strict';
import { addDays } from '../../../kernel/dates.ts';
import { json, type Instance } from '../answers.ts';
import { isRevised } from '../published-files.ts';
import type { History } from '../transforms.ts';

/** Asserts that they are the same, in both layouts. @returns how many cells and vintages were compared. */
export async function compareTriangle(
  instance: Instance,
  id: string,
): Promise<{ cells: number; vintages: number }> {
  const { data } = (await json(instance, `/v1/series/${id}/vintages?limit=1000`)) as {
    data: { vintage: string }[];
  };
  const expected: string[] = [];
  for (const { vintage } of data) {
    const asOf = await linesOf(instance, `/v1/series/${id}?vintage=${vintage}&format=csv`);
    expected.push(...asOf.map((line) => `${vintage},${line}`));
  }
  const found = await linesOf(instance, `/v1/series/${id}/triangle?format=csv`);
  assert.equal(found.length, expected.length, id);
  assert.deepEqual(found.toSorted(), expected.toSorted(), id);

  const wide = (await json(instance, `/v1/series/${id}/triangle?layout=wide`)) as {
    meta: { vintages: string[] };
    data: { date: string; values: (number | null)[] }[];
  };
  assert.deepEqual(
    wide.meta.vintages,
    data.map(({ vintage }) => vintage),
  );
  const values = wide.data.flatMap((row) => row.values.filter((value) => value !== null));
  assert.equal(values.length, expected.length, `${id}, wide`);
  return { cells: found.length, vintages: data.length };
}

async function linesOf(instance: Instance, target: string): Promise<string[]> {
  const response = await instance.get(target);
  const text = await response.text();
  assert.equal(response.status, 200, `${target}: ${text.slice(0, 300)}`);
  return text.split('\r\n').slice(1, -1);
}

/** The values of a series in a file; the day of the file. */
export interface Edition {
  day: string;
  history: History;
}

/** A value and the days on which it was the published one: a row of `output_type=1`. */
interface Period {
  start: string;
  end: string;
  date: string;
  value: number;
}

const endless = '9999-12-31';
const everything = `realtime_start=1776-07-04&realtime_end=${endless}`;

/**
 * Asserts that the frames of fredapi's `get_series_all_releases`, `get_series_as_of_date` and `get_series_first_release`, and the cells
 * of output types 2 and 3, are those of the files; and that types 2 and 3 have the digits of the triangle. Monthly series only.
 * @returns how many rows the frame of all releases has, and how many cells were compared.
 */
export async function compareFredTriangle(
  instance: Instance,
  id: string,
  editions: readonly Edition[],
): Promise<{ rows: number; cells: number }> {
  const frame = await allReleases(instance, id);
  assert.deepEqual(frame, periodsIn(editions), `all releases of ${id}`);
  for (const { day, history } of editions) {
    const valid = frame.filter(({ start, end }) => start <= day && day <= end);
    assert.deepEqual(valuesOf(valid), valuesOf(periodsOn(history)), `${id} on ${day}`);
    // fredapi reads no ends: a value that was deleted stays in its frame.
    const known = new Map(editions.flatMap((each) => (each.day <= day ? [...each.history] : [])));
    const asOf = frame.filter(({ start }) => start <= day);
    assert.deepEqual(valuesOf(asOf), valuesOf(periodsOn(known)), `${id} as of ${day}`);
  }
  const first = new Map(editions.toReversed().flatMap(({ history }) => [...history]));
  assert.deepEqual(valuesOf(frame.toReversed()), valuesOf(periodsOn(first)), `first releases of ${id}`);
  return { rows: frame.length, cells: await compareVintageColumns(instance, id, editions) };
}

/** The frame of `get_series_all_releases`: the rows of its one request, in XML, in their order. */
async function allReleases(instance: Instance, id: string): Promise<Period[]> {
  const target = `/fred/series/observations?series_id=${encodeURIComponent(id)}&${everything}`;
  const response = await instance.get(target);
  const text = await response.text();
  assert.equal(response.status, 200, `${target}: ${text.slice(0, 300)}`);
  const rows = text.matchAll(
    /<observation realtime_start="(\S+)" realtime_end="(\S+)" date="(\S+)" value="(\S+)"\/>/g,
  );
  return [...rows].map(([, start = '', end = '', date = '', value]) => {
    return { start, end, date, value: Number(value) };
  });
}

/** Date → the last value of the rows. */
const valuesOf = (rows: readonly Period[]): Map<string, number> =>
  new Map(rows.map(({ date, value }) => [date, value]));

const periodsOn = (history: History): Period[] =>
  [...history].map(([date, digits]) => ({
    start: '',
    end: '',
    date: fredMonth(date),
    value: Number(digits),
  }));

/** FRED dates a month to its first day. */
const fredMonth = (date: string) => `${date.slice(0, 7)}-01`;

/** The rows that result from the files, by date and then by the day on which each begins. */
function periodsIn(editions: readonly Edition[]): Period[] {
  const dates = new Set(editions.flatMap(({ history }) => [...history.keys()]));
  return [...dates].toSorted().flatMap((date) => {
    const rows: Period[] = [];
    let before: string | undefined;
    for (const { day, history } of editions) {
      const digits = history.get(date);
      const isSame = digits !== undefined && before !== undefined && !isRevised(before, digits);
      if (isSame) continue;
      const last = rows.at(-1);
      if (before !== undefined && last !== undefined) last.end = addDays(day, -1);
      if (digits !== undefined)
        rows.push({ start: day, end: endless, date: fredMonth(date), value: Number(digits) });
      before = digits;
    }
    return rows;
  });
}

/** Output types 2 and 3 against the triangle, and the triangle against the files. @returns how many cells the triangle has. */
async function compareVintageColumns(
  instance: Instance,
  id: string,
  editions: readonly Edition[],
): Promise<number> {
  const name = encodeURIComponent(id);
  const triangle = await linesOf(instance, `/v1/series/${name}/triangle?format=csv`);
  const columns = new Map<string, Map<string, string>>();
  for (const line of triangle) {
    const [vintage = '', date = '', digits = ''] = line.split(',');
    const column = columns.get(vintage) ?? new Map<string, string>();
    columns.set(vintage, column.set(fredMonth(date), digits));
  }
  for (const [vintage, column] of columns) {
    const edition = editions.find(({ day }) => day === vintage);
    const found = new Map([...column].map(([date, digits]): [string, number] => [date, Number(digits)]));
    assert.deepEqual(found, valuesOf(periodsOn(edition?.history ?? new Map())), `${id}, vintage ${vintage}`);
  }
  const days = [...columns.keys()].toSorted();
  const isNew = (date: string, at: number) =>
    columns.get(days[at - 1] ?? '')?.get(date) !== columns.get(days[at] ?? '')?.get(date);
  const wanted = (isShown: typeof isNew) =>
    days.flatMap((day, at) =>
      [...(columns.get(day) ?? [])].flatMap(([date, digits]) =>
        isShown(date, at) ? [`${date} ${id}_${day.replaceAll('-', '')} ${digits}`] : [],
      ),
    );
  const path = `/fred/series/observations?series_id=${name}&${everything}&file_type=json`;
  assert.deepEqual(await cellsOf(instance, `${path}&output_type=2`), wanted(() => true).toSorted(), id);
  assert.deepEqual(await cellsOf(instance, `${path}&output_type=3`), wanted(isNew).toSorted(), id);
  return triangle.length;
}

/** `date column digits` of each cell, sorted. */
async function cellsOf(instance: Instance, target: string): Promise<string[]> {
  const { observations } = (await json(instance, target)) as { observations: Record<string, string>[] };
  return observations
    .flatMap(({ date, ...cells }) =>
      Object.entries(cells).map(([column, digits]) => `${date} ${column} ${digits}`),
    )
    .toSorted();
}
