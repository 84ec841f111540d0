// GET /v1/series/{id}/triangle: every vintage of a series in one answer, streamed; and the same for one series without a key. Two layouts:
// a row per cell, or a row per point with a column per vintage.
import type { z } from 'zod';
import { dimensionColumns } from '../../domain/dims-text.ts';
import { memberOf } from '../../kernel/entries.ts';
import { fail, refuseParam } from '../../kernel/errors.ts';
import { harmless } from '../../kernel/formula.ts';
import { csvCells, csvLine, csvText, formatParam } from '../../kernel/http/list.ts';
import {
  flagParam,
  integerParam,
  oneOfParam,
  periodParam,
  windowOf,
  windowParams,
} from '../../kernel/http/params.ts';
import type { Dependencies } from '../dependencies.ts';
import { endpoint, type Asked } from '../endpoint.ts';
import { combinationsThatPass, parseDims, unknownValues } from '../series/dims.ts';
import { metaOf } from '../series/series-meta.ts';
import { requireSeries, stateOf } from '../series/series-read.ts';
import { dimsParam, requireVintages } from '../series/series-request.ts';
import { triangleSchema } from '../series/series-schema.ts';
import { seriesParam } from '../series/series.ts';
import { triangleRows, type Triangle, type TriangleRow } from './cells.ts';
import { readVintageDays } from './revisions.sql.ts';

const triangleParams = {
  ...windowParams,
  vintages_from: periodParam.optional().describe('Only vintages of that day or later.'),
  vintages_to: periodParam.optional().describe('Only vintages up to that day.'),
  last: integerParam(1, 100_000).optional().describe('Only so many vintages, the newest of them.'),
  dims: dimsParam,
  layout: oneOfParam(['long', 'wide'])
    .default('long')
    .describe('`long`: a row per cell. `wide`: a row per point, with a value per vintage.'),
  include_missing: flagParam(false).describe('Includes cells that were published without a value, as null.'),
  format: formatParam,
};
type TriangleQuery = z.output<z.ZodObject<typeof triangleParams>>;

export const getTriangle = endpoint({
  summary: 'All vintages of a series in one answer. Feature `vintages`.',
  params: seriesParam,
  query: triangleParams,
  json: triangleSchema,
  errors: ['not_found', 'unknown_dimension', 'plan_required', 'gone'],
  handler: async (dependencies, asked) => {
    requireVintages(undefined, asked.call);
    return triangleReply(dependencies, asked);
  },
});

export const getOpenTriangle = endpoint({
  summary: 'All vintages of the series that the operator shows to visitors, without a key.',
  params: seriesParam,
  query: triangleParams,
  json: triangleSchema,
  caching: 'public',
  errors: ['not_found', 'unknown_dimension', 'gone'],
  handler: async (dependencies, asked) => {
    const { openRevisionsSeries: open } = dependencies;
    if (memberOf(asked.params, 'id') !== open) {
      const shown = open === undefined ? 'No series has open ones.' : `Those of ${open} are.`;
      fail(
        'not_found',
        `The revisions of this series are not open to visitors. ${shown} GET /v1/series/{id}/triangle answers them, with an API key of a plan with vintages.`,
        { param: 'id' },
      );
    }
    return triangleReply(dependencies, asked);
  },
});

async function triangleReply(dependencies: Dependencies, { query, params, call }: Asked<TriangleQuery>) {
  const { longReads } = dependencies;
  const series = await call.stage('lookup', () =>
    requireSeries(dependencies, call, memberOf(params, 'id'), null),
  );
  const { from = '0001-01-01', to = '9999-12-31' } = windowOf(query);
  const filter = parseDims(query.dims);
  const lineNos = combinationsThatPass(series, filter);
  const hints = unknownValues(series, filter);
  const chosen = vintageFilter(query);
  const { layout, include_missing, format, last } = query;
  return {
    identity: [
      'triangle',
      ...stateOf(series),
      [from, to, query.vintages_from, query.vintages_to, last],
      [lineNos, layout, include_missing, format, hints],
    ],
    lastModified: series.changedAt,
    format,
    fileName: `${series.id}-triangle`,
    async read() {
      const { version } = series;
      const days = await call.stage('sql', () => readVintageDays(longReads, series.seriesNo, version));
      const triangle: Triangle = { series, lineNos, from, to, vintages: chosen(days), version };
      const rows = triangleRows(longReads, triangle);
      const write = format === 'csv' ? csvWriter(triangle, query) : jsonWriter(triangle, query, hints);
      return { parts: inParts(write, rows) };
    },
  };
}

