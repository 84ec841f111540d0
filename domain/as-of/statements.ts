// Reads the database as it was at the end of a past day: in each statement, tables are replaced by their content as of that day. A statement that
// names a table without a history is refused, so that a new table cannot expose data that was published later.
import type { Database, Queryable } from '../../kernel/database.ts';
import { fundTables } from './fund-tables.sql.ts';
import { rowTables } from './row-tables.sql.ts';
import { searchTables } from './search-entries.sql.ts';
import { asOfTables, dayMark, type AsOfTable } from './tables.sql.ts';

const named = /\bdata\.([a-z_]+)/g;
/** Names in statements that are not tables: functions that depend only on their arguments, and a text search configuration. */
const noTables: ReadonlySet<string> = new Set([
  'search_text',
  'near_spellings',
  'english',
  'percent_of',
  'rating_rank',
]);
/** The clause is removed, as only a table can be sampled. */
const sample = /\btablesample system \([\d.]+\) repeatable \(\d+\)/g;
/** Costly rows that a statement reads more often than this are computed once, without indexes. */
const readsMax = 3;
/** This function reads the current entries, so it is replaced. */
const hasWord = /\bdata\.has_search_word\((\w+)\)/g;
const hasWordOfThen = 'exists (select from data.search_entries where words @@ quote_literal($1)::tsquery)';
/** Statistics describe the current tables, so they are replaced by none. */
const statistics = /\bfrom pg_stats\b/g;
const noStatistics =
  'from (select null as schemaname, null as tablename, null as attname, null as most_common_elems) pg_stats';
const forms: Readonly<Record<string, AsOfTable>> = {
  ...asOfTables,
  ...rowTables,
  ...fundTables,
  ...searchTables,
};
const begin = /^\s*with\s+(recursive\s+)?/i;

/**
 * The statement that reads as of a day.
 * @param day an expression of type date. @param timeZone an IANA name.
 * @throws Error if it names a table without a history.
 */
export function asOfStatement(text: string, day: string, timeZone: string): string {
  const reads = new Map<string, number>();
  const rewritten = text
    .replaceAll(sample, '')
    .replaceAll(hasWord, hasWordOfThen)
    .replaceAll(statistics, noStatistics)
    .replaceAll(named, (whole, name: string) => {
      if (noTables.has(name)) return whole;
      reads.set(name, (reads.get(name) ?? 0) + 1);
      return `as_of_${name}`;
    });
  if (reads.size === 0) return text;
  const parts = withNeeded([...reads.keys()]).map((name) => {
    const { sql, isCostly = false, isOnce = isCostly && (reads.get(name) ?? 0) > readsMax } = formOf(name);
    return `as_of_${name} as ${isOnce ? '' : 'not '}materialized (${sql})`;
  });
  const expressions = parts
    .join(',\n')
    .replaceAll(dayMark, () => day)
    .replaceAll('TIME_ZONE', `'${timeZone.replaceAll("'", "''")}'`);
  const own = begin.exec(rewritten);
  if (own === null) return `with ${expressions}\n${rewritten}`;
  return `with ${own[1] ?? ''}${expressions},\n${rewritten.slice(own[0].length)}`;
}

/** The tables, each preceded by those that it needs. */
function withNeeded(names: readonly string[]): string[] {
  const all = new Set<string>();
  for (const name of names) {
    for (const needed of withNeeded(formOf(name).needs ?? [])) all.add(needed);
    all.add(name);
  }
  return [...all];
}

function formOf(name: string) {
  const form = Object.hasOwn(forms, name) ? forms[name] : undefined;
  if (form === undefined) throw new Error(`data.${name} has no form as of a day`);
  return form;
}

/** The most cached texts: services have a few hundred statements, and lists one for each combination of filters. */
const textsMax = 2_000;

/** Statements of a pool as of a day. They are planned for that day, so none is prepared. */
export function queryAsOf(on: Queryable, day: string, timeZone: string): Queryable {
  const texts = new Map<string, string>();
  return {
    query(text, values = []) {
      const key = `${values.length} ${text}`;
      let rewritten = texts.get(key);
      if (rewritten === undefined) {
        if (texts.size >= textsMax) texts.clear();
        rewritten = asOfStatement(text, `$${values.length + 1}::date`, timeZone);
        texts.set(key, rewritten);
      }
      return rewritten === text ? on.query(text, values) : on.query(rewritten, [...values, day]);
    },
  };
}

/** A database as of a day. It has no transactions: they would read the present state. */
export function databaseAsOf(database: Database, day: string, timeZone: string): Database {
  return {
    ...database,
    query: queryAsOf(database, day, timeZone).query,
    transaction: () => Promise.reject(new Error('a database as of a day has no transactions')),
  };
}
