// The constraints of the tables that store the rows that loads state or change, as cases.
import { checksOf, key, twoLoads, type TableCases } from './tables.ts';

const refusesToGo = {
  deleteParent: 'delete from data.loads where load_no = 1',
  outcome: 'it is refused' as const,
};
const aReplacedRow = { row_no: '1', replaced_by: '1', content: '{"nav": 1}' };
const aStatement = { load_no: '1', rows: '[1,5)' };
const aPriceChange = { code: 'PIB-1', load_no: '1' };
const anAbsentRow = { row_no: '1', dataset: 'nav', key: '[1, "2024-01-31"]' };

export const undoTables: readonly TableCases[] = [
  {
    table: 'data.replaced_rows',
    before: twoLoads,
    row: aReplacedRow,
    cases: [
      key('replaced_rows_pkey', ['row_no', 'replaced_by'], aReplacedRow, { row_no: '2', replaced_by: '2' }),
      {
        constraint: 'replaced_rows_content_check',
        refused: [{ content: '[]' }, { content: '1' }],
        accepted: [{ content: '{}' }],
      },
    ],
    references: [
      { constraint: 'replaced_rows_replaced_by_fkey', refused: { replaced_by: '3' }, ...refusesToGo },
    ],
  },
  {
    table: 'data.row_statements',
    before: twoLoads,
    row: aStatement,
    cases: [
      key('row_statements_pkey', ['load_no', 'rows'], aStatement, { load_no: '2', rows: '[2,5)' }),
      {
        constraint: 'row_statements_rows_check',
        refused: [{ rows: 'empty' }, { rows: '[5,5)' }],
        accepted: [{ rows: '[5,5]' }],
      },
    ],
    references: [{ constraint: 'row_statements_load_no_fkey', refused: { load_no: '3' }, ...refusesToGo }],
  },
  {
    table: 'data.absent_rows',
    row: anAbsentRow,
    cases: [
      key('absent_rows_pkey', ['row_no'], anAbsentRow, { row_no: '2', dataset: 'payouts' }),
      key('absent_rows_dataset_key_key', ['dataset', 'key'], anAbsentRow, {
        ...{ row_no: '2', dataset: 'payouts', key: '[2, "2024-01-31"]' },
      }),
      ...checksOf('absent_rows').text(64, 'dataset'),
      {
        constraint: 'absent_rows_key_check',
        refused: [{ key: '{}' }, { key: '1' }],
        accepted: [{ key: '[]' }],
      },
    ],
  },
  {
    table: 'data.newest_price_changes',
    before: twoLoads,
    row: aPriceChange,
    cases: [
      key('newest_price_changes_pkey', ['code', 'load_no'], aPriceChange, { code: 'PIB-2', load_no: '2' }),
    ],
    references: [
      { constraint: 'newest_price_changes_load_no_fkey', refused: { load_no: '3' }, ...refusesToGo },
    ],
  },
];
