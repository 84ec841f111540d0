// Compares the stored data of a published file with the truth of it: every series, every point, statuses and facts.
import type { Point, Series } from './office-file.ts';

export interface StoredPoint {
  date: string;
  value: string | null;
  status: string | null;
  published_on: string;
}

/** The points of a series with one set of dimension values. */
export interface StoredSeries {
  id: string;
  name: string;
  frequency: string;
  unit: string | null;
  unit_multiplier: number | null;
  dims: Readonly<Record<string, string>>;
  points: StoredPoint[];
}

export interface Differences {
  /** Values, dates, statuses or series that differ from the file. */
  values: string[];
  /** Of the facts that the file states about its series. */
  facts: string[];
}

const shownMax = 4;

export function compare(truth: readonly Series[], stored: readonly StoredSeries[]): Differences {
  const values: string[] = [];
  const facts: string[] = [];
  const unused = new Set(stored.filter(({ points }) => points.some(({ value }) => value !== null)));
  for (const series of truth) {
    if (series.points.every(({ value }) => value === null)) continue;
    const labelled = [...unused].filter((each) => hasLabels(each, series));
    const match = labelled.find((each) => pointFaults(series.points, each.points).length === 0);
    if (match !== undefined) {
      unused.delete(match);
      facts.push(...factFaults(series, match));
    } else values.push(mismatch(series, labelled, stored));
  }
  const extra = [...unused].map(
    ({ id, dims, points }) => `${id} ${JSON.stringify(dims)} (${points.length} points) is not in the file`,
  );
  return { values: [...values, ...extra].slice(0, shownMax), facts: [...new Set(facts)].slice(0, shownMax) };
}

const flat = (text: string) =>
  text
    .toLowerCase()
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{N}]/gu, '');

function hasLabels({ id, name, dims }: StoredSeries, { labels }: Series): boolean {
  const text = flat(`${id} ${name} ${Object.values(dims).join(' ')}`);
  return labels.every((texts) => texts.some((label) => text.includes(flat(label))));
}

function mismatch(
  { labels, points }: Series,
  labelled: readonly StoredSeries[],
  stored: readonly StoredSeries[],
): string {
  const label = labels.map(([text]) => text).join(', ') || 'the series';
  const best = labelled
    .map((each) => ({ each, faults: pointFaults(points, each.points) }))
    .toSorted((a, b) => a.faults.length - b.faults.length)[0];
  if (best !== undefined) return `${label}: ${best.faults.slice(0, 3).join('; ')} (${best.each.id})`;
  const names = stored.slice(0, 3).map(({ id, name, dims }) => `${id} "${name}" ${JSON.stringify(dims)}`);
  return `no series is called ${label}, but ${names.join(', ') || 'nothing is stored'}`;
}

function pointFaults(truth: readonly Point[], stored: readonly StoredPoint[]): string[] {
  const faults: string[] = [];
  const unused = new Map(stored.map((point) => [point.date, point]));
  if (unused.size < stored.length) faults.push('a date is served twice');
  for (const point of truth) {
    const found = [...unused.values()].find(({ date }) => isSameDate(point, date));
    if (found !== undefined) unused.delete(found.date);
    if (
      point.value === null
        ? (found?.value ?? null) !== null
        : canonical(found?.value ?? null) !== canonical(point.value)
    )
      faults.push(`${point.date} is ${point.value ?? 'missing'}, and served is ${found?.value ?? 'nothing'}`);
    else if (point.isFlagged === true && (found?.status ?? '') === '')
      faults.push(`${point.date} has lost its flag`);
  }
  for (const { date, value } of unused.values())
    if (value !== null) faults.push(`${date} = ${value} is not in the file`);
  return faults;
}

function isSameDate({ date, within }: Point, stored: string): boolean {
  if (within === undefined) return date === stored;
  if (within === 'year') return date.slice(0, 4) === stored.slice(0, 4);
  const days = (Date.parse(date) - Date.parse(stored)) / 86_400_000;
  return days >= 0 && days < 7;
}

/** A number without noughts that do not matter: `-0012.50` is `-12.5`. */
export function canonical(value: string | null): string | null {
  if (value === null) return null;
  const [, sign = '', whole = '', fraction = ''] = /^([+-]?)0*(\d*)(?:\.(\d*?)0*)?$/.exec(value) ?? [];
  if (whole + fraction === '') return /^[+-]?[0.]+$/.test(value) ? '0' : `${value} (no plain number)`;
  return `${sign === '-' ? '-' : ''}${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`;
}

function factFaults({ facts }: Series, stored: StoredSeries): string[] {
  const faults: string[] = [];
  if (facts.frequency !== undefined && facts.frequency !== stored.frequency)
    faults.push(`frequency: ${facts.frequency} in the file, ${stored.frequency} served`);
  if (facts.unit !== undefined && stored.unit?.toLowerCase().includes(facts.unit.toLowerCase()) !== true)
    faults.push(`unit: "${facts.unit}" in the file, "${stored.unit ?? 'none'}" served`);
  if (facts.unit_multiplier !== undefined && stored.unit_multiplier !== facts.unit_multiplier)
    faults.push(
      `unit_multiplier: ${facts.unit_multiplier} in the file, ${stored.unit_multiplier ?? 'none'} served`,
    );
  return faults;
}

/** The differences between two publications of one table. */
export function differenceOf(before: readonly StoredSeries[], after: readonly StoredSeries[]): string {
  const [one, two] = [linesOf(before), linesOf(after)];
  const lost = [...one.difference(two)].slice(0, shownMax);
  const added = [...two.difference(one)].slice(0, shownMax);
  return [...lost.map((line) => `before: ${line}`), ...added.map((line) => `after: ${line}`)].join(' | ');
}

const linesOf = (all: readonly StoredSeries[]): Set<string> =>
  new Set(
    all.flatMap(({ id, frequency, dims, points }) =>
      points
        .filter(({ value }) => value !== null)
        .map(({ date, value, status }) =>
          [id, frequency, JSON.stringify(dims), date, canonical(value), status].join(' '),
        ),
    ),
  );
