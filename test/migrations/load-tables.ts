// The constraints of loads, of the vintages and statements that they bring, and of the audit, as cases.
import { checksOf, key, twoLoads, twoSeries, type TableCases } from './tables.ts';

const day = '2024-01-31';
const deleteSeries = 'delete from data.series where series_no = 1';

function loads(): TableCases {
  const is = checksOf('loads');
  return {
    table: 'data.loads',
    before: twoLoads,
    row: { dataset: 'observations', source_name: '-', vintage: day, complete: 'false' },
    defaults: {
      loaded_at: 'now()',
      rows_read: 0,
      points_new: 0,
      points_revised: 0,
      points_unchanged: 0,
      points_deleted: 0,
      rows_rejected: 0,
      erases: false,
      out_of_force: '{}',
      keeps_statements: false,
    },
    filled: ['load_no'],
    connectionDefaults: ['loaded_by'],
    cases: [
      key('loads_pkey', ['load_no'], { load_no: '11' }, { load_no: '12' }),
      ...is.text(64, 'dataset'),
      ...is.textUpTo(1024, 'source_name'),
      ...is.text(1000, 'reason'),
      ...is.text(500, 'loaded_by'),
    ],
    references: ['retracts', 'erased_by'].map((column) => ({
      constraint: `loads_${column}_fkey`,
      refused: { [column]: '3' },
      accepted: { [column]: '1' },
      deleteParent: 'delete from data.loads where load_no = 1',
      outcome: 'it is refused' as const,
    })),
  };
}

function vintages(): TableCases[] {
  const vintage = { series_no: '1', published_on: day, load_no: '1', complete: 'false' };
  const confirmation = {
    ...{ line_no: '1', published_on: day, load_no: '1' },
    dates: '{[2024-01-31,2024-02-01)}',
  };
  const ofLoad = (table: string) => ({
    constraint: `${table}_load_no_fkey`,
    refused: { load_no: '3' },
    deleteParent: 'delete from data.loads where load_no = 1',
    outcome: 'it is refused' as const,
  });
  return [
    {
      table: 'data.vintages',
      before: [...twoSeries, ...twoLoads],
      row: vintage,
      defaults: { points_new: 0, points_revised: 0, points_deleted: 0 },
      cases: [
        key('vintages_pkey', ['series_no', 'published_on', 'load_no'], vintage, {
          ...{ series_no: '2', published_on: '2024-02-29', load_no: '2' },
        }),
      ],
      references: [
        ofLoad('vintages'),
        {
          constraint: 'vintages_series_no_fkey',
          refused: { series_no: '3' },
          deleteParent: deleteSeries,
          outcome: 'the row goes too',
        },
      ],
    },
    {
      table: 'data.confirmations',
      before: [
        ...twoSeries,
        ...twoLoads,
        `insert into data.series_dims (line_no, series_no, dims) values (1, 1, '{}'), (2, 2, '{}')`,
      ],
      row: confirmation,
      cases: [
        key('confirmations_pkey', ['line_no', 'published_on', 'load_no'], confirmation, {
          ...{ line_no: '2', published_on: '2024-02-29', load_no: '2' },
        }),
      ],
      references: [
        ofLoad('confirmations'),
        {
          constraint: 'confirmations_line_no_fkey',
          refused: { line_no: '3' },
          deleteParent: 'delete from data.series_dims where line_no = 1',
          outcome: 'the row goes too',
        },
      ],
    },
    statements(),
    auditEvents(),
  ];
}

function statements(): TableCases {
  const is = checksOf('statements');
  const row = {
    ...{ line_no: '1', date: day, published_on: day, load_no: '1', states: 'true' },
  };
  return {
    table: 'data.statements',
    before: [
      ...twoSeries,
      ...twoLoads,
      `insert into data.series_dims (line_no, series_no, dims) values (1, 1, '{}'), (2, 2, '{}')`,
    ],
    row,
    cases: [
      key('statements_pkey', ['line_no', 'date', 'published_on', 'load_no'], row, {
        ...{ line_no: '2', date: '2024-02-29', published_on: '2024-02-29', load_no: '2' },
      }),
      ...is.finite('value'),
      ...is.textUpTo(16, 'status'),
      ...is.check(
        'check',
        [
          { states: 'false', value: '1' },
          { states: 'false', status: 'p' },
        ],
        [{ states: 'false' }, { value: '1', status: 'p' }],
      ),
    ],
    references: [
      {
        constraint: 'statements_load_no_fkey',
        refused: { load_no: '3' },
        deleteParent: 'delete from data.loads where load_no = 1',
        outcome: 'it is refused',
      },
      {
        constraint: 'statements_line_no_fkey',
        refused: { line_no: '3' },
        deleteParent: 'delete from data.series_dims where line_no = 1',
        outcome: 'the row goes too',
      },
    ],
  };
}

function auditEvents(): TableCases {
  const is = checksOf('audit_events');
  return {
    table: 'data.audit_events',
    before: twoLoads,
    row: { actor: 'almanac loads', action: 'load.retracted', subject: '1' },
    defaults: { at: 'now()', details: {} },
    filled: ['event_no'],
    cases: [
      key('audit_events_pkey', ['event_no'], { event_no: '1' }, { event_no: '2' }),
      ...is.text(200, 'actor', 'subject'),
      ...is.text(64, 'action'),
      ...is.text(1000, 'reason'),
      {
        constraint: 'audit_events_details_check',
        refused: [{ details: '[]' }, { details: '1' }],
        accepted: [{ details: '{}' }],
      },
    ],
    references: [
      {
        constraint: 'audit_events_load_no_fkey',
        refused: { load_no: '3' },
        accepted: { load_no: '1' },
        deleteParent: 'delete from data.loads where load_no = 1',
        outcome: 'it is refused',
      },
    ],
  };
}

export const loadTables: readonly TableCases[] = [loads(), ...vintages()];
