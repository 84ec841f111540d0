// The common part of all dataset lists: parameters, pages, JSON and CSV; and single records. CSV without a limit is the whole list, read
// page by page as it is sent.
import { z } from 'zod';
import { digits } from '../kernel/digits.ts';
import type { Queryable } from '../kernel/database.ts';
import { entryAt } from '../kernel/entries.ts';
import { fail } from '../kernel/errors.ts';
import type { Content, Reply } from '../kernel/http/answer.ts';
import {
  countJson,
  csvParts,
  limitDefault,
  limitMax,
  listCsv,
  listJson,
  listOf,
  listParams,
  rowOf,
  type Page,
  type Row,
} from '../kernel/http/list.ts';
import { dateParam, nearestName } from '../kernel/http/params.ts';
import type { HandlerStage, ServiceCall } from '../kernel/http/server.ts';
import type { Dependencies } from './dependencies.ts';
import { narrowingParams, requireJsonCount, type Filters } from './list-params.ts';
import {
  boundedOf,
  countRows,
  findDataState,
  findOtherValues,
  idParamOf,
  narrow,
  readListPage,
  type Conditions,
  type DataState,
  type List,
  type ListField,
  type ListPage,
  type ListPlace,
} from './list.sql.ts';
import { FactsChanged } from './series/stored/points.ts';

/** The parameters of every list of the datasets. @param filters those of this list, each as the parameter of one value. */
export function paramsOf<Asked extends Filters>(list: List, filters: Asked) {
  const fields = Object.keys(list.fields);
  const sorts = fields.filter((name) => list.fields[name]?.isSorted === true);
  const id = idParamOf(list);
  return {
    ...narrowingParams({ filters, id, bounded: boundedOf(list) }),
    ...listParams({ fields, sorts, sort: list.sort }),
  };
}

/** The same, for a list that has `last_updated`. */
export function paramsWithUpdates<Asked extends Filters>(list: List, filters: Asked) {
  const updated_after = dateParam.optional().describe('Rows loaded or changed after that day.');
  return { ...paramsOf(list, filters), updated_after };
}

const kindSchemas: Record<ListField['kind'], () => z.ZodType> = {
  text: () => z.string(),
  date: () => z.iso.date(),
  number: () => z.number(),
  boolean: () => z.boolean(),
  json: () => z.unknown(),
};

/** The schema of a row with all fields. */
export function recordOf({ fields }: List) {
  return z.object(
    Object.fromEntries(
      Object.entries(fields).map(([name, { kind, schema = kindSchemas[kind](), isFilled = false }]) => [
        name,
        isFilled ? schema : schema.nullable(),
      ]),
    ),
  );
}

/** The schema of the list's answer; `fields` may omit any field. @param meta further members of `meta`. @param row with all fields. */
export function schemaOf(list: List, meta: z.ZodRawShape = {}, row: z.ZodObject = recordOf(list)) {
  const hints = z
    .array(z.string())
    .optional()
    .describe(
      'If nothing matches: which filters have a value that no row has, and the nearest that one has.',
    );
  return listOf(rowOf(row), { meta: z.object({ ...meta, hints }).optional() });
}

interface ListRequest {
  sort: string;
  limit?: number | undefined;
  cursor?: string | undefined;
  fields: readonly string[];
  format: 'json' | 'csv';
  count_only: boolean;
}

interface ListAnswer {
  list: List;
  query: ListRequest;
  where: Conditions;
  /** By default the name of the list. */
  fileName?: string;
  /** The state of the data shown; by default that of the list's datasets. */
  state?: { version: number | string; changedAt: Date | null };
  extra?: ListExtra;
  derived?: DerivedField;
  counted?: Counted;
}

/** The list to count instead, if the order is part of the list's statement. */
interface Counted {
  list: List;
  where: Conditions;
  /** The number of rows, if it is known without counting them. */
  known: () => Promise<number | undefined>;
}

