// The rule of computed percentages in PostgreSQL, beside the same rule in the services.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import fc from 'fast-check';
import pg from 'pg';
import { decimal, percentOf } from '../../data-api/decimal.ts';
import { percent } from '../../domain/percent.ts';
import { projectRoot } from '../../kernel/settings.ts';
import { createTestDatabase } from '../services/harness.ts';

let client: pg.Client;
let dropDatabase: () => Promise<void>;

test.before(async () => {
  const database = await createTestDatabase();
  dropDatabase = () => database.drop();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

test.after.always(async () => {
  await client?.end();
  await dropDatabase?.();
});

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

test('the migration rounds the figures of funds that stand as the loads round them', async (t) => {
  const values = fc.sample(
    fc.double({ min: -1e6, max: 1e6, noNaN: true }).filter((value) => value !== 0),
    { numRuns: 1_000, seed: 66 },
  );
  await client.query(
    `with added as (
       insert into data.funds (fund_id, name, currency, source)
       select 'fund-' || place, 'Fund', 'PKR', 'Register' from generate_series(1, $1) place
       returning fund_no, fund_id)
     insert into data.fund_figures (fund_no, fund_id, return_1y_pct, volatility_1y_pct, sharpe_1y, updated_on)
     select fund_no, fund_id, value, -value, value, current_date
     from added join unnest($2::double precision[]) with ordinality v (value, place) on fund_id = 'fund-' || place`,
    [values.length, values],
  );
  await client.query(readFileSync(path.join(projectRoot, 'migrations/000066_fund_percentages.sql'), 'utf8'));
  const { rows } = await client.query<Record<string, number | null>>(
    `select return_1y_pct, volatility_1y_pct, return_1m_pct, sharpe_1y from data.fund_figures
     order by substr(fund_id, 6)::integer`,
  );
  t.deepEqual(
    rows,
    values.map((value) => ({
      return_1y_pct: percent(value),
      volatility_1y_pct: percent(-value),
      return_1m_pct: null,
      sharpe_1y: value,
    })),
  );
});

function plain(units: bigint, scale: number): string {
  const text = String(units < 0n ? -units : units).padStart(scale + 1, '0');
  return `${units < 0n ? '-' : ''}${text.slice(0, text.length - scale)}${scale === 0 ? '' : `.${text.slice(-scale)}`}`;
}
