// The constraints of series, their dimensions and their points, as cases.
import { frequencies } from '../../domain/periods.ts';
import { checksOf, key, twoLoads, twoSeries, type TableCases } from './tables.ts';

const day = '2024-01-31';
const thirdSeries = `insert into data.series (series_no, series_id, name, unit, frequency, source) overriding system value
   values (3, 'C', 'C', 'Index', 'annual', 'Tests')`;
const deleteSeries = 'delete from data.series where series_no = 1';

function series(): TableCases {
  const is = checksOf('series');
  const row = { series_id: 'A', name: 'A', frequency: 'monthly' };
  return {
    table: 'data.series',
    row,
    defaults: {
      tags: [],
      dimensions: [],
      observation_count: 0,
      data_version: 0,
      row_version: 0,
      created_at: 'now()',
      updated_at: 'now()',
    },
    filled: ['series_no'],
    cases: [
      key('series_pkey', ['series_no'], { series_no: '1' }, { series_no: '2', series_id: 'B' }),
      key('series_series_id_key', ['series_id'], row, { series_id: 'a' }), // letter case distinguishes them
      ...is.pattern(
        'series_id',
        ['A', '9', 'a.B_c-9', 'a'.repeat(128)],
        ['', '.a', '-a', '_a', 'a b', 'a/b', 'é', 'a'.repeat(129)],
      ),
      ...is.text(500, 'name', 'source'),
      ...is.text(200, 'unit'),
      ...is.oneOf('frequency', ...frequencies),
      ...is.textUpTo(10_000, 'description'),
      ...is.textUpTo(200, 'geography'),
      ...is.textUpTo(100, 'seasonal_adjustment'),
      ...is.whole(-30, 30, 'unit_multiplier'),
      ...is.whole(0, 30, 'decimals'),
      ...is.textUpTo(1000, 'licence', 'attribution'),
      ...is.pattern(
        'fiscal_year_end',
        ['01-01', '06-30', '09-09', '10-10', '12-31'],
        ['', '00-10', '13-10', '06-00', '06-32', '6-30', '06-3', '06/30', '2024-06-30'],
      ),
      ...is.textUpTo(500, 'category'),
      ...is.pattern(
        ['licence_url', 'methodology_url'],
        ['https://a', `https://${'a'.repeat(1992)}`],
        ['', 'http://a', ' https://a', 'https://', 'https://a b', `https://${'a'.repeat(1993)}`],
      ),
    ],
  };
}

