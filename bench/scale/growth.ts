// Runs loads of 1 % new and 1 % revised rows one after the other, and measures the cost of each and the size of the database after it. Between them
// it does the work of autovacuum; at the end a retraction and a full vacuum.
import { figuresOf, print, printRow } from '../instruments/figures.ts';
import { pointLines, seriesIds } from './files.ts';
import { costOf, loadPoints, pointsPerSeries, retractLast, type Ground, type LoadCost } from './ground.ts';
import { findVacuumDue, readRelations, type Relation } from './growth.sql.ts';
import { costText, printGrowth } from './report.ts';

/** @param firstPoint the number of the first point that no series has yet. */
export async function measureGrowth(
  ground: Ground,
  { loads, firstPoint }: { loads: number; firstPoint: number },
): Promise<void> {
  const { client, rows, series } = ground;
  const costs: Record<'added' | 'revised' | 'vacuum', LoadCost[]> = { added: [], revised: [], vacuum: [] };
  const states: Relation[][] = [await readRelations(client)];
  const vacuumed = new Map<string, number>();
  for (let n = 0; n < loads; n += 1) {
    const point = (number: number, edition: number) =>
      pointLines(seriesIds(series), { first: number, last: number, edition });
    costs.added.push(await loadPoints(ground, point(firstPoint + n, 0)));
    const newest = n === 0 ? pointsPerSeries : firstPoint + n - 1;
    costs.revised.push(await loadPoints(ground, point(newest, n + 50)));
    costs.vacuum.push(await vacuumDue(ground, vacuumed));
    states.push(await readRelations(client));
  }
  print(
    `\n${loads} loads of 1 % new and 1 % revised, filled with ${rows}: seconds · CPU seconds · MB of log`,
  );
  printLoad('1 % new', costs.added, series);
  printLoad('1 % revised', costs.revised, series);
  printRow('the vacuum that is due then', [costText(costs.vacuum)]);
  for (const [statement, count] of vacuumed) print(`  ${statement}: after ${count} of ${loads}`);
  const retraction = await retractLast(ground);
  printLoad('a retraction of the last', [retraction], series);
  const vacuum = await costOf(ground, () => ground.database.query('vacuum analyze'));
  printRow('a vacuum of everything at the end', [costText([vacuum])]);
  states.push(await readRelations(client));
  print('');
  printGrowth(states);
}

function printLoad(name: string, costs: readonly LoadCost[], rows: number): void {
  const cpuUs = figuresOf(costs.map(({ cpuSeconds }) => (cpuSeconds * 1e6) / rows)).median;
  printRow(name, [costText(costs), `${cpuUs.toFixed(1)} µs CPU a row`]);
}

async function vacuumDue(ground: Ground, vacuumed: Map<string, number>): Promise<LoadCost> {
  const { client, database } = ground;
  await database.query('select pg_stat_force_next_flush()');
  const due = await findVacuumDue(client);
  for (const statement of due) vacuumed.set(statement, (vacuumed.get(statement) ?? 0) + 1);
  return costOf(ground, async () => {
    for (const statement of due) await database.query(statement);
  });
}
