// GET /v1/series/{id}/vintages: the vintages of a series, and how many points each changed.
import { memberOf } from '../../kernel/entries.ts';
import { windowOf, windowParams } from '../../kernel/http/params.ts';
import { endpoint } from '../endpoint.ts';
import { listReply, paramsOf, schemaOf } from '../list.ts';
import { Conditions } from '../list.sql.ts';
import { requireSeries } from './series-read.ts';
import { requireVintages } from './series-request.ts';
import { seriesParam } from './series.ts';
import { vintagesList } from './vintages.sql.ts';

export const getVintages = endpoint({
  summary: 'The vintages of a series, and how many points each changed. Feature `vintages`.',
  params: seriesParam,
  query: { ...windowParams, ...paramsOf(vintagesList, {}) },
  json: schemaOf(vintagesList),
  errors: ['not_found', 'gone', 'plan_required'],
  handler: async (dependencies, { query, params, call }) => {
    requireVintages(undefined, call);
    const window = windowOf(query);
    const series = await call.stage('lookup', () =>
      requireSeries(dependencies, call, memberOf(params, 'id'), null),
    );
    const where = new Conditions()
      .and(series.seriesNo, (p) => `v.series_no = ${p}`)
      .during(window, 'v.vintage');
    const { rowVersion, changedAt } = series;
    const state = { version: `${rowVersion} ${changedAt.toISOString()}`, changedAt };
    const fileName = `${series.id}-vintages`;
    return listReply(dependencies, call, { list: vintagesList, query, where, fileName, state });
  },
});
