// Prints the results of the scale bench: bytes per observation, costs in comparison, sizes load by load.
import { figuresOf, print, printRow, ratios, shown } from '../instruments/figures.ts';
import type { LoadCost } from './ground.ts';
import type { Relation } from './growth.sql.ts';

const megabytes = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);

/** Bytes of the observations with their indexes, and of all tables. */
export function printBytes(
  name: string,
  relations: readonly Relation[],
  { points, rows }: { points: number; rows: number },
): void {
  const own = relations.filter((relation) => relation.name.startsWith('observations'));
  const [ofObservations, ofAll] = [sumOf(own, 'bytes'), sumOf(relations, 'bytes')];
  print(
    `${name}: ${points} observations in ${rows} rows; ${(ofObservations / points).toFixed(1)} bytes an observation ` +
      `with all indexes (goal: ≤ 100), ${(ofObservations / rows).toFixed(1)} a row; ${(ofAll / points).toFixed(1)} ` +
      'an observation with series, vintages and search',
  );
  for (const { name: relation, bytes, entries } of mainOf(relations))
    print(
      `  ${relation.padEnd(34)}${megabytes(bytes).padStart(10)} MB${(bytes / entries).toFixed(1).padStart(10)} bytes ` +
        `an entry${(bytes / points).toFixed(2).padStart(8)} an observation`,
    );
}

/** One kind of load in a small and a large database, round by round. */
export function printCosts(name: string, small: readonly LoadCost[], large: readonly LoadCost[]): void {
  const times = ratios(
    large.map(({ seconds }) => seconds),
    small.map(({ seconds }) => seconds),
  );
  const cpu = ratios(
    large.map(({ cpuSeconds }) => cpuSeconds),
    small.map(({ cpuSeconds }) => cpuSeconds),
  );
  printRow(name, [
    ...[small, large].map((costs) => costText(costs)),
    `${shown(times, 2)}×`,
    `${shown(cpu, 2)}×`,
  ]);
}

/** `1.23 s · 1.01 CPU · 12 MB`: the medians. */
export function costText(costs: readonly LoadCost[]): string {
  const median = (of: (cost: LoadCost) => number): number => figuresOf(costs.map(of)).median;
  const [seconds, cpu] = [median((cost) => cost.seconds), median((cost) => cost.cpuSeconds)];
  return `${seconds.toFixed(2)} · ${cpu.toFixed(2)} · ${megabytes(median((cost) => cost.logBytes))}`;
}

/** The sizes after each load, in MB, and the bytes per entry before the first load and at the end. */
export function printGrowth(states: readonly (readonly Relation[])[]): void {
  const [first = [], last = []] = [states[0], states.at(-1)];
  const shownStates = states.filter(
    (_, at) => at % Math.ceil((states.length - 1) / 10) === 0 || at === states.length - 1,
  );
  const line = (name: string, cells: readonly string[]): void =>
    print(`${name.padEnd(34)}${cells.map((cell) => cell.padStart(9)).join('')}`);
  line('MB after load', [
    ...shownStates.map((state) => String(states.indexOf(state))),
    'B/entry',
    'at last',
    'dead',
  ]);
  for (const { name, dead } of mainOf(last)) {
    const of = (state: readonly Relation[]) => state.find((relation) => relation.name === name);
    const perEntry = (state: readonly Relation[]): string =>
      ((of(state)?.bytes ?? Number.NaN) / (of(state)?.entries ?? Number.NaN)).toFixed(1);
    const sizes = shownStates.map((state) => megabytes(of(state)?.bytes ?? Number.NaN));
    line(name, [...sizes, perEntry(first), perEntry(last), String(dead)]);
  }
  line(
    'all',
    shownStates.map((state) => megabytes(sumOf(state, 'bytes'))),
  );
  line(
    'dead rows',
    shownStates.map((state) => String(sumOf(state, 'dead'))),
  );
}

/** Without relations smaller than half a percent of the total. */
function mainOf(relations: readonly Relation[]): readonly Relation[] {
  const total = sumOf(relations, 'bytes');
  return total < 2 ** 24 ? [] : relations.filter(({ bytes }) => bytes > total / 200);
}

function sumOf(relations: readonly Relation[], of: 'bytes' | 'dead'): number {
  return relations.reduce((sum, relation) => sum + relation[of], 0);
}
