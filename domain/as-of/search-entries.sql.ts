// The search entries as of the end of a past day, from the facts as of that day, by the rules of the functions in migrations/000006_discovery.sql.
import { dayMark, lastRows, type AsOfTable } from './tables.sql.ts';

/** As data.searched_dimensions, from the dimension values and labels as of the day. */
const searchedDimensions = `
  (select left(string_agg(word, ' '), 8000) from (
    select word from (
      select v.value as word from as_of_series_dims d, jsonb_each_text(d.dims) v where d.series_no = s.series_no
      union
      select l.label from as_of_dimension_labels l where l.series_no = s.series_no) words
    order by word limit 500) taken)`;

const seriesDocuments = `
    select 'series' as type, s.series_id as id, s.name, s.unit, s.frequency, s.source, s.category,
      concat_ws(' ', s.geography, array_to_string(s.tags, ' '),
        (select string_agg(a.alias, ' ' order by a.alias) from as_of_series_aliases a where a.series_no = s.series_no),
        case when s.dimensions <> '{}' then ${searchedDimensions} end) as facts, s.description, s.series_no, s.geography
    from as_of_series s
    where s.deleted_on is null and not exists (select from as_of_commodity_items i where i.series_no = s.series_no)
    union all
    select 'commodity', i.item_id, i.name, i.unit, s.frequency, s.source, s.category,
      concat_ws(' ', s.series_id, i.name_local, i.coicop, 'price', s.geography, array_to_string(s.tags, ' ')),
      s.description, s.series_no, s.geography
    from as_of_commodity_items i join as_of_series s using (series_no) where s.deleted_on is null`;

/** Only facts: figures and prices as of the day would have to be computed, and search does not need them. */
const otherDocuments = `
    select 'security', s.code, s.name, s.currency, null, s.source, s.type,
      concat_ws(' ', s.source_code, s.isin, s.issuer, array_to_string(s.former_names, ' '), array_to_string(s.former_codes, ' ')),
      null, null::integer, null
    from (${lastRows('securities')}) s where s.load_no is not null or (s.created_at at time zone TIME_ZONE)::date <= ${dayMark}
    union all
    select d.* from (${lastRows('funds')}) f left join (${lastRows('amcs')}) a using (amc_id)
    cross join lateral data.fund_document(row(f.*)::data.funds, a.name) d where f.load_no is not null
    union all
    select 'amc', a.amc_id, a.name, null, null, a.source, null, concat_ws(' ', a.short_name, a.licence_no), null, null, null
    from (${lastRows('amcs')}) a where a.load_no is not null`;

/**
 * An entry that has not changed since uses its stored words. Entries of series are in the order of the series, as a rename stores its entry again;
 * the other entries follow in the order of their creation.
 */
const searchEntries = `
  select coalesce(d.series_no, 1000000000 + e.entry_no) as entry_no, d.type, d.id, d.name, d.unit, d.frequency, d.source, d.category, d.geography,
    d.facts, d.description, d.series_no, made.id_text, made.name_text,
    case when (e.name, e.source, e.frequency, e.category, e.facts, e.description)
        is not distinct from (d.name, d.source, d.frequency, d.category, d.facts, d.description) then e.words
      else data.search_words(row(d.type, d.id, d.name, d.unit, d.frequency, d.source, d.category, d.facts, d.description, d.series_no,
        d.geography)::data.search_document, made.id_text, made.name_text) end as words
  from (${seriesDocuments} union all ${otherDocuments}) d
  left join data.search_entries e on e.type = d.type and e.id = d.id and e.series_no is not distinct from d.series_no
  cross join lateral (select data.search_text(d.id) as id_text, data.search_text(d.name) as name_text) made`;

export const searchTables: Readonly<Record<string, AsOfTable>> = {
  search_entries: {
    needs: ['loads', 'series', 'series_dims', 'series_aliases', 'commodity_items', 'dimension_labels'],
    isCostly: true,
    sql: searchEntries,
  },
  // The words of the entries as of the day. The words of entries deleted before it are not stored.
  search_terms: {
    needs: ['search_entries'],
    isCostly: true,
    sql: `
      select word, data.near_spellings(word) as near
      from (select distinct string_to_table(e.id_text || ' ' || e.name_text, ' ') collate "C" as word from as_of_search_entries e) words
      where length(word) between 4 and 40 and word !~ '[0-9]'`,
  },
};