/** @throws Failure `invalid_parameter` if the first vintage is after the last. */
function vintageFilter({ vintages_from, vintages_to, last }: TriangleQuery) {
  const { from = '0001-01-01' } = vintages_from ?? {};
  const { to = '9999-12-31' } = vintages_to ?? {};
  if (from > to) refuseParam('vintages_from', '"vintages_from" must not be after "vintages_to".');
  return (days: readonly string[]): string[] => {
    const within = days.filter((day) => day >= from && day <= to);
    return last === undefined ? within : within.slice(-last);
  };
}

/** Formats a triangle. */
interface Writer {
  begin: string;
  /** The text of a row's cells, and how many rows of the answer they are. */
  row(row: TriangleRow): { text: string; count: number };
  end(count: number): string;
}

/** Approximate, in characters. */
const partLength = 65_536;

async function* inParts(write: Writer, rows: AsyncGenerator<TriangleRow>): AsyncGenerator<string> {
  let [part, count] = [write.begin, 0];
  for await (const row of rows) {
    const written = write.row(row);
    part += written.text;
    count += written.count;
    if (part.length < partLength) continue;
    yield part;
    part = '';
  }
  yield part + write.end(count);
}

type Layout = Pick<TriangleQuery, 'layout' | 'include_missing'>;

function jsonWriter(
  { series, vintages, version }: Triangle,
  layout: Layout,
  hints: readonly string[],
): Writer {
  const meta = { ...metaOf(series, { vintage: null, version, hints }, null), vintages };
  const dimsJson = new Map(series.combinations.map(({ lineNo, dims }) => [lineNo, JSON.stringify(dims)]));
  let separator = '';
  return {
    begin: `{"success":true,"series":${JSON.stringify(series.id)},"meta":${JSON.stringify(meta)},"data":[`,
    row({ lineNo, date, cells }) {
      const dims = dimsJson.get(lineNo) ?? '{}';
      const texts = shownTexts(cells, layout, {
        whole: () =>
          `{"date":"${date}","dims":${dims},"values":[${cells.map((cell) => cell || 'null').join(',')}]}`,
        single: (cell, i) =>
          `{"vintage":"${vintages[i]}","date":"${date}","value":${cell || 'null'},"dims":${dims}}`,
      });
      if (texts.length === 0) return { text: '', count: 0 };
      const text = separator + texts.join(',');
      separator = ',';
      return { text, count: texts.length };
    },
    end: (count) => `],"pagination":${JSON.stringify({ next_cursor: null, count })}}`,
  };
}

function csvWriter({ series, vintages }: Triangle, layout: Layout): Writer {
  const { dimensions, combinations } = series;
  const dimsCells = new Map(
    combinations.map(({ lineNo, dims }) => [
      lineNo,
      dimensions.length === 0 ? '' : `,${csvCells(dimensions.map((name) => csvText(dims[name])))}`,
    ]),
  );
  const isWide = layout.layout === 'wide';
  const others = isWide ? ['date', ...vintages] : ['vintage', 'date', 'value'];
  const names = dimensionColumns(dimensions, others).map(harmless);
  const header = isWide ? ['date', ...names, ...vintages] : [...others, ...names];
  return {
    begin: csvLine(header),
    row({ lineNo, date, cells }) {
      const dims = dimsCells.get(lineNo) ?? '';
      const lines = shownTexts(cells, layout, {
        whole: () => `${date}${dims},${cells.map((cell) => cell ?? '').join(',')}\r\n`,
        single: (cell, i) => `${vintages[i]},${date},${cell}${dims}\r\n`,
      });
      return { text: lines.join(''), count: lines.length };
    },
    end: () => '',
  };
}

/** The rows of the answer that a point has: one with all of its cells, or one per cell. @param write writes such a row. */
function shownTexts(
  cells: TriangleRow['cells'],
  { layout, include_missing }: Layout,
  write: { whole: () => string; single: (cell: string, position: number) => string },
): string[] {
  const isShown = (cell: string | null) => cell !== null && (include_missing || cell !== '');
  if (layout === 'wide') return cells.some(isShown) ? [write.whole()] : [];
  return cells.flatMap((cell, i) => (cell !== null && isShown(cell) ? write.single(cell, i) : []));
}
