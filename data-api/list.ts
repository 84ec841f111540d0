// What every list of the datasets shares: its parameters, its pages, JSON and CSV, validators; and single records.
// Hides cursors, and that CSV without a limit is the whole list, read page by page as it is sent.
import type { Request, Response } from 'express';
import { z } from 'zod';
import type { Queryable } from '../kernel/database.ts';
import { entryAt } from '../kernel/entries.ts';
import { fail } from '../kernel/errors.ts';
import type { ServiceCall, HandlerStage } from '../kernel/http/server.ts';
import { dateParam, integerParam, oneOfParam, someOfParam } from '../kernel/http/params.ts';
import type { Dependencies } from './dependencies.ts';
import { digits } from '../kernel/digits.ts';
import { csvType, jsonType, listCsv, listCsvLines, listJson } from './envelope.ts';
import {
  countRows,
  findDataState,
  readListPage,
  type Conditions,
  type DataState,
  type List,
  type ListPage,
  type ListPlace,
} from './list.sql.ts';
import {
  cachingHeaders,
  nextPageLink,
  sendAnswer,
  sendNotModified,
  sendStream,
  sendText,
} from '../kernel/http/reply.ts';

const limitDefault = 100;
const limitMax = 1_000;

/** The parameters that every list takes. */
export function listParams(list: List) {
  const names = Object.keys(list.fields);
  const sorts = names
    .filter((name) => list.fields[name]?.sort !== undefined)
    .flatMap((name) => [name, `-${name}`])
    .filter((sort) => sort !== list.sort);
  return {
    sort: oneOfParam([list.sort, ...sorts]).default(list.sort),
    limit: integerParam(1, limitMax).optional(),
    cursor: z.string().optional(),
    fields: someOfParam(names).default(names),
    format: oneOfParam(['json', 'csv']).default('json'),
    updated_after: dateParam.optional(),
  };
}

interface ListRequest {
  sort: string;
  limit?: number | undefined;
  cursor?: string | undefined;
  fields: readonly string[];
  format: 'json' | 'csv';
  updated_after?: string | undefined;
}

interface ListAnswer {
  list: List;
  asked: ListRequest;
  where: Conditions;
  extra?: ListExtra;
  derived?: DerivedField;
}

/** Answers with a page of the list, or with all of it: CSV without a limit. */
export async function sendList(
  request: Request,
  response: Response,
  call: ServiceCall,
  { database, cursors, responseCache }: Dependencies,
  { list, asked, where, extra, derived }: ListAnswer,
): Promise<void> {
  where.and(asked.updated_after, (p) => `${list.fields.last_updated.sql} > ${p}`);
  const pageQuery = JSON.stringify([list.name, list.from, where.sql, where.values, asked.sort]);
  const after = asked.cursor === undefined ? null : (cursors.open(asked.cursor, pageQuery) as ListPlace);
  const state = await call.stage('lookup', () => findDataState(database, list.datasets));
  const { sort, fields, limit, format } = asked;
  const headers = {
    ...cachingHeaders(request, {
      identity: [pageQuery, after, fields, limit, format, extra?.name, derived?.name, state.version],
      lastModified: state.changedAt,
      cacheControl: list.isPublic === true ? 'public' : 'private',
    }),
    ...(format === 'csv' ? { 'content-disposition': `attachment; filename="${list.name}.csv"` } : {}),
  };
  if (sendNotModified(request, response, headers)) return;
  const kept = responseCache.get(headers.etag);
  if (kept !== undefined) return sendAnswer(response, kept);

  const deriving = derived !== undefined && fields.includes(derived.name) ? derived : null;
  const read = async (behind: ListPlace | null, most: number): Promise<Page> => {
    const needed = [...new Set([...fields, ...(deriving?.needs ?? [])])];
    const found = { where, fields: needed, sort, after: behind, limit: most + 1 };
    const page = pageOf(list, await readListPage(database, list, found), most);
    return deriving === null ? page : { ...page, rows: await withDerived(page.rows, deriving, fields) };
  };
  if (format === 'csv' && limit === undefined) {
    const parts = csvParts((behind) => read(behind, limitMax), after, fields);
    await sendStream(request, response, { type: csvType, headers, parts });
    return;
  }
  const page = await call.stage('sql', () => read(after, limit ?? limitDefault));
  const nextCursor = page.last === null ? null : cursors.seal(page.last, pageQuery);
  const more = format === 'csv' || extra === undefined ? {} : await call.stage(extra.name, extra.read);
  const text = await call.stage('render', () =>
    format === 'csv' ? listCsv(page.rows, fields) : listJson(page.rows, nextCursor, more),
  );
  const sent = await sendText(request, response, {
    type: format === 'csv' ? csvType : jsonType,
    headers: { ...headers, ...nextPageLink(request, nextCursor) },
    text,
  });
  if (list.isPublic === true) responseCache.keep(headers.etag, sent);
}

