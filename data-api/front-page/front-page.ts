// GET /v1/front-page: the content of the dashboard's front page, from the operator's configuration and the present data.
import { z } from 'zod';
import { oneOf } from '../../kernel/http/list.ts';
import { cachedUntilChanged } from '../discovery/cached-list.ts';
import { catalogList } from '../discovery/discovery.sql.ts';
import { endpoint } from '../endpoint.ts';
import { recordOf, recordReply } from '../list.ts';
import { findDataState } from '../list.sql.ts';
import { dayOf } from '../search/state.ts';
import { blocks } from './front-page-file.ts';
import { newestFields, readChosenSeries, readNewestSeries } from './front-page.sql.ts';

const newestMax = 12;

const frontPageSchema = z.object({
  title: z.string().nullable().describe('The heading; null: the one of Almanac.'),
  text_html: z
    .string()
    .nullable()
    .describe('The text below it, as HTML without scripts, styles and images; null as above.'),
  logo: z
    .object({ src: z.string().describe('A data: URL.'), alt: z.string() })
    .nullable()
    .describe('Null if none is configured.'),
  blocks: z.array(z.enum(blocks)).describe('Those that are shown.'),
  series_title: z.string().nullable().describe('The heading of `series`.'),
  series: z
    .array(recordOf(catalogList))
    .describe('Those that the operator has chosen, in that order, as in `/v1/catalog`.'),
  newest: z
    .array(recordOf({ ...catalogList, fields: newestFields }))
    .describe(
      'The twelve whose newest publication with new points, `new_data_on`, is the latest. Series whose last observation is old for their frequency are left out.',
    ),
});

const { datasets } = catalogList;
const cachedSeries = cachedUntilChanged(datasets, async ({ database, frontPage, log, asOf }) => {
  const { series: ids } = frontPage;
  const today = dayOf(await findDataState(database, datasets));
  const newest = await readNewestSeries(database, { today, limit: newestMax });
  const series = await readChosenSeries(database, ids);
  if (asOf === null && series.length < ids.length)
    log.warn(
      { chosen: ids, found: series.map(({ id }) => id) },
      'Not all series that the front page names exist; the others are shown.',
    );
  return { value: { series, newest }, untilMs: Infinity };
});

export const getFrontPage = endpoint({
  summary: 'The content of the front page of the dashboard.',
  json: oneOf(frontPageSchema),
  caching: 'public',
  handler: async (dependencies, { call }) => {
    const { title, textHtml, logo, blocks, seriesTitle } = dependencies.frontPage;
    const { value, changedAt } = await call.stage('sql', () => cachedSeries(dependencies));
    const data = {
      ...{ title, text_html: textHtml, logo, blocks, series_title: seriesTitle },
      ...value,
    };
    return recordReply({ data, state: { changedAt } });
  },
});
