// Figures of several rounds, and their printing. One round proves nothing on a shared machine.

/** The results of all rounds for one measurement. */
export interface Figures {
  min: number;
  median: number;
  max: number;
}

export function figuresOf(values: readonly number[]): Figures {
  const sorted = values.toSorted((a, b) => a - b);
  return {
    min: sorted[0] ?? Number.NaN,
    median: sorted[Math.floor(sorted.length / 2)] ?? Number.NaN,
    max: sorted.at(-1) ?? Number.NaN,
  };
}

/** Runs each measurement once per round, alternately forwards and backwards, so that no measurement gets all the quiet times. */
export async function inTurn<Name extends string, Result>(
  rounds: number,
  measurements: Readonly<Record<Name, () => Promise<Result>>>,
): Promise<Record<Name, Result[]>> {
  const names = Object.keys(measurements) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, [] as Result[]])) as Record<Name, Result[]>;
  for (let round = 0; round < rounds; round += 1) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      results[name].push(await measurements[name]());
    }
  }
  return results;
}

/** The ratio of two measurements, round by round. */
export function ratios(over: readonly number[], under: readonly number[]): Figures {
  return figuresOf(over.map((value, round) => value / (under[round] ?? Number.NaN)));
}

/** `12.3 (11.9–14.0)`: the median, the minimum and the maximum. */
export function shown({ min, median, max }: Figures, digits = 1): string {
  return `${median.toFixed(digits)} (${min.toFixed(digits)}–${max.toFixed(digits)})`;
}

/** Prints a line of a table: a name, then columns. */
export function printRow(name: string, cells: readonly string[]): void {
  print(`${name.padEnd(34)}${cells.map((cell) => cell.padStart(22)).join('')}`);
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

/** Prints a line of a table: the count, the median and the 99th percentile. */
export function printLatencies(name: string, latenciesMs: readonly number[]): void {
  const at = (share: number) => percentile(latenciesMs, share).toFixed(1);
  printRow(name, [String(latenciesMs.length), at(0.5), at(0.99)]);
}

/** @param share from 0 to 1. NaN if there are no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN;
}