function dims(): TableCases[] {
  const is = checksOf('series_dims');
  const row = { line_no: '1', series_no: '1', dims: '{}' };
  const labels = checksOf('dimension_labels');
  const label = { series_no: '1', dimension: 'city', value: 'K', label: 'Karachi' };
  const notes = checksOf('footnotes');
  const note = { series_no: '1', text: 'Estimated' };
  const aliases = checksOf('series_aliases');
  const alias = { alias: 'OLD', series_no: '1' };
  const breaks = checksOf('series_breaks');
  const aBreak = { series_no: '1', date: day, declared_on: day, load_no: '1' };
  const continuations = checksOf('series_continuations');
  const continuation = { series_no: '1', date: day, continued_by: '2', declared_on: day, load_no: '1' };
  const formers = checksOf('former_facts');
  const former = {
    ...{ kind: 'series', series_no: '1', replaced_on: day, content: '{}', updated_at: day },
  };
  const wasMerged = { merged_from: '2', merged_on: day };
  return [
    {
      table: 'data.series_aliases',
      before: [...twoSeries, ...twoLoads],
      row: alias,
      defaults: { renamed_at: 'now()' },
      cases: [
        key('series_aliases_pkey', ['alias'], { ...alias, series_no: '2' }, { alias: 'old' }),
        ...aliases.pattern(
          'alias',
          ['A', '9', 'a.B_c-9', 'a'.repeat(128)],
          ['', '.a', '-a', 'a b', 'a/b', 'é', 'a'.repeat(129)],
        ),
        ...aliases.check(
          'merged_check',
          [{ merged_from: '2' }, { merged_on: day }, { merged_by: '1' }],
          [wasMerged, { ...wasMerged, merged_by: '1' }],
        ),
      ],
      references: [
        {
          constraint: 'series_aliases_series_no_fkey',
          refused: { series_no: '3' },
          deleteParent: deleteSeries,
          outcome: 'the row goes too',
        },
        {
          constraint: 'series_aliases_merged_from_fkey',
          refused: { ...wasMerged, merged_from: '3' },
          accepted: wasMerged,
          deleteParent: 'delete from data.series where series_no = 2',
          outcome: 'it is refused',
        },
        {
          constraint: 'series_aliases_merged_by_fkey',
          refused: { ...wasMerged, merged_by: '3' },
          accepted: { ...wasMerged, merged_by: '1' },
          deleteParent: 'delete from data.loads where load_no = 1',
          outcome: 'it is refused',
        },
      ],
    },
    {
      table: 'data.former_facts',
      before: [...twoSeries, ...twoLoads],
      row: former,
      cases: [
        key('former_facts_pkey', ['kind', 'series_no', 'replaced_on'], former, {
          ...{ kind: 'notes', series_no: '2', replaced_on: '2024-02-29' },
        }),
        ...formers.oneOf('kind', 'series', 'aliases', 'labels', 'notes'),
        ...formers.pattern('content', ['{}', '[]'], ['"a"', '1', 'null']),
      ],
      references: [
        {
          constraint: 'former_facts_series_no_fkey',
          refused: { series_no: '3' },
          deleteParent: deleteSeries,
          outcome: 'the row goes too',
        },
        {
          constraint: 'former_facts_load_no_fkey',
          refused: { load_no: '3' },
          accepted: { load_no: '1' },
          deleteParent: 'delete from data.loads where load_no = 1',
          outcome: 'it is refused',
        },
      ],
    },
    {
      table: 'data.series_breaks',
      before: [...twoSeries, ...twoLoads],
      row: aBreak,
      cases: [
        key('series_breaks_pkey', ['series_no', 'date'], aBreak, {
          ...aBreak,
          series_no: '2',
          date: '2024-02-29',
        }),
        ...breaks.text(200, 'from_unit'),
        ...breaks.whole(-30, 30, 'from_unit_multiplier'),
        ...breaks.text(2_000, 'note'),
      ],
      references: [
        {
          constraint: 'series_breaks_series_no_fkey',
          refused: { series_no: '3' },
          deleteParent: deleteSeries,
          outcome: 'the row goes too',
        },
        {
          constraint: 'series_breaks_load_no_fkey',
          refused: { load_no: '3' },
          deleteParent: 'delete from data.loads where load_no = 1',
          outcome: 'it is refused',
        },
      ],
    },
    {
      table: 'data.series_continuations',
      before: [...twoSeries, thirdSeries, ...twoLoads],
      row: continuation,
      cases: [
        key('series_continuations_pkey', ['series_no'], continuation, {
          ...{ ...continuation, series_no: '2', continued_by: '3' },
        }),
        ...continuations.check('check', [{ continued_by: '1' }], [{ continued_by: '2' }]),
        ...continuations.text(2_000, 'note'),
      ],
      references: [
        {
          constraint: 'series_continuations_series_no_fkey',
          refused: { series_no: '4' },
          deleteParent: deleteSeries,
          outcome: 'the row goes too',
        },
        {
          constraint: 'series_continuations_continued_by_fkey',
          refused: { continued_by: '4' },
          deleteParent: 'delete from data.series where series_no = 2',
          outcome: 'the row goes too',
        },
        {
          constraint: 'series_continuations_load_no_fkey',
          refused: { load_no: '3' },
          deleteParent: 'delete from data.loads where load_no = 1',
          outcome: 'it is refused',
        },
      ],
    },
    {
      table: 'data.series_dims',
      before: twoSeries,
      row,
      cases: [
        key('series_dims_pkey', ['line_no'], row, { line_no: '2', series_no: '2', dims: '{"a":"b"}' }),
        key('series_dims_series_no_dims_key', ['series_no', 'dims'], row, {
          ...{ line_no: '2', series_no: '2', dims: '{"a":"b"}' },
        }),
        ...is.pattern('dims', ['{}', '{"a":"b"}'], ['[]', '"a"', '1', 'null']),
      ],
      references: [
        {
          constraint: 'series_dims_series_no_fkey',
          refused: { series_no: '3' },
          deleteParent: deleteSeries,
          outcome: 'the row goes too',
        },
      ],
    },
    {
      table: 'data.dimension_labels',
      before: twoSeries,
      row: label,
      cases: [
        key('dimension_labels_pkey', ['series_no', 'dimension', 'value'], label, {
          ...{ series_no: '2', dimension: 'area', value: 'L' },
        }),
        ...labels.text(63, 'dimension'),
        ...labels.text(200, 'value'),
        ...labels.text(300, 'label'),
      ],
      references: [
        {
          constraint: 'dimension_labels_series_no_fkey',
          refused: { series_no: '3' },
          deleteParent: deleteSeries,
          outcome: 'the row goes too',
        },
      ],
    },
    {
      table: 'data.footnotes',
      before: twoSeries,
      row: note,
      defaults: { date: '-infinity', dims: {}, mark: '' },
      cases: [
        key(
          'footnotes_pkey',
          ['series_no', 'date', 'dims', 'mark'],
          { ...note, date: day, dims: '{"a":"b"}', mark: '1' },
          { series_no: '2', date: '2024-02-29', dims: '{}', mark: '2' },
        ),
        ...notes.pattern('dims', ['{}', '{"a":"b"}'], ['[]', '"a"', '1', 'null']),
        ...notes.textUpTo(16, 'mark'),
        ...notes.text(2_000, 'text'),
      ],
      references: [
        {
          constraint: 'footnotes_series_no_fkey',
          refused: { series_no: '3' },
          deleteParent: deleteSeries,
          outcome: 'the row goes too',
        },
      ],
    },
  ];
}

function observations(): TableCases {
  const is = checksOf('observations');
  const row = { line_no: '1', date: day, published_on: '2024-02-10', load_no: '1' };
  const closed = { superseded_on: '2024-02-11', superseded_load_no: '2' };
  return {
    table: 'data.observations',
    row,
    defaults: { superseded_on: 'infinity' },
    cases: [
      {
        ...key('observations_live', ['line_no', 'date'], row, { line_no: '2', date: '2024-02-29' }),
        // Also one that was published later, by another load.
        refused: [{}, { published_on: '2024-03-10', load_no: '2', value: '1' }],
      },
      { constraint: 'observations_live', existing: closed, refused: [], accepted: [{}, closed] },
      ...is.finite('value'),
      ...is.textUpTo(16, 'status'),
      ...is.check(
        'check',
        [{ ...closed, superseded_on: '2024-02-09' }],
        [closed, { ...closed, superseded_on: '2024-02-10' }],
      ),
      ...is.check(
        'check1',
        [{ superseded_on: '2024-02-11' }, { superseded_load_no: '2' }],
        [closed, { superseded_on: 'infinity' }],
      ),
    ],
  };
}

export const seriesTables: readonly TableCases[] = [series(), ...dims(), observations()];