/** Answers with the number of rows alone, in the list envelope without rows. */
export async function sendCount(
  request: Request,
  response: Response,
  call: ServiceCall,
  { database }: Dependencies,
  { list, asked, where }: ListAnswer,
): Promise<void> {
  if (asked.format === 'csv') fail('invalid_parameter', 'A count is JSON only.', { param: 'format' });
  where.and(asked.updated_after, (p) => `${list.fields.last_updated.sql} > ${p}`);
  const state = await call.stage('lookup', () => findDataState(database, list.datasets));
  const headers = cachingHeaders(request, {
    identity: ['count', list.name, list.from, where.sql, where.values, state.version],
    lastModified: state.changedAt,
    cacheControl: 'private',
  });
  if (sendNotModified(request, response, headers)) return;
  const count = await call.stage('sql', () => countRows(database, list, where));
  await sendText(request, response, {
    type: jsonType,
    headers,
    text: JSON.stringify({ success: true, data: [], count }),
  });
}

/** What a list tells beside its rows, in JSON; `name` says which, and names the stage. */
interface ListExtra {
  name: HandlerStage;
  read: () => Promise<object>;
}

/** A field that no column holds: worked out for a page of rows from other fields of theirs. */
export interface DerivedField {
  name: string;
  needs: readonly string[];
  /** The values, one a row. */
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

/** The one record that passes, with the fields of the list. @throws Error where there is none. */
export async function readRecord(database: Queryable, list: List, where: Conditions): Promise<Row> {
  const asked = { where, fields: Object.keys(list.fields), sort: list.sort, after: null, limit: 1 };
  const [row] = (await readListPage(database, list, asked)).rows;
  if (row === undefined) throw new Error(`no row of ${list.name}`);
  return shownRow(list, row);
}

interface RecordAnswer {
  data: object;
  state: DataState;
  /** Where CSV is asked for: the rows of the record's own list, and the name of the file. */
  csv?: { name: string; rows: readonly Row[]; columns: readonly string[] };
}

/** Answers with one record, or with the rows in it as CSV. */
export async function sendRecord(
  request: Request,
  response: Response,
  { data, state, csv }: RecordAnswer,
): Promise<void> {
  const text = csv === undefined ? JSON.stringify({ success: true, data }) : listCsv(csv.rows, csv.columns);
  const headers = {
    ...cachingHeaders(request, { identity: [text], lastModified: state.changedAt, cacheControl: 'private' }),
    ...(csv === undefined ? {} : { 'content-disposition': `attachment; filename="${csv.name}.csv"` }),
  };
  if (sendNotModified(request, response, headers)) return;
  await sendText(request, response, { type: csv === undefined ? jsonType : csvType, headers, text });
}

export type Row = Record<string, unknown>;

interface Page {
  rows: Row[];
  /** The place of the last row where more follow, else null. */
  last: ListPlace | null;
}

function pageOf(list: List, { rows, places }: ListPage, most: number): Page {
  return {
    rows: rows.slice(0, most).map((row) => shownRow(list, row)),
    last: rows.length > most ? entryAt(places, most - 1) : null,
  };
}

/** The row as it is sent: numbers with their published digits, nothing that was not asked for. */
function shownRow(list: List, row: Row): Row {
  const shown: Row = {};
  for (const [name, value] of Object.entries(row)) {
    const field = list.fields[name];
    if (field === undefined) continue;
    shown[name] = field.kind === 'number' && typeof value === 'string' ? digits(value) : value;
  }
  return shown;
}

async function* csvParts(
  read: (after: ListPlace | null) => Promise<Page>,
  first: ListPlace | null,
  fields: readonly string[],
): AsyncGenerator<string> {
  let page = await read(first);
  yield listCsv(page.rows, fields);
  while (page.last !== null) {
    page = await read(page.last);
    yield listCsvLines(page.rows, fields);
  }
}
