// The code that each test file runs, and its duration: cached between runs, measured again for changed files.
// Hides V8's nested counts. A process that a test kills leaves no coverage, so a map can miss code but never claims too much.
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { projectRoot } from '../../kernel/project.ts';
import { coverageDirectory, runAva } from './ava.ts';
import type { Copy } from './copy.ts';

export interface TestFacts {
  ms: number;
  /** Of every file of the project that was loaded, and of the files that every test depends on. */
  hashes: Record<string, string>;
  /** The parts of each source file that ran, as offsets: from, to, from, to … in rising order. */
  ran: Record<string, number[]>;
}

export type CoverageMap = Record<string, TestFacts>;

const firstTimeoutMs = 300_000;

export class RedBase extends Error {}

/** Whether a test file ran the code at an offset. */
export function ranAt({ ran }: TestFacts, file: string, offset: number): boolean {
  const parts = ran[file] ?? [];
  for (let i = 0; i < parts.length; i += 2)
    if (offset >= (parts[i] ?? 0) && offset < (parts[i + 1] ?? 0)) return true;
  return false;
}

/** The cached map, without entries that have changed since. */
export function readMap(
  file: string,
  root: string,
  tests: readonly string[],
  files: readonly string[],
): CoverageMap {
  let saved: CoverageMap;
  try {
    saved = JSON.parse(readFileSync(file, 'utf8')) as CoverageMap;
  } catch {
    return {};
  }
  const shared = hashShared(root, files);
  const isFresh = ({ hashes }: TestFacts) =>
    Object.entries(hashes).every(([name, hash]) => (name === '' ? shared : hashOf(root, name)) === hash);
  return Object.fromEntries(
    tests.flatMap((test) => {
      const facts = saved[test];
      return facts !== undefined && isFresh(facts) ? [[test, facts] as const] : [];
    }),
  );
}

export function writeMap(file: string, map: CoverageMap): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(map));
  renameSync(`${file}.${process.pid}`, file);
}

/**
 * Runs one test file, unchanged, and measures it. A file that fails is run once more, without coverage: some tests need a process that measures
 * none. What such a file runs stays unknown.
 * @throws RedBase if it fails twice: changes cannot be judged then.
 */
export async function measure(
  copy: Copy,
  test: string,
  { files, signal }: { files: readonly string[]; signal: AbortSignal },
): Promise<TestFacts> {
  const directory = coverageDirectory(copy);
  const options = { timeoutMs: firstTimeoutMs, signal };
  const measured = await runAva(copy, [test], { ...options, env: { NODE_V8_COVERAGE: directory } });
  const isMeasured = measured.status === 'passed';
  const run = isMeasured ? measured : await runAva(copy, [test], options);
  if (run.status !== 'passed')
    throw new RedBase(
      `${test} is red without any change (${run.status}: ${run.title})\n${run.output.slice(-2_000)}`,
    );
  const ran = isMeasured ? readCoverage(directory, copy.root, files) : {};
  rmSync(directory, { recursive: true, force: true });
  const hashes = Object.fromEntries(
    [test, ...Object.keys(ran)].map((name) => [name, hashOf(copy.root, name)]),
  );
  return { ms: run.ms, hashes: { ...hashes, '': hashShared(copy.root, files) }, ran };
}

interface ScriptCoverage {
  url: string;
  functions: { ranges: { startOffset: number; endOffset: number; count: number }[] }[];
}

function readCoverage(directory: string, root: string, files: readonly string[]): Record<string, number[]> {
  const known = new Set(files);
  const ran = new Map<string, Uint8Array>();
  for (const name of readdirSync(directory)) {
    const text = readFileSync(path.join(directory, name), 'utf8');
    if (!text.endsWith('}')) continue; // a process that was killed as it wrote
    const { result } = JSON.parse(text) as { result: ScriptCoverage[] };
    for (const { url, functions } of result) {
      if (!url.startsWith('file:')) continue;
      const file = below(root, url);
      const stray = below(projectRoot, url);
      if (known.has(stray) && !stray.includes('/stubs/')) throw new Error(`A copy runs ${url}: not its own.`);
      if (!known.has(file)) continue;
      const size = Math.max(...functions.flatMap(({ ranges }) => ranges.map(({ endOffset }) => endOffset)));
      const all = ran.get(file) ?? new Uint8Array(size);
      ran.set(file, all);
      for (const [i, count] of paint(functions, size).entries()) if (count > 0) all[i] = 1;
    }
  }
  return Object.fromEntries([...ran].map(([file, marks]) => [file, partsOf(marks)]));
}

function below(root: string, url: string): string {
  return path.relative(root, fileURLToPath(url)).replaceAll(path.sep, '/');
}

/** The innermost range decides. */
function paint(functions: ScriptCoverage['functions'], size: number): Uint8Array {
  const ranges = functions.flatMap((each) => each.ranges);
  const marks = new Uint8Array(size);
  const length = (range: (typeof ranges)[number]) => range.endOffset - range.startOffset;
  for (const range of ranges.toSorted((a, b) => length(b) - length(a)))
    marks.fill(range.count > 0 ? 1 : 0, range.startOffset, range.endOffset);
  return marks;
}

function partsOf(marks: Uint8Array): number[] {
  const parts: number[] = [];
  for (let i = 0; i <= marks.length; i += 1) if ((marks[i] ?? 0) !== (marks[i - 1] ?? 0)) parts.push(i);
  return parts;
}

/** Files that any test may depend on without importing them. */
function hashShared(root: string, files: readonly string[]): string {
  const hash = createHash('sha256');
  for (const file of files.filter((name) =>
    /^(package-lock\.json|config\/.*|migrations\/.*\.sql)$/.test(name),
  ))
    hash.update(file).update(hashOf(root, file));
  return hash.digest('base64url');
}

function hashOf(root: string, file: string): string {
  try {
    return createHash('sha256')
      .update(readFileSync(path.join(root, file)))
      .digest('base64url')
      .slice(0, 16);
  } catch {
    return '';
  }
}
