// The rule of computed percentages in PostgreSQL, beside the same rule in the services.
import test from 'ava';
import fc from 'fast-check';
import pg from 'pg';
import { decimal, percentOf } from '../../data-api/decimal.ts';
import { percent } from '../../domain/percent.ts';
import { migrate } from '../../migrations/run.ts';
import { createTestDatabase } from '../services/harness.ts';

/** A connection to a database of its own. */
async function connect() {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return {
    url: database.url,
    query: <Row extends object>(text: string, values: unknown[] = []) => client.query<Row>(text, values),
    async end() {
      await client.end();
      await database.drop();
    },
  };
}

let client: Awaited<ReturnType<typeof connect>>;

test.before(async () => {
  client = await connect();
});

test.after.always(() => client?.end());

const amounts = fc.tuple(fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }), fc.integer({ min: 0, max: 20 }));
const sign = fc.constantFrom(1n, -1n);
/** Any numbers; and such that the quotient has a 5 behind its tenth digit, or all but. */
const pairs = fc.oneof(
  fc.tuple(amounts, amounts),
  fc.tuple(
    fc
      .tuple(sign, fc.bigInt({ min: 10n ** 9n, max: 10n ** 10n }), fc.integer({ min: 0, max: 20 }))
      .map(([sign, units, scale]): [bigint, number] => [sign * (units * 10n + 5n), scale]),
    fc.constantFrom<[bigint, number]>([1n, 0], [1n, 20], [10n ** 20n + 1n, 20], [10n ** 20n - 1n, 20]),
  ),
);

test('PostgreSQL rounds a percentage as the services do', async (t) => {
  const parts = fc.sample(pairs, 5_000).map((pair) => pair.map(([units, scale]) => plain(units, scale)));
  const { rows } = await client.query<{ part: string; whole: string; percent: string | null }>(
    `select part, whole, data.percent_of(part, whole) as percent
     from unnest($1::numeric[], $2::numeric[]) asked (part, whole)`,
    [parts.map(([part]) => part), parts.map(([, whole]) => whole)],
  );
  t.is(rows.length, 5_000);
  for (const { part, whole, percent } of rows)
    if (percent !== percentOf(decimal(part), decimal(whole)))
      t.is(percent, percentOf(decimal(part), decimal(whole)), `${part} of ${whole}`);
});

test('what PostgreSQL lacks a part or a positive whole of has no percentage', async (t) => {
  const { rows } = await client.query<{ percents: unknown[] }>(
    `select array[data.percent_of(1, null), data.percent_of(null, 1), data.percent_of(1, 0), data.percent_of(1, -1)] as percents`,
  );
  t.deepEqual(rows[0]?.percents, [null, null, null, null]);
});

test('the percentages that an installation has stored are rounded when it is migrated', async (t) => {
  const own = await connect();
  t.teardown(() => own.end());
  const names = ['000065_percentages', '000066_fund_percentages'];
  await own.query('drop function data.percent_of');
  await own.query('delete from public.almanac_migrations where name = any($1)', [names]);
  const arbitrary = fc.double({ min: -1e6, max: 1e6, noNaN: true }).filter((value) => value !== 0);
  const values = fc.sample(arbitrary, { numRuns: 1_000, seed: 66 });
  await own.query(
    `insert into data.amcs (amc_id, name, source) values ('a', 'A', 'Register'), ('b', 'B', 'Register')`,
  );
  await own.query(
    `with added as (
       insert into data.funds (fund_id, name, amc_id, currency, source)
       select 'fund-' || place, 'Fund', case place when 1 then 'a' when 2 then 'b' end, 'PKR', 'Register'
       from generate_series(1, $1) place returning fund_no, fund_id)
     insert into data.fund_figures
       (fund_no, fund_id, aum, aum_date, return_1y_pct, volatility_1y_pct, sharpe_1y, updated_on)
     select fund_no, fund_id, case when place < 3 then place end, '2024-06-28', value, -value, value, current_date
     from added join unnest($2::double precision[]) with ordinality v (value, place) on fund_id = 'fund-' || place`,
    [values.length, values],
  );
  t.deepEqual(await migrate(own.url), names);
  const figures = await own.query<Record<string, number | null>>(
    `select return_1y_pct, volatility_1y_pct, return_1m_pct, sharpe_1y from data.fund_figures
     order by substr(fund_id, 6)::integer`,
  );
  t.deepEqual(
    figures.rows,
    values.map((value) => ({
      return_1y_pct: percent(value),
      volatility_1y_pct: percent(-value),
      return_1m_pct: null,
      sharpe_1y: value,
    })),
  );
  const shares = await own.query<{ share: string }>(
    'select market_share_pct as share from data.amc_figures order by amc_id',
  );
  t.deepEqual(
    shares.rows.map(({ share }) => share),
    ['33.33333333', '66.66666667'],
  );
});

function plain(units: bigint, scale: number): string {
  const text = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  return `${units < 0n ? '-' : ''}${text.slice(0, text.length - scale)}${scale === 0 ? '' : `.${text.slice(-scale)}`}`;
}
