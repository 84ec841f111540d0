// The public endpoints that list the available data: /v1/catalog, /v1/catalog/{id}, /v1/status.
import { instantText } from '../../kernel/clock.ts';
import { z } from 'zod';
import { entryOf, memberOf } from '../../kernel/entries.ts';
import { oneOf } from '../../kernel/http/list.ts';
import { flagParam, oneOfParam } from '../../kernel/http/params.ts';
import { frequencies } from '../../domain/periods.ts';
import {
  belowCategory,
  byRelevance,
  catalogFacets,
  catalogList,
  catalogWhere,
  countCatalogFacets,
  countedCatalog,
  findRelated,
  storedCount,
  relatedSchema,
} from './discovery.sql.ts';
import { facetsSchema, toFacets, totalOf } from '../facets.ts';
import { seriesWords } from '../search/series-words.ts';
import {
  currencyShape,
  fetchedShape,
  listFetchedSources,
  listSources,
  readSourceTotals,
  type FetchedSource,
  type SourceState,
} from './sources.sql.ts';
import { newestLines } from './newest-lines.sql.ts';
import type { Dependencies } from '../dependencies.ts';
import { findDataState } from '../list.sql.ts';
import { searchText } from '../search/search-text.ts';
import { dayOf, searched } from '../search/state.ts';
import { endpoint } from '../endpoint.ts';
import { listReply, paramsWithUpdates, recordReply, schemaOf } from '../list.ts';
import { factsOf } from '../series/series-meta.ts';
import { requireSeries } from '../series/series-read.ts';
import { factShapes } from '../series/series-schema.ts';
import type { Series } from '../series/stored/series.sql.ts';
import { seriesParam } from '../series/series.ts';

export const getCatalog = endpoint({
  summary: 'The series, filtered.',
  query: {
    q: searchText
      .optional()
      .describe(
        'Words of the id, the name or the other metadata, or synonyms of them; the last may be a prefix.',
      ),
    facets: flagParam(false).describe('Adds the number of series per category, source and so on.'),
    ...paramsWithUpdates(catalogList, {
      category: z.string().describe('A category, including its subcategories.'),
      source: z.string().describe('The exact source.'),
      frequency: oneOfParam(frequencies),
      geography: z.string().describe('The exact geography.'),
      tag: z.string().describe('One of the tags.'),
    }),
    sort: oneOfParam(['id', '-id', 'last_updated', '-last_updated', 'relevance'])
      .optional()
      .describe(
        'The order: `relevance`, the default with `q`; a field, or `-field` for descending. The default without `q` is `id`.',
      ),
  },
  json: schemaOf(catalogList, { facets: facetsSchema(catalogFacets).optional() }),
  caching: 'public',
  handler: async (dependencies, { query, call }) => {
    const { database, vocabulary } = dependencies;
    const { q } = query;
    // Which series have the words depends on more datasets. Read before the words: they may be newer than the state, but not older.
    const datasets = q === undefined ? catalogList.datasets : searched;
    const state = await call.stage('lookup', () => findDataState(database, datasets));
    const words =
      q === undefined ? undefined : await call.stage('lookup', () => seriesWords(database, vocabulary, q));
    const counted = countedCatalog({ ...query, words });
    const extra = {
      name: 'facets' as const,
      async read() {
        const counts = await countCatalogFacets(database, counted);
        return { meta: { facets: toFacets(catalogFacets, counts) }, total: totalOf(counts, 'frequency') };
      },
    };
    const known = () => storedCount(database, counted.where, query);
    const common = {
      state,
      counted: { ...counted, known },
      ...(query.facets ? { extra } : {}),
    };
    const sort = query.sort ?? 'relevance';
    if (sort !== 'relevance' || words === undefined) {
      const ordered = { ...query, sort: sort === 'relevance' ? catalogList.sort : sort };
      const { category, ...others } = query;
      const [below, ...more] = category ?? [];
      if (below === undefined || more.length > 0 || words !== undefined || !/^-?id$/.test(ordered.sort)) {
        const where = catalogWhere({ ...query, words });
        return listReply(dependencies, call, { list: catalogList, query: ordered, where, ...common });
      }
      const where = catalogWhere(others);
      return listReply(dependencies, call, {
        list: belowCategory(below, where),
        query: ordered,
        where,
        ...common,
      });
    }
    const where = catalogWhere({ ...query, words });
    const list = byRelevance({ ...query, words }, dayOf(state));
    return listReply(dependencies, call, { list, query: { ...query, sort }, where, ...common });
  },
});

