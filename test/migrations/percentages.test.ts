// The rule for computed percentages in PostgreSQL, compared with the same rule in the services.
import test from 'ava';
import fc from 'fast-check';
import pg from 'pg';
import { decimal, percentOf } from '../../data-api/decimal.ts';
import { createTestDatabase } from '../services/harness.ts';

/** A connection to a database of its own. */
async function connect() {
  const database = await createTestDatabase();
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  return {
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

test('PostgreSQL computes no percentage without a part or a positive whole', async (t) => {
  const { rows } = await client.query<{ percents: unknown[] }>(
    `select array[data.percent_of(1, null), data.percent_of(null, 1), data.percent_of(1, 0), data.percent_of(1, -1)] as percents`,
  );
  t.deepEqual(rows[0]?.percents, [null, null, null, null]);
});

test('the market shares of companies are rounded by the same rule', async (t) => {
  const own = await connect();
  t.teardown(() => own.end());
  await own.query(
    `insert into data.amcs (amc_id, name, source) values ('a', 'A', 'Register'), ('b', 'B', 'Register')`,
  );
  await own.query(
    `with added as (
       insert into data.funds (fund_id, name, amc_id, currency, source)
       values ('fund-1', 'Fund', 'a', 'PKR', 'Register'), ('fund-2', 'Fund', 'b', 'PKR', 'Register') returning fund_no, fund_id)
     insert into data.fund_figures (fund_no, fund_id, aum, aum_date, updated_on)
     select fund_no, fund_id, right(fund_id, 1)::integer, '2024-06-28', current_date from added`,
  );
  await own.query('select data.keep_amc_figures()');
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
