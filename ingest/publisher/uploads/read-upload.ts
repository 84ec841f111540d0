// Reads an upload: what its tables are, by the rules of almanac publish, with what is sure and what is guessed, and their first rows. Runs in
// a process of its own.
import { IngestFailure } from '../../load/failure.ts';
import type { TableDescription } from '../../publish/description.ts';
import { entryText, type NewEntry } from '../../publish/description-file.ts';
import type { PlannedTable } from '../../publish/plan.ts';
import { valueAt } from '../../publish/preview.ts';
import { samplesOf, type Sample } from '../../publish/table-rows.ts';
import type { TaskContext } from '../apart/tasks.ts';
import { withUpload, type Spooled, type UploadToRead } from './spool.ts';

/** A part of the entry: its key, such as `series.unit`, what it is, and why. */
export interface Finding {
  path: string;
  value: string;
  evidence: string;
}

export interface FoundTable {
  /** Its position in the upload, from 0. */
  table: number;
  /** Of a workbook. */
  sheet: string | null;
  /** The lines that were read to find out: all, or the first of many. */
  lines_read: number;
  sure: Finding[];
  guesses: Finding[];
  /** Why it is no table that can be published; null: it is one. */
  skip: string | null;
  /** Its entry of almanac.yml, as YAML. */
  entry: string;
  /** The first ten lines. */
  sample: string[][];
}

export type FoundInUpload = FoundTable[];

const tablesMax = 200;
const rowsShown = 10;
const cellsShown = 100;
const charactersShown = 200;

/** @throws IngestFailure if the file cannot be read. */
export function readUpload({ database }: TaskContext, upload: UploadToRead): Promise<FoundInUpload> {
  return withUpload(database, upload, async (spooled) => {
    const tables = tablesOf(spooled);
    if (tables.length > tablesMax)
      throw new IngestFailure(
        'invalid_file',
        `${upload.name} has ${tables.length} sheets; an upload may have ${tablesMax}. Divide it.`,
      );
    const samples = await samplesOf(spooled.file);
    return tables.map(({ entry }, table) => {
      const sample = samples.find(({ sheet }) => sheet === entry.sheet) ?? samples[0];
      return foundTable(table, entry, spooled, sample?.sample);
    });
  });
}

/** The tables of an upload in the order of their positions, which depends on the file and its entries alone. */
export const tablesOf = ({ plan }: Spooled): readonly PlannedTable[] => plan.tables;

function foundTable(
  table: number,
  entry: TableDescription,
  { plan }: Spooled,
  sample: Sample | undefined,
): FoundTable {
  const found = plan.newEntries.find((each) => each.entry === entry);
  const described: NewEntry = found ?? { entry, evidence: {}, title: 'as it was published before' };
  const guessed = new Set(entry.guessed ?? []);
  const evidence = found === undefined ? evidenceOfKnown(entry) : found.evidence;
  const findings = Object.entries(evidence).map(([path, why]) => ({
    path: shown(path),
    value: shown(valueAt(entry, path)),
    evidence: shown(why),
  }));
  const { guessed: _, ...confirmed } = entry; // whoever publishes the table confirms it
  return {
    table,
    sheet: entry.sheet === undefined ? null : shown(entry.sheet),
    lines_read: sample?.lines.at(-1) ?? 0,
    sure: findings.filter(({ path }) => !guessed.has(path)),
    guesses: findings.filter(({ path }) => guessed.has(path)),
    skip: entry.skip === undefined ? null : shown(entry.skip),
    entry: entryText({ ...described, entry: confirmed }),
    sample: (sample?.rows ?? [])
      .slice(0, rowsShown)
      .map((row) => row.slice(0, cellsShown).map((cell) => shown(cell))),
  };
}

/** Key by key: the file was published before, so nothing of it is a guess. */
function evidenceOfKnown(entry: TableDescription): Record<string, string> {
  const keys = Object.keys(entry).filter((key) => !['file', 'sheet', 'series'].includes(key));
  const facts = Object.keys(entry.series ?? {}).map((name) => `series.${name}`);
  return Object.fromEntries(
    [...keys, ...facts].map((key) => [key, 'as the file of this name was published before']),
  );
}

/** On one line, in signs that PostgreSQL keeps in JSON. */
const shown = (text: string): string =>
  text
    .slice(0, charactersShown)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ');
