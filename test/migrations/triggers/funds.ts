// The triggers of funds, as cases.
import type { Bench, TriggerCase } from '../bench.ts';

const codes = (db: Bench) => db.values('select code from data.fund_codes order by 1');

export const fundTriggers: readonly TriggerCase[] = [
  {
    trigger: 'data.funds.keep_codes_of_new',
    async seen(db) {
      await db.insert('data.funds', {
        symbol: 'S',
        isin: 'PK12AB34CD56',
        source_code: 'three',
        former_codes: '{F}',
      });
      return codes(db);
    },
    expected: ['F', 'PK12AB34CD56', 'S'], // its id needs no code
  },
  {
    trigger: 'data.funds.keep_codes_of_changed',
    async seen(db) {
      await db.insert('data.funds', { symbol: 'S' });
      await db.run(`update data.funds set symbol = 'T', isin_payout = 'US0378331005'`);
      return codes(db);
    },
    expected: ['S', 'T', 'US0378331005'], // the former one finds it still
  },
  {
    trigger: 'data.funds.keep_lineage',
    async seen(db) {
      await db.insert('data.funds', { name: 'Old', symbol: 'S', isin: 'PK12AB34CD56' });
      await db.run(`update data.funds set name = 'New', symbol = 'T'`);
      await db.run(
        `update data.funds set name = 'Old', symbol = 'T', source_code = 'PK12AB34CD56', isin = null`,
      );
      return db.values('select former_names, former_codes from data.funds');
    },
    expected: [[['Old', 'New'], ['S']]],
  },
  ...['navs', 'payouts', 'expenses'].map((table): TriggerCase => ({
    trigger: `data.${table}.figures_are_due_of_gone`,
    async seen(db) {
      await db.insert(`data.${table}`, { fund_no: '1' });
      await db.run('delete from data.fund_figures_due');
      await db.run(`delete from data.${table}`);
      return db.values('select fund_no from data.fund_figures_due');
    },
    expected: [1],
  })),
  ...['funds', 'navs', 'payouts', 'expenses'].flatMap((table): TriggerCase[] => {
    const due = (db: Bench) => db.values('select fund_no from data.fund_figures_due');
    const one = { fund_no: '1' };
    return [
      {
        trigger: `data.${table}.figures_are_due_of_new`,
        async seen(db) {
          await db.insert(`data.${table}`, one);
          return due(db);
        },
        expected: [1],
      },
      {
        trigger: `data.${table}.figures_are_due_of_changed`,
        async seen(db) {
          await db.insert(`data.${table}`, one);
          await db.run('delete from data.fund_figures_due');
          await db.run(`update data.${table} set updated_on = updated_on`);
          return due(db);
        },
        expected: [1],
      },
    ];
  }),
];