/** A page of the list, or all of it for CSV without a limit; or only the number of its rows. */
export async function listReply(
  dependencies: Dependencies,
  call: ServiceCall,
  answer: ListAnswer,
): Promise<Reply> {
  const { database, longReads, cursors } = dependencies;
  const { list, query, where, fileName = list.name, extra, derived, counted } = answer;
  requireJsonCount(query);
  narrow(list, query, where);
  if (counted !== undefined) narrow(counted.list, query, counted.where);
  const state = answer.state ?? (await call.stage('lookup', () => findDataState(database, list.datasets)));
  if (query.count_only) return countReply(dependencies, call, { ...answer, state });
  const pageQuery = JSON.stringify([
    list.name,
    list.from,
    where.sql,
    where.values,
    query.sort,
    list.ranking?.of,
  ]);
  const after = query.cursor === undefined ? null : (cursors.open(query.cursor, pageQuery) as ListPlace);
  const { sort, fields, limit, format } = query;
  const deriving = derived !== undefined && fields.includes(derived.name) ? derived : null;

  async function readPage(from: Queryable, behind: ListPlace | null, most: number): Promise<Page<ListPlace>> {
    const needed = [...new Set([...fields, ...(deriving?.needs ?? [])])];
    const found = { where, fields: needed, sort, after: behind, limit: most + 1 };
    const page = pageOf(list, await readListPage(from, list, found), most);
    return deriving === null ? page : { ...page, rows: await withDerived(page.rows, deriving, fields) };
  }

  async function read(): Promise<Content> {
    if (format === 'csv' && limit === undefined) {
      return { parts: csvParts((behind) => readPage(longReads, behind, limitMax), after, fields) };
    }
    const page = await call.stage('sql', () => readPage(database, after, limit ?? limitDefault));
    const nextCursor = page.last === null ? null : cursors.seal(page.last, pageQuery);
    if (format === 'csv')
      return { text: await call.stage('render', () => listCsv(page.rows, fields)), nextCursor };
    const isEmpty = page.rows.length === 0 && after === null;
    const { meta, total } = await besideRows(dependencies, call, answer, isEmpty);
    const text = await call.stage('render', () => listJson(page.rows, nextCursor, meta, total));
    return { text, nextCursor };
  }

  return {
    identity: [pageQuery, after, fields, limit, format, extra?.name, derived?.name, state.version],
    lastModified: state.changedAt,
    format,
    fileName,
    read,
  };
}

/**
 * The members of JSON besides the page: `meta`, if not empty, and the number of all rows, if known. @param isEmpty whether nothing matches.
 */
async function besideRows(
  { database }: Dependencies,
  call: ServiceCall,
  { list, where, extra, counted }: ListAnswer,
  isEmpty: boolean,
): Promise<{ meta: object; total: number | undefined }> {
  const hints = isEmpty ? await call.stage('lookup', () => hintsFor(database, list, where)) : [];
  const own = extra === undefined ? undefined : await call.stage(extra.name, extra.read);
  const meta = { ...own?.meta, ...(hints.length === 0 ? {} : { hints }) };
  const total = own?.total ?? (counted && (await call.stage('lookup', counted.known)));
  return { meta: Object.keys(meta).length === 0 ? {} : { meta }, total };
}

/** Only the number of rows, in the list envelope. */
function countReply(
  { database }: Dependencies,
  call: ServiceCall,
  { list, where, counted = { list, where, known: () => Promise.resolve(undefined) }, state }: ListAnswer,
): Reply {
  return {
    identity: ['count', list.name, where.sql, where.values, state?.version],
    lastModified: state?.changedAt ?? null,
    format: 'json',
    async read() {
      const count = await call.stage(
        'sql',
        async () => (await counted.known()) ?? countRows(database, counted.list, counted.where),
      );
      return { text: countJson(count) };
    },
  };
}

/** A list without rows names at most this many filters whose value no row has. */
const hintsMax = 5;

