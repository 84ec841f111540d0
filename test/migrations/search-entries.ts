// Compares the search entries of a database with its series, commodities and words: code that changes a series must refresh its entry.
import pg from 'pg';

/** An entry that is missing or does not match its series, as a sentence. */
const stale = `
  select format('%s %s %s', coalesce(d.type, e.type), coalesce(d.id, e.id),
    case when e.id is null then 'is not found' when d.id is null then 'is found and should not be' else 'is found by what it was' end) as what
  from data.series_documents(array(select series_no from data.series)) d
  full join (select * from data.search_entries where type in ('series', 'commodity')) e on e.type = d.type and e.id = d.id
  where (e.name, e.unit, e.frequency, e.source, e.category, e.facts, e.description, e.series_no, e.geography)
    is distinct from (d.name, d.unit, d.frequency, d.source, d.category, d.facts, d.description, d.series_no, d.geography)
  union all
  select format('%s %s has other words', e.type, e.id) from data.search_entries e
  where (e.id_text, e.name_text) is distinct from (data.search_text(e.id), data.search_text(e.name))
    or e.words is distinct from data.search_words(data.document_of(e), e.id_text, e.name_text)
  union all
  select distinct format('%s is not corrected', word)
  from (select string_to_table(id_text || ' ' || name_text, ' ') collate "C" as word from data.search_entries) words
  where length(word) between 4 and 40 and word !~ '[0-9]' and not exists (select from data.search_terms t where t.word = words.word)
  union all
  select format('%s %s has another count', facet, value) from (
    select facet, value, series from data.facet_counts
    union all
    select facet, value, -count(*) from data.series,
      lateral (values ('category', category), ('source', source), ('frequency', frequency), ('geography', geography)) each (facet, value)
    where value is not null and deleted_on is null group by facet, value) counts
  group by facet, value having sum(series) <> 0 or count(*) <> 2
  limit 5`;

/** The first five wrong entries of the search. */
export async function staleEntries(on: pg.ClientBase | pg.Pool): Promise<string[]> {
  const { rows } = await on.query<{ what: string }>(stale);
  return rows.map(({ what }) => what);
}

/** @throws Error if the search is not as the data are. A test of migrations may have dropped the schema: then there is nothing to compare. */
export async function requireFreshSearch(databaseUrl: string): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ there: boolean }>(
      `select to_regproc('data.refresh_search') is not null and to_regclass('data.series') is not null as there`,
    );
    const found = rows[0]?.there === true ? await staleEntries(client) : [];
    if (found.length > 0)
      throw new Error(`the search is not refreshed (data.refresh_search): ${found.join('; ')}`);
  } finally {
    await client.end();
  }
}

/**
 * For tests that write series by plain SQL: the refresh that every writer does. Loads refresh one after the other; tests that run at once
 * must each refresh their own series only, as two refreshes of one new series count it twice.
 * @param ids a pattern of LIKE; without it, all series.
 */
export async function refreshSearch(on: { query(text: string): Promise<unknown> }, ids = '%'): Promise<void> {
  await on.query(
    `select data.refresh_search(array(select series_no from data.series where series_id like '${ids}' order by 1))`,
  );
}
