// A hundred series as one wide CSV, compared with one series of as many points: warm, and with a different URL for each call, so that no answer is
// cached.
import { figuresOf, inTurn, print, printRow, ratios, shown } from '../instruments/figures.ts';
import { withClient, type BenchPostgres } from '../instruments/postgres.ts';
import { costOfStream, cpuUs, distinctWindows, withService, type Service } from './costs.ts';
import { fillVintages } from './fill.sql.ts';

const rounds = 5;
/** Calls per round. */
const calls = 5;
const many = { series: 100, points: 500 };
const longPoints = many.series * many.points;

/** Builds a database, measures, prints. */
export async function measureWide(postgres: BenchPostgres): Promise<void> {
  const databaseUrl = await postgres.createDatabase('bench_wide');
  const ids = Array.from({ length: many.series }, (_, i) => `W${i}`);
  await withClient(databaseUrl, async (client) => {
    for (const id of ids) await fillVintages(client, { id, points: many.points, vintages: 1, revised: 0 });
    await fillVintages(client, { id: 'LONG', points: longPoints, vintages: 1, revised: 0 });
    await client.query('vacuum analyze');
  });
  await withService(databaseUrl, (service) => compare(service, ids));
  await postgres.dropDatabase('bench_wide');
}

async function compare(service: Service, ids: readonly string[]): Promise<void> {
  const fromDay = distinctWindows();
  const streamed = (url: string) => () =>
    costOfStream(service, ...Array.from({ length: calls }, () => `${url}&from=${fromDay()}`));
  const table = `/v1/series?ids=${ids.join(',')}&format=csv`;
  const measurements = {
    'one series': streamed('/v1/series/LONG?format=csv'),
    wide: streamed(`${table}&layout=wide`),
    long: streamed(`${table}&layout=long`),
  };
  await inTurn(1, measurements); // warm-up
  const costs = await inTurn(rounds, measurements);
  print(`\n${many.series} series of ${many.points} points as one CSV, against one series of ${longPoints}`);
  printRow('', ['ms a call', 'Node CPU ms', 'database CPU ms']);
  for (const [name, each] of Object.entries(costs)) {
    printRow(name, [
      shown(figuresOf(each.map(({ ms }) => ms / calls)), 1),
      shown(figuresOf(each.map(({ serverUs }) => serverUs / 1e3 / calls)), 1),
      shown(figuresOf(each.map(({ databaseUs }) => databaseUs / 1e3 / calls)), 1),
    ]);
  }
  const times = (name: 'wide' | 'long') =>
    shown(
      ratios(
        costs[name].map(({ ms }) => ms),
        costs['one series'].map(({ ms }) => ms),
      ),
      2,
    );
  const cpu = ratios(costs.wide.map(cpuUs), costs['one series'].map(cpuUs));
  print(
    `  wide: ${times('wide')}× the time (goal: < 3×), ${shown(cpu, 2)}× the CPU; long: ${times('long')}× the time`,
  );
}
