// The report next to a rejected file, in plain text for its sender: the fault, the valid values, and what to do.
import path from 'node:path';
import { instantText } from '../../../kernel/clock.ts';
import type { IngestFailure } from '../../failure.ts';
import { shellWord } from '../../datasets/shell-word.ts';
import { dateInText } from '../../cells/dates/date-in-line.ts';
import type { ProcessEnded } from '../child-process/run-in-child.ts';
import { descriptionFile } from '../../entry/entry-schema.ts';
import { describedEntries, type NewEntry } from '../../entry/entry-file.ts';
import { shapeOf } from '../../detect/file-groups.ts';
import { fileNameOf } from '../../read/file-path.ts';
import type { Plan, PlannedTable } from '../../plan/plan.ts';
import { foldersOfInbox, type ClaimedFile } from './folder.ts';
import { nounOf } from '../../../kernel/text/counted.ts';

/** Why a file is rejected. */
export interface Rejection {
  /** One sentence, for the log too. */
  reason: string;
  /** The faults in detail, and what to do before the file is put into the folder again. */
  detail: string;
  /** Lines to copy. */
  appendix?: string;
}

/** A file that cannot be loaded in its present form. */
export function refusal(failure: IngestFailure, claimed: ClaimedFile): Rejection {
  const [reason = '', ...further] = failure.message.replaceAll(claimed.file, claimed.name).split('\n');
  const { rejects, rowsRejected } = failure;
  const unreported = rowsRejected - rejects.length;
  const cells = rejects.map(
    ({ line, column, value, expected }) =>
      `  line ${line}, ${column}: "${oneLine(value)}", expected ${expected}`,
  );
  // The message shows only the first cells.
  const lines =
    cells.length === 0 ? further : unreported > 0 ? [...cells, `  and ${unreported} more`] : cells;
  const advice = `Correct the file, or its entry in ${descriptionFile}.`;
  return { reason, detail: lines.length === 0 ? advice : [...lines, '', advice].join('\n') };
}

const oneLine = (text: string) => text.replaceAll(/\p{Cc}+/gu, ' ');

/** Tables with guesses, in entries made for this file or already in almanac.yml. */
export function unconfirmed(plan: Plan, tables: readonly PlannedTable[]): Rejection {
  const { descriptionPath, description } = plan;
  const fresh = plan.newEntries.filter(({ entry }) => tables.some((table) => table.entry === entry));
  if (fresh.length === 0) {
    const keys = [...new Set(tables.flatMap(({ entry }) => entry.guessed ?? []))];
    return {
      reason: `Its entry in ${descriptionFile} has unconfirmed guesses: ${keys.join(', ')}.`,
      detail: `Look at them in ${descriptionPath}, correct what is wrong, and delete the line "guessed" of the entry.`,
    };
  }
  const sheets = fresh.map(({ entry }) => entry.sheet);
  const hasOtherTables = plan.tables.length > plan.newEntries.length;
  const what = hasOtherTables ? `its ${nounOf(sheets.length, 'sheet')} ${sheets.join(', ')}` : 'it';
  const skipped = tables.every(({ entry }) => entry.skip !== undefined) ? tables[0]?.entry.skip : undefined;
  return {
    reason:
      skipped === undefined
        ? `${descriptionFile} has no entry for ${what}, and some of what was found there is guessed.`
        : `${descriptionFile} has no entry for ${what}, and no table was found there: ${skipped}.`,
    detail: `${skipped === undefined ? toConfirm : toDescribe}
"guessed", and ${plan.isNew ? `make ${descriptionPath} of these lines` : `add the lines below "tables:" to ${descriptionPath}`}.

Or publish the file once by hand in another folder, "almanac publish FOLDER", and copy the entry from the ${descriptionFile} that is made there.`,
    appendix: describedEntries(description.description.name, fresh.map(forFilesLikeIt)),
  };
}

const toConfirm =
  'Below is the entry that was found, with the evidence; "guess" marks what is not confirmed. Correct what is wrong, delete its line';
const toDescribe =
  'Send a file with a table. If this file has one, describe it in the entry below in place of "skip"; keep "skip" to leave such files out. Delete its line';

/** Files are delivered again with another date in the name: the entry applies to all of them. */
function forFilesLikeIt(added: NewEntry): NewEntry {
  const [name = ''] = [added.entry.file].flat();
  if (dateInText(fileNameOf(name)) === null) return added;
  return {
    ...added,
    entry: { ...added.entry, file: shapeOf(name) },
    evidence: {
      ...added.evidence,
      file: `${name}: the name has a date, which may differ in the next file`,
    },
  };
}

/** A file that crashed the process that read it. */
export function crashRejection(ended: ProcessEnded): Rejection {
  return {
    reason: `It is too large to be read: ${ended.message}.`,
    detail: `Almanac does not try it again by itself. ${ended.advice}`,
  };
}

/** A fault that is neither in the file nor temporary. */
export function internalFault(error: unknown): Rejection {
  const message = error instanceof Error ? error.message : String(error);
  return {
    reason: `It cannot be loaded because of a fault in Almanac: ${message}`,
    detail: 'The log of the publisher has more. Please report it, with the file if that may be shown.',
  };
}

/** The text of the report. @param name the name of the file in `rejected/`. */
export function reportText(
  { reason, detail, appendix }: Rejection,
  { claimed, name, directory, at }: { claimed: ClaimedFile; name: string; directory: string; at: Date },
): string {
  const here = path.join(directory, foldersOfInbox.rejected, name);
  return `${claimed.name} was not loaded at ${instantText(at)}, and nothing of it is stored.

${reason}
${detail}

Then put it into the folder again:
    mv ${shellWord(here)} ${shellWord(path.join(directory, claimed.name))}
${appendix === undefined ? '' : `\n${appendix}`}`;
}
