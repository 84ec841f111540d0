// The order in which test files run for a change: first those most likely to notice it per unit of time.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { ranAt, type CoverageMap } from './coverage.ts';
import type { Mutant } from './mutant.ts';

export interface Order {
  /** Those that run the changed code, the nearest first, up to `nearShare` of the suite's time. */
  covering: string[];
  /** All others: a change may be noticed by reading the file, or in a process that left no coverage. */
  others: string[];
  /** How many run the changed code. */
  count: number;
}

/** Otherwise code that every test file runs would be tried alone on the whole suite; instead it is tried there with other changes. */
const nearShare = 0.2;

/** The total time of all test files; a share of it means the same on a slow machine. */
export function suiteMs(map: CoverageMap): number {
  return Object.values(map).reduce((total, { ms }) => total + ms, 0);
}

/** Whether a test file runs the changed code. */
export function isRunBy({ places }: Mutant, test: string, map: CoverageMap): boolean {
  const facts = map[test];
  return facts !== undefined && places.some(({ file, offset }) => ranAt(facts, file, offset));
}

/** @param files the project's files, to find who reads a file of SQL. */
export function orderTests(mutant: Mutant, map: CoverageMap, root: string, files: readonly string[]): Order {
  const tests = Object.keys(map);
  const readers = mutant.places.flatMap((place) =>
    /\.(?:sql|lua)$/.test(place.file) ? readersOf(place, root, files) : [],
  );
  // Migrations create every database, so a part of one counts as run by the files that name the same table.
  const runsReader = (test: string) => readers.filter((file) => map[test]?.ran[file] !== undefined).length;
  const most = Math.max(1, ...tests.map(runsReader));
  const near = (test: string) => Math.max(...mutant.places.map((place) => nearness(place, test)));
  const cost = (test: string) =>
    (map[test]?.ms ?? 0) / (0.05 + 0.9 * near(test) + (0.5 * runsReader(test)) / most);
  const runs = (test: string) => isRunBy(mutant, test, map) || runsReader(test) > 0 || near(test) === 1;
  const sorted = tests
    .map((test) => ({ test, cost: cost(test), runs: runs(test) }))
    .toSorted((a, b) => a.cost - b.cost);
  const running = sorted.filter(({ runs }) => runs).map(({ test }) => test);
  let budget = nearShare * suiteMs(map);
  const covering = running.filter((test) => (budget -= map[test]?.ms ?? 0) > 0 || test === running[0]);
  const others = sorted.map(({ test }) => test).filter((test) => !covering.includes(test));
  return { covering, others, count: running.length };
}

/** From 0 to 1: 1 for the test next to a file and those of all migrations, else the share of words common to both paths. */
function nearness({ file }: { file: string }, test: string): number {
  if (test === file.replace(/(\.sql)?\.ts$/, '.test.ts')) return 1;
  if (file.startsWith('migrations/') && test.startsWith('test/migrations/')) return 1;
  const words = wordsOf(file);
  const others = new Set(wordsOf(test));
  return words.filter((word) => others.has(word)).length / (words.length + 1);
}

function wordsOf(file: string): string[] {
  const words = file
    .toLowerCase()
    .replace(/(\.test|\.sql)?\.(ts|sql)$/, '')
    .split(/[^a-z]+/);
  return words.filter((word) => word !== '' && word !== 'test').map((word) => word.replace(/(ies|s)$/, ''));
}

/** The source files that name the table which a part of a migration is about, or that name a script. */
function readersOf(
  { file, offset }: { file: string; offset: number },
  root: string,
  files: readonly string[],
): string[] {
  const reads = (pattern: RegExp) =>
    files.filter(
      (name) =>
        name.endsWith('.ts') &&
        !name.startsWith('test/') &&
        pattern.test(readFileSync(path.join(root, name), 'utf8')),
    );
  if (file.endsWith('.lua')) return reads(new RegExp(`'${path.basename(file).replace('.', '\\.')}'`));
  const text = readFileSync(path.join(root, file), 'utf8');
  const end = text.indexOf(';', offset);
  const named = [...text.slice(0, end === -1 ? undefined : end).matchAll(/\b(?:data|accounts)\.([a-z_]+)/g)];
  const last = text.lastIndexOf(';\n', offset);
  const inStatement = named.filter(({ index }) => index > last);
  const tables = (inStatement.length > 0 ? inStatement : named.slice(-1)).map(([, table = '']) => table);
  const pattern = new RegExp(`\\b(?:${[...new Set(tables)].join('|')})\\b`);
  return reads(pattern);
}
