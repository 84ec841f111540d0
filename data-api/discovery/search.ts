// GET /v1/search: finds everything by id, name or words, and tolerates typing errors.
// Hides nothing: the handler reads from the parameters to the answer; search.sql.ts decides what matches.
import { z } from 'zod';
import { entryAt } from '../../kernel/entries.ts';
import { limitDefault, limitMax, listOf, listParams, renderList, rowOf } from '../../kernel/http/list.ts';
import { flagParam, integerParam, oneOfParam } from '../../kernel/http/params.ts';
import { frequencies } from '../../domain/periods.ts';
import { endpoint } from '../endpoint.ts';
import { findDataState } from '../list.sql.ts';
import { facetsSchema, toFacets } from './discovery.ts';
import {
  countFacets,
  findAlternatives,
  findCorrection,
  findHits,
  hitSchema,
  matchKinds,
  searchFacets,
  searchTypes,
  type HitPlace,
  type SearchHit,
  type SearchQuery,
} from './search.sql.ts';

/** The datasets whose loads change the search entries. */
const searched = [
  'series',
  'observations',
  'dimension-labels',
  'funds',
  'amcs',
  'securities',
  'commodity-items',
  'commodity-prices',
  'nav',
];
/** match → score; only the order means something. */
const scores: Readonly<Record<(typeof matchKinds)[number], number>> = {
  id: 1,
  name: 0.95,
  id_beginning: 0.9,
  name_beginning: 0.85,
  name_words: 0.7,
  words: 0.5,
  name_words_begun: 0.4,
  words_begun: 0.3,
  synonyms: 0.2,
};

/**
 * What a cursor holds: the corrected words or nothing, the place of the last hit, and the corrected query for display, which those of
 * the version before do not have.
 */
type Opened = [string, number, number, number, string?];

/** Where nothing matches, the query is tried again with the nearest known words: `meta.corrected`. */
export const getSearch = endpoint({
  summary: 'Full-text search by id, name and words; tolerates typing errors.',
  query: {
    q: z
      .string()
      .max(200, 'must not be longer than 200 characters')
      .regex(/[\p{L}\p{N}]/u, 'must have a letter or a digit')
      .meta({
        description: 'An id or words; the last word may be a prefix.',
        override: { pattern: undefined },
      }),
    type: oneOfParam(searchTypes).optional(),
    frequency: oneOfParam(frequencies).optional(),
    source: z.string().optional().describe('The exact source.'),
    category: z.string().optional().describe('A category, including its subcategories.'),
    facets: flagParam(false).describe('Adds the number of hits per type, frequency and so on.'),
    ...listParams({ fields: Object.keys(hitSchema.shape), sorts: [], sort: 'relevance' }),
    sort: oneOfParam(['relevance', 'updated']).default('relevance'),
    limit: integerParam(1, limitMax)
      .default(limitDefault)
      .meta({ description: 'Hits per page.', override: { default: limitDefault } }),
  },
  json: listOf(rowOf(hitSchema), {
    meta: z.object({
      corrected: z.string().nullable().describe('The corrected query, if the given one matched nothing.'),
      facets: facetsSchema(searchFacets).optional(),
    }),
  }),
  caching: 'public',
  handler:
    ({ database, cursors, synonyms }) =>
    async ({ query, call }) => {
      const { q, sort, facets, limit, cursor, fields, format, type, frequency, source, category } = query;
      const filter = { type, frequency, source, category };
      const pageQuery = JSON.stringify(['search', q, sort, filter]);
      const opened = cursor === undefined ? null : (cursors.open(cursor, pageQuery) as Opened);
      const after: HitPlace | null = opened === null ? null : [opened[1], opened[2], opened[3]];
      const corrected = opened?.[0] || null;
      const correctedText = opened?.[4] || null;
      const alternatives = corrected === null ? synonyms.alternativesIn(q) : null;
      const state = await call.stage('lookup', () => findDataState(database, searched));

      async function search(): Promise<{ hits: SearchHit[]; asked: SearchQuery; corrected: string | null }> {
        const page = { sort, after, limit: limit + 1 };
        const words = alternatives === null ? null : await findAlternatives(database, alternatives);
        const asTyped: SearchQuery = { q, corrected, synonyms: words, filter };
        const hits = await findHits(database, asTyped, page);
        if (hits.length > 0 || after !== null) return { hits, asked: asTyped, corrected: correctedText };
        const correction = await findCorrection(database, q);
        if (correction === undefined) return { hits, asked: asTyped, corrected: null };
        const meant = { ...asTyped, corrected: correction.words, synonyms: null };
        return { hits: await findHits(database, meant, page), asked: meant, corrected: correction.text };
      }

      return {
        identity: [pageQuery, opened, alternatives, limit, facets, fields, format, state.version],
        lastModified: state.changedAt,
        format,
        fileName: 'search',
        async read() {
          const { hits, asked, corrected } = await call.stage('sql', search);
          const counts = facets ? await call.stage('facets', () => countFacets(database, asked)) : null;
          const shown = hits.slice(0, limit);
          const last = hits.length > limit ? shown.at(-1) : undefined;
          const place = last && [last.rank, last.finerRank, last.entryNo];
          const nextCursor =
            place === undefined
              ? null
              : cursors.seal([asked.corrected ?? '', ...place, corrected ?? ''], pageQuery);
          const meta = { corrected, ...(counts === null ? {} : { facets: toFacets(searchFacets, counts) }) };
          const text = await call.stage('render', () =>
            renderList(shown.map(toResult), { fields, format, nextCursor, extra: { meta } }),
          );
          return { text, nextCursor };
        },
      };
    },
});

function toResult(hit: SearchHit) {
  const { match, rank: _rank, finerRank: _finerRank, entryNo: _entryNo, highlight, ...entry } = hit;
  const kind = entryAt(matchKinds, match);
  return { ...entry, match: kind, score: scores[kind], highlight };
}
