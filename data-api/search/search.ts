// GET /v1/search: finds everything by id, name or words, and tolerates typing errors. hits.sql.ts decides what matches.
import { z } from 'zod';
import { entryAt } from '../../kernel/entries.ts';
import {
  countJson,
  limitDefault,
  limitMax,
  listOf,
  listParams,
  renderList,
  rowOf,
} from '../../kernel/http/list.ts';
import { flagParam, integerParam, oneOfParam } from '../../kernel/http/params.ts';
import { frequencies } from '../../domain/periods.ts';
import { endpoint } from '../endpoint.ts';
import { narrowingParams, requireJsonCount } from '../list-params.ts';
import { findDataState } from '../list.sql.ts';
import { facetsSchema, toFacets, totalOf } from '../facets.ts';
import { conceptsOf, type Concept, type Corrections } from './concepts.ts';
import { askedWords, findCorrections } from './queries.sql.ts';
import {
  countFacets,
  findHits,
  hitSchema,
  matchKinds,
  searchFacets,
  searchTypes,
  someWords,
  type HitPlace,
  type SearchHit,
  type SearchQuery,
} from './hits.sql.ts';
import { searchText } from './search-text.ts';
import { dayOf, searched } from './state.ts';
import { contentWords, wordsOf, type Vocabulary } from './vocabulary.ts';

/** match → score; only the order has a meaning. A match of some words has the greatest. */
const scores: Readonly<Record<(typeof matchKinds)[number], number>> = {
  id: 1,
  name: 0.95,
  id_beginning: 0.9,
  name_beginning: 0.85,
  name_words: 0.7,
  name_synonyms: 0.6,
  words: 0.5,
  name_words_begun: 0.4,
  words_begun: 0.3,
  synonyms: 0.2,
  some_words: 0.15,
};

/** If fewer entries have all words, those that have some follow them; in an order by date, only if none has all. */
const fewest = { relevance: 10, updated: 1 } as const;

/** The content of a cursor: the corrections of misspelt words, and the position of the last hit. */
type Opened = [corrections: string, number, number, number];

/** If no entry has all words, the query is repeated with the corrections of misspelt words: `meta.corrected`. */
export const getSearch = endpoint({
  summary: 'Full-text search by id, name and words; knows synonyms, and tolerates typing errors.',
  query: {
    q: searchText.describe(
      'An id or words, also in other languages of the EU; the last word may be a prefix.',
    ),
    facets: flagParam(false).describe('Adds the number of hits per type, frequency and so on.'),
    ...narrowingParams({
      filters: {
        type: oneOfParam(searchTypes),
        frequency: oneOfParam(frequencies),
        source: z.string().describe('The exact source.'),
        category: z.string().describe('A category, including its subcategories.'),
      },
      id: undefined, // a fund and a series may have the same
      bounded: {},
    }),
    ...listParams({ fields: Object.keys(hitSchema.shape), sorts: [], sort: 'relevance' }),
    sort: oneOfParam(['relevance', 'updated']).default('relevance'),
    limit: integerParam(1, limitMax)
      .default(limitDefault)
      .meta({ description: 'Hits per page.', override: { default: limitDefault } }),
  },
  json: listOf(rowOf(hitSchema), {
    meta: z.object({
      corrected: z.string().nullable().describe('The query as corrected; null unless that finds more.'),
      facets: facetsSchema(searchFacets).optional(),
    }),
  }),
  caching: 'public',
  handler: async ({ database, cursors, vocabulary }, { query, call }) => {
    const { q, sort, facets, limit, cursor, fields, format, type, frequency, source, category } = query;
    requireJsonCount(query);
    const filter = { type, frequency, source, category };
    const pageQuery = JSON.stringify(['search', q, sort, filter]);
    const opened = cursor === undefined ? null : (cursors.open(cursor, pageQuery) as Opened);
    const after: HitPlace | null = opened === null ? null : [opened[1], opened[2], opened[3]];
    const state = await call.stage('lookup', () => findDataState(database, searched));
    const newest = dayOf(state);

    async function find(corrections: Corrections): Promise<Found> {
      const concepts = conceptsOf(q, vocabulary, corrections);
      const words = await askedWords(database, q, concepts);
      const asked: SearchQuery = { q, words, filter, fewest: fewest[sort], newest };
      const hits = await findHits(database, asked, { sort, after, limit: limit + 1 });
      return { hits, asked, concepts, corrections };
    }
    async function search(): Promise<Found> {
      const found = await find(correctionsIn(opened));
      if (after !== null || coveredBy(found) === 1000) return found;
      const corrections = await correctionsOf(q, vocabulary, (words) => findCorrections(database, words));
      if (corrections.size === 0) return found;
      const corrected = await find(corrections);
      return coveredBy(corrected) > coveredBy(found) ? corrected : found;
    }

    return {
      identity: [pageQuery, opened, limit, query.count_only, facets, fields, format, state.version],
      lastModified: state.changedAt,
      format,
      fileName: 'search',
      async read() {
        const { hits, asked, concepts, corrections } = await call.stage('sql', search);
        const isCounted = facets || query.count_only;
        const counts = isCounted ? await call.stage('facets', () => countFacets(database, asked)) : null;
        const total = counts === null ? undefined : totalOf(counts, 'type');
        const found = facets && counts !== null ? { facets: toFacets(searchFacets, counts) } : {};
        const meta = { corrected: correctedText(q, corrections), ...found };
        if (query.count_only) return { text: countJson(total ?? 0, { meta }) };
        const shown = hits.slice(0, limit);
        const last = hits.length > limit ? shown.at(-1) : undefined;
        const place = last && [last.rank, last.finerRank, last.entryNo];
        const nextCursor =
          place === undefined ? null : cursors.seal([textOf(corrections), ...place], pageQuery);
        const text = await call.stage('render', () =>
          renderList(
            shown.map((hit) => toResult(hit, concepts, asked)),
            { fields, format, nextCursor, extra: { meta }, total },
          ),
        );
        return { text, nextCursor };
      },
    };
  },
});

