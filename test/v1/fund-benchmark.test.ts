// The benchmark and the risk-free rate of a fund where the unit of their series has changed.
import test from 'ava';
import { declareBreak } from '../../ingest/history/series/break.ts';
import { addMonths } from '../../kernel/dates.ts';
import { openDatabase } from '../../kernel/database.ts';
import { periodEnd } from '../../domain/periods.ts';
import { fakeClock, silentLog } from '../services/harness.ts';
import { startListService, type ListService } from '../services/list-service.ts';

const monthEnds = Array.from({ length: 49 }, (_, i) => periodEnd(addMonths('2020-06-30', i), 'monthly'));
/** From then on, the index has the base year 2023. */
const breakFrom = '2023-12';

let service: ListService;
test.before(async () => {
  service = await startListService();
  const index = (date: string, i: number) => (1000 + 10 * i + 25 * (i % 3)) / (date < breakFrom ? 1 : 10);
  await service.load(
    'observations',
    ['series_id,date,value', ...monthEnds.map((date, i) => `SHARES,${date},${index(date, i)}`)],
    { create: true, set: { frequency: 'monthly', unit: 'Index 2010=1000', source: 'Exchange' } },
  );
  await service.load('funds', [
    'fund_id,name,currency,category,asset_class,benchmark_series,source',
    'tracker,Tracker,PKR,Index,index,SHARES,Register',
  ]);
  await service.load('nav', [
    'fund,date,nav',
    ...monthEnds.map((date, i) => `tracker,${date},${(1000 + 11 * i + 20 * (i % 3)) / 10}`),
  ]);
  const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
  await declareBreak(database, {
    ...{ noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock('2024-06-30T12:00:00Z') },
    ...{ id: 'SHARES', from: breakFrom, facts: { unit: 'Index 2023=100' } },
  });
  await database.close();
});
test.after.always(() => service.close());

const read = async (path: string) =>
  ((await service.call(`/v1/funds/tracker/${path}`)).json as { data: Record<string, unknown> }).data;

async function benchmarkOf(period: string, query = ''): Promise<unknown> {
  const periods = (await read(`returns${query}`))['periods'] as Record<string, unknown>[];
  return periods.find((each) => each['period'] === period)?.['benchmark_pct'];
}

test('a benchmark return is between values in one unit, and null across a break', async (t) => {
  t.is(await benchmarkOf('ytd'), 4.225352113);
  t.is(await benchmarkOf('1y'), null);
  t.is(await benchmarkOf('1y', '?as_of=2023-11-30'), 8.955223881);
});

test('no figure compares a fund with a benchmark, or uses a rate, across a break', async (t) => {
  const window = 'analytics?window=3y&frequency=monthly';
  t.like(await read(window), { benchmark: 'SHARES', n_obs: 36, benchmark_n_obs: 0, beta: null });
  t.like(await read(`${window}&as_of=2023-11-30`), { benchmark_n_obs: 36 });
  t.not((await read(`${window}&as_of=2023-11-30`))['beta'], null);
  t.is((await read(`${window}&risk_free=SHARES`))['sharpe'], null);
  t.not((await read(window))['sharpe'], null);
});
