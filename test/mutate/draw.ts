// Draws changes at random: the same seed and tree give the same ones. Hides the weights of files and operators.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { applied, lineOf, placeOf, weights, type Candidate } from './candidate.ts';
import { migrationChanges, replacedFunctions } from './migration.ts';
import { sqlChanges } from './sql.ts';
import { parseTypeScript, typescriptChanges } from './typescript.ts';

export const defaultFolders = [
  'gateway',
  'data-api',
  'accounts-api',
  'ingest',
  'kernel',
  'domain',
  'cli',
  'migrations',
];

/** Empty packages, and the invented figures of the demo, any others would do as well. */
const notOurs = /^gateway\/stubs\/|^ingest\/demo\/demo-/;

/** The project's files, tracked or new, without those that are ignored or deleted. */
export function projectFiles(root: string): string[] {
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const listed = execFileSync('git', args, { cwd: root, encoding: 'utf8', maxBuffer: 64e6 }).split('\0');
  const deleted = execFileSync('git', ['ls-files', '--deleted', '-z'], { cwd: root, encoding: 'utf8' }).split(
    '\0',
  );
  return [...new Set(listed)].filter((name) => name !== '' && !deleted.includes(name)).sort();
}

/** All changes of the source files in some folders. */
export function candidatesIn(root: string, folders: readonly string[]): Candidate[] {
  const names = projectFiles(root);
  const migrations = names.filter((name) => /^migrations\/.*\.sql$/.test(name));
  const replaced = new Set(migrations.flatMap((name) => replacedFunctions(read(root, name))));
  return names
    .filter((name) =>
      folders.some((folder) => name === folder || name.startsWith(`${folder.replace(/\/$/, '')}/`)),
    )
    .flatMap((file) => candidatesOf(file, read(root, file), replaced));
}

/** The changes of one file; none for a test or a file that is not source. */
export function candidatesOf(
  file: string,
  source: string,
  replaced: ReadonlySet<string> = new Set(),
): Candidate[] {
  const isSource = file.endsWith('.ts') && !file.endsWith('.test.ts') && !notOurs.test(file);
  const changes = isSource
    ? typescriptChanges(source, file.endsWith('.sql.ts'))
    : file.endsWith('.sql')
      ? migrationChanges(source, replaced)
      : file.endsWith('.lua')
        ? sqlChanges(source, { start: 0, end: source.length, isLua: true })
        : [];
  return changes.map((change) => ({ ...change, file }));
}

/** Whether the changed file is still a program; a migration is judged by running it. */
export function isProgram(candidate: Candidate, source: string): boolean {
  const text = applied(source, candidate);
  if (text === source) return false;
  if (!candidate.file.endsWith('.ts')) return true;
  try {
    parseTypeScript(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Hands out changes: no two of one line, from each folder in proportion to its candidates. `replacement` is the next one of
 * the same folder, for one that proved to be no program.
 */
export function createDraw(root: string, folders: readonly string[], seed: number) {
  const sources = new Map<string, string>();
  const sourceOf = (file: string): string => {
    const source = sources.get(file) ?? read(root, file);
    sources.set(file, source);
    return source;
  };
  const byFolder = Object.groupBy(candidatesIn(root, folders), ({ file }) => file.split('/')[0] ?? '');
  const turns = Object.entries(byFolder).map(([folder, candidates = []]) => ({
    folder,
    size: sum(candidates.map(({ operator }) => weights[operator])),
    turn: inTurn(candidates, random(`${seed} ${folder}`), sourceOf),
  }));
  let invalid = 0;
  const next = (folder: string): Candidate | undefined => {
    const turn = turns.find((each) => each.folder === folder)?.turn;
    for (;;) {
      const candidate = turn?.next().value;
      if (candidate === undefined || isProgram(candidate, sourceOf(candidate.file))) return candidate;
      invalid += 1;
    }
  };
  return {
    sourceOf,
    /** How many were no programs. */
    invalid: () => invalid,
    first: (count: number): Candidate[] => {
      const shares = sharesOf(turns, count);
      const drawn = turns.flatMap(({ folder }) =>
        Array.from({ length: shares.get(folder) ?? 0 }, () => next(folder)),
      );
      return drawn.filter((candidate) => candidate !== undefined);
    },
    replacement: ({ file }: Candidate) => next(file.split('/')[0] ?? ''),
  };
}

/** Draws without replacement: a drawn line removes all its changes. */
function* inTurn(
  candidates: readonly Candidate[],
  chance: () => number,
  sourceOf: (file: string) => string,
): Generator<Candidate, undefined> {
  const place = (candidate: Candidate) => {
    const source = sourceOf(candidate.file);
    return `${candidate.file}:${lineOf(source, placeOf(source, candidate))}`;
  };
  let left = candidates.map((candidate) => ({
    candidate,
    weight: weights[candidate.operator],
    place: place(candidate),
  }));
  while (left.length > 0) {
    let at = chance() * sum(left.map(({ weight }) => weight));
    const drawn = left.find(({ weight }) => (at -= weight) < 0) ?? left.at(-1);
    if (drawn === undefined) return;
    left = left.filter((each) => each.place !== drawn.place);
    yield drawn.candidate;
  }
}

/** How many each folder gives: in proportion, the largest remainders rounded up. */
function sharesOf(folders: readonly { folder: string; size: number }[], count: number): Map<string, number> {
  const total = sum(folders.map(({ size }) => size));
  const exact = folders.map(({ folder, size }) => ({ folder, share: (count * size) / total }));
  const shares = new Map(exact.map(({ folder, share }) => [folder, Math.floor(share)]));
  const remainders = exact.toSorted((a, b) => (b.share % 1) - (a.share % 1));
  for (const { folder } of remainders.slice(0, count - sum([...shares.values()])))
    shares.set(folder, (shares.get(folder) ?? 0) + 1);
  return shares;
}

/** Numbers from 0 to 1 that follow from a text (mulberry32). */
function random(seed: string): () => number {
  let state = 0;
  for (const character of seed) state = (Math.imul(state, 31) + character.charCodeAt(0)) | 0;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}

function read(root: string, file: string): string {
  return readFileSync(path.join(root, file), 'utf8');
}
