// Tests one change in a copy: the nearest tests first, in growing batches, then the types, and all others before it counts as a survivor.
// Hides flaky tests: a file that fails or hangs is run once more, and only a second failure counts.
import { runAva, type AvaOptions, type AvaRun } from './ava.ts';
import type { Copy } from './copy.ts';
import type { CoverageMap } from './coverage.ts';
import type { Mutant } from './mutant.ts';
import { isRunBy, orderTests, suiteMs } from './order.ts';

export type Verdict =
  | { kind: 'caught'; by: string; title: string }
  /** Not caught by the nearest of the test files that run it; the others are still to be tried. */
  | { kind: 'left'; covering: number; others: string[] }
  | { kind: 'survived'; covering: number }
  /** It is not valid SQL: anything that runs it fails, which proves nothing about the tests. */
  | { kind: 'invalid'; why: string };

export interface Left {
  mutant: Mutant;
  verdict: Verdict & { kind: 'left' };
}

export interface Surroundings {
  map: CoverageMap;
  root: string;
  files: readonly string[];
  concurrency: number;
  signal: AbortSignal;
}

const firstShare = 0.02; // of the suite's time
const graceMs = 30_000;

/** Tries a change on the test files that run it: on the nearest if there are many. */
export async function judge(copy: Copy, mutant: Mutant, around: Surroundings): Promise<Verdict> {
  return withChanges(copy, [mutant], around, async (fault) => {
    if (fault !== null) return ofFault(mutant, fault);
    const { covering, others, count } = orderTests(mutant, around.map, around.root, around.files);
    for (const batch of batches(covering, around.map)) {
      const verdict = await tryBatch(copy, mutant, batch, around);
      if (verdict !== null) return verdict;
    }
    const leak = await copy.leak();
    if (leak !== null) return { kind: 'caught', by: 'the search for secrets', title: leak };
    const isTyped = mutant.texts.some(({ file }) => file.endsWith('.ts'));
    const typeFault = isTyped ? await copy.typeFault() : null;
    if (typeFault !== null) return { kind: 'caught', by: 'the types', title: typeFault };
    return { kind: 'left', covering: count, others };
  });
}

/**
 * Tries the remaining changes on the other test files, which hardly ever notice code that they do not run: so all changes are made
 * at once. Only on a file that then fails are they tried one by one.
 */
export async function judgeLeft(
  copy: Copy,
  left: readonly Left[],
  around: Surroundings,
): Promise<Map<Mutant, Verdict>> {
  const verdicts = new Map<Mutant, Verdict>();
  for (const { mutant, verdict } of left)
    verdicts.set(mutant, { kind: 'survived', covering: verdict.covering });
  for (const together of groupsOf(left)) {
    let group: readonly Left[] = together;
    let suspects = await failing(
      copy,
      group,
      [...new Set(group.flatMap(({ verdict }) => verdict.others))],
      around,
    );
    for (const each of suspects === 'unknown' ? group : []) {
      const verdict = await tryAlone(copy, each.mutant, each.verdict.others, around);
      if (verdict !== null) verdicts.set(each.mutant, verdict);
    }
    while (suspects !== 'unknown' && suspects[0] !== undefined) {
      const found = await culprit(copy, group, suspects[0], around);
      if (found === null) {
        suspects = suspects.slice(1);
        continue;
      }
      verdicts.set(found.mutant, found.verdict);
      group = group.filter(({ mutant }) => mutant !== found.mutant);
      suspects = await failing(copy, group, suspects, around);
    }
  }
  return verdicts;
}

/** The change of a group that a test file notices; changes whose code it runs are tried first. */
async function culprit(
  copy: Copy,
  group: readonly Left[],
  test: string,
  around: Surroundings,
): Promise<{ mutant: Mutant; verdict: Verdict } | null> {
  const runs = ({ mutant }: Left) => (isRunBy(mutant, test, around.map) ? 0 : 1);
  for (const { mutant } of group.toSorted((a, b) => runs(a) - runs(b))) {
    const verdict = await tryAlone(copy, mutant, [test], around);
    if (verdict !== null) return { mutant, verdict };
  }
  return null;
}

/** The test files that fail with all changes of a group. */
async function failing(
  copy: Copy,
  group: readonly Left[],
  tests: readonly string[],
  around: Surroundings,
): Promise<readonly string[] | 'unknown'> {
  if (tests.length === 0 || group.length === 0) return [];
  const mutants = group.map(({ mutant }) => mutant);
  return withChanges(copy, mutants, around, async (fault) => {
    if (fault !== null) return 'unknown';
    const run = await runAva(copy, tests, { ...optionsFor(tests, around), failFast: false });
    if (run.status === 'timed out' || (await copy.leak()) !== null) return 'unknown';
    return run.failed;
  });
}

