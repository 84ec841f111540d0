// The watched folder on disk: its content, and the path of a file through `.taken/` to `done/` or `rejected/`, by renames alone. Nothing is
// ever overwritten, and a file that is being processed cannot be replaced by another one.
import { createHash, randomUUID, type Hash } from 'node:crypto';
import { constants, type BigIntStats } from 'node:fs';
import { lstat, mkdir, open, readdir, rename, rmdir, writeFile, type FileHandle } from 'node:fs/promises';
import path from 'node:path';
import { bytesMaxUsual } from '../../read/fetch-url.ts';
import { splitEndings } from '../../read/file-kind.ts';
import { descriptionFile } from '../../entry/entry-schema.ts';
import { IngestFailure } from '../../failure.ts';
import { instantText } from '../../../kernel/clock.ts';
import { isUnfinished } from './unfinished-names.ts';

/** Thrown when the publisher is stopping, or a file is being written: it stays in `.taken/`, and is processed later. */
export class NotNow extends Error {}

/** Identifies a file until it is written to or replaced. */
export interface Identity {
  size: bigint;
  mtimeNs: bigint;
  inode: bigint;
}

/** A file in the folder. */
export interface WaitingFile extends Identity {
  name: string;
}

/** A file that was claimed for loading: it is in its own folder below `.taken/`, where no writer finds it by its name. */
export interface ClaimedFile {
  name: string;
  /** Its path. */
  file: string;
  claimedAt: Date;
  /** The same for all attempts. */
  id: string;
  /** How many processes have begun to read it. */
  attempts: number;
}

export interface Listing {
  files: WaitingFile[];
  /** An entry of the folder that cannot be claimed, and why. */
  leftAlone: { name: string; reason: string }[];
}

export const foldersOfInbox = { done: 'done', rejected: 'rejected', claimed: '.taken' } as const;
const reportEnding = '.report.txt';
const nameBytesMax = 255;

/**
 * Creates the subfolders. The folder itself is not created: it may be a disk that is not mounted.
 * @throws Error if the folder does not exist, or something else has the name of a subfolder.
 */
export async function prepareFolder(directory: string): Promise<void> {
  for (const name of Object.values(foldersOfInbox)) {
    const folder = path.join(directory, name);
    // Only this process may access files that are being read.
    const mode = name === foldersOfInbox.claimed ? 0o700 : 0o777;
    await mkdir(folder, { mode }).catch(unless('EEXIST'));
    if (!(await lstat(folder)).isDirectory())
      throw new Error(
        `${folder} must be a folder, and not a link to one: files of INBOX_DIR are moved there.`,
      );
  }
}

/** The files that may be claimed, those written first in front. */
export async function listFolder(directory: string): Promise<Listing> {
  const listing: Listing = { files: [], leftAlone: [] };
  for (const name of await readdir(directory)) {
    if (isLeftAlone(name)) continue;
    const stats = await statsOf(path.join(directory, name));
    const reason = stats === null ? unreadable(name) : kindOf(stats);
    if (reason !== null) listing.leftAlone.push({ name, reason });
    else if (stats !== null) listing.files.push({ name, ...identityOf(stats) });
  }
  listing.files.sort((a, b) => Number(a.mtimeNs - b.mtimeNs) || (a.name < b.name ? -1 : 1));
  return listing;
}

/** Almanac's own files and folders, hidden files, and files that a program is still writing. */
function isLeftAlone(name: string): boolean {
  return (
    Object.values<string>(foldersOfInbox).includes(name) ||
    name.startsWith(descriptionFile) ||
    isUnfinished(name)
  );
}

const kindOf = (stats: BigIntStats): string | null =>
  stats.isFile()
    ? null
    : stats.isSymbolicLink()
      ? 'it is a symbolic link'
      : stats.isDirectory()
        ? 'it is a folder'
        : 'it is not a regular file';

/** It is gone, unless its name could not be decoded: then it cannot be looked up. */
const unreadable = (name: string): string | null =>
  name.includes('\ufffd') ? 'its name is not UTF-8' : null;

