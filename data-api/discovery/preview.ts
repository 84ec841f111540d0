// GET /v1/catalog/{id}/preview and GET /v1/previews: the newest points of series, without a key, for charts of visitors. A preview has
// PREVIEW_POINTS of each combination of dimension values, of a bounded number of combinations.
import { z } from 'zod';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { listOf } from '../../kernel/http/list.ts';
import { flagParam, idsParam, integerParam } from '../../kernel/http/params.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint, type Asked } from '../endpoint.ts';
import { combinationsThatPass, parseDims, unknownValues } from '../series/dims.ts';
import { readNewest, type Selection } from '../series/stored/points.ts';
import { defaultPointFields, seriesJson } from '../series/series-envelope.ts';
import { metaOf } from '../series/series-meta.ts';
import { requireEach, requireSeries, stateOf } from '../series/series-read.ts';
import { dimsParam } from '../series/series-request.ts';
import { renamedFromSchema, seriesSchemaWithMeta } from '../series/series-schema.ts';
import type { Series } from '../series/stored/series.sql.ts';
import { seriesParam } from '../series/series.ts';
import { newestLines } from './newest-lines.sql.ts';
import { readNewestOfMany } from './preview.sql.ts';

/** At most `PREVIEW_POINTS`. */
const previewPointsMax = 1_000;
/** The most combinations of a preview; with the points of each, this bounds the memory of an answer. */
const combinationsMax = 20;
const idsMax = 50;
/** For a series in a list, where it is drawn as a sparkline. */
const sparklinePointsMax = 36;

/** @throws Failure `not_found` if the operator has switched previews off. */
function requirePreviews(previewPoints: number): void {
  if (previewPoints > 0) return;
  fail(
    'not_found',
    'Previews are switched off here (PREVIEW_POINTS=0). GET /v1/series/{id} answers the points, with an API key.',
  );
}

/** The parameters of a preview and of its chart. */
export const previewParams = {
  dims: dimsParam,
  limit: integerParam(1, previewPointsMax)
    .optional()
    .describe('Points per combination of dimension values; never more than the operator allows (120).'),
};

/** The content of a preview: the series, the combinations that match, and how many points of each. @throws Failure `not_found`. */
export async function askedPreview(
  dependencies: Dependencies,
  {
    query,
    params,
    call,
  }: Pick<Asked<{ dims: string[]; limit?: number | undefined }>, 'query' | 'params' | 'call'>,
): Promise<{ series: Series; lineNos: number[]; pointsMax: number; hints: string[] }> {
  const { previewPoints } = dependencies;
  requirePreviews(previewPoints);
  const series = await call.stage('lookup', () =>
    requireSeries(dependencies, call, memberOf(params, 'id'), null),
  );
  const filter = parseDims(query.dims);
  const lineNos = combinationsThatPass(series, filter);
  const pointsMax = Math.min(query.limit ?? previewPoints, previewPoints);
  return { series, lineNos, pointsMax, hints: unknownValues(series, filter) };
}

const previewFacts = {
  preview: z.object({
    points_max: z.int().describe('The most points of each combination of dimension values.'),
    combinations: z.int().describe('Combinations of the series that match.'),
    combinations_shown: z
      .int()
      .describe(
        'Those in this answer, in the order of their first load: where not all fit, those with the newest values.',
      ),
  }),
};

export const getPreview = endpoint({
  summary: 'The newest points of a series, without a key.',
  params: seriesParam,
  query: {
    ...previewParams,
    include_missing: flagParam(false).describe('Includes points without a value, as null.'),
  },
  json: seriesSchemaWithMeta(previewFacts),
  caching: 'public',
  errors: ['not_found', 'gone', 'unknown_dimension'],
  handler: async (dependencies, asked) => {
    const { query, call } = asked;
    const { series, lineNos: matching, pointsMax, hints } = await askedPreview(dependencies, asked);
    const lineNos = await fitting(dependencies, series, matching);
    const preview = {
      points_max: pointsMax,
      combinations: matching.length,
      combinations_shown: lineNos.length,
    };
    const selection = newestOf(series, lineNos, query.include_missing ? 'all' : 'values');
    return {
      identity: ['preview', ...stateOf(series), lineNos, preview, selection.wanted, hints],
      lastModified: series.changedAt,
      format: 'json',
      async read() {
        const points = await call.stage('sql', () => readNewest(dependencies.database, selection, pointsMax));
        const meta = { ...metaOf(series, { ...selection, hints }, null), preview };
        return { text: seriesJson(series, meta, { points, nextCursor: null }, defaultPointFields) };
      },
    };
  },
});

/** The lines that fit in a preview. */
async function fitting(
  { database }: Dependencies,
  series: Series,
  matching: readonly number[],
): Promise<readonly number[]> {
  if (matching.length <= combinationsMax) return matching;
  const [newest = []] = await newestLines(database, [series]);
  const shown = new Set(newest.filter((lineNo) => matching.includes(lineNo)).slice(0, combinationsMax));
  return matching.filter((lineNo) => shown.has(lineNo));
}

/** The newest points of some combinations of a series. */
export function newestOf(series: Series, lineNos: readonly number[], wanted: 'values' | 'all'): Selection {
  const always = { from: '0001-01-01', to: '9999-12-31', order: 'desc', vintage: null } as const;
  return { series, lineNos, ...always, release: 'current', wanted, version: series.version };
}

const sparklineSchema = z.object({
  series: z.string().describe('Its id.'),
  dims: z
    .record(z.string(), z.string())
    .describe('The combination shown: of those with the newest value, the one with the most points.'),
  renamed_from: renamedFromSchema,
  data: z.array(z.object({ date: z.iso.date(), value: z.number().describe('With its published digits.') })),
});

export const getPreviews = endpoint({
  summary: 'The newest points of several series, without a key.',
  query: {
    ids: idsParam('series', idsMax)
      .meta({ lengthMax: idsMax * 129 })
      .describe('Comma-separated ids.'),
    limit: integerParam(1, sparklinePointsMax)
      .optional()
      .describe(`Points per series; default ${sparklinePointsMax}, never more than the operator allows.`),
  },
  json: listOf(sparklineSchema),
  caching: 'public',
  errors: ['not_found', 'gone'],
  handler: async (dependencies, { query, call }) => {
    const { database, previewPoints } = dependencies;
    requirePreviews(previewPoints);
    const points = Math.min(query.limit ?? sparklinePointsMax, previewPoints);
    const found = await call.stage('lookup', () =>
      requireEach(query.ids, (id) => requireSeries(dependencies, call, id, null)),
    );
    return {
      format: 'json',
      async read() {
        const lines = await call.stage('sql', () => newestLines(database, found));
        const shown = lines.map(([lineNo = 0]) => lineNo);
        const texts = await call.stage('sql', () => readNewestOfMany(database, shown, points));
        const envelopes = found.map((series, i) => {
          const dims = JSON.stringify(
            series.combinations.find(({ lineNo }) => lineNo === shown[i])?.dims ?? {},
          );
          const { renamedFrom: from } = series;
          const renamed = from === null ? '' : `"renamed_from":${JSON.stringify(from)},`;
          return `{"series":${JSON.stringify(series.id)},"dims":${dims},${renamed}"data":${texts[i] ?? '[]'}}`;
        });
        const count = envelopes.length;
        const pagination = JSON.stringify({ next_cursor: null, count });
        return {
          text: `{"success":true,"data":[${envelopes.join(',')}],"count":${count},"pagination":${pagination}}`,
        };
      },
    };
  },
});