const combinationsMax = 60;

const entrySchema = z.object({
  id: z.string(),
  ...factShapes,
  newest_combinations: z
    .array(z.record(z.string(), z.string()))
    .max(combinationsMax)
    .describe(
      'The combinations of dimension values with the newest values, of these those with the most points first: what a chart shows by default. None without dimensions.',
    ),
  related: z.array(relatedSchema),
  sample_url: z.string().describe('A path to try, with an API key.'),
});

export const getCatalogEntry = endpoint({
  summary: 'The metadata of a series.',
  params: seriesParam,
  json: oneOf(entrySchema),
  caching: 'public',
  errors: ['not_found', 'gone'],
  handler: async (dependencies, { params, call }) => {
    const series = await call.stage('sql', () =>
      requireSeries(dependencies, call, memberOf(params, 'id'), null),
    );
    const data = {
      id: series.id,
      ...factsOf(series),
      newest_combinations: await call.stage('sql', () => newestCombinations(dependencies, series)),
      related: await call.stage('related', () => findRelated(dependencies.database, series.seriesNo)),
      sample_url: `/v1/series/${series.id}?sort=desc&limit=12`,
    };
    return recordReply({ data, state: series });
  },
});

async function newestCombinations(
  { database }: Dependencies,
  series: Series,
): Promise<Readonly<Record<string, string>>[]> {
  if (series.dimensions.length === 0) return [];
  const [lines = []] = await newestLines(database, [series]);
  const dimsOf = new Map(series.combinations.map(({ lineNo, dims }) => [lineNo, dims]));
  return lines.slice(0, combinationsMax).map((lineNo) => entryOf(dimsOf, lineNo));
}

const sourcesCachedMs = 1_000;

/** The sources as the status shows them. */
type SourceStatus = Omit<SourceState, 'licences' | 'changes_at'>;

interface StatusOfSources {
  sources: SourceStatus[];
  fetched: FetchedSource[];
}

const readings = new WeakMap<Dependencies, { since: number; sources: Promise<StatusOfSources> }>();

/** The endpoint is public and its statement scans every series: one statement per second serves all callers. */
function sharedStatusOfSources(dependencies: Dependencies): Promise<StatusOfSources> {
  const now = dependencies.clock.now().getTime();
  const known = readings.get(dependencies);
  if (known !== undefined && now - known.since < sourcesCachedMs) return known.sources;
  const sources = readStatusOfSources(dependencies);
  readings.set(dependencies, { since: now, sources });
  return sources;
}

async function readStatusOfSources({ database, clock, asOf }: Dependencies): Promise<StatusOfSources> {
  const totals = await readSourceTotals(database);
  const sources = await listSources(database, clock.now(), totals);
  return {
    sources: sources.map(({ licences: _licences, changes_at: _at, ...source }) => source),
    fetched: asOf === null ? await listFetchedSources(database) : [], // fetches have no history
  };
}

const componentStates = ['operational', 'down'] as const;

const statusSchema = z.object({
  state: z.enum(['operational', 'degraded']),
  checked_at: z.iso.datetime(),
  components: z.array(z.object({ name: z.string(), state: z.enum(componentStates) })),
  sources: z.array(z.object({ source: z.string(), ...currencyShape })),
  fetched: z
    .array(z.object(fetchedShape))
    .describe('The sources that are fetched by schedule, by name. None with a key that is pinned to a day.'),
  open_revisions_series: z
    .string()
    .nullable()
    .describe('The series whose revisions visitors see: `/v1/catalog/{id}/triangle`; null if there is none.'),
});

export const getStatus = endpoint({
  summary: 'The state of the components, and how current each source is.',
  json: oneOf(statusSchema),
  caching: 'none',
  handler: async (dependencies, { call }) => {
    const { log, clock, openRevisionsSeries } = dependencies;
    let read: StatusOfSources = { sources: [], fetched: [] };
    let databaseState: (typeof componentStates)[number] = 'operational';
    try {
      read = await call.stage('sql', () => sharedStatusOfSources(dependencies));
    } catch (error) {
      // The answer reports the failure; the log has the cause.
      log.error({ err: error }, 'the status could not be read from the database');
      databaseState = 'down';
    }
    const data = {
      state: databaseState === 'operational' ? 'operational' : 'degraded',
      checked_at: instantText(clock.now()),
      components: [
        { name: 'data-api', state: 'operational' },
        { name: 'database', state: databaseState },
      ],
      ...read,
      open_revisions_series: openRevisionsSeries ?? null,
    };
    return recordReply({ data });
  },
});
