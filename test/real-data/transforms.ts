// The expected results of the transforms, computed independently from published digits: exact fractions and plain loops over the calendar.
// Uses nothing of the service, not even its calendar, so two programs must agree.
import assert from 'node:assert/strict';
import { manySeries, points, type Instance, type Point } from './answers.ts';

/** Date → digits as published. Dates are those of the service, a period's last day. */
export type History = ReadonlyMap<string, string>;
/** The values of the dimensions, joined → the points of that combination. */
export type Lines = ReadonlyMap<string, History>;
export type Frequency = 'daily' | 'weekly' | 'monthly' | 'quarterly' | 'annual' | 'irregular';

export interface Published {
  id: string;
  frequency: Frequency;
  lines: Lines;
}

export const transformNames = ['yoy', 'mom', 'pct_change', '3ma', 'index'] as const;
export type TransformName = (typeof transformNames)[number];

/** Compares all points of the target, values as published. @returns how many there are. */
export async function comparePublished(
  instance: Instance,
  { id, lines }: Published,
  query = '',
): Promise<number> {
  const target = `/v1/series/${id}?limit=100000${query}`;
  return compare(await points(instance, target), mapLines(lines, published), target);
}

/** Compares every transform of every series, in as few calls as possible. @returns how many points were compared. */
export async function compareTransforms(
  instance: Instance,
  series: readonly Published[],
  query = '',
): Promise<number> {
  let compared = 0;
  for (const group of groupsOfOneCall(series)) {
    for (const name of transformNames) {
      const applicable = group.filter(({ frequency }) => isApplicable(name, frequency));
      if (applicable.length === 0) continue;
      const limit = Math.floor(pointsOfOneCall / applicable.length);
      const ids = applicable.map(({ id }) => id).join(',');
      const target = `/v1/series?ids=${ids}&transform=${name}&limit=${limit}${query}`;
      const answers = await manySeries(instance, target);
      for (const [i, { id, frequency, lines }] of applicable.entries()) {
        const wanted = mapLines(lines, (history) => transformed(name, history, frequency));
        compared += compare(answers[i]?.data ?? [], wanted, `${id} of ${target.slice(-200)}`);
      }
    }
  }
  return compared;
}

const pointsOfOneCall = 100_000;
const seriesOfOneCall = 100;

function groupsOfOneCall(series: readonly Published[]): Published[][] {
  const size = ({ lines }: Published) => [...lines.values()].reduce((sum, line) => sum + line.size, 0);
  const groups: Published[][] = [];
  let longest = Infinity;
  for (const one of series.toSorted((a, b) => size(a) - size(b))) {
    const group = groups.at(-1) ?? [];
    longest = size(one);
    const fits =
      group.length > 0 && group.length < seriesOfOneCall && (group.length + 1) * longest <= pointsOfOneCall;
    if (fits) group.push(one);
    else groups.push([one]);
  }
  return groups;
}

function mapLines(
  lines: Lines,
  of: (history: History) => Map<string, number>,
): Map<string, Map<string, number>> {
  return new Map([...lines].map(([dims, history]) => [dims, of(history)]));
}

/** Every point once, with its value, and no other. */
function compare(
  found: readonly Point[],
  wanted: ReadonlyMap<string, ReadonlyMap<string, number>>,
  what: string,
): number {
  const left = new Map(
    [...wanted].flatMap(([dims, line]) => [...line].map(([date, value]) => [`${date} ${dims}`, value])),
  );
  for (const { date, dims, value } of found) {
    const point = `${date} ${Object.values(dims).join()}`;
    if (left.get(point) !== value) assert.equal(value, left.get(point), `${point} in ${what}`);
    left.delete(point);
  }
  assert.deepEqual([...left.keys()], [], `missing in ${what}`);
  return found.length;
}

function published(history: History): Map<string, number> {
  return new Map([...history].filter(([, text]) => text !== '').map(([date, text]) => [date, Number(text)]));
}

function isApplicable(name: TransformName, frequency: Frequency): boolean {
  return name !== 'mom' || !['quarterly', 'annual'].includes(frequency);
}

/** The transformed values, without those that have none. @param base the date whose value is 100; the first not 0 unless given. */
export function transformed(
  name: TransformName,
  history: History,
  frequency: Frequency,
  base?: string,
): Map<string, number> {
  const dates = [...history.keys()].filter((date) => history.get(date) !== '').sort();
  const values = new Map(dates.map((date) => [date, fraction(history.get(date) ?? '')]));
  const has = (date: string) => values.has(date);
  const baseDate = base ?? dates.find((date) => values.get(date)?.digits !== 0n) ?? '';
  const results = new Map<string, number>();
  for (const date of dates) {
    const earlier =
      name === 'index'
        ? [baseDate]
        : name === 'yoy'
          ? [monthsBefore(date, 12, frequency, has)]
          : name === 'mom'
            ? [monthsBefore(date, 1, frequency, has)]
            : periodsBefore(date, name === '3ma' ? 2 : 1, frequency, dates, has);
    const legs = earlier.map((day) => values.get(day ?? ''));
    const [x, leg] = [values.get(date), legs[0]];
    if (x === undefined || leg === undefined || legs.includes(undefined)) continue;
    const result =
      name === '3ma'
        ? mean([x, ...legs.filter((each) => each !== undefined)])
        : ratio(x, leg, name === 'index');
    if (result !== null) results.set(date, result);
  }
  return results;
}

