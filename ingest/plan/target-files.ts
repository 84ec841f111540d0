// The files of a target of almanac publish: of a folder those that can have tables, in it and in the folders below it, but not behind links.
import { accessSync, constants, globSync, realpathSync, statSync, type Dirent } from 'node:fs';
import path from 'node:path';
import { IngestFailure } from '../failure.ts';
import { tableEnding } from '../read/file-kind.ts';
import { isUrl } from '../read/file-path.ts';

const filesMax = 20_000;

const notFollowed =
  'It is a link to a folder elsewhere, and such links are not followed: publish that folder itself, or move its files here.';

export interface TargetFiles {
  folder: string;
  paths: string[];
  /** Folders below it that cannot be read, and links to folders elsewhere, which are not followed; each with the reason. */
  closed: { path: string; reason: string }[];
  /** The target is the folder, not a file of it. */
  isWhole: boolean;
}

/** @param target a folder, a file or a URL. @throws IngestFailure if it does not exist, cannot be read, or has too many files. */
export function filesOf(target: string): TargetFiles {
  const single = { closed: [], isWhole: false };
  if (isUrl(target)) return { folder: process.cwd(), paths: [target], ...single };
  const stats = statSync(target, { throwIfNoEntry: false });
  if (stats === undefined) throw new IngestFailure('usage', `There is no file or folder ${target}.`);
  if (!stats.isDirectory())
    return { folder: path.dirname(path.resolve(target)), paths: [path.basename(target)], ...single };
  const folder = path.resolve(target);
  const reason = whyNotReadable(folder);
  if (reason !== null) throw new IngestFailure('usage', `${folder} cannot be read. ${reason}`);
  // Unlike a recursive readdir, a glob does not follow links to folders, which may lead round in a circle.
  const entries = globSync('**/*', { cwd: folder, withFileTypes: true }).map((entry) => ({
    entry,
    name: path.relative(folder, path.join(entry.parentPath, entry.name)).split(path.sep).join('/'),
  }));
  const isHidden = (name: string) =>
    name.split('/').some((part) => part.startsWith('.') || part === 'node_modules');
  const seen = entries.filter(({ name }) => !isHidden(name));
  const paths = seen
    .map(({ name }) => name)
    .filter((name) => tableEnding.test(name))
    .filter((name) => !/(?:^|\/)(?:almanac-rejects|~\$)[^/]*$/i.test(name))
    .toSorted((a, b) => (a < b ? -1 : 1));
  if (paths.length > filesMax)
    throw new IngestFailure(
      'usage',
      `${folder} has ${paths.length} files; at most ${filesMax} are loaded in one run.`,
    );
  const closed = seen.flatMap(({ entry, name }) => {
    const reason = whyClosed(folder, name, entry);
    return reason === null ? [] : [{ path: name, reason }];
  });
  return { folder, paths, closed, isWhole: true };
}

/** Why the files in a folder, or behind a link to one, are not listed; null if they are, or it is no folder. */
function whyClosed(folder: string, name: string, entry: Dirent): string | null {
  const file = path.join(folder, name);
  if (entry.isDirectory()) return whyNotReadable(file);
  return entry.isSymbolicLink() && leadsToOtherFolder(folder, file) ? notFollowed : null;
}

/** Whether a link leads to a folder that is not this one, nor in it. */
function leadsToOtherFolder(folder: string, link: string): boolean {
  if (whyNotReadable(link) !== null || !statSync(link).isDirectory()) return false;
  return path.relative(realpathSync(folder), realpathSync(link)).split(path.sep)[0] === '..';
}

/** @returns why a file or folder cannot be opened, and what to do; null if it can. @throws Error of the system for other reasons. */
export function whyNotReadable(file: string): string | null {
  try {
    accessSync(file, constants.R_OK);
    return null;
  } catch (error) {
    const reason = reasons[(error as NodeJS.ErrnoException).code ?? ''];
    if (reason === undefined) throw error;
    return reason;
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT:
    'It does not exist: it is a link that leads nowhere, or was removed just now. Delete or mend the link.',
  ELOOP: 'It is a link that leads back to itself. Delete or mend the link.',
  EACCES: 'The user who runs Almanac may not read it. Change its permissions.',
};
