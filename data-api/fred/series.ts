// GET /fred/series: the facts of one series.
import type { Dependencies } from '../dependencies.ts';
import { newestOf } from '../discovery/preview.ts';
import { stateOf } from '../series/series-read.ts';
import { readFirst } from '../series/stored/points.ts';
import type { Series } from '../series/stored/series.sql.ts';
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
    const { series, id, values, lineNo } = await call.stage('lookup', () =>
      requireFredSeries(dependencies, call, query.series_id),
    );
    const ids = [...valuesOf(series).keys()]
      .toSorted()
      .slice(0, idsShown)
      .map((each) => `${series.id}~${each}`);
    const isWhole = values === null && series.dimensions.length > 0;
    const notes = [series.description, isWhole ? `Ids by dimension: ${ids.join(', ')}` : null];
    const description = notes.filter((note) => note !== null).join('\n\n');
    const ofOne = values === null || lineNo === null ? {} : await datesOf(dependencies, series, lineNo);
    const facts = { ...series, ...ofOne, id, description: description === '' ? null : description };
    const state = { version: stateOf(series), changedAt: series.changedAt };
    return rowsReply(dependencies, call, kind, { name: 'fred series', query, state, rows: [facts] });
  },
});

/** The dates of the first and the last value of a combination. */
async function datesOf({ database }: Dependencies, series: Series, lineNo: number) {
  const newest = newestOf(series, [lineNo], 'values');
  const last = await readFirst(database, newest);
  const first = await readFirst(database, { ...newest, order: 'asc' });
  return { firstDate: first.dates[0] ?? null, lastDate: last.dates[0] ?? null };
}