const textOf = (corrections: Corrections): string => JSON.stringify(Object.fromEntries(corrections));
const correctionsIn = (opened: Opened | null): Corrections =>
  new Map(Object.entries(JSON.parse(opened?.[0] ?? '{}') as Record<string, readonly string[]>));

interface Found {
  hits: SearchHit[];
  asked: SearchQuery;
  concepts: readonly Concept[];
  corrections: Corrections;
}

/** How much of the query the best hit has: from 0 to 1000. */
const coveredBy = ({ hits }: Found): number => Math.max(0, ...hits.map(({ covered }) => covered));

/** The corrections of the unknown words of a query. Terms of the vocabulary are known. */
async function correctionsOf(
  q: string,
  vocabulary: Vocabulary,
  find: (words: readonly string[]) => ReturnType<typeof findCorrections>,
): Promise<Corrections> {
  const unknown = contentWords(wordsOf(q)).filter((word) => word.length >= 4 && !vocabulary.has(word));
  if (unknown.length === 0) return new Map();
  const found = await find(unknown);
  const entries = found.map(({ word, meant, isNear }): [string, readonly string[]] => {
    const terms = isNear ? [] : vocabulary.near(word);
    return [word, terms.length > 0 ? terms : meant];
  });
  return new Map(entries.filter(([, meant]) => meant.length > 0));
}

/** The query with each corrected word replaced by the likeliest correction; null if there is none. */
function correctedText(q: string, corrections: Corrections): string | null {
  if (corrections.size === 0) return null;
  return wordsOf(q)
    .map((word) => corrections.get(word)?.[0] ?? word)
    .join(' ');
}

function toResult(hit: SearchHit, concepts: readonly Concept[], { words }: SearchQuery) {
  const { match, covered, found, highlight, excerpt, ...rest } = hit;
  const { rank: _rank, finerRank: _finerRank, entryNo: _entryNo, ...entry } = rest;
  const kind = entryAt(matchKinds, match);
  const score = match === someWords ? (scores[kind] * covered) / 1000 : scores[kind];
  const matched = match === someWords ? foundWords(words.compared, found) : concepts.map(({ text }) => text);
  return { ...entry, match: kind, score, matched, highlight, excerpt };
}

/** The words or terms that were found; of a term that was not found, those of its words that were. */
function foundWords(compared: SearchQuery['words']['compared'], found: readonly boolean[]): string[] {
  let at = 0;
  return compared.flatMap(({ text, parts }) => {
    const [whole, ...each] = found.slice(at, at + 1 + parts.length);
    at += 1 + parts.length;
    return whole === true ? [text] : parts.flatMap(({ word }, i) => (each[i] === true ? [word] : []));
  });
}