/** Why nothing matches, as far as filters have values that no row has. */
async function hintsFor(database: Queryable, list: List, { exact }: Conditions): Promise<string[]> {
  const hints: string[] = [];
  for (const filter of exact.slice(0, hintsMax)) {
    const others = await findOtherValues(database, list, filter);
    if (others === null) continue;
    const nearest = nearestValue(filter.value, others);
    const hint = nearest === undefined ? '' : ` The nearest is ${JSON.stringify(nearest)}.`;
    hints.push(`No row has ${filter.name} ${JSON.stringify(filter.value)}.${hint}`);
  }
  return hints;
}

/** The value that has the same letters, or contains them; otherwise the one with the nearest spelling. */
function nearestValue(value: string, others: readonly string[]): string | undefined {
  const typed = value.toLowerCase();
  const containing = others.filter((other) => other.toLowerCase().includes(typed));
  const shortest = containing.toSorted((a, b) => a.length - b.length)[0];
  return typed.length > 1 && shortest !== undefined ? shortest : nearestName(value, others);
}

/** Further members of `meta`, and the number of all rows; `name` is their stage in the timings. */
interface ListExtra {
  name: HandlerStage;
  read: () => Promise<{ meta: object; total: number }>;
}

/** A field without a column: computed for a page of rows from their other fields. */
export interface DerivedField {
  name: string;
  needs: readonly string[];
  /** The values, one per row. */
  work: (rows: readonly Row[]) => Promise<readonly unknown[]>;
}

async function withDerived(
  rows: readonly Row[],
  { name, work }: DerivedField,
  fields: readonly string[],
): Promise<Row[]> {
  const values = await work(rows);
  return rows.map((row, i) =>
    Object.fromEntries(fields.map((field) => [field, field === name ? values[i] : row[field]])),
  );
}

/** The only record that matches, with the fields of the list. @throws Failure `not_found` if it was deleted since it was found. */
export async function readRecord(database: Queryable, list: List, where: Conditions): Promise<Row> {
  const asked = { fields: Object.keys(list.fields), sort: list.sort, limit: 1 };
  const [row] = await readRows(database, list, where, asked);
  if (row === undefined) fail('not_found', 'It has just been deleted.');
  return row;
}

/** The first matching rows, as sent. */
export async function readRows(
  database: Queryable,
  list: List,
  where: Conditions,
  asked: { sort: string; limit: number; fields: readonly string[] },
): Promise<Row[]> {
  const { rows } = await readListPage(database, list, { ...asked, where, after: null });
  return rows.map((row) => shownRow(list, row));
}

/**
 * For a record that several statements read. @param state as it was before them.
 * @throws FactsChanged if a load has changed the datasets since. The call restarts.
 */
export async function requireSameState(
  database: Queryable,
  datasets: readonly string[],
  state: DataState,
): Promise<void> {
  if ((await findDataState(database, datasets)).version !== state.version) throw new FactsChanged();
}

interface RecordAnswer {
  data: object;
  /** When the data shown was last changed, if known. */
  state?: Pick<DataState, 'changedAt'>;
  /** For CSV: the rows of the record's own list, and the file name. */
  csv?: { fileName: string; rows: readonly Row[]; columns: readonly string[] } | undefined;
}

/** One record, or its rows as CSV. */
export function recordReply({ data, state, csv }: RecordAnswer): Reply {
  return {
    lastModified: state?.changedAt ?? null,
    format: csv === undefined ? 'json' : 'csv',
    fileName: csv?.fileName,
    read: () => ({
      text: csv === undefined ? JSON.stringify({ success: true, data }) : listCsv(csv.rows, csv.columns),
    }),
  };
}

function pageOf(list: List, { rows, places }: ListPage, most: number): Page<ListPlace> {
  return {
    rows: rows.slice(0, most).map((row) => shownRow(list, row)),
    last: rows.length > most ? entryAt(places, most - 1) : null,
  };
}

/** The row as sent: numbers with their published digits, only the requested fields. */
function shownRow(list: List, row: Row): Row {
  const shown: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(row)) {
    const field = list.fields[name];
    if (field === undefined) continue;
    shown[name] = field.kind === 'number' && typeof value === 'string' ? digits(value) : value;
  }
  return shown;
}
