// Tries one change in a copy: the nearest tests first, in batches that grow, and the whole suite before it has survived.
// Hides flaky tests: a file that fails or hangs is run once more, and only one that does so again has noticed the change.
import { runAva, type AvaOptions, type AvaRun } from './ava.ts';
import type { Copy } from './copy.ts';
import type { CoverageMap } from './coverage.ts';
import type { Mutant } from './mutant.ts';
import { orderTests } from './order.ts';

export type Verdict =
  | { kind: 'caught'; by: string; title: string }
  | { kind: 'survived'; covering: number }
  /** It is no valid SQL: caught by whatever runs it, which says nothing of the tests. */
  | { kind: 'invalid'; why: string };

export interface Surroundings {
  map: CoverageMap;
  root: string;
  files: readonly string[];
  concurrency: number;
  signal: AbortSignal;
}

const firstBatchMs = 6_000;
const graceMs = 30_000;

export async function judge(copy: Copy, mutant: Mutant, around: Surroundings): Promise<Verdict> {
  copy.write(mutant.texts);
  const changesSchema = mutant.texts.some(({ file }) => file.startsWith('migrations/'));
  try {
    const fault = changesSchema ? await copy.migrate() : null;
    if (fault !== null) {
      const isDrawn = mutant.candidate?.file.endsWith('.sql') === true;
      const why =
        fault
          .trim()
          .split('\n')
          .find((line) => /rror/.test(line)) ?? 'the migrations fail';
      return isDrawn ? { kind: 'invalid', why } : { kind: 'caught', by: 'the migrations', title: why };
    }
    return await tryTests(copy, mutant, around);
  } finally {
    // Where all ends, the copy goes too.
    if (!around.signal.aborted) await restore(copy, changesSchema);
  }
}

async function restore(copy: Copy, changesSchema: boolean): Promise<void> {
  await copy.clean();
  copy.restore();
  const fault = changesSchema ? await copy.migrate() : null;
  if (fault !== null) throw new Error(`The migrations fail without any change:\n${fault}`);
}

async function tryTests(copy: Copy, mutant: Mutant, around: Surroundings): Promise<Verdict> {
  const { covering, others } = orderTests(mutant, around.map, around.root, around.files);
  for (const batch of [...batches(covering, around.map), ...batches(others, around.map, Infinity)]) {
    const verdict = await tryBatch(copy, mutant, batch, around);
    if (verdict !== null) return verdict;
  }
  const leak = await copy.leak();
  if (leak !== null) return { kind: 'caught', by: 'the search for secrets', title: leak };
  return { kind: 'survived', covering: covering.length };
}

/** The first ones are small, for most changes are caught there; each takes three times as long as the one before. */
function batches(tests: readonly string[], map: CoverageMap, firstMs = firstBatchMs): string[][] {
  const found: string[][] = [];
  let room = 0;
  let limit = firstMs / 3;
  for (const test of tests) {
    if (room <= 0) {
      found.push([]);
      limit *= 3;
      room = limit;
    }
    found.at(-1)?.push(test);
    room -= map[test]?.ms ?? 0;
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