async function statsOf(file: string): Promise<BigIntStats | null> {
  return lstat(file, { bigint: true }).catch((error: unknown) => unless('ENOENT')(error) ?? null);
}

const identityOf = ({ size, mtimeNs, ino }: BigIntStats): Identity => ({ size, mtimeNs, inode: ino });

export const isSame = (a: Identity, b: Identity): boolean =>
  a.size === b.size && a.mtimeNs === b.mtimeNs && a.inode === b.inode;

/** The files that were claimed but neither loaded nor rejected, for example by a process that was killed; those claimed first in front. */
export async function listClaimed(directory: string): Promise<ClaimedFile[]> {
  const folder = path.join(directory, foldersOfInbox.claimed);
  const claimed: ClaimedFile[] = [];
  for (const place of (await readdir(folder)).toSorted()) {
    const [, date = '', time = '', attempts] =
      /^(\d{4}-\d\d-\d\d)T(\d{6})Z-[0-9a-f]{8}\.(\d+)$/.exec(place) ?? [];
    if (attempts === undefined) continue;
    const [name] = (await readdir(path.join(folder, place)).catch(unless('ENOENT'))) ?? [];
    if (name === undefined) await rmdir(path.join(folder, place)).catch(unless('ENOENT', 'ENOTEMPTY'));
    else
      claimed.push({
        name,
        file: path.join(folder, place, name),
        claimedAt: new Date(`${date}T${time.replaceAll(/\d\d(?=\d)/g, '$&:')}Z`),
        id: place.slice(0, place.lastIndexOf('.')),
        attempts: Number(attempts),
      });
  }
  return claimed;
}

/** @returns null if the file is gone or has changed since it was seen. */
export async function claimFile(directory: string, seen: WaitingFile, at: Date): Promise<ClaimedFile | null> {
  const { name } = seen;
  const stats = await statsOf(path.join(directory, name));
  if (stats === null || !stats.isFile() || !isSame(identityOf(stats), seen)) return null;
  const id = `${stampOf(at)}-${randomUUID().slice(0, 8)}`;
  const place = placeOf(directory, id, 0);
  await mkdir(place, { mode: 0o700 });
  const file = path.join(place, name);
  try {
    await rename(path.join(directory, name), file);
  } catch (error) {
    await rmdir(place).catch(unless('ENOENT'));
    unless('ENOENT')(error);
    return null;
  }
  return { name, file, claimedAt: at, id, attempts: 0 };
}

const placeOf = (directory: string, id: string, attempts: number) =>
  path.join(directory, foldersOfInbox.claimed, `${id}.${attempts}`);

/**
 * Counts one more process that begins to read the file, so that a file that crashes every process is not retried for ever.
 * @returns null if another process has moved the file.
 */
export async function countAttempt(directory: string, claimed: ClaimedFile): Promise<ClaimedFile | null> {
  const attempts = claimed.attempts + 1;
  const place = placeOf(directory, claimed.id, attempts);
  try {
    await rename(placeOf(directory, claimed.id, claimed.attempts), place);
  } catch (error) {
    unless('ENOENT')(error);
    return null;
  }
  return { ...claimed, attempts, file: path.join(place, claimed.name) };
}

/** The present state of the file. @throws IngestFailure if it may not be read, or is too large. */
export async function inspect(file: string): Promise<Identity & { sha256: string }> {
  const handle = await openFile(file);
  try {
    const stats = await handle.stat({ bigint: true });
    const reason = kindOf(stats);
    if (reason !== null) throw new IngestFailure('invalid_file', `It cannot be loaded: ${reason}.`);
    if (stats.size > BigInt(bytesMaxUsual))
      throw new IngestFailure(
        'invalid_file',
        `It is ${megabytesAbove(stats.size)} MB; the limit is ${bytesMaxUsual / 2 ** 20} MB.`,
      );
    const hash: Hash = createHash('sha256');
    for await (const piece of handle.createReadStream({ autoClose: false })) hash.update(piece as Buffer);
    return { ...identityOf(stats), sha256: hash.digest('hex') };
  } finally {
    await handle.close();
  }
}