async function tryAlone(
  copy: Copy,
  mutant: Mutant,
  tests: readonly string[],
  around: Surroundings,
): Promise<Verdict | null> {
  return withChanges(copy, [mutant], around, async () => {
    const verdict = await tryBatch(copy, mutant, tests, around);
    const leak = verdict === null ? await copy.leak() : null;
    return leak === null ? verdict : { kind: 'caught', by: 'the search for secrets', title: leak };
  });
}

/** The fewest groups in which no file is changed twice. */
function groupsOf(left: readonly Left[]): Left[][] {
  const groups: Left[][] = [];
  const filesOf = ({ mutant }: Left) => mutant.texts.map(({ file }) => file);
  for (const each of left) {
    const files = filesOf(each);
    const group = groups.find((one) => !one.flatMap(filesOf).some((file) => files.includes(file)));
    if (group === undefined) groups.push([each]);
    else group.push(each);
  }
  return groups;
}

/** Makes changes in a copy, and undoes them. @param act gets the reason why the migrations fail, or null. */
async function withChanges<Result>(
  copy: Copy,
  mutants: readonly Mutant[],
  { signal }: Surroundings,
  act: (fault: string | null) => Promise<Result>,
): Promise<Result> {
  const texts = mutants.flatMap((mutant) => mutant.texts);
  const changesSchema = texts.some(({ file }) => file.startsWith('migrations/'));
  copy.write(texts);
  try {
    return await act(changesSchema ? await copy.migrate() : null);
  } finally {
    // At the end of the run, the copy is removed too.
    if (!signal.aborted) await restore(copy, changesSchema);
  }
}

async function restore(copy: Copy, changesSchema: boolean): Promise<void> {
  await copy.clean();
  copy.restore();
  const fault = changesSchema ? await copy.migrate() : null;
  if (fault !== null) throw new Error(`The migrations fail without any change:\n${fault}`);
}

function ofFault({ candidate }: Mutant, fault: string): Verdict {
  const lines = fault.trim().split('\n');
  const why = lines.find((line) => /error/i.test(line)) ?? 'the migrations fail';
  const isDrawn = candidate?.file.endsWith('.sql') === true;
  return isDrawn ? { kind: 'invalid', why } : { kind: 'caught', by: 'the migrations', title: why };
}

/** The first ones are small, because most changes are caught there; each takes three times as long as the one before. */
function batches(tests: readonly string[], map: CoverageMap): string[][] {
  const found: string[][] = [];
  let budgetMs = 0;
  let limit = (firstShare * suiteMs(map)) / 3;
  for (const test of tests) {
    if (budgetMs <= 0) {
      found.push([]);
      limit *= 3;
      budgetMs = limit;
    }
    found.at(-1)?.push(test);
    budgetMs -= map[test]?.ms ?? 0;
  }
  return found;
}

async function tryBatch(
  copy: Copy,
  mutant: Mutant,
  batch: readonly string[],
  around: Surroundings,
): Promise<Verdict | null> {
  let left = [...batch];
  let timeouts = 0;
  while (left.length > 0) {
    const run = await runAva(copy, left, optionsFor(left, around));
    if (run.status === 'passed') return null;
    if (isInvalid(copy, mutant, run)) return { kind: 'invalid', why: 'PostgreSQL does not understand it' };
    if (run.status === 'timed out') {
      timeouts += 1;
      if (timeouts === 1) continue;
      return {
        kind: 'caught',
        by: left.length === 1 ? left.join() : `${left.length} files`,
        title: 'timed out',
      };
    }
    const [first = ''] = run.failed;
    const again = await runAva(copy, [first], optionsFor([first], around));
    if (again.status !== 'passed') return { kind: 'caught', by: first, title: again.title || again.status };
    left = left.filter((test) => test !== first);
  }
  return null;
}

function optionsFor(tests: readonly string[], { map, concurrency, signal }: Surroundings): AvaOptions {
  const expected = tests.reduce((total, test) => total + (map[test]?.ms ?? 0), 0);
  return { failFast: true, timeoutMs: 3 * expected + graceMs, concurrency, signal };
}

function isInvalid(copy: Copy, { candidate }: Mutant, { output }: AvaRun): boolean {
  return candidate !== undefined && candidate.operator.startsWith('SQL') && copy.refusedSql(output);
}
