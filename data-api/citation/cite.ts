// GET /v1/series/{id}/cite: how to cite the present answer of a URL, with its permanent URL and the SHA-256 of its bytes.
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { dateIn, nextDayIn } from '../../kernel/clock.ts';
import { memberOf } from '../../kernel/entries.ts';
import { oneOf } from '../../kernel/http/list.ts';
import { oneOfParam } from '../../kernel/http/params.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import { presentOf, type Dependencies } from '../dependencies.ts';
import { endpoint } from '../endpoint.ts';
import { defaultPointFields } from '../series/series-envelope.ts';
import { pageQueryOf, requireSeries, requestedPoints, type PageQuery } from '../series/series-read.ts';
import { chartedParams, stateParams, toRequest, type SeriesRequest } from '../series/series-request.ts';
import type { Series } from '../series/stored/series.sql.ts';
import { computationOf, csvParts, identityOf, seriesErrors, seriesParam } from '../series/series.ts';
import { bibtex, citationText, cslItem, cslSchema, type Cited } from './citation.ts';

const citationSchema = z
  .object({
    series: z.string().describe('Its id.'),
    title: z.string(),
    publisher: z.string().nullable().describe('The source of the series; null if unknown.'),
    published_on: z.iso
      .date()
      .nullable()
      .describe('The day of the newest publication in it; null before the first.'),
    vintage: z.iso.date().nullable().describe('Null for `release=first`.'),
    version: z.int(),
    url: z.url().describe('Always returns the same CSV, or 410. Requires the feature `vintages`.'),
    accessed_on: z.iso.date().describe('Today, in UTC.'),
    sha256: z.string().length(64).describe('SHA-256 of the uncompressed bytes at `url`, in hex.'),
    bytes: z.int().describe('The number of these bytes.'),
    licence: z.string().nullable(),
    licence_url: z.url().nullable(),
    attribution: z.string().nullable().describe('How the publisher asks to be cited.'),
    text: z.string(),
    bibtex: z.string(),
    csl: cslSchema,
  })
  .meta({ id: 'Citation' });

export const getCitation = endpoint({
  summary: 'How to cite a series: a permanent URL, BibTeX, CSL, and the SHA-256 of the bytes.',
  params: seriesParam,
  query: {
    ...chartedParams,
    include_missing: stateParams.include_missing,
    format: oneOfParam(['json', 'bibtex', 'csl'])
      .default('json')
      .describe('`bibtex`: an entry for BibTeX. `csl`: CSL-JSON, an array of one item.'),
  },
  json: oneOf(citationSchema),
  csl: z.array(cslSchema),
  errors: seriesErrors,
  handler: async (dependencies, asked) => {
    const { query, params, call, url } = asked;
    const { format } = query;
    const { clock } = presentOf(dependencies);
    const selection = { ...query, sort: 'asc', format: 'csv', fields: defaultPointFields } as const;
    const { series, request } = await call.stage('lookup', () =>
      pinned(dependencies, call, memberOf(params, 'id'), toRequest(selection, call, dependencies)),
    );
    const pageQuery = pageQueryOf(series, request, dependencies.cursors);
    const pinnedUrl = `${dependencies.publicUrl}/v1/series/${series.id}?${pinnedQuery(url, pageQuery)}`;
    const accessedOn = dateIn('UTC', clock.now());
    call.changesAt(nextDayIn('UTC', clock.now()).getTime());
    return {
      identity: ['cite', ...identityOf(pageQuery), pinnedUrl, accessedOn, format],
      lastModified: series.changedAt,
      format,
      fileName: `${series.id}-citation`,
      async read() {
        const { sha256, bytes } = await digestOf(dependencies, pageQuery, request, call);
        const cited = { ...citedState(series, pageQuery), url: pinnedUrl, accessedOn, sha256 };
        const text = await call.stage('render', () =>
          format === 'bibtex'
            ? bibtex(cited)
            : JSON.stringify(
                format === 'csl' ? [cslItem(cited)] : { success: true, data: citation(series, cited, bytes) },
              ),
        );
        return { text };
      },
    };
  },
});

/**
 * The cited state. Without a requested past state it is the present one: the newest load, as of the newest publication, or of a break that was
 * declared later.
 */
async function pinned(
  dependencies: Dependencies,
  call: ServiceCall,
  id: string,
  request: SeriesRequest,
): Promise<{ series: Series; request: SeriesRequest }> {
  const found = await requireSeries(dependencies, call, id, request.vintage, request.version);
  if (request.vintage !== null || request.release === 'first') {
    return { series: found, request: { ...request, version: request.version ?? found.version } };
  }
  const { clock, seriesTimeZone } = dependencies;
  const published = found.lastUpdated ?? dateIn(seriesTimeZone, clock.now());
  const vintage = found.breaks.reduce(
    (day, { declaredOn }) => (declaredOn > day ? declaredOn : day),
    published,
  );
  // By the present id: an id of a merged series would mean that series, as of a day before the merge.
  const series = {
    ...(await requireSeries(dependencies, call, found.id, vintage)),
    renamedFrom: found.renamedFrom,
  };
  return { series, request: { ...request, vintage, version: series.version } };
}

/** The client's own selection, pinned; the same for each format of the citation. */
function pinnedQuery(url: string, { selection }: PageQuery): string {
  const query = new URL(url, 'http://host').searchParams;
  for (const name of ['vintage', 'version', 'format']) query.delete(name);
  if (selection.vintage !== null) query.append('vintage', selection.vintage);
  query.append('version', String(selection.version));
  query.append('format', 'csv');
  return query.toString();
}

/** The hash of the CSV at the pinned URL, as sent without compression. @throws Failure `gone`, as the URL does. */
async function digestOf(
  { longReads, cursors }: Dependencies,
  pageQuery: PageQuery,
  request: SeriesRequest,
  call: ServiceCall,
): Promise<{ sha256: string; bytes: number }> {
  const computation = await computationOf(longReads, pageQuery, request, call);
  return call.stage('sql', async () => {
    const digest = createHash('sha256');
    let bytes = 0;
    const blocks = requestedPoints(longReads, cursors, { pageQuery, computation, last: request.last });
    for await (const part of csvParts(pageQuery.selection.series, request, blocks)) {
      digest.update(part);
      bytes += Buffer.byteLength(part);
    }
    return { sha256: digest.digest('hex'), bytes };
  });
}

function citedState(
  { id, name, source, vintagePublishedOn, lastUpdated }: Series,
  { selection: { vintage, version } }: PageQuery,
): Omit<Cited, 'url' | 'accessedOn' | 'sha256'> {
  const publishedOn = vintage === null ? lastUpdated : vintagePublishedOn;
  return { series: id, title: name, publisher: source, publishedOn, vintage, version };
}

function citation(series: Series, cited: Cited, bytes: number): z.output<typeof citationSchema> {
  return {
    series: cited.series,
    title: cited.title,
    publisher: cited.publisher,
    published_on: cited.publishedOn,
    vintage: cited.vintage,
    version: cited.version,
    url: cited.url,
    accessed_on: cited.accessedOn,
    sha256: cited.sha256,
    bytes,
    licence: series.licence,
    licence_url: series.licenceUrl,
    attribution: series.attribution,
    text: citationText(cited),
    bibtex: bibtex(cited),
    csl: cslItem(cited),
  };
}
