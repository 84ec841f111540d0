// Retractions of loads of tables: the remaining rows, the data derived from them, and the refused retractions with their reasons.
import test from 'ava';
import fc from 'fast-check';
import { retract, type RetractOptions } from '../../ingest/history/retract/retract.ts';
import { Failure } from '../../kernel/errors.ts';
import { fakeClock } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';
import { loadCsv, openIngestDatabase, today } from './loading.ts';

const database = await openIngestDatabase(test);

/** @returns the number of the load. */
async function loaded(dataset: string, csv: readonly string[], wide = false): Promise<number> {
  await loadCsv(database, csv, { dataset, ...(wide ? { wide } : {}) });
  const [row] = await database.query<{ load: number }>('select max(load_no) as load from data.loads');
  return row?.load ?? 0;
}

const retracted = (loadNo: number, options: Partial<RetractOptions> = {}) =>
  retract(database, {
    ...{ loadNo, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`), noGateway: true },
    ...options,
  });

async function refusal(loadNo: number, options: Partial<RetractOptions> = {}): Promise<string> {
  try {
    await retracted(loadNo, options);
  } catch (error) {
    if (error instanceof Failure) return `${error.code}: ${error.message}`;
    throw error;
  }
  throw new Error('the retraction should have been refused');
}

/** The NAVs of a fund, `date nav offer`, with - for null. */
async function navs(fund: string): Promise<string[]> {
  const rows = await database.query<{ row: string }>(
    `select concat_ws(' ', n.date, coalesce(n.nav::text, '-'), coalesce(n.offer_price::text, '-')) as row
     from data.navs n join data.funds f using (fund_no) where f.fund_id = $1 order by n.date`,
    [fund],
  );
  return rows.map(({ row }) => row);
}

let funds = 0;
/** @returns the id of a new fund without NAVs. */
async function newFund(): Promise<string> {
  const fund = `fund-${++funds}`;
  await loaded('funds', ['fund_id,name,currency,source', `${fund},Fund ${funds},PKR,Register`]);
  return fund;
}

test.serial('rows stated only by the retracted load are gone, and return with it', async (t) => {
  const fund = await newFund();
  await loaded('nav', ['fund,date,nav', `${fund},2024-01-01,10.50`]);
  const wrong = await loaded('nav', ['fund,date,nav', `${fund},2024-01-01,105`, `${fund},2024-01-02,106`]);
  const { loadNo, interruptions: _, ...result } = await retracted(wrong, { reason: 'decimal point lost' });
  t.deepEqual(result, {
    ...{ dataset: 'nav', loads: [wrong], effect: 'out_of_force', since: today },
    ...{ pointsNew: 0, pointsRevised: 1, pointsDeleted: 1, pointsUnchanged: 0 },
  });
  t.deepEqual(await navs(fund), ['2024-01-01 10.50 -'], 'with the digits of before');
  t.regex(await refusal(wrong), new RegExp(`already retracted, by load ${loadNo}\\.`));
  t.like(await retracted(loadNo), { effect: 'in_force', pointsNew: 1, pointsRevised: 1, pointsDeleted: 0 });
  t.deepEqual(await navs(fund), ['2024-01-01 105 -', '2024-01-02 106 -']);
});

test.serial('rows restated by another load remain, even if it changed nothing', async (t) => {
  const fund = await newFund();
  const wrong = await loaded('nav', [
    'fund,date,nav',
    `${fund},2024-01-01,10`,
    `${fund},2024-01-02,11`,
    `${fund},2024-01-03,12`,
  ]);
  await loaded('nav', ['fund,date,nav', `${fund},2024-01-02,11`, `${fund},2024-01-03,13`]);
  t.like(await retracted(wrong), { pointsDeleted: 1, pointsRevised: 0, pointsUnchanged: 2 });
  t.deepEqual(await navs(fund), ['2024-01-02 11 -', '2024-01-03 13 -']);
});

test.serial('only the columns of a row stated by the retracted load are reverted', async (t) => {
  const fund = await newFund();
  await loaded('nav', ['fund,date,nav,offer_price', `${fund},2024-01-01,10,11`]);
  const prices = await loaded('nav', ['fund,date,offer_price', `${fund},2024-01-01,110`]);
  await loaded('nav', ['fund,date,nav', `${fund},2024-01-01,20`]);
  await retracted(prices);
  t.deepEqual(await navs(fund), ['2024-01-01 20 11']);
});

test.serial('a row that is loaded again after its removal is the same row', async (t) => {
  const fund = await newFund();
  const first = await loaded('nav', ['fund,date,nav', `${fund},2024-01-01,10`]);
  const { loadNo } = await retracted(first);
  const second = await loaded('nav', ['fund,date,offer_price', `${fund},2024-01-01,11`]);
  await retracted(loadNo);
  t.deepEqual(await navs(fund), ['2024-01-01 10 11']);
  await retracted(first);
  await retracted(second);
  t.deepEqual(await navs(fund), []);
});

test.serial('a wide file of NAVs is retracted like a long one', async (t) => {
  const [one, two] = [await newFund(), await newFund()];
  const wide = await loaded('nav', [`date,${one},${two}`, '2024-01-01,10,20', '2024-01-02,,21'], true);
  t.like(await retracted(wide), { pointsDeleted: 3 });
  t.deepEqual([await navs(one), await navs(two)], [[], []]);
});

test.serial('a row of an older version returns to its state before the retracted load', async (t) => {
  const fund = await newFund();
  const old = await loaded('nav', ['fund,date,nav,offer_price', `${fund},2024-01-01,10,11`]);
  await database.query('update data.navs set row_no = null, load_no = null where load_no = $1', [old]);
  await database.query('update data.loads set states_columns = null where load_no <= $1', [old]);
  const wrong = await loaded('nav', ['fund,date,nav', `${fund},2024-01-01,99`]);
  await retracted(wrong);
  t.deepEqual(await navs(fund), ['2024-01-01 10 11']);
  t.regex(
    await refusal(old),
    /^conflict: Load \d+ cannot be retracted\. It was made by a version .* Load the earlier file again\.$/,
  );
  const again = await loaded('nav', ['fund,date,nav', `${fund},2024-01-01,98`]);
  const later = await loaded('nav', ['fund,date,nav', `${fund},2024-01-01,97`]);
  await database.query('update data.loads set states_columns = null where load_no = $1', [later]);
  t.regex(await refusal(again), new RegExp(`Load ${later}, which came after it, was made by a version`));
  await database.query(`update data.loads set states_columns = '{fund_no,date,nav}' where load_no = $1`, [
    later,
  ]);
});

test.serial('the figures of funds follow a retraction', async (t) => {
  const fund = await newFund();
  const figures = () =>
    database.query(
      `select g.as_of, g.nav, g.ter_pct from data.fund_figures g join data.funds f using (fund_no) where f.fund_id = $1`,
      [fund],
    );
  await loaded('nav', ['fund,date,nav', `${fund},2024-01-01,10`]);
  const nav = await loaded('nav', ['fund,date,nav', `${fund},2024-01-02,20`]);
  const expenses = await loaded('expenses', [
    'fund,period_end,period_type,ter_pct',
    `${fund},2024-01-31,ytd,2`,
  ]);
  t.deepEqual(await figures(), [{ as_of: '2024-01-02', nav: '20', ter_pct: '2' }]);
  await retracted(nav);
  await retracted(expenses);
  t.deepEqual(await figures(), [{ as_of: '2024-01-01', nav: '10', ter_pct: null }]);
});

test.serial('the last price of a security follows a retraction, even to none', async (t) => {
  await loaded('securities', ['code,name,type,currency,source', 'TFC-1,One,tfc,PKR,Exchange']);
  const last = () =>
    database.query('select last_price, last_price_date from data.securities where code = $1', ['TFC-1']);
  const first = await loaded('security-prices', ['code,date,price', 'TFC-1,2024-01-01,98']);
  const second = await loaded('security-prices', ['code,date,price', 'TFC-1,2024-01-02,99']);
  await retracted(second);
  t.deepEqual(await last(), [{ last_price: '98', last_price_date: '2024-01-01' }]);
  await retracted(first);
  t.deepEqual(await last(), [{ last_price: null, last_price_date: null }]);
});

const auction = (cells: string) => [
  'auction_id,instrument,tenor,auction_date,status,currency,cutoff_yield_pct,source',
  `A1,pib_fixed,5Y,2024-06-12,${cells},Central bank`,
];

test.serial(
  'a load completed by another one is refused, with the loads to retract first, and nothing is changed',
  async (t) => {
    const announced = await loaded('auctions', auction('announced,PKR,'));
    const result = await loaded('auctions', [
      'auction_id,instrument,tenor,auction_date,cutoff_yield_pct',
      'A1,pib_fixed,5Y,2024-06-12,15.5',
    ]);
    const stored = () => database.query('select * from data.auctions');
    const before = await stored();
    t.regex(
      await refusal(announced),
      new RegExp(`^conflict: Some rows would lack required columns or break a rule.*: ${result}\\.$`),
    );
    t.deepEqual(await stored(), before);
    const { loadNo } = await retracted(result);
    await retracted(announced);
    t.deepEqual(await stored(), []);
    t.regex(await refusal(loadNo), /First restore the retracted loads whose rows this load completes\.$/);
  },
);

test.serial('each dataset whose rows are not referenced can be retracted', async (t) => {
  const fund = await newFund();
  const constants = 'PAK,export,2024-04,CHN,hs,010121,customs,USD';
  const files: Record<string, readonly string[]> = {
    payouts: ['fund,ex_date,type,payout_per_unit', `${fund},2024-01-02,cash,1`],
    expenses: ['fund,period_end,period_type,ter_pct', `${fund},2024-01-31,mtd,2`],
    'security-trades': ['trade_id,trade_date,code,price', 'T1,2024-01-02,TFC-1,99'],
    auctions: auction('held,PKR,15'),
    trade: [
      'reporter,flow,period,partner_code,classification,commodity_code,basis,currency,value,source',
      `${constants},150,Bureau`,
    ],
    'trade-commodities': ['classification,commodity_code,name,source', 'hs,010121,Horses,WCO'],
  };
  for (const [dataset, csv] of Object.entries(files)) {
    const loadNo = await loaded(dataset, csv);
    const dry = await retracted(loadNo, { dryRun: true });
    t.like(dry, { dataset, pointsDeleted: 1 }, dataset);
    const retraction = await retracted(loadNo);
    t.like(retraction, { dataset, pointsDeleted: 1 }, dataset);
    t.like(await retracted(retraction.loadNo), { dataset, pointsNew: 1 }, dataset);
  }
  t.deepEqual(
    await database.query('select trade_totals.value from data.trade_totals'),
    [{ value: '150' }],
    'and what is derived from it',
  );
});

test.serial('other datasets are refused, each with the reason and an alternative', async (t) => {
  const fund = await newFund();
  const portfolio = await loaded('portfolio', [
    'fund,as_of,section,rank,name',
    `${fund},2024-01-31,holding,1,Bank A`,
  ]);
  t.regex(
    await refusal(portfolio),
    /where each file replaces all rows of its fund and as_of: .* Load the earlier file again\.$/,
  );
  const calendar = await loaded('calendar', [
    'release_id,title,source,release_at,time_zone',
    'r1,Prices,Office,2024-07-04 09:00,UTC',
  ]);
  t.regex(await refusal(calendar), /status cancelled/);
  const series = await loaded('series', ['series_id,name,unit,frequency,source', 'A,A,Index,daily,Test']);
  t.regex(
    await refusal(series),
    /^conflict: Load \d+ is of the dataset series, to whose rows other rows refer: .* Load the earlier file again\.$/,
  );
  const nav = await loaded('nav', ['fund,date,nav', `${fund},2024-01-01,10`]);
  t.regex(await refusal(nav, { erase: true }), /retract it without erasing it\.$/);
  t.deepEqual(await navs(fund), ['2024-01-01 10 -']);
});

test.serial('a retraction of rows is reported as a change of the dataset, and audited', async (t) => {
  const fund = await newFund();
  const nav = await loaded('nav', ['fund,date,nav', `${fund},2024-01-01,10`]);
  const { loadNo } = await retracted(nav, { reason: 'a wrong fund' });
  const reported = (await writtenEvents(database)).at(-1);
  t.like(reported, { type: 'dataset.updated', data: { load: loadNo, dataset: 'nav', rows_deleted: 1 } });
  t.deepEqual(
    await database.query('select subject, reason, details from data.audit_events where load_no = $1', [
      loadNo,
    ]),
    [
      {
        ...{ subject: String(nav), reason: 'a wrong fund' },
        details: { loads: [nav], effect: 'out_of_force' },
      },
    ],
  );
});

/** The statements of a load: columns, and values by row (`fund date`) in the order of the columns; null clears the cell. */
interface Stated {
  columns: readonly ('nav' | 'offer_price')[];
  rows: ReadonlyMap<string, readonly (string | null)[]>;
}

const anyLoad = fc
  .record({
    columns: fc.constantFrom<Stated['columns']>(['nav'], ['offer_price'], ['nav', 'offer_price']),
    rows: fc.uniqueArray(
      fc.tuple(
        fc.constantFrom('one 2024-01-01', 'one 2024-01-02', 'two 2024-01-01'),
        fc.tuple(fc.constantFrom('1', '2', null), fc.constantFrom('1', '2', null)),
      ),
      { minLength: 1, maxLength: 3, selector: ([key]) => key },
    ),
  })
  .map(({ columns, rows }): Stated => ({ columns, rows: new Map(rows) }));
/** Repeats the load this many before the newest, with all rows or only the first; by chance no two loads would state the same. */
const anyRepetition = fc.record({ repeats: fc.nat(2), isWhole: fc.boolean() });
/** A load, or the retraction of the load this many before the newest. */
const anyStep = fc.oneof(
  { weight: 3, arbitrary: anyLoad },
  { weight: 2, arbitrary: anyRepetition },
  { weight: 3, arbitrary: fc.nat(5) },
);

function repeated(
  loads: ReadonlyMap<number, Stated>,
  { repeats, isWhole }: { repeats: number; isWhole: boolean },
): Stated | undefined {
  const [, load] = [...loads].at(-1 - repeats) ?? [];
  return load && { ...load, rows: new Map([...load.rows].slice(0, isWhole ? undefined : 1)) };
}

/** The rows according to the active loads, in the order of loading. */
function folded(loads: readonly (Stated & { isActive: boolean })[]): Record<string, string> {
  const rows = new Map<string, Record<string, string | null>>();
  for (const { columns, rows: stated, isActive } of loads)
    for (const [key, values] of isActive ? stated : [])
      rows.set(key, {
        ...rows.get(key),
        ...Object.fromEntries(columns.map((name, i) => [name, values[i] ?? null])),
      });
  return Object.fromEntries(
    [...rows].map(([key, row]) => [key, `${row['nav'] ?? '-'} ${row['offer_price'] ?? '-'}`]),
  );
}

test.serial(
  'after any loads and retractions, each cell has the value of the newest active load with its column',
  async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(anyStep, { minLength: 2, maxLength: 10, size: 'max' }), async (steps) => {
        const ids = new Map([
          ['one', await newFund()],
          ['two', await newFund()],
        ]);
        const loads = new Map<number, Stated & { isActive: boolean }>();
        /** The retraction of each load that is not active. */
        const retractions = new Map<number, number>();
        for (const wished of steps) {
          const step = typeof wished === 'number' || 'rows' in wished ? wished : repeated(loads, wished);
          if (step === undefined) continue;
          if (typeof step === 'number') {
            const [number, load] = [...loads].at(-1 - step) ?? [];
            if (number === undefined || load === undefined) continue;
            const { loadNo } = await retracted(retractions.get(number) ?? number);
            load.isActive = !load.isActive;
            if (load.isActive) retractions.delete(number);
            else retractions.set(number, loadNo);
          } else {
            const lines = [...step.rows].map(([key, values]) => {
              const [fund = '', date] = key.split(' ');
              return [
                ids.get(fund),
                date,
                ...values.slice(0, step.columns.length).map((v) => v ?? ''),
              ].join();
            });
            const number = await loaded('nav', [['fund', 'date', ...step.columns].join(), ...lines]);
            loads.set(number, { ...step, isActive: true });
          }
          const found: Record<string, string> = {};
          for (const [name, id] of ids)
            for (const row of await navs(id)) {
              const [date, ...cells] = row.split(' ');
              found[`${name} ${date}`] = cells.join(' ');
            }
          t.deepEqual(found, folded([...loads.values()]));
        }
      }),
      { numRuns: Number(process.env['ORACLE_RUNS'] ?? 20), includeErrorInReport: true },
    );
  },
);
