// The statement behind every list, and the version of the data that it shows. Lists use keyset paging: a page begins after the last row of
// the previous one, along an index.
import { z } from 'zod';
import type { Queryable } from '../kernel/database.ts';
import { entryAt, memberOf } from '../kernel/entries.ts';
import { boundsOf, idsOf, type Bound, type BoundKind } from './list-params.ts';

export interface ListField {
  /** The SQL expression of the value. */
  sql: string;
  /** A `number` is shown with its published digits. `json` is an array or an object. */
  kind: 'text' | 'date' | 'number' | 'boolean' | 'json';
  /** The schema of the value, if `kind` is not enough. */
  schema?: z.ZodType;
  /** Whether it is never null. In an order by a nullable field, nulls come last in both directions. */
  isFilled?: boolean;
  /** Whether `sort` accepts it. */
  isSorted?: boolean;
  /** Whether it has bounds, `_min` and `_max`; by default if `sort` accepts it. */
  isBounded?: boolean;
}

/** A list: its fields, its source and its orders. */
export interface List {
  /** Identifies its cursors, and names its CSV file. */
  name: string;
  /** The datasets whose loads change it. */
  datasets: readonly string[];
  /** The FROM clause, in SQL. */
  from: string;
  /** In display order. `updated_after` filters by `last_updated`, if it has that field. */
  fields: Readonly<Record<string, ListField>>;
  /** Fields that make any order total; never null. */
  key: readonly string[];
  /** The field that identifies a row, by which `ids` selects; by default `id`, if the list has that field. */
  id?: string;
  /** The default order: a field, or `-field`. */
  sort: string;
  parts?: ListParts;
  ranking?: ListRanking;
}

/** CTEs that the FROM clause uses, for an order that depends on the request. */
interface ListRanking {
  /** What the order depends on, besides the conditions. */
  of: readonly unknown[];
  /** The CTEs, in SQL. @param where of the page; the values of the CTEs are added to its own. */
  ctes: (where: Conditions) => string;
}

/** For rows in several parts, each ordered by an index: read the first rows of each part, then the first of all of these. */
export interface ListParts {
  /** A subquery of the parts, in SQL, with the name `part`. */
  from: string;
  /** The condition on the rows of a part. */
  on: string;
  /** With more parts than this, this condition selects the rows instead. */
  most: number;
  otherwise: string;
}

/** A filter for one value of a text column. */
export interface ExactFilter {
  /** The parameter of the request. */
  name: string;
  value: string;
  /** The SQL expression of the column. */
  column: string;
}

/** Days, both inclusive; undefined for no limit. */
export interface Window {
  from?: string | undefined;
  to?: string | undefined;
}

/** The conditions that filter a list, and the values of their parameters. */
export class Conditions {
  readonly sql: string[] = [];
  readonly values: unknown[] = [];
  /** Filters whose values may not exist, which may explain a list without rows. */
  readonly exact: ExactFilter[] = [];

  /** Adds `condition($n)`, unless the value is missing. */
  and(value: unknown, condition: (parameter: string) => string): this {
    if (value === undefined || value === null) return this;
    this.values.push(value);
    this.sql.push(condition(`$${this.values.length}`));
    return this;
  }

  /** Adds that the column has one of the values, unless they are missing. @param type that of the column, if it is not text. */
  isOneOf(values: readonly unknown[] | undefined, column: string, type?: string): this {
    const cast = type === undefined ? '' : `::${type}`;
    // An index returns the rows of one value in its order; those of an array are sorted.
    if (values?.length === 1) return this.and(values[0], (p) => `${column} = ${p}${cast}`);
    return this.and(values, (p) => `${column} = any(${p}${cast === '' ? '' : `${cast}[]`})`);
  }

  /** Adds that the condition holds for one of the values, unless they are missing. */
  any(values: readonly unknown[] | undefined, condition: (parameter: string) => string): this {
    if (values === undefined) return this;
    const all = values.map((value) => condition(`$${this.values.push(value)}`));
    this.sql.push(all.length === 1 ? all.join() : `(${all.join(' or ')})`);
    return this;
  }

  /** Like `isOneOf`, for a column whose values a hint may name. @param name the parameter of the request. */
  equals(name: string, values: readonly string[] | undefined, column: string): this {
    const parts = values?.filter((value) => values.length === 1 || !value.includes(',')) ?? [];
    this.exact.push(...parts.map((value) => ({ name, value, column })));
    return this.isOneOf(values, column);
  }

