// Whether the watched folder can be used, and its state in words, for `almanac check`.
import { access, constants, stat } from 'node:fs/promises';
import path from 'node:path';
import { descriptionFile } from '../../entry/entry-schema.ts';
import { readDescription } from '../../entry/entry-file.ts';
import { countRejected, foldersOfInbox, listFolder } from './folder.ts';
import { counted, nounOf } from '../../../kernel/text/counted.ts';

export interface InboxHealth {
  detail: string;
  /** Some files were rejected. */
  needsAttention: boolean;
}

/** Changes nothing. @throws Error with the reason why files cannot be processed; IngestFailure for a fault in almanac.yml. */
export async function describeInbox(directory: string): Promise<InboxHealth> {
  const own = await usableFolder(directory);
  if (own === null) throw new Error(`There is no folder ${directory}.`);
  let rejected = 0;
  for (const name of Object.values(foldersOfInbox)) {
    const folder = path.join(directory, name);
    const inside = await usableFolder(folder);
    if (inside === null) continue; // created when the folder is first watched
    if (inside.dev !== own.dev)
      throw new Error(
        `${folder} must be on the same file system as ${directory}: files are moved there by renaming.`,
      );
    if (name === foldersOfInbox.rejected) rejected = await countRejected(directory);
  }
  const description = readDescription(path.join(directory, descriptionFile));
  const { files, leftAlone } = await listFolder(directory);
  const parts = [
    `${directory}: ${description === null ? `no ${descriptionFile}` : counted(description.description.tables.length, 'entry', 'entries')}`,
    `${counted(files.length, 'file')} ${nounOf(files.length, 'waits', 'wait')}`,
    ...(leftAlone.length > 0
      ? [
          `${leftAlone.length} ${nounOf(leftAlone.length, 'is', 'are')} not taken, such as ${leftAlone[0]?.name}`,
        ]
      : []),
    ...(rejected > 0 ? [`${rejected} rejected: each has a report beside it`] : []),
  ];
  return { detail: parts.join('; '), needsAttention: rejected > 0 };
}

/** @returns null if it does not exist. */
async function usableFolder(folder: string): Promise<{ dev: number } | null> {
  const stats = await stat(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null;
    throw error;
  });
  if (stats === null) return null;
  if (!stats.isDirectory()) throw new Error(`${folder} is not a folder.`);
  try {
    await access(folder, constants.R_OK | constants.W_OK | constants.X_OK);
  } catch (error) {
    throw new Error(`${folder} cannot be written by this user: files are moved out of it.`, { cause: error });
  }
  return stats;
}
