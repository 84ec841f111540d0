// GET /v1/series/{id}/chart.svg and chart.png: the points of a series as a chart.
import type { z } from 'zod';
import { memberOf } from '../../kernel/entries.ts';
import { integerParam } from '../../kernel/http/params.ts';
import type { Content } from '../../kernel/http/answer.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint, type Asked } from '../endpoint.ts';
import { pageQueryOf, requireSeries, requestedPoints, type PageQuery } from '../series/series-read.ts';
import { chartedParams, toRequest, type SeriesRequest } from '../series/series-request.ts';
import {
  computationOf,
  identityOf,
  pinnedHeaders,
  seriesErrors,
  seriesParam,
  validityOf,
} from '../series/series.ts';
import { defaultPointFields } from '../series/series-envelope.ts';
import type { Series } from '../series/stored/series.sql.ts';
import { lookOf, lookParams } from './chart-params.ts';
import { createLinePoints, drawnSvg, requireFewLines } from './drawing.ts';
import { ownFont, toPng } from './png.ts';

export const getSeriesChartSvg = endpoint({
  summary: 'The points of a series as a chart, in SVG.',
  params: seriesParam,
  query: { ...chartedParams, ...lookParams },
  format: 'svg',
  headers: pinnedHeaders,
  errors: seriesErrors,
  handler: async (dependencies, asked) => {
    const { series, pageQuery, request } = await chartQuery(dependencies, asked);
    return {
      ...validityOf(asked.url, pageQuery, request),
      identity: ['chart.svg', ...identityOf(pageQuery), request.version, request.last, lookOf(asked.query)],
      format: 'svg',
      fileName: series.id,
      read: async () => ({ text: await readSvg(dependencies, pageQuery, request, asked) }),
    };
  },
});

const scaleParam = integerParam(1, 2)
  .default(2)
  .meta({ override: { default: 2 } })
  .describe('Pixels of the image per pixel of `width` and `height`.');

export const getSeriesChartPng = endpoint({
  summary: 'The points of a series as a chart, in PNG.',
  params: seriesParam,
  query: { ...chartedParams, ...lookParams, scale: scaleParam },
  format: 'png',
  headers: pinnedHeaders,
  errors: [...seriesErrors, 'not_acceptable', 'rate_limited'],
  handler: async (dependencies, asked) => {
    const font = ownFont();
    const { series, pageQuery, request } = await chartQuery(dependencies, asked);
    const { scale } = asked.query;
    const look = [lookOf(asked.query), scale, font?.family]; // another machine may have another font
    const identity = ['chart.png', ...identityOf(pageQuery), request.version, request.last, look];
    const { accountId } = asked.call.identity;
    return {
      ...validityOf(asked.url, pageQuery, request),
      identity,
      format: 'png',
      fileName: series.id,
      async read(): Promise<Content> {
        const image = { accountId, name: JSON.stringify(identity) };
        const bytes = await dependencies.drawingSlots.draw(image, async () => {
          const svg = await readSvg(dependencies, pageQuery, request, asked);
          return asked.call.stage('render', () => toPng(font, svg, scale));
        });
        return { bytes };
      },
    };
  },
});

type ChartAsked = Asked<z.output<z.ZodObject<typeof chartedParams & typeof lookParams>>>;

/** The content of the chart. @throws Failure as for a read of the series; `invalid_parameter` for too many lines. */
async function chartQuery(
  dependencies: Dependencies,
  { query, params, call }: ChartAsked,
): Promise<{ series: Series; pageQuery: PageQuery; request: SeriesRequest }> {
  const asPoints = {
    ...query,
    sort: 'asc',
    format: 'json',
    fields: defaultPointFields,
    include_missing: true,
  } as const;
  const request = toRequest(asPoints, call, dependencies);
  const series = await call.stage('lookup', () =>
    requireSeries(dependencies, call, memberOf(params, 'id'), request.vintage, request.version),
  );
  const pageQuery = pageQueryOf(series, request, dependencies.cursors);
  requireFewLines(series, pageQuery.selection.lineNos);
  return { series, pageQuery, request };
}

/** Reads all points of the chart and draws it. */
async function readSvg(
  { longReads, cursors }: Dependencies,
  pageQuery: PageQuery,
  request: SeriesRequest,
  { query, call }: ChartAsked,
): Promise<string> {
  const { selection } = pageQuery;
  const computation = await computationOf(longReads, pageQuery, request, call);
  const collected = createLinePoints(selection.lineNos);
  await call.stage('sql', async () => {
    const { last } = request;
    for await (const block of requestedPoints(longReads, cursors, { pageQuery, computation, last }))
      collected.add(block);
  });
  return call.stage('render', () =>
    drawnSvg({ ...selection, computation }, collected.lines(), lookOf(query)),
  );
}
