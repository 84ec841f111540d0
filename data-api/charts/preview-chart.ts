// GET /v1/catalog/{id}/chart.svg: the newest points of a series as a chart, without a key, for pages that embed it.
import { askedPreview, newestOf, previewParams } from '../discovery/preview.ts';
import { endpoint } from '../endpoint.ts';
import { readNewest } from '../series/stored/points.ts';
import { stateOf } from '../series/series-read.ts';
import { seriesParam } from '../series/series.ts';
import { lookOf, lookParams } from './chart-params.ts';
import { createLinePoints, drawnSvg, requireFewLines } from './drawing.ts';

export const getPreviewChart = endpoint({
  summary: 'The newest points of a series as a chart in SVG, without a key.',
  params: seriesParam,
  query: {
    ...previewParams,
    ...lookParams,
  },
  format: 'svg',
  caching: 'public',
  errors: ['not_found', 'gone', 'unknown_dimension'],
  handler: async (dependencies, asked) => {
    const { query, call } = asked;
    const { series, lineNos, pointsMax } = await askedPreview(dependencies, asked);
    requireFewLines(series, lineNos);
    const selection = newestOf(series, lineNos, 'all');
    const look = lookOf(query);
    return {
      identity: ['preview.svg', ...stateOf(series), lineNos, pointsMax, look],
      lastModified: series.changedAt,
      format: 'svg',
      fileName: series.id,
      async read() {
        const points = await call.stage('sql', () => readNewest(dependencies.database, selection, pointsMax));
        const collected = createLinePoints(lineNos);
        collected.add(points);
        const drawn = { ...selection, computation: null };
        return { text: await call.stage('render', () => drawnSvg(drawn, collected.lines(), look)) };
      },
    };
  },
});
