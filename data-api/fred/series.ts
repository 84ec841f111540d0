// GET /fred/series: the facts of one series.
import { z } from 'zod';
import { endpoint } from '../endpoint.ts';
import { stateOf } from '../series/series-read.ts';
import { fileTypeParam, fileTypes, fredReply } from './answer.ts';
import { requireFredSeries, seriesIdParam, valuesOf } from './find-series.ts';
import { realtimeFacts, realtimeOf, realtimeParams } from './real-time.ts';
import { seriesRow, seriesSchema } from './series-facts.ts';

const idsShown = 100;

export const getFredSeries = endpoint({
  summary: 'The metadata of a series, in the form of FRED.',
  query: { series_id: seriesIdParam, file_type: fileTypeParam, ...realtimeParams },
  formats: fileTypes,
  json: z.object({
    realtime_start: z.iso.date(),
    realtime_end: z.iso.date(),
    seriess: z.array(seriesSchema),
  }),
  caching: 'public',
  errors: ['not_found', 'gone'],
  handler:
    (dependencies) =>
    async ({ query, call }) => {
      const realtime = realtimeOf(query, dependencies, call);
      const { series, id, values } = await call.stage('lookup', () =>
        requireFredSeries(dependencies, call, query.series_id),
      );
      const ids = [...valuesOf(series).keys()]
        .toSorted()
        .slice(0, idsShown)
        .map((each) => `${series.id}~${each}`);
      const isWhole = values === null && series.dimensions.length > 0;
      const notes = [series.description, isWhole ? `Ids by dimension: ${ids.join(', ')}` : null];
      const description = notes.filter((note) => note !== null).join('\n\n');
      const facts = { ...series, id, description: description === '' ? null : description };
      return fredReply(query.file_type, {
        identity: ['fred series', query, realtime, ...stateOf(series)],
        lastModified: series.changedAt,
        read: () => ({
          head: realtimeFacts(realtime),
          root: 'seriess',
          item: 'series',
          rows: [seriesRow(facts, realtime)],
        }),
      });
    },
});
