// The state of the series page, which is its URL: dimension values, transform, vintage, window, scale, view. Defaults are omitted.
import { readDims, writeDims } from '../../../domain/dims-text.ts';
import {
  aggregates,
  lowerFrequencies,
  type Aggregate,
  type TargetFrequency,
} from '../../../domain/aggregates.ts';
import { isDate } from '../../../kernel/dates.ts';
import { linesMax } from '../../../domain/chart/layout.ts';
import { isApplicable, transforms, type Transform } from '../../../domain/transforms.ts';
import {
  defaultSelection,
  lineCount,
  type Dimension,
  type Selectable,
  type Selection,
} from './default-view.ts';

type Frequency = Parameters<typeof lowerFrequencies>[0];

export interface SeriesState {
  selected: Selection;
  /** A lower frequency, to which the points are aggregated; null: as published. */
  frequency: TargetFrequency | null;
  /** Null without a frequency, and for the mean. */
  aggregate: Aggregate | null;
  transform: Transform | null;
  /** For an index: the period that is 100; null: the first of the window. */
  base: string | null;
  /** Null: the newest. */
  vintage: string | null;
  /** The first and the last date shown; null: as by default. */
  from: string | null;
  to: string | null;
  isLog: boolean;
  view: 'chart' | 'table';
  /** The language of the code sample. */
  language: string | null;
}

/** The frequencies that a series can be read at besides its own. An irregular one has no complete periods. */
export function frequenciesOffered(published: Frequency): readonly TargetFrequency[] {
  return published === 'irregular' ? [] : lowerFrequencies(published);
}

/** The state of a URL, without values that the series does not have. @param published its frequency. */
export function stateOf(query: URLSearchParams, series: Selectable, published: Frequency): SeriesState {
  const frequency = frequenciesOffered(published).find((each) => each === query.get('frequency')) ?? null;
  const aggregate =
    frequency === null ? null : (aggregates.find((each) => each === query.get('aggregate')) ?? null);
  const applicable = transforms.filter((each) => isApplicable(each, frequency ?? published));
  const day = (name: string): string | null => {
    const text = query.get(name);
    return text !== null && isDate(text) ? text : null;
  };
  return {
    selected: selectionOf(query.get('dims'), series),
    frequency,
    aggregate: aggregate === 'avg' ? null : aggregate,
    transform: applicable.find((each) => each === query.get('transform')) ?? null,
    base: day('base'),
    vintage: day('vintage'),
    from: day('from'),
    to: day('to'),
    isLog: query.get('log') === 'true',
    view: query.get('view') === 'table' ? 'table' : 'chart',
    language: query.get('code'),
  };
}

/** The URL of a state. */
export function queryOfState(state: SeriesState, series: Selectable): URLSearchParams {
  const byDefault = writeDims(defaultSelection(series));
  const selected = writeDims(state.selected);
  const given = {
    dims: selected === byDefault ? null : selected,
    frequency: state.frequency,
    aggregate: state.frequency === null ? null : state.aggregate,
    transform: state.transform,
    base: state.transform === 'index' ? state.base : null,
    vintage: state.vintage,
    from: state.from,
    to: state.to,
    log: state.isLog ? 'true' : null,
    view: state.view === 'table' ? 'table' : null,
    code: state.language,
  };
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== null) query.set(name, value);
  return query;
}

/** The `dims` of a call: left out if all values are selected. */
export function dimsQuery(selected: Selection, dims: readonly Dimension[]): string[] {
  const some = Object.fromEntries(
    dims
      .filter(({ name, values }) => (selected[name]?.length ?? 0) < values.length)
      .map(({ name }) => [name, selected[name] ?? []]),
  );
  const text = writeDims(some);
  return text === '' ? [] : [text];
}

function selectionOf(text: string | null, series: Selectable): Selection {
  const { dims } = series;
  const byDefault = defaultSelection(series);
  if (text === null) return byDefault;
  const requested = new Map(readDims(text).map(({ name, values }) => [name, values]));
  const selected = Object.fromEntries(
    dims.map(({ name, values }) => {
      const known = values.filter((value) => requested.get(name)?.includes(value));
      return [name, known.length === 0 ? (byDefault[name] ?? []) : known];
    }),
  );
  return lineCount(selected) <= linesMax ? selected : byDefault;
}
