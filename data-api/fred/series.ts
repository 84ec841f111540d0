// GET /fred/series: the facts of one series.
import { stateOf } from '../series/series-read.ts';
import { allOf, answerParams, fredEndpoint, rowsReply } from './answer.ts';
import { requireFredSeries, seriesIdParam, valuesOf } from './find-series.ts';
import { seriesRow, seriesSchema, type SeriesFacts } from './fred-series.ts';

const idsShown = 100;
const kind = {
  item: 'series',
  schema: seriesSchema,
  shown: seriesRow,
  orders: {},
  last: ({ id }: SeriesFacts) => id,
};

export const getFredSeries = fredEndpoint({
  summary: 'The metadata of a series, in the form of FRED.',
  query: { series_id: seriesIdParam, ...answerParams },
  json: allOf(kind),
  errors: ['not_found', 'gone'],
  handler: async (dependencies, { query, call }) => {
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
    const state = { version: stateOf(series), changedAt: series.changedAt };
    return rowsReply(dependencies, call, kind, { name: 'fred series', query, state, rows: [facts] });
  },
});
