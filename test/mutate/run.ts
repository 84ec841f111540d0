// `npm run mutate`: draws plausible single changes, runs the tests on each, and lists those that no test notices.
// Needs no network; the tree it runs in is only read.
import { availableParallelism, tmpdir } from 'node:os';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { projectRoot } from '../../kernel/project.ts';
import { makeCopy, type Copy } from './copy.ts';
import { measure, readMap, RedBase, writeMap, type CoverageMap } from './coverage.ts';
import { createDraw, defaultFolders, projectFiles } from './draw.ts';
import { judge, judgeLeft, type Left, type Surroundings, type Verdict } from './judge.ts';
import { mutantOf, mutantOfPatch, type Mutant } from './mutant.ts';

const usage = `Usage: npm run mutate -- [--seed N] [--count M] [folder or file …]
  --list             print the changes that would be tried
  --patch FILE       try this patch instead of drawing; may be given several times
  --workers W        copies of the tree that are tried at once (half of the cores)
  --coverage fresh   measure anew what each test file runs
  --json FILE        write the results to a file
`;
const mapFile = path.join(projectRoot, 'node_modules/.cache/almanac-mutate/coverage.json');

interface Result {
  mutant: Mutant;
  verdict: Verdict;
  ms: number;
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seed: { type: 'string', default: '1' },
    count: { type: 'string', default: '10' },
    list: { type: 'boolean', default: false },
    patch: { type: 'string', multiple: true, default: [] },
    workers: { type: 'string', default: String(Math.max(1, Math.floor(availableParallelism() / 2))) },
    coverage: { type: 'string', default: 'kept' },
    json: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});
const stop = new AbortController();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => stop.abort(signal));
try {
  await main();
} catch (error) {
  process.exitCode = 1;
  process.stderr.write(
    stop.signal.aborted ? 'Stopped.\n' : `${error instanceof Error ? error.message : String(error)}\n`,
  );
}

async function main(): Promise<void> {
  const [seed, count, workers] = [values.seed, values.count, values.workers].map(Number);
  if (values.help || !isCount(seed) || !isCount(count) || !isCount(workers) || workers === 0)
    throw new Error(usage);
  const draw = createDraw(projectRoot, positionals.length > 0 ? positionals : defaultFolders, seed);
  const mutants =
    values.patch.length > 0
      ? values.patch.map((patch) => mutantOfPatch(projectRoot, patch))
      : draw.first(count).map((candidate) => mutantOf(candidate, draw.sourceOf(candidate.file)));
  if (mutants.length === 0) throw new Error('There is nothing to change there.');
  if (values.list) return printList(mutants);
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-mutate-'));
  chmodSync(directory, 0o755); // where root runs this, PostgreSQL's own user must get in
  const copies: Copy[] = [];
  try {
    for (let i = 0; i < workers; i += 1) copies.push(await openCopy(path.join(directory, String(i))));
    const concurrency = Math.max(1, Math.floor(availableParallelism() / workers));
    const files = projectFiles(projectRoot);
    const map = await coverageOf(copies, files, concurrency);
    const around = { map, root: projectRoot, files, concurrency, signal: stop.signal };
    report(await tryAll(copies, mutants, draw, around), draw.invalid());
  } finally {
    await Promise.all(copies.map((copy) => copy.stop()));
    rmSync(directory, { recursive: true, force: true });
  }
}

async function tryAll(
  copies: readonly Copy[],
  mutants: readonly Mutant[],
  draw: ReturnType<typeof createDraw>,
  around: Surroundings,
): Promise<Result[]> {
  const results: Result[] = [];
  const tryOne = async (copy: Copy, mutant: Mutant): Promise<void> => {
    const startedAtMs = Date.now();
    const verdict = await judge(copy, mutant, around);
    const result = { mutant, verdict, ms: Date.now() - startedAtMs };
    results.push(result);
    printResult(result);
    if (verdict.kind !== 'invalid' || mutant.candidate === undefined) return;
    const other = draw.replacement(mutant.candidate);
    if (other !== undefined) await tryOne(copy, mutantOf(other, draw.sourceOf(other.file)));
  };
  await distribute(copies, mutants, tryOne);
  const left = results.filter((result): result is Result & Left => result.verdict.kind === 'left');
  const [copy] = copies;
  if (left.length === 0 || copy === undefined) return results;
  print(`\ntrying the ${left.length} that are left on all other test files …`);
  const verdicts = await judgeLeft(copy, left, { ...around, concurrency: availableParallelism() });
  return results.map((result) => {
    const verdict = verdicts.get(result.mutant);
    if (verdict === undefined) return result;
    printResult({ ...result, verdict });
    return { ...result, verdict };
  });
}

