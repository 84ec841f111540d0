import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { stringify } from 'yaml';
import { features, loadPlans, openPlans, planOf, type Plan } from './plans.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'almanac-plans-'));
test.after.always(() => rmSync(directory, { recursive: true }));

const free = {
  id: 'free',
  name: 'Free',
  price_usd_month: 0,
  calls_month: 1_000,
  calls_second: 10,
  features: [] as string[],
};

let files = 0;
function fileOf(...plans: object[]): string {
  const file = path.join(directory, `${(files += 1)}.yml`);
  writeFileSync(file, stringify({ plans }));
  return file;
}

test('two plans with one id are refused', (t) => {
  t.throws(() => loadPlans(fileOf(free, { ...free, calls_month: 5_000 })), {
    message: /two plans share an id/,
  });
  const twice = { ...free, id: 'pro' };
  t.throws(() => loadPlans(fileOf(free, twice, twice)), { message: /two plans share an id/ });
});

test('plans without a free plan are refused', (t) => {
  t.throws(() => loadPlans(fileOf({ ...free, id: 'pro' })), { message: /a plan with id "free" is needed/ });
  t.throws(() => loadPlans(fileOf()));
});

test('each field of a plan is checked, at its limits', (t) => {
  const refused: Record<string, unknown>[] = [
    ...['Pro', '1st', '-pro', 'a'.repeat(33), '', 'pro!'].map((id) => ({ id })),
    { name: '' },
    { price_usd_month: -0.01 },
    ...[0, -1, 1.5, '1000'].map((calls) => ({ calls_month: calls })),
    ...[0, 1.5, null].map((calls) => ({ calls_second: calls })),
    ...[0, 1.5, null, '4'].flatMap((count) => [{ concurrency: count }, { series_per_call: count }]),
    { features: ['everything'] },
    { calls_months: 1 },
  ];
  for (const change of refused) {
    const plan = { ...free, id: 'pro', ...change };
    t.throws(() => loadPlans(fileOf(free, plan)), undefined, JSON.stringify(change));
  }
  for (const name of Object.keys(free).filter((field) => field !== 'id')) {
    const plan = Object.fromEntries(
      Object.entries({ ...free, id: 'pro' }).filter(([field]) => field !== name),
    );
    t.throws(() => loadPlans(fileOf(free, plan)), undefined, `without ${name}`);
  }
  const accepted: Record<string, unknown>[] = [
    ...['a', 'a-b_9', 'a'.repeat(32)].map((id) => ({ id })),
    { name: 'x' },
    ...[0, 0.01, null].map((price) => ({ price_usd_month: price })),
    ...[1, null].map((calls) => ({ calls_month: calls })),
    { calls_second: 1 },
    { concurrency: 1 },
    { series_per_call: 10 },
    { features: [...features] },
  ];
  for (const change of accepted) {
    const plan = { ...free, id: 'pro', ...change };
    const { prices: _prices, ...loaded }: Partial<Plan> = loadPlans(fileOf(free, plan)).all[1] ?? {};
    t.deepEqual<object, object>(
      loaded,
      { concurrency: 10, series_per_call: 1, ...plan },
      JSON.stringify(change),
    );
  }
});

const { price_usd_month: _free, ...unpriced } = { ...free, id: 'pro', name: 'Pro' };
const monthly = { interval: 'month', amount: 9_900, currency: 'usd' };
const yearly = { interval: 'year', amount: 79_000, currency: 'eur', stripe: 'price_1abc' };

test('a plan is sold monthly and yearly, each price in its own currency, with the plan or the stated name at Stripe', (t) => {
  const [, pro, starter] = loadPlans(
    fileOf(free, { ...unpriced, prices: [monthly, yearly] }, { ...free, id: 'starter', price_usd_month: 29 }),
  ).all;
  t.deepEqual<unknown, unknown>(pro?.prices, [{ ...monthly, stripe: 'almanac_pro_month' }, yearly]);
  t.is(pro?.price_usd_month, 99);
  t.deepEqual<unknown, unknown>(starter?.prices, [
    { ...monthly, amount: 2_900, stripe: 'almanac_starter_month' },
  ]);
  const [, euros] = loadPlans(fileOf(free, { ...unpriced, prices: [yearly] })).all;
  t.is(euros?.price_usd_month, null);
});

test('contradictory prices, and prices that cannot be charged, are refused', (t) => {
  const refused: [object, RegExp][] = [
    [unpriced, /needs prices, or price_usd_month/],
    [{ ...unpriced, prices: [monthly, { ...monthly, amount: 1 }] }, /two prices for one interval/],
    [{ ...unpriced, price_usd_month: 98, prices: [monthly] }, /price_usd_month and prices differ/],
    [{ ...unpriced, prices: [monthly, { ...yearly, stripe: 'almanac_pro_month' }] }, /the same at Stripe/],
    ...[0, -1, 1.5, '9900'].map((amount): [object, RegExp] => [
      { ...unpriced, prices: [{ ...monthly, amount }] },
      /amount/,
    ]),
    ...['USD', 'us', ''].map((currency): [object, RegExp] => [
      { ...unpriced, prices: [{ ...monthly, currency }] },
      /currency/,
    ]),
    [{ ...unpriced, prices: [{ ...monthly, interval: 'week' }] }, /interval/],
  ];
  for (const [plan, message] of refused) {
    t.throws(() => loadPlans(fileOf(free, plan)), { message }, JSON.stringify(plan));
  }
  t.throws(() => loadPlans(fileOf({ ...free, price_usd_month: 1 })), { message: /"free" has no price/ });
  t.notThrows(() => loadPlans(fileOf(free, { ...unpriced, price_usd_month: 99, prices: [monthly] })));
});

test('the lowest plan with a feature is the first of the file that has it', (t) => {
  const higher = ['starter', 'pro', 'enterprise'].map((id) => ({
    ...free,
    id,
    features: id === 'starter' ? [] : ['vintages'],
  }));
  const plans = loadPlans(fileOf(free, ...higher));
  t.is(plans.lowestWith('vintages')?.id, 'pro');
  t.is(plans.lowestWith('webhooks'), undefined);
  t.is(plans.get('enterprise')?.id, 'enterprise');
  t.is(plans.get('gold'), undefined);
});

test('an account whose plan was removed has the free plan', (t) => {
  const plans = loadPlans(fileOf(free, { ...free, id: 'pro' }));
  t.is(planOf(plans, 'pro').id, 'pro');
  t.is(planOf(plans, 'gold').id, 'free');
});

test('a changed file takes effect when it is applied, and never if it is invalid', (t) => {
  const file = fileOf(free, { ...free, id: 'pro', features: ['webhooks'] });
  const plans = openPlans(file);
  writeFileSync(file, stringify({ plans: [{ ...free, calls_month: 2_000, features: ['vintages'] }] }));
  const activate = plans.prepareReload();
  t.is(plans.get('free')?.calls_month, 1_000);
  t.is(plans.all.length, 2);
  activate();
  t.is(plans.get('free')?.calls_month, 2_000);
  t.is(plans.all.length, 1);
  t.is(plans.lowestWith('vintages')?.id, 'free');
  t.is(plans.get('pro'), undefined);
  writeFileSync(file, stringify({ plans: [] }));
  t.throws(() => plans.prepareReload(), { message: new RegExp(file) });
  t.is(plans.get('free')?.calls_month, 2_000);
});
