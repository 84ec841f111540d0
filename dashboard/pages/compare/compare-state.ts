// The state of the comparison, which is its URL: up to eight series, each at its own vintage, and how they are made comparable. The form of a series
// is `DEMO.CPI`, `DEMO.CPI@2026-09-15`, `DEMO.CPI@2026-09-15@7` for one load, or `DEMO.FX@@@side:buy`.
import { isDate } from '../../../kernel/dates.ts';

export const modes = ['rebased', 'levels', 'ratio'] as const;
export type Mode = (typeof modes)[number];

export interface Compared {
  id: string;
  /** Null: the newest. */
  vintage: string | null;
  /** Only with a vintage: the load that the values belong to, permanently. */
  version: number | null;
  /** The dimension values of the line; null: the first of each dimension. */
  dims: string | null;
}

export interface CompareState {
  series: Compared[];
  mode: Mode;
  /** A day in the period whose value is 100; null: the first period that all series have. */
  base: string | null;
  /** Null: all. */
  years: number | null;
}

export const comparedMax = 8;
export const yearsOffered = [2, 5, 15] as const;
const yearsByDefault = 5;

export function stateOf(query: URLSearchParams): CompareState {
  const mode = query.get('mode');
  const years = query.get('years');
  const base = query.get('base');
  return {
    series: allOf(query).slice(0, comparedMax),
    mode: modes.find((each) => each === mode) ?? 'rebased',
    base: base !== null && isDate(base) ? base : null,
    years: years === 'all' ? null : (yearsOffered.find((each) => String(each) === years) ?? yearsByDefault),
  };
}

/** The series of a URL that exceed the maximum. */
export function leftOutOf(query: URLSearchParams): Compared[] {
  return allOf(query).slice(comparedMax);
}

export function queryOfState({ series, mode, base, years }: CompareState): URLSearchParams {
  const query = new URLSearchParams(series.map((each) => ['s', textOf(each)]));
  if (mode !== 'rebased') query.set('mode', mode);
  if (base !== null) query.set('base', base);
  if (years !== yearsByDefault) query.set('years', years === null ? 'all' : String(years));
  return query;
}

/** Identifies a line: the same series at another vintage is another line. */
export function textOf({ id, vintage, version, dims }: Compared): string {
  return [id, vintage ?? '', version ?? '', dims ?? ''].join('@').replace(/@+$/, '');
}

function comparedOf(text: string): Compared | undefined {
  const [, id = '', vintage = '', version = '', dims = ''] =
    /^([^@]+)(?:@([^@]*))?(?:@([^@]*))?(?:@(.*))?$/s.exec(text) ?? [];
  if (id === '') return undefined;
  const day = isDate(vintage) ? vintage : null;
  return {
    id,
    vintage: day,
    version: day !== null && /^\d{1,15}$/.test(version) ? Number(version) : null,
    dims: dims === '' ? null : dims,
  };
}

/** Each once. */
function allOf(query: URLSearchParams): Compared[] {
  const series = query.getAll('s').flatMap((text) => comparedOf(text) ?? []);
  return [...new Map(series.map((each) => [textOf(each), each])).values()];
}
