// GET /v1/catalog/{id}/chart.svg: the newest points of a series as a chart, without a key, for pages that embed it.
// Hides nothing: the handler reads from the parameters to the answer.
import { memberOf } from '../../kernel/entries.ts';
import { integerParam } from '../../kernel/http/params.ts';
import { newestOf, previewPointsMax, requirePreviews } from '../discovery/preview.ts';
import { endpoint } from '../endpoint.ts';
import { combinationsThatPass, parseDims } from '../series/dims.ts';
import { readNewest } from '../series/points.ts';
import { requireSeries } from '../series/series-read.ts';
import { dimsParam } from '../series/series-request.ts';
import { seriesParam } from '../series/series.ts';
import { lookOf, lookParams } from './chart-params.ts';
import { createLinePoints, drawnSvg, requireFewLines } from './drawing.ts';

export const getPreviewChart = endpoint({
  summary: 'The newest points of a series as a chart in SVG, without a key.',
  params: seriesParam,
  query: {
    dims: dimsParam,
    limit: integerParam(1, previewPointsMax)
      .optional()
      .describe('Points per line; never more than the operator allows (120).'),
    ...lookParams,
  },
  format: 'svg',
  caching: 'public',
  isKept: true,
  errors: ['not_found', 'unknown_dimension'],
  handler:
    (dependencies) =>
    async ({ query, params, call }) => {
      const { database, previewPoints } = dependencies;
      requirePreviews(previewPoints);
      const series = await call.stage('lookup', () =>
        requireSeries(dependencies, call, memberOf(params, 'id'), null),
      );
      const dimsNos = combinationsThatPass(series, parseDims(query.dims));
      requireFewLines(series, dimsNos);
      const selection = newestOf(series, dimsNos, 'all');
      const count = Math.min(query.limit ?? previewPoints, previewPoints);
      const look = lookOf(query);
      return {
        identity: ['preview.svg', series.rowVersion, dimsNos, count, look],
        lastModified: series.changedAt,
        format: 'svg',
        fileName: series.id,
        ofSeries: series,
        async read() {
          const points = await call.stage('sql', () => readNewest(database, selection, count));
          const collected = createLinePoints(dimsNos);
          collected.add(points);
          const drawn = { ...selection, computation: null };
          return { text: await call.stage('render', () => drawnSvg(drawn, collected.lines(), look)) };
        },
      };
    },
});
