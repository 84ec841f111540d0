// A change to be tested: drawn, or read from a patch file.
import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { applied, lineOf, placeOf, shown, type Candidate } from './candidate.ts';

export interface Mutant {
  /** `file:line` of the first change. */
  where: string;
  /** One line: old text → new text. */
  diff: string;
  /** The whole changed files; null for a removed one. */
  texts: { file: string; text: string | null }[];
  /** The places that are changed. */
  places: { file: string; offset: number }[];
  /** Set if it was drawn: if it proves to be invalid SQL, another is drawn. */
  candidate?: Candidate;
}

export function mutantOf(candidate: Candidate, source: string): Mutant {
  const { file } = candidate;
  const offset = placeOf(source, candidate);
  return {
    where: `${file}:${lineOf(source, offset)}`,
    diff: shown(source, candidate),
    texts: [{ file, text: applied(source, candidate) }],
    places: [{ file, offset }],
    candidate,
  };
}

/** The result of `git apply -p1`. @throws Error if the patch does not apply. */
export function mutantOfPatch(root: string, patch: string): Mutant {
  const names = [...readFileSync(patch, 'utf8').matchAll(/^(?:---|\+\+\+) [ab]\/(.+?)\t?$/gm)];
  const files = [...new Set(names.map(([, name = '']) => name))];
  const scratch = mkdtempSync(path.join(tmpdir(), 'almanac-patch-'));
  try {
    for (const file of files.filter((name) => existsSync(path.join(root, name)))) {
      mkdirSync(path.join(scratch, path.dirname(file)), { recursive: true });
      cpSync(path.join(root, file), path.join(scratch, file));
    }
    execFileSync('git', ['apply', '-p1', path.resolve(patch)], {
      cwd: scratch,
      env: { ...process.env, GIT_CEILING_DIRECTORIES: path.dirname(scratch) },
    });
    const texts = files.map((file) => ({ file, text: readIfThere(path.join(scratch, file)) }));
    const places = texts.flatMap(({ file, text }) => {
      const source = readIfThere(path.join(root, file)) ?? '';
      return differences(source, text ?? '').map((offset) => ({ file, offset }));
    });
    const [first] = places;
    if (first === undefined) throw new Error('it changes nothing');
    const line = lineOf(readIfThere(path.join(root, first.file)) ?? '', first.offset);
    return { where: `${first.file}:${line}`, diff: path.basename(patch), texts, places };
  } catch (error) {
    throw new Error(`${patch} cannot be tried`, { cause: error });
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** The first and the last place of a text that a change touches. */
function differences(before: string, after: string): number[] {
  if (before === after) return [];
  let start = 0;
  while (start < before.length && before[start] === after[start]) start += 1;
  let end = 0;
  while (end < before.length - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  return [start, Math.max(start, before.length - end - 1)];
}

function readIfThere(file: string): string | null {
  return existsSync(file) ? readFileSync(file, 'utf8') : null;
}
