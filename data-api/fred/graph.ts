// GET /graph/fredgraph.csv: the present values of series, or those of a vintage, a column for each.
import { refuseParam } from '../../kernel/errors.ts';
import { csvLine } from '../../kernel/http/list.ts';
import { harmless } from '../../kernel/formula.ts';
import { dateParam, idsParam } from '../../kernel/http/params.ts';
import { requireByPin } from '../pin.ts';
import { endpoint } from '../endpoint.ts';
import { requireVintages } from '../series/series-request.ts';
import { seriesErrors } from '../series/series.ts';
import { stateOf } from '../series/series-read.ts';
import { fredDate } from './dates.ts';
import { requireCombination, requireFredSeries } from './find-series.ts';
import { datingOf, observationParams, requestOf } from './observations.ts';
import { lastDay, realtimeOf } from './real-time.ts';
import { readPointsOf } from './vintage-cells.ts';

export const getFredGraph = endpoint({
  summary: 'Series as CSV, in the form of the graphs of FRED; counts as one call per series.',
  query: {
    id: idsParam('series', 100)
      .meta({ lengthMax: 12_900 })
      .describe('Ids as `series_id` of /fred/series, separated by commas.'),
    cosd: dateParam.default('1600-01-01').describe('Only periods that begin on that day or later.'),
    coed: dateParam.default(lastDay).describe('Only periods that begin up to that day.'),
    fq: observationParams.frequency,
    fam: observationParams.aggregation_method,
    transformation: observationParams.units,
    vintage_date: dateParam.optional().describe('The values as published that day. Feature `vintages`.'),
  },
  formats: ['csv'],
  errors: seriesErrors,
  handler: async (dependencies, { query, call }) => {
    const { vintage_date: vintage = null } = query;
    if (vintage !== null) {
      requireVintages('vintage_date', call);
      requireByPin(dependencies.asOf, vintage, 'vintage_date');
      const { today } = realtimeOf({}, dependencies, call);
      if (vintage > today)
        refuseParam('vintage_date', `"vintage_date" must not be in the future; today is ${today}.`);
    }
    const all = await call.stage('lookup', () =>
      Promise.all(query.id.map((id) => requireFredSeries(dependencies, call, id))),
    );
    all.forEach(requireCombination);
    const { fq: frequency, fam: aggregation_method, transformation: units } = query;
    const window = { observation_start: query.cosd, observation_end: query.coed };
    return {
      identity: ['fred graph', query, ...all.flatMap(({ series }) => [...stateOf(series), series.version])],
      lastModified: new Date(Math.max(...all.map(({ series }) => series.changedAt.getTime()))),
      format: 'csv',
      fileName: 'fredgraph',
      async read() {
        const rows = new Map<string, string[]>();
        for (const [column, found] of all.entries()) {
          const dating = datingOf(found, { frequency });
          const request = requestOf({ ...window, units, frequency, aggregation_method }, dating);
          const { dates, values } = await readPointsOf(dependencies, call, found, { ...request, vintage });
          for (const [i, stored] of dates.entries()) {
            const date = fredDate(stored, dating);
            const cells = rows.get(date) ?? Array<string>(all.length).fill('');
            cells[column] = values[i] ?? '';
            rows.set(date, cells);
          }
        }
        const lines = [...rows].sort(([a], [b]) => (a < b ? -1 : 1));
        const header = csvLine(['observation_date', ...all.map(({ id }) => harmless(id))]);
        return { text: header + lines.map(([date, cells]) => csvLine([date, ...cells])).join('') };
      },
    };
  },
});