  /** Adds that the value is within the bound. @param sql of the value. */
  within({ kind, side, value }: Bound, sql: string): this {
    return this.and(value, (p) => `(${sql}) ${side === 'min' ? '>=' : '<='} ${p}::${comparedAs[kind]}`);
  }

  /** Adds that the day is within the window. @param sql of the day. */
  during({ from, to }: Window, sql: string): this {
    return this.and(from, (p) => `${sql} >= ${p}`).and(to, (p) => `${sql} <= ${p}`);
  }

  copy(): Conditions {
    const copied = new Conditions();
    copied.exact.push(...this.exact);
    copied.sql.push(...this.sql);
    copied.values.push(...this.values);
    return copied;
  }
}

/** The field that `ids` selects by; undefined if rows have no id. */
function idOf({ fields, id = 'id' }: List): ListField | undefined {
  return fields[id];
}

/** The parameter of one id of a list; undefined if its rows have none. */
export function idParamOf(list: List): z.ZodType | undefined {
  const id = idOf(list);
  return id?.kind === 'number' ? z.string().regex(/^\d{1,15}$/, 'must be a number') : id && z.string();
}

/** The fields with bounds: the numbers and dates that a list can be ordered by, and others declared with bounds. */
export function boundedOf(list: List): Readonly<Record<string, BoundKind>> {
  const id = idOf(list);
  return Object.fromEntries(
    Object.entries(list.fields).flatMap(([name, field]): [string, BoundKind][] => {
      const { kind, isSorted = false, isBounded = isSorted } = field;
      return isBounded && field !== id && (kind === 'number' || kind === 'date') ? [[name, kind]] : [];
    }),
  );
}

/** Adds the filters that every list has: bounds, ids, and the day of the update. */
export function narrow(list: List, query: object, where: Conditions): void {
  const { updated_after } = query as { updated_after?: string | undefined };
  where.and(updated_after, (p) => `${memberOf(list.fields, 'last_updated').sql} > ${p}`);
  const id = idOf(list);
  if (id !== undefined) where.isOneOf(idsOf(query), id.sql, id.kind === 'number' ? 'bigint' : undefined);
  for (const bound of boundsOf(query, boundedOf(list)))
    where.within(bound, memberOf(list.fields, bound.field).sql);
}

/** The position of a row in the order: the texts of its sort fields. */
export type ListPlace = readonly (string | null)[];

export interface ListPage {
  rows: Record<string, unknown>[];
  /** The positions of the rows. */
  places: ListPlace[];
}

const comparedAs: Record<ListField['kind'], string> = {
  text: 'text',
  date: 'date',
  number: 'numeric',
  boolean: 'boolean',
  json: 'text',
};

/**
 * A page of a list.
 * @param after the position of the row after which it begins; null for the first page.
 */
export async function readListPage(
  database: Queryable,
  list: List,
  asked: {
    where: Conditions;
    fields: readonly string[];
    sort: string;
    after: ListPlace | null;
    limit: number;
  },
): Promise<ListPage> {
  const where = asked.where.copy();
  const order = orderOf(list, asked.sort);
  const ctes = list.ranking === undefined ? '' : `with ${list.ranking.ctes(where)} `;
  const parts = partsOf(where, order, asked.after);
  where.values.push(asked.limit);
  const limit = `limit $${where.values.length}`;
  const shown = asked.fields.map((name) => `${memberOf(list.fields, name).sql} as "${name}"`);
  const places = order.fields.map(({ sql }, i) => `(${sql})::text as place_${i}`);
  const statements = parts.flatMap(({ conditions, fields }) => {
    const selecting = (columns: string, from: string, all: readonly string[]): string =>
      `(select ${columns} from ${from} ${all.length === 0 ? '' : `where ${all.join(' and ')}`}
       order by ${fields.map(({ sql }) => `${sql} ${order.direction}`).join(', ')} ${limit})`;
    const columns = [...shown, ...places].join(', ');
    const all = [...where.sql, ...conditions];
    if (list.parts === undefined) return [selecting(columns, list.from, all)];
    const { from, on, most, otherwise } = list.parts;
    const isFew = `(select count(*) from (select from ${from} limit ${most + 1}) counted) <= ${most}`;
    const firstOfEach = selecting('*', list.from, [...all, on]);
    return [
      selecting(columns, `${from}, lateral ${firstOfEach} ${list.name}`, [isFew]),
      selecting(columns, list.from, [...all, otherwise, `not (${isFew})`]),
    ];
  });
  const statement =
    statements.length === 1 ? statements.join() : `${statements.join(' union all ')} ${limit}`;
  const rows = await database.query<Record<string, unknown>>(ctes + statement, where.values);
  return {
    rows,
    places: rows.map((row) => order.fields.map((_, i) => memberOf(row, `place_${i}`) as string | null)),
  };
}

