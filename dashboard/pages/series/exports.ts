// Texts made of a view: the CSV of a preview, the code that reads it, the code that embeds its chart, the citation.
import { queryOf, pathOf } from '../../../clients/typescript/client.ts';
import { samplesOf, toolSamplesOf, type Sample } from '../../text/samples.ts';
import { csvOfRows } from '../../text/csv.ts';
import { dayText } from '../../text/times.ts';
import type { Shown } from './shown.ts';
import type { SeriesEntry, SeriesPoints } from './series-points.ts';
import type { Selection } from './default-view.ts';
import { paramsOf } from './api-query.ts';

/** The points on screen in the columns of the API's CSV: date, value, dimensions. With a key the API makes it. */
export function csvOf({ dates, window, lines, all }: Shown, dimensions: readonly string[]): string {
  const [from = '', to = ''] = [dates[window.first], dates[window.last]];
  const rows = lines.flatMap((dims, at) =>
    (all[at] ?? [])
      .filter(({ date, value }) => date >= from && date <= to && value !== null)
      .map(({ date, value }) => ({
        date,
        cells: [date, value, ...dimensions.map((name) => dims[name] ?? '')],
      })),
  );
  const sorted = rows.sort((a, b) => (a.date < b.date ? -1 : a.date > b.date ? 1 : 0));
  return csvOfRows([['date', 'value', ...dimensions], ...sorted.map(({ cells }) => cells)]);
}

/** The code that reads a view. @param hasBulk whether the plan of the reader has the bulk files. */
export function viewSamples(
  origin: string,
  entry: Pick<SeriesEntry, 'id' | 'dims'>,
  selected: Selection,
  { chart, dates, window, lines, query }: Shown,
  hasBulk: boolean,
): Sample[] {
  const [from, to] = [dates[window.first], dates[window.last]];
  const call = {
    origin,
    id: entry.id,
    query: paramsOf(query),
    pointCount: chart.lines.reduce((sum, line) => sum + line.points.length, 0),
  };
  const view = {
    ...call,
    frequency: chart.frequency,
    window: {
      ...(query.from === undefined || from === undefined ? {} : { from }),
      ...(query.to === undefined || to === undefined ? {} : { to }),
    },
    lines: lines.map((dims) => entry.dims.map(({ name }) => dims[name] ?? '')),
    selected: Object.fromEntries(
      entry.dims.flatMap(({ name, values }) => {
        const some = selected[name] ?? [];
        return some.length < values.length ? [[name, some]] : [];
      }),
    ),
    hasBulk,
  };
  return [...samplesOf(call), ...toolSamplesOf(view)];
}

/** HTML that shows the chart of the preview. */
export function embedCode(
  origin: string,
  entry: Pick<SeriesEntry, 'id' | 'name'>,
  dims: string | undefined,
): string {
  const url = `${origin}${pathOf('/v1/catalog/{id}/chart.svg', { id: entry.id })}${queryOf({ dims })}`;
  return `<a href="${origin}/series/${encodeURIComponent(entry.id)}">
  <img src="${html(url)}"
    alt="${html(entry.name)}" width="800" height="420">
</a>`;
}

function html(text: string): string {
  return text.replaceAll(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** The citation of a view, with the day of the data and the day on which it was read. */
export function citation(
  { name, id, source }: Pick<SeriesEntry, 'name' | 'id' | 'source'>,
  { vintage, last_updated }: Pick<SeriesPoints['meta'], 'vintage' | 'last_updated'>,
  url: string,
  now: Date,
): string {
  const published =
    vintage !== null
      ? `as published by ${dayText(vintage)}`
      : last_updated === null
        ? 'not released yet'
        : `released ${dayText(last_updated)}`;
  return `${source === null ? '' : `${source}: `}${name} [${id}], ${published}. Retrieved from Almanac, ${url}, ${dayText(now.toISOString().slice(0, 10))}.`;
}