function isCount(value: number | undefined): value is number {
  return value !== undefined && Number.isSafeInteger(value) && value >= 0;
}

async function openCopy(directory: string): Promise<Copy> {
  const copy = await makeCopy(projectRoot, directory);
  const fault = (await copy.migrate()) ?? (await copy.typeFault());
  if (fault === null) return copy;
  await copy.stop();
  throw new Error(`The migrations or the types fail without any change:\n${fault}`);
}

/** The map of all test files; those that it lacks are run first, so that a suite that is red already is noticed. */
async function coverageOf(
  copies: readonly Copy[],
  files: readonly string[],
  slots: number,
): Promise<CoverageMap> {
  // The tests of this program read the sources themselves, changed ones too, and are no tests of them. A copy only links to the packages
  // whose files the bill of materials lists.
  const isLeftOut = (name: string) => name.startsWith('test/mutate/') || name === 'scripts/sbom.test.ts';
  const tests = files.filter((name) => name.endsWith('.test.ts') && !isLeftOut(name));
  const map = values.coverage === 'fresh' ? {} : readMap(mapFile, projectRoot, tests, files);
  const missing = tests.filter((test) => map[test] === undefined);
  if (missing.length > 0) print(`measuring what ${missing.length} of ${tests.length} test files run …`);
  const red: string[] = [];
  const hands = copies.flatMap((copy) => Array.from({ length: slots }, () => copy));
  await distribute(hands, missing, async (copy, test) => {
    try {
      map[test] = await measure(copy, test, { files, signal: stop.signal });
      writeMap(mapFile, map);
    } catch (error) {
      stop.signal.throwIfAborted();
      if (!(error instanceof RedBase)) throw error;
      red.push(error.message);
      print(error.message.split('\n')[0] ?? '');
    }
  });
  for (const copy of copies) await copy.clean();
  if (red.length > 0) throw new Error(`The tests must be green before a change is tried:\n${red.join('\n')}`);
  return map;
}

/** Works through a list, each hand taking the next. */
async function distribute<Hand, Item>(
  hands: readonly Hand[],
  items: readonly Item[],
  act: (hand: Hand, item: Item) => Promise<void>,
): Promise<void> {
  const left = items.values();
  await Promise.all(
    hands.map(async (hand) => {
      for (const item of left) await act(hand, item);
    }),
  );
}

function printList(mutants: readonly Mutant[]): void {
  for (const { where, diff } of mutants) print(`${where}  ${diff}`);
}

function printResult({ mutant: { where, diff }, verdict, ms }: Result): void {
  print(`${shownVerdict(verdict)}  ${where}  ${diff}  [${(ms / 1_000).toFixed(1)} s]`);
}

function shownVerdict(verdict: Verdict): string {
  if (verdict.kind === 'caught') return `caught by ${verdict.by} (${verdict.title.slice(0, 100)})`;
  if (verdict.kind === 'invalid') return `invalid (${verdict.why.slice(0, 100)})`;
  if (verdict.kind === 'left') return `left by the nearest of ${verdict.covering} test files that run it`;
  return verdict.covering === 0 ? 'SURVIVED, no test file runs it' : 'SURVIVED';
}

function report(results: readonly Result[], noPrograms: number): void {
  const of = (kind: Verdict['kind']) => results.filter(({ verdict }) => verdict.kind === kind);
  const [caught, survived, invalid] = [of('caught'), of('survived'), of('invalid')];
  const percent = ((100 * caught.length) / Math.max(1, caught.length + survived.length)).toFixed(0);
  print(
    `\n${caught.length} caught, ${survived.length} survived (${percent} % caught), ${invalid.length + noPrograms} invalid and drawn again`,
  );
  for (const { mutant } of survived) print(`survived  ${mutant.where}  ${mutant.diff}`);
  if (values.json === undefined) return;
  const written = results.map(({ mutant: { where, diff, candidate }, verdict, ms }) => {
    return { where, diff, operator: candidate?.operator, ...verdict, ms };
  });
  writeFileSync(values.json, `${JSON.stringify({ seed: values.seed, results: written }, undefined, 2)}\n`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