/** The number of rows that match. */
export async function countRows(database: Queryable, { from }: List, where: Conditions): Promise<number> {
  const rows = await database.query<{ count: number }>(
    `select count(*) as count from ${from} ${where.sql.length === 0 ? '' : `where ${where.sql.join(' and ')}`}`,
    where.values,
  );
  return entryAt(rows, 0).count;
}

const valuesRowsMax = 20_000;

/** The values of a column, if the filter's value is not among them; null if it is. For a long list, only the values of some rows. */
export async function findOtherValues(
  database: Queryable,
  { from }: List,
  { value, column }: ExactFilter,
): Promise<string[] | null> {
  const rows = await database.query<{ known: boolean; others: string[] }>(
    `select exists (select from ${from} where ${column} = $1) as known, array(
       select distinct value from (select ${column} as value from ${from} limit ${valuesRowsMax}) read
       where value is not null order by value) as others`,
    [value],
  );
  const { known, others } = entryAt(rows, 0);
  return known ? null : others;
}

interface Order {
  fields: readonly ListField[];
  direction: 'asc' | 'desc';
}

/** The requested field, then the key. */
function orderOf(list: List, sort: string): Order {
  const first = sort.replace(/^-/, '');
  const names = [first, ...list.key.filter((name) => name !== first)];
  return {
    fields: names.map((name) => memberOf(list.fields, name)),
    direction: sort.startsWith('-') ? 'desc' : 'asc',
  };
}

/** A part of a list in its order: its conditions and its sort fields. */
interface Part {
  conditions: readonly string[];
  fields: readonly ListField[];
}

/**
 * The rest of a list after a position: the rows whose sort field is not null, then those where it is. Each part can use an index in either
 * direction, wherever the index has its nulls. PostgreSQL runs the parts of `union all` in turn, and does not start the second if the first
 * fills the page.
 */
function partsOf(where: Conditions, { fields, direction }: Order, after: ListPlace | null): Part[] {
  const behind = (from: number): string[] => {
    if (after === null) return [];
    const parameters = after.slice(from).map((text, i) => {
      where.values.push(text);
      return `$${where.values.length}::${comparedAs[entryAt(fields, from + i).kind]}`;
    });
    const columns = fields.slice(from).map(({ sql }) => sql);
    return [`(${columns.join(', ')}) ${direction === 'asc' ? '>' : '<'} (${parameters.join(', ')})`];
  };
  const [first, ...key] = fields;
  if (first === undefined || first.isFilled === true) return [{ conditions: behind(0), fields }];
  const without = `${first.sql} is null`;
  if (after !== null && after[0] === null) return [{ conditions: [without, ...behind(1)], fields: key }];
  return [
    { conditions: [`${first.sql} is not null`, ...behind(0)], fields },
    { conditions: [without], fields: key },
  ];
}

export interface DataState {
  /** Increases with every load that changed something in the datasets. */
  version: number;
  /** When it last increased; null before the first load. */
  changedAt: Date | null;
}

/** The state of some datasets: the last load that changed any of them. */
export async function findDataState(database: Queryable, datasets: readonly string[]): Promise<DataState> {
  const [state] = await database.query<DataState>(
    `select load_no as version, loaded_at as "changedAt" from unnest($1::text[]) asked (dataset), lateral (
       select load_no, loaded_at from data.loads l
       where l.dataset = asked.dataset and points_new + points_revised + points_deleted > 0
       order by load_no desc limit 1) last
     order by load_no desc limit 1`,
    [datasets],
    'find_data_state',
  );
  return state ?? { version: 0, changedAt: null };
}

/** Escapes text for use in LIKE. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, String.raw`\$&`);
}
