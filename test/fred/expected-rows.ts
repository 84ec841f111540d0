// The expected answers of /fred/series/observations, computed from the vintages and first releases of /v1/series.
import type { DataService } from '../services/data-service.ts';
import type { ListBody } from '../services/list-service.ts';

export type Row = Readonly<Record<string, unknown>>;
type Service = Pick<DataService, 'call'>;

/** How a series is asked for under /fred and under /v1, its frequency, and some that are lower. */
export interface Asked {
  fredId: string;
  id: string;
  dims: string;
  own: string;
  lower: readonly ('w' | 'm' | 'q' | 'sa' | 'a')[];
}

const names = { w: 'weekly', m: 'monthly', q: 'quarterly', sa: 'semiannual', a: 'annual' } as const;
const aggregates = { avg: 'avg', sum: 'sum', eop: 'last' } as const;
const unitNames = ['lin', 'chg', 'ch1', 'pch', 'pc1', 'pca', 'cch', 'cca', 'log'] as const;

/** The same computation in both: its words, and the frequency of the answer. */
export interface Computation {
  ofFred: string;
  ofV1: string;
  frequency: string;
}

/** Every unit as published and at one lower frequency; every frequency and aggregate as levels and as changes. */
export function computationsOf({ own, lower }: Asked): Computation[] {
  const plain: Computation = { ofFred: '', ofV1: '', frequency: own };
  const aggregated = lower.flatMap((name) =>
    Object.entries(aggregates).map(([method, aggregate]): Computation => {
      const frequency = names[name];
      return {
        ofFred: `&frequency=${name}&aggregation_method=${method}`,
        ofV1: `&frequency=${frequency}&aggregate=${aggregate}`,
        frequency,
      };
    }),
  );
  const withUnits = (each: Computation, units: string): Computation => ({
    ofFred: `${each.ofFred}&units=${units}`,
    ofV1: units === 'lin' ? each.ofV1 : `${each.ofV1}&transform=${units}`,
    frequency: each.frequency,
  });
  return [
    ...[plain, ...aggregated.slice(0, 1)].flatMap((each) => unitNames.map((units) => withUnits(each, units))),
    ...aggregated.slice(1).flatMap((each) => ['lin', 'pch'].map((units) => withUnits(each, units))),
  ];
}

const monthsBefore: Readonly<Record<string, number>> = {
  monthly: 0,
  quarterly: 2,
  semiannual: 5,
  annual: 11,
};

/** A period of months is dated to its first day. */
export function fredDate(date: string, frequency: string): string {
  const months = monthsBefore[frequency];
  if (months === undefined) return date;
  const [year = 0, month = 0] = date.split('-').map(Number);
  return new Date(Date.UTC(year, month - 1 - months, 1)).toISOString().slice(0, 10);
}

export type Column = ReadonlyMap<string, string>;

/** The points of /v1 as FRED writes them: dates of FRED, published digits, `.` for a missing value. */
export async function columnOf(
  service: Service,
  series: Asked,
  { ofV1, frequency }: Computation,
  more: string,
): Promise<Column> {
  const target = `/v1/series/${series.id}?format=csv&include_missing=true&fields=date,value${series.dims}${ofV1}${more}`;
  const { status, text } = await service.call(target);
  if (status !== 200) throw new Error(`${target}: ${text}`);
  return new Map(
    text
      .trimEnd()
      .split('\r\n')
      .slice(1)
      .map((line): [string, string] => {
        const [date = '', value = ''] = line.split(',');
        return [fredDate(date, frequency), value === '' ? '.' : value];
      }),
  );
}

const dayBefore = (day: string) => new Date(Date.parse(day) - 86_400_000).toISOString().slice(0, 10);

async function rowsOf(service: Service, path: string): Promise<Row[]> {
  return ((await service.call(path)).json as ListBody).data;
}

/** The values of /v1 for a computation, by the day of a vintage; and its first releases with their days. */
export interface Known {
  vintages: readonly string[];
  asOf(day: string): Promise<Column>;
  first: readonly Row[];
}

export async function knownOf(service: Service, series: Asked, computation: Computation): Promise<Known> {
  const vintages = (await rowsOf(service, `/v1/series/${series.id}/vintages?limit=1000`)).map((row) =>
    String(row['vintage']),
  );
  const columns = new Map<string, Promise<Column>>();
  const asOf = (day: string) => {
    const found =
      columns.get(day) ??
      columnOf(service, series, computation, day > (vintages.at(-1) ?? '') ? '' : `&vintage=${day}`);
    columns.set(day, found);
    return found;
  };
  const path = `/v1/series/${series.id}?include_missing=true&fields=date,published_on&release=first`;
  const days = await rowsOf(service, `${path}${series.dims}${computation.ofV1}`);
  const values = await columnOf(service, series, computation, '&release=first');
  const first = days.map(({ date, published_on: start }) => {
    const ofFred = fredDate(String(date), computation.frequency);
    return { start, date: ofFred, value: values.get(ofFred) };
  });
  return { vintages, asOf, first };
}

/** The rows of an output type, from the vintages of /v1. */
export async function expectedRows(
  { vintages, asOf, first }: Known,
  { type, id, start, end, today }: Record<'id' | 'start' | 'end' | 'today', string> & { type: number },
): Promise<Row[]> {
  if (type === 4) {
    return first
      .filter((row) => String(row['start']) >= start && String(row['start']) <= end)
      .map(({ start: from, date, value }) => ({ realtime_start: from, realtime_end: end, date, value }));
  }
  const within = vintages.filter((day) => day >= start && day <= end);
  const isKnownBefore = vintages.some((day) => day < start) && within[0] !== start;
  const former = vintages.findLast((day) => day < start);
  const [beginning, last] = [isKnownBefore ? [start] : [], end < today ? end : today];
  const days = type === 1 ? [...beginning, ...within] : within.length === 0 ? [last] : within;
  const columns = await Promise.all(days.map(asOf));
  const before = type === 3 && within.length > 0 && former !== undefined ? await asOf(former) : undefined;
  const dates = [...new Set(columns.flatMap((each) => [...each.keys()]))].sort();
  if (type === 1) return dates.flatMap((date) => periodsOf(date, { days, columns, end }));
  return dates.flatMap((date) => {
    const cells = columns.flatMap((each, i) => {
      const value = each.get(date);
      const isSame = type === 3 && value === (columns[i - 1] ?? before)?.get(date);
      return value === undefined || isSame ? [] : [[`${id}_${(days[i] ?? '').replaceAll('-', '')}`, value]];
    });
    return cells.length === 0 ? [] : [{ date, ...(Object.fromEntries(cells) as Row) }];
  });
}

function periodsOf(
  date: string,
  { days, columns, end }: { days: readonly string[]; columns: readonly Column[]; end: string },
): Row[] {
  const changes = days.filter((_, i) => i === 0 || columns[i]?.get(date) !== columns[i - 1]?.get(date));
  return changes.flatMap((day, i) => {
    const value = columns[days.indexOf(day)]?.get(date);
    const next = changes[i + 1];
    const realtime = { realtime_start: day, realtime_end: next === undefined ? end : dayBefore(next) };
    return value === undefined ? [] : [{ ...realtime, date, value }];
  });
}