const monthsOf: Partial<Record<Frequency, number>> = { monthly: 1, quarterly: 3, annual: 12 };

/** The date of the value this many months earlier. */
function monthsBefore(
  date: string,
  months: number,
  frequency: Frequency,
  has: (date: string) => boolean,
): string | undefined {
  const day = new Date(`${date}T00:00:00Z`);
  const [year, month] = [day.getUTCFullYear(), day.getUTCMonth() - months];
  const lastOfMonth = new Date(Date.UTC(year, month + 1, 0));
  if (monthsOf[frequency] !== undefined) return iso(lastOfMonth);
  const target = new Date(Date.UTC(year, month, Math.min(day.getUTCDate(), lastOfMonth.getUTCDate())));
  return newest(target, 0, 7, has);
}

/** The dates of the values one, two, … periods earlier, the newest first. */
function periodsBefore(
  date: string,
  count: number,
  frequency: Frequency,
  dates: readonly string[],
  has: (date: string) => boolean,
): (string | undefined)[] {
  const months = monthsOf[frequency];
  if (months !== undefined)
    return Array.from({ length: count }, (_, i) => monthsBefore(date, months * (i + 1), frequency, has));
  const previous = (day: string) =>
    frequency === 'irregular'
      ? dates[dates.indexOf(day) - 1]
      : newest(new Date(`${day}T00:00:00Z`), 1, frequency === 'daily' ? 7 : 10, has);
  const earlier: (string | undefined)[] = [];
  for (let day: string | undefined = date; day !== undefined && earlier.length < count; earlier.push(day))
    day = previous(day);
  return earlier.length === count ? earlier : [undefined];
}

/** The last day with a value, of those from `from` to `to` days before the day. */
function newest(day: Date, from: number, to: number, has: (date: string) => boolean): string | undefined {
  for (let back = from; back <= to; back += 1) {
    const date = iso(new Date(day.getTime() - back * 86_400_000));
    if (has(date)) return date;
  }
  return undefined;
}

const iso = (day: Date) => day.toISOString().slice(0, 10);

/** digits · 10^−decimals */
interface Fraction {
  digits: bigint;
  decimals: number;
}

function fraction(text: string): Fraction {
  const [, sign = '', whole = '', part = '', exponent = '0'] =
    /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text) ?? [];
  const decimals = part.length - Number(exponent);
  const digits = BigInt(`${whole}${part}`) * 10n ** BigInt(Math.max(0, -decimals));
  return { digits: sign === '-' ? -digits : digits, decimals: Math.max(0, decimals) };
}

/** x / base in percent, or the change from it; null where the base is not positive. */
function ratio(x: Fraction, base: Fraction, isIndex: boolean): number | null {
  if (base.digits <= 0n) return null;
  const decimals = Math.max(x.decimals, base.decimals);
  const [a, b] = [raised(x, decimals), raised(base, decimals)];
  return tenDigits((isIndex ? a : a - b) * 100n, b);
}

function mean(terms: readonly Fraction[]): number {
  return Number(meanOf(terms));
}

/** The mean of published values, to ten decimals or four more than they have, without zeros at the end. */
export function meanDigits(texts: readonly string[]): string {
  return meanOf(texts.map(fraction)).replace(/\.?0+$/, '');
}

function meanOf(terms: readonly Fraction[]): string {
  const decimals = Math.max(...terms.map((term) => term.decimals));
  const sum = terms.reduce((total, term) => total + raised(term, decimals), 0n);
  return quotientDigits(sum, 10n ** BigInt(decimals) * BigInt(terms.length), Math.max(10, decimals + 4));
}

const raised = (value: Fraction, decimals: number) => value.digits * 10n ** BigInt(decimals - value.decimals);

/** The quotient in ten significant digits. */
function tenDigits(above: bigint, below: bigint): number {
  const size = above < 0n ? -above : above;
  if (size === 0n) return 0;
  let decimals = 0;
  while (size * 10n ** BigInt(decimals) < below * 10n ** 9n) decimals += 1;
  while (decimals <= 0 && size >= below * 10n ** BigInt(10 - decimals)) decimals -= 1;
  const [raise, lower] = [10n ** BigInt(Math.max(0, decimals)), 10n ** BigInt(Math.max(0, -decimals))];
  return Number(`${rounded(above * raise, below * lower)}e${-decimals}`);
}

/** Half away from zero. */
function rounded(above: bigint, below: bigint): bigint {
  return (2n * above + (above < 0n ? -below : below)) / (2n * below);
}

function quotientDigits(above: bigint, below: bigint, decimals: number): string {
  const digits = rounded(above * 10n ** BigInt(decimals), below);
  const text = String(digits < 0n ? -digits : digits).padStart(decimals + 1, '0');
  return `${digits < 0n ? '-' : ''}${text.slice(0, -decimals)}.${text.slice(-decimals)}`;
}