/** Rounded up, so that a size over a limit in whole MB is never shown as the limit. */
const megabytesAbove = (bytes: bigint): number => Math.ceil((Number(bytes) / 2 ** 20) * 10) / 10;

/** Never follows a link, and never blocks on a pipe. */
async function openFile(file: string): Promise<FileHandle> {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ELOOP')
      throw new IngestFailure('invalid_file', 'It cannot be loaded: it is a symbolic link.');
    if (code === 'EACCES' || code === 'EPERM')
      throw new IngestFailure(
        'invalid_file',
        'It cannot be read: the user of the publisher is not allowed to. Put it there with rights to read for all, or for a group of that user.',
        { cause: error },
      );
    throw error;
  }
}

/** Whether no file has this name: another process has moved or deleted it. */
export async function isGone(file: string): Promise<boolean> {
  return (await statsOf(file)) === null;
}

/** Whether the file is unchanged since then. */
export async function isUnchanged(file: string, since: Identity): Promise<boolean> {
  const stats = await statsOf(file);
  return stats !== null && isSame(identityOf(stats), since);
}

/** Moves the file to `done/`, with the instant inserted in its name. @returns the new name; null if another process has moved the file. */
export async function moveToDone(directory: string, claimed: ClaimedFile, at: Date): Promise<string | null> {
  const folder = path.join(directory, foldersOfInbox.done);
  const name = await freeName(folder, claimed.name, at);
  return (await moveTo(directory, claimed, path.join(folder, name))) ? name : null;
}

/**
 * Moves the file to `rejected/`, with its report. It keeps its name, so that it can be moved back, unless that exists there.
 * @param report receives the new name. @returns that name; null if another process has moved the file.
 */
export async function moveToRejected(
  directory: string,
  claimed: ClaimedFile,
  at: Date,
  report: (name: string) => string,
): Promise<string | null> {
  const folder = path.join(directory, foldersOfInbox.rejected);
  const isFree = (await statsOf(path.join(folder, claimed.name))) === null;
  const isShort = Buffer.byteLength(claimed.name + reportEnding) <= nameBytesMax;
  const name = isFree && isShort ? claimed.name : await freeName(folder, claimed.name, at);
  // Written under a new name, then renamed: a link in its place is replaced, and not followed.
  const draft = path.join(folder, `.${randomUUID()}.tmp`);
  await writeFile(draft, report(name), { flag: 'wx' });
  await rename(draft, path.join(folder, name + reportEnding));
  return (await moveTo(directory, claimed, path.join(folder, name))) ? name : null;
}

async function moveTo(directory: string, claimed: ClaimedFile, target: string): Promise<boolean> {
  try {
    await rename(claimed.file, target);
  } catch (error) {
    unless('ENOENT')(error);
    return false;
  }
  await rmdir(placeOf(directory, claimed.id, claimed.attempts)).catch(unless('ENOENT', 'ENOTEMPTY'));
  return true;
}

/** `gold.2026-11-23T101500Z.csv`, with a number if that exists. The name leaves room for a report's ending. */
async function freeName(folder: string, name: string, at: Date): Promise<string> {
  const { stem: base, endings } = splitEndings(name);
  for (let number = 1; ; number++) {
    const end = `.${stampOf(at)}${number === 1 ? '' : `.${number}`}${endings}`;
    const free = shortened(base, nameBytesMax - Buffer.byteLength(end + reportEnding)) + end;
    if ((await statsOf(path.join(folder, free))) === null) return free;
  }
}

function shortened(text: string, bytesMax: number): string {
  let short = text;
  while (Buffer.byteLength(short) > bytesMax) short = short.replace(/.$/su, '');
  return short;
}

const stampOf = (at: Date) => instantText(at).replaceAll(':', '');

/** How many rejected files are still there. */
export async function countRejected(directory: string): Promise<number> {
  const names = await readdir(path.join(directory, foldersOfInbox.rejected));
  return names.filter((name) => !name.startsWith('.') && !name.endsWith(reportEnding)).length;
}

/** Ignores errors with these codes. @throws the error if it has another one. */
function unless(...codes: string[]): (error: unknown) => undefined {
  return (error) => {
    if (codes.includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw error;
  };
}
