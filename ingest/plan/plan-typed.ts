// The plan of an entry that was typed as flags.
import type { Readable } from 'node:stream';
import type { TableDescription } from '../entry/entry.ts';
import type { PlannedTable } from './plan.ts';

/** The plan of an entry that was typed: it is loaded, whatever was loaded before. @param input the bytes of a file that is `-`. */
export const planTyped = (entry: TableDescription, file: string, input?: Readable): PlannedTable => ({
  ...{ entry, path: file, file, bytes: 0, contentSha256: '', ...(input !== undefined && { input }) },
  ...{ state: 'new', isGuessed: false, changes: [], loadedWith: null },
});
