// GET /v1/search: everything that can be found by its id, its name or its words, typing errors forgiven.
// Hides nothing: the handler reads from the parameters to the answer; what matches is decided in search.sql.ts.
import { z } from 'zod';
import { entryAt } from '../../kernel/entries.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { booleanParam, integerParam, oneOfParam, parseQuery } from '../../kernel/http/params.ts';
import { frequencies } from '../../domain/periods.ts';
import type { Dependencies } from '../dependencies.ts';
import { jsonType, listJson } from '../envelope.ts';
import { cachingHeaders, sendNotModified, sendText } from '../../kernel/http/reply.ts';
import {
  countFacets,
  findCorrection,
  findHits,
  matchKinds,
  type FacetCount,
  type HitPlace,
  type SearchHit,
  type SearchQuery,
} from './search.sql.ts';

const searchTypes = ['series', 'fund', 'amc', 'security', 'commodity'] as const;

const searchQuery = z.object({
  q: z
    .string()
    .max(200, 'must not be longer than 200 characters')
    .regex(/[\p{L}\p{N}]/u, 'must have a letter or a digit'),
  type: oneOfParam(searchTypes).optional(),
  frequency: oneOfParam(frequencies).optional(),
  source: z.string().optional(),
  category: z.string().optional(),
  sort: oneOfParam(['relevance', 'updated']).default('relevance'),
  facets: booleanParam.default(false),
  limit: integerParam(1, 1_000).default(100),
  cursor: z.string().optional(),
});

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
};

/** GET /v1/search. Where nothing matches, the query is tried again with the nearest known words: `meta.corrected`. */
export function getSearch({ database, cursors }: Dependencies): Handler {
  return async function getSearch(request, response, call) {
    const { q, sort, facets, limit, cursor, ...filter } = await call.stage('parse', () =>
      parseQuery(searchQuery, request.url),
    );
    const { type, frequency, source, category } = filter;
    const pageQuery = JSON.stringify(['search', q, sort, type, frequency, source, category]);
    const opened =
      cursor === undefined ? null : (cursors.open(cursor, pageQuery) as [string, number, number, number]);
    const after: HitPlace | null = opened === null ? null : [opened[1], opened[2], opened[3]];
    const query: SearchQuery = {
      q,
      corrected: opened?.[0] || null,
      filter: { type, frequency, source, category },
    };

    const {
      hits,
      asked,
      text: correctedText,
    } = await call.stage('sql', async () => {
      const page = { sort, after, limit: limit + 1 };
      const found = await findHits(database, query, page);
      if (found.length > 0 || after !== null) return { hits: found, asked: query, text: null };
      const correction = await findCorrection(database, q);
      if (correction === undefined) return { hits: found, asked: query, text: null };
      const meant = { ...query, corrected: correction.words };
      return { hits: await findHits(database, meant, page), asked: meant, text: correction.text };
    });
    const counts = facets ? await call.stage('facets', () => countFacets(database, asked)) : null;

    const shown = hits.slice(0, limit);
    const last = shown.at(-1);
    const nextCursor =
      hits.length > limit && last !== undefined
        ? cursors.seal([asked.corrected ?? '', last.rank, last.finerRank, last.entryNo], pageQuery)
        : null;
    const text = await call.stage('render', () =>
      listJson(shown.map(toResult), nextCursor, {
        meta: { corrected: correctedText, ...(counts === null ? {} : { facets: toFacets(counts) }) },
      }),
    );
    const headers = cachingHeaders(request, {
      identity: [text],
      lastModified: null,
      cacheControl: 'public',
    });
    if (sendNotModified(request, response, headers)) return;
    await sendText(request, response, { type: jsonType, headers, text });
  };
}

function toResult(hit: SearchHit) {
  const { match, rank: _rank, finerRank: _finerRank, entryNo: _entryNo, highlight, ...entry } = hit;
  const kind = entryAt(matchKinds, match);
  return { ...entry, match: kind, score: scores[kind], highlight };
}

function toFacets(counts: readonly FacetCount[]) {
  const facets: Record<FacetCount['facet'], { value: string; count: number }[]> = {
    type: [],
    frequency: [],
    source: [],
    category: [],
  };
  for (const { facet, value, count } of counts) facets[facet].push({ value, count });
  return facets;
}
