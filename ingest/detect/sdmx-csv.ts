// Recognises SDMX-CSV, versions 1 and 2: the names of the columns are those of the standard, so nothing is guessed.
import { isDetermined } from './table/column-profile.ts';
import { scaleIn } from '../cells/numbers/scales.ts';
import type { TableDescription } from '../entry/entry-schema.ts';

/** SDMX's code list of frequencies. */
export const sdmxFrequencies: Readonly<Record<string, string>> = {
  A: 'annual',
  S: 'semiannual',
  H: 'semiannual',
  Q: 'quarterly',
  M: 'monthly',
  W: 'weekly',
  D: 'daily',
  B: 'daily',
};

const structureTitles = ['DATAFLOW', 'STRUCTURE', 'STRUCTURE_ID', 'STRUCTURE_NAME', 'ACTION'];

interface SdmxTable {
  entry: Pick<TableDescription, 'date' | 'values' | 'dimensions' | 'status' | 'ignore' | 'series'>;
  /** The positions of the dimensions. */
  dimensions: number[];
  /** The positions of the columns of values. */
  values: number[];
  facts: Record<string, string>;
  evidence: Record<string, string>;
}

/**
 * Null if the titles are not those of SDMX-CSV; a text if the rows mean something else than their points. The dimensions are before TIME_PERIOD, the
 * attributes after OBS_VALUE.
 */
export function sdmxEntry(titles: readonly string[], rows: readonly string[][]): SdmxTable | string | null {
  // With labels a title is `FREQ: Frequency`, and a cell `A: Annual`; cells are kept as they are.
  const ids = titles.map((title) => title.replace(/:.*$/s, '').trim());
  // Eurostat writes the ids of its dimensions in lower case.
  const at = (id: string) => ids.findIndex((each) => each === id || each === id.toLowerCase());
  const [period, value] = [at('TIME_PERIOD'), at('OBS_VALUE')];
  if (period < 0 || value < 0) return null;
  const title = (index: number) => titles[index] ?? '';
  const cell = (row: readonly string[], id: string) => (row[at(id)] ?? '').replace(/:.*$/s, '').trim();
  if (rows.some((row) => cell(row, 'ACTION').toUpperCase() === 'D'))
    return 'rows with the ACTION D delete points: make a file of the other rows';
  const odd = rows.find(
    (row) =>
      /^\d{4}-[A-Z]/.test((row[period] ?? '').trim()) &&
      !['', '--01-01'].includes(cell(row, 'REPORTING_YEAR_START_DAY')),
  );
  if (odd !== undefined)
    return `"${(odd[period] ?? '').trim()}" is of a year that begins on ${cell(odd, 'REPORTING_YEAR_START_DAY').slice(2)}: write calendar periods, such as 2024-03`;
  const structure = [at('DATAFLOW'), at('STRUCTURE_ID')].find((index) => index >= 0);
  const flow = structure === undefined ? undefined : (rows[0]?.[structure] ?? '').trim();
  const [, agency, dataflow] = /^(?:([A-Za-z0-9_.-]+):)?([A-Za-z0-9_-]+)/.exec(flow ?? '') ?? [];
  const frequency = at('FREQ');
  const unit = ['UNIT_MEASURE', 'UNIT'].map(at).find((index) => index >= 0);
  const mult = at('UNIT_MULT');
  const status = ['OBS_STATUS', 'OBS_FLAG'].map(at).find((index) => index >= 0);
  // With labels=name each column of codes is followed by one of names: `REF_AREA`, `Reference area`.
  const dimensions = ids.flatMap((id, index) =>
    index < Math.min(period, value) &&
    !structureTitles.includes(id) &&
    index !== frequency &&
    /^(?:[A-Z][A-Z0-9_]*|[a-z][a-z0-9_]*)$/.test(id)
      ? [index]
      : [],
  );
  const isVaried = (index: number) => index >= 0 && !isDetermined(rows, [], index);
  const scaled = mult < 0 ? [] : rows.filter((row) => (row[mult] ?? '').trim() !== '');
  const hasScale = mult >= 0 && scaled.every((row) => scaleIn(row[mult] ?? '') !== null);
  const inId = [frequency, unit ?? -1].filter(isVaried);
  // A scale is a fact of a whole series.
  if (hasScale && !isDetermined(scaled, inId, mult)) inId.push(mult);
  // `unit` is a fact of a series, and the name of no dimension.
  const isFact = (index: number) => index === unit && /^unit$/i.test(ids[index] ?? '');
  const remaining = dimensions.filter((index) => !inId.includes(index) && !isFact(index));
  const named = new Set([
    period,
    value,
    frequency,
    ...(unit === undefined ? [] : [unit]),
    ...(hasScale ? [mult] : []),
    ...(status === undefined ? [] : [status]),
    ...remaining,
  ]);
  const ignore = titles.filter((_, index) => !named.has(index));
  const id = [dataflow ?? '{file}', ...inId.map((index) => `{${title(index)}}`)].join('.');
  return {
    entry: {
      date: { column: title(period) },
      values: title(value),
      ...(remaining.length > 0 && {
        dimensions: Object.fromEntries(
          remaining.map((index) => [
            (ids[index] ?? '').toLowerCase().replaceAll(/[^a-z0-9_]/g, '_'),
            title(index),
          ]),
        ),
      }),
      ...(status !== undefined && { status: title(status) }),
      ...(ignore.length > 0 && { ignore }),
      series: {
        id,
        frequency: frequency < 0 ? 'irregular' : `{${title(frequency)}}`,
      },
    },
    dimensions: remaining,
    values: [value],
    facts: {
      ...(hasScale && { unit_multiplier: `{${title(mult)}}` }),
      ...(unit !== undefined && { unit: `{${title(unit)}}` }),
      ...(agency !== undefined && { source: agency }),
    },
    evidence: {
      date: 'SDMX-CSV: TIME_PERIOD',
      values: 'SDMX-CSV: OBS_VALUE',
      dimensions: 'SDMX-CSV: the columns before TIME_PERIOD',
      'series.id': 'SDMX-CSV: the dataflow',
      'series.frequency': 'SDMX-CSV: FREQ',
    },
  };
}
