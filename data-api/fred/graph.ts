// GET /graph/fredgraph.csv: the present values of series, or those of a vintage, a column for each.
import type { z } from 'zod';
import { Failure, refuseParam } from '../../kernel/errors.ts';
import { csvLine } from '../../kernel/http/list.ts';
import { harmless } from '../../kernel/formula.ts';
import { dateParam, idsParam } from '../../kernel/http/params.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Dependencies } from '../dependencies.ts';
import { requireByPin } from '../pin.ts';
import { endpoint } from '../endpoint.ts';
import { requireVintages } from '../series/series-request.ts';
import { seriesErrors } from '../series/series.ts';
import { stateOf } from '../series/series-read.ts';
import { fredDate } from './dates.ts';
import { requireCombination, requireFredSeries, type FredSeries } from './find-series.ts';
import { datingOf, observationParams, requestOf } from './observations.ts';
import { lastDay, realtimeOf } from './real-time.ts';
import { readPointsOf } from './vintage-cells.ts';

const graphParams = {
  id: idsParam('series', 100)
    .meta({ lengthMax: 12_900 })
    .describe('Ids as `series_id` of /fred/series, separated by commas.'),
  cosd: dateParam.optional().describe('Only periods that begin on that day or later.'),
  coed: dateParam.default(lastDay).describe('Only periods that begin up to that day.'),
  fq: observationParams.frequency,
  fam: observationParams.aggregation_method.describe(
    'For `fq`: the mean, the sum, or the last value of a period.',
  ),
  transformation: observationParams.units,
  vintage_date: dateParam.optional().describe('The values as published that day. Feature `vintages`.'),
};

export const getFredGraph = endpoint({
  summary: 'Series as CSV, in the form of the graphs of FRED; counts as one call per series.',
  query: graphParams,
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
    const all = await byOwnNames(async () => {
      const found = await call.stage('lookup', () =>
        Promise.all(query.id.map((id) => requireFredSeries(dependencies, call, id))),
      );
      found.forEach(requireCombination);
      const twice = found.find(({ id }, at) => found.findIndex((other) => other.id === id) < at);
      if (twice !== undefined)
        refuseParam('id', `"id" must name different series, but names ${twice.id} twice.`);
      return found;
    });
    return {
      identity: ['fred graph', query, ...all.flatMap(({ series }) => [...stateOf(series), series.version])],
      lastModified: new Date(Math.max(...all.map(({ series }) => series.changedAt.getTime()))),
      format: 'csv',
      fileName: 'fredgraph',
      read: () => byOwnNames(() => tableOf(dependencies, call, all, query)),
    };
  },
});

/** A row per date of any of the series, in order. */
async function tableOf(
  dependencies: Dependencies,
  call: ServiceCall,
  all: FredSeries[],
  query: z.output<z.ZodObject<typeof graphParams>>,
): Promise<{ text: string }> {
  const {
    fq: frequency,
    fam: aggregation_method,
    transformation: units,
    vintage_date: vintage = null,
  } = query;
  const window = { observation_start: query.cosd, observation_end: query.coed };
  const rows = new Map<string, string[]>();
  for (const [column, found] of all.entries()) {
    const dating = datingOf(found, { frequency, units });
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
}

/** The parameters of /fred/series/observations → those of this endpoint. */
const ownNames: Readonly<Record<string, string>> = {
  series_id: 'id',
  observation_start: 'cosd',
  observation_end: 'coed',
  frequency: 'fq',
  units: 'transformation',
};

/** Lets an error name the parameters of this endpoint. @throws what `work` throws. */
async function byOwnNames<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    const param = error instanceof Failure ? ownNames[error.param ?? ''] : undefined;
    if (!(error instanceof Failure) || param === undefined) throw error;
    const { code, headers, detail } = error;
    const message = error.message.replaceAll(/"([a-z_]+)"/g, (text, name: string) =>
      Object.hasOwn(ownNames, name) ? `"${ownNames[name]}"` : text,
    );
    throw new Failure(code, message, { param, headers, detail });
  }
}
