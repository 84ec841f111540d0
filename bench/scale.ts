// Measures the cost of a hundred million observations in a million series, compared with a thousandth of them in the same run: calls, loads,
// retractions, vacuum, bytes per observation, and whether tables or indexes grow with the number of loads. `--rows N` (100000000), `--loads N` (10);
// `--partitions N` splits the observations of the large database (almanac migrate --partitions).
// The machine is shared, so CPU time is more reliable than elapsed time.
import { parseArgs } from 'node:util';
import { inTurn, print, printRow } from './instruments/figures.ts';
import { startBenchPostgres } from './instruments/postgres.ts';
import { compareCalls, startSide, type Side } from './instruments/sizes.ts';
import { scaleCalls } from './scale/calls.ts';
import { newSeriesIds, pointLines, seriesIds } from './scale/files.ts';
import {
  loadPoints,
  pointsPerSeries,
  retractLast,
  withGround,
  type Ground,
  type LoadCost,
} from './scale/ground.ts';
import { countObservations, readRelations } from './scale/growth.sql.ts';
import { measureGrowth } from './scale/growth.ts';
import { printBytes, printCosts } from './scale/report.ts';
import { makeWords, seeded } from './series/words.ts';

const times = 1_000;
const rounds = 3;

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const { values } = parseArgs({
    args: process.argv.slice(3),
    options: {
      rows: { type: 'string', default: '100000000' },
      loads: { type: 'string', default: '10' },
      partitions: { type: 'string' },
    },
  });
  const [rows, loads] = [Number(values.rows), Number(values.loads)];
  const partitions = values.partitions === undefined ? undefined : Number(values.partitions);
  if (!(rows > 0 && Number.isInteger(rows / (times * pointsPerSeries))))
    throw new Error('--rows is a multiple of 100,000.');
  const words = makeWords(3_000, seeded(20_261_128));
  const postgres = await startBenchPostgres({ autovacuum: 'off' });
  try {
    await withGround(postgres, { rows: rows / times }, words, (small) =>
      withGround(postgres, { rows, partitions }, words, async (large) => {
        const grounds = [small, large] as const;
        await report(grounds, 'at first');
        await measureCalls(grounds, words);
        await measureSameLoads(...grounds);
        for (const ground of grounds)
          await measureGrowth(ground, { loads, firstPoint: 1 + pointsPerSeries * (rounds + 1) });
        await report(grounds, `after ${loads} such loads`);
        await measureCalls(grounds, words);
      }),
    );
  } finally {
    await postgres.stop();
  }
}

async function report(grounds: readonly Ground[], when: string): Promise<void> {
  print(`\nBytes, ${when}`);
  for (const { rows, client } of grounds)
    printBytes(`filled with ${rows}`, await readRelations(client), await countObservations(client));
}

async function measureCalls(grounds: readonly [Ground, Ground], words: readonly string[]): Promise<void> {
  const sides: Side[] = [];
  try {
    for (const { url, rows } of grounds) sides.push(await startSide(url, rows));
    print('');
    await compareCalls({ sides, unit: 'rows', calls: scaleCalls(words, grounds[0].series), ratioMax: 1.2 });
  } finally {
    for (const side of sides) await side.stop();
  }
}

/** Loads files with the same number of rows and series into both. In the large database the rows are far from each other. */
async function measureSameLoads(small: Ground, large: Ground): Promise<void> {
  const { series } = small;
  const addedRows = large.rows / 100;
  const known = (ground: Ground) => seriesIds(series, ground.series / series);
  const newPoints = (round: number) => ({
    first: 1 + pointsPerSeries * (round + 1),
    last: pointsPerSeries * (round + 2),
    edition: 0,
  });
  const kinds: Record<string, (ground: Ground, round: number) => Promise<LoadCost>> = {
    [`${small.rows} new points of ${series} series`]: (ground, round) =>
      loadPoints(ground, pointLines(known(ground), newPoints(round))),
    [`${small.rows} revised points of them`]: (ground, round) =>
      loadPoints(ground, pointLines(known(ground), { first: 1, last: pointsPerSeries, edition: round + 2 })),
    'a retraction of that': (ground) => retractLast(ground),
    [`${addedRows} points of new series`]: (ground, round) =>
      loadPoints(
        ground,
        pointLines(newSeriesIds(addedRows / pointsPerSeries, round), {
          first: 1,
          last: pointsPerSeries,
          edition: 0,
        }),
        true,
      ),
  };
  print(`\nThe same in both databases, ${rounds} rounds: seconds · CPU seconds · MB of log`);
  printRow('', [String(small.rows), String(large.rows), 'time (goal: ≤ 1.3×)', 'CPU']);
  const costs = new Map(Object.keys(kinds).map((name) => [name, [[], []] as [LoadCost[], LoadCost[]]]));
  for (let round = 0; round < rounds; round += 1)
    for (const [name, work] of Object.entries(kinds)) {
      const measured = await inTurn(1, {
        small: () => work(small, round),
        large: () => work(large, round),
      });
      costs.get(name)?.[0].push(...measured.small);
      costs.get(name)?.[1].push(...measured.large);
    }
  for (const [name, [ofSmall, ofLarge]] of costs) printCosts(name, ofSmall, ofLarge);
}
