// The statements that read the content of bulk files: one snapshot of all series, their lines, and the rows of lines in key order. The
// storage model is in migrations/000001_series.sql.
import { to as copyTo } from 'pg-copy-streams';
import { asOfStatement } from '../../domain/as-of/statements.ts';
import type { Queryable, Transaction } from '../../kernel/database.ts';
import { entryAt } from '../../kernel/entries.ts';
import { tryLock } from '../load/lock/load-lock.sql.ts';

const bulkLock = 4_207_849_133;

/** Whether this transaction may write files; one at a time may, until its end. */
export const tryLockBulk = (on: Transaction): Promise<boolean> => tryLock(on, bulkLock);

/** Makes all later reads of the transaction see one snapshot. It must be its first statement. */
export async function readOneMoment(on: Transaction): Promise<void> {
  await on.query('set transaction isolation level repeatable read, read only');
}

/** The number of the newest load; 0 before the first. */
export async function readNewestLoad(on: Queryable): Promise<number> {
  const rows = await on.query<{ load: number }>('select coalesce(max(load_no), 0) as load from data.loads');
  return entryAt(rows, 0).load;
}

/** The state that is read: the current series and values, or those as of a day. */
export interface Moment {
  on: Transaction;
  /** The day; null: the current state. */
  asOf: string | null;
  /** The publisher's time zone: vintages are days in it. */
  timeZone: string;
}

/** The statement, changed to read as of the moment. */
const at = ({ asOf, timeZone }: Moment, text: string): string =>
  asOf === null ? text : asOfStatement(text, `date '${asOf}'`, timeZone);

/** The days that keys are pinned to and that get files, limited in number. */
export async function listPinnedDays(on: Queryable, daysMax: number): Promise<string[]> {
  const rows = await on.query<{ day: string }>('select day::text from data.pinned_days where place <= $1', [
    daysMax,
  ]);
  return rows.map(({ day }) => day);
}

/** A day that keys are pinned to. */
export interface PinnedDay {
  day: string;
  /** The newest load up to the day; 0 before the first. */
  load: number;
  /** Changes whenever a load changes what was published up to the day. */
  state: string;
}

/** These days with their states. Erasures change the past of all days. */
export async function readPinnedDays(on: Queryable, daysMax: number): Promise<PinnedDay[]> {
  return on.query<PinnedDay>(
    `select p.day::text, l.load, l.load || '-' || l.erasure as state
     from data.pinned_days p cross join lateral (
       select coalesce(max(load_no) filter (where vintage <= p.day), 0) as load, coalesce(max(load_no) filter (where erases), 0) as erasure
       from data.loads) l
     where p.place <= $1 order by p.day`,
    [daysMax],
  );
}

/** When the first load after the given one was made; null if no load came after it. */
export async function readLoadedAfter(on: Queryable, load: number): Promise<Date | null> {
  const rows = await on.query<{ at: Date | null }>(
    'select min(loaded_at) as at from data.loads where load_no > $1',
    [load],
  );
  return entryAt(rows, 0).at;
}

/** The facts of a scope: the series of a source, or all series. */
export interface Scope {
  /** Null for all series. */
  source: string | null;
  /** Changes whenever one of them changes. */
  state: string;
  licences: string[];
  dimensions: string[];
}

// A series that was merged into another is not served on its own.
const served = `deleted_on is null and not exists (select from data.series_aliases a where a.merged_from = s.series_no and a.series_no <> s.series_no)`;

/**
 * All series that are served, and those of each source; a scope is named by its source.
 * @param state of all scopes; by default, each has its own.
 */
export async function readScopes(moment: Moment, state?: string): Promise<Scope[]> {
  const ofSeries = `md5(string_agg(series_no || '.' || row_version || '.' || data_version, ',' order by series_no))`;
  return moment.on.query<Scope>(
    at(
      moment,
      `select source, ${state === undefined ? ofSeries : '$1'} as state,
         coalesce(array_agg(distinct licence order by licence) filter (where licence is not null), '{}') as licences,
         coalesce((select array_agg(distinct dimension order by dimension) from data.series n, unnest(n.dimensions) dimension
           where n.deleted_on is null and (s.source is null or n.source = s.source)), '{}') as dimensions
       from data.series s where ${served} group by grouping sets ((source), ()) order by source nulls first`,
    ),
    state === undefined ? [] : [state],
  );
}

/** A combination of dimension values of a series. */
export interface Line {
  id: string;
  lineNo: number;
  dims: Readonly<Record<string, string>>;
}

/** The lines of a scope by id and dimension values, in batches. */
export async function* readLines(
  moment: Moment,
  source: string | null,
  linesMax: number,
): AsyncGenerator<Line[]> {
  const { on } = moment;
  const lines = at(
    moment,
    `select s.series_id as id, d.line_no as "lineNo", d.dims from data.series s join data.series_dims d using (series_no)
     where ${served} and ($1::text is null or s.source = $1)
     order by s.series_id collate "C", d.dims::text collate "C", d.line_no`,
  );
  await on.query(`declare bulk_lines no scroll cursor for ${lines}`, [source]);
  for (;;) {
    const lines = await on.query<Line>(`fetch ${linesMax} from bulk_lines`);
    if (lines.length === 0) break;
    yield lines;
  }
  await on.query('close bulk_lines');
}

const days = (column: string) => `${column} - date '1970-01-01'`;
const ofLine = `line_no = l.line_no and superseded_on`;
const columns = 'date, value, status, published_on, superseded_on, load_no, superseded_load_no';

/**
 * All values that lines ever had, in the order of the lines, then by date and publication. Text, in lines of cells separated by tabs: the
 * position of the line from 1 on, date, value, status, published on, superseded on, load, superseded by load. Dates are days since
 * 1970-01-01; `\\N` is null.
 */
export function copyValues(moment: Moment, lines: readonly Line[]): AsyncIterable<string> {
  const numbers = lines.map(({ lineNo }) => lineNo).join();
  // A nested loop preserves the order of the lines; the reader checks it. Each index has the rows of a line in order.
  const values = at(
    moment,
    `select l.place, ${days('o.date')}, o.value, o.status, ${days('o.published_on')},
       ${days(`nullif(o.superseded_on, 'infinity')`)}, o.load_no, o.superseded_load_no
     from unnest('{${numbers}}'::int[]) with ordinality as l(line_no, place) cross join lateral (
       (select ${columns} from data.observations where ${ofLine} = 'infinity')
       union all
       (select ${columns} from data.observations where ${ofLine} <> 'infinity' and published_on < superseded_on)
       order by date, published_on) o`,
  );
  return moment.on.client.query(copyTo(`copy (${values}) to stdout`)).setEncoding('utf8');
}
