// Reads an upload: its tables by the rules of almanac publish, with certain and guessed facts, and their first rows. Runs in a child
// process.
import path from 'node:path';
import type { Queryable } from '../../../kernel/database.ts';
import { IngestFailure } from '../../failure.ts';
import { descriptionFile, tableSchema, type TableDescription } from '../../entry/entry-schema.ts';
import { addEntries, emptyDescription, entryText, type NewEntry } from '../../entry/entry-file.ts';
import { writeDescription } from '../../entry/write-entry-file.ts';
import { entriesFor } from '../../entry/entries-for.ts';
import { planMovedFile, type Plan } from '../../plan/plan.ts';
import { inspectTable } from '../../preview/inspect.ts';
import { valueAt } from '../../plan/preview-text.ts';
import type { Choice } from '../../entry/resolve-guesses.ts';
import { samplesOf, type Sample } from '../../read/table-rows.ts';
import type { TaskContext } from '../child-process/task.ts';
import type { FoundTable } from './found-table.ts';
import { withFile, type UploadToRead } from './spool.ts';
import { publishedEntries } from './uploads.sql.ts';

const tablesMax = 200;
const asBefore = 'as it was published before';
const rowsShown = 10;
const cellsShown = 100;
const charactersShown = 200;

export interface ReadTasks {
  'read-upload': { given: UploadToRead; answer: FoundTable[]; event: never };
}

/** @throws IngestFailure if the file cannot be read. */
export function readUpload({ database }: TaskContext, upload: UploadToRead): Promise<FoundTable[]> {
  return withFile(database, upload, async (file) => {
    const { tables, newEntries } = await planOf(database, upload, file);
    if (tables.length > tablesMax)
      throw new IngestFailure(
        'invalid_file',
        `${upload.name} has ${tables.length} sheets; the limit is ${tablesMax}. Split it.`,
      );
    const samples = await samplesOf(file);
    const sheetOf = ({ sheet }: TableDescription) =>
      Math.max(
        0,
        samples.findIndex((each) => each.sheet === sheet),
      );
    const entries = tables.map(({ entry }) => entry).toSorted((a, b) => sheetOf(a) - sheetOf(b));
    const found: FoundTable[] = [];
    for (const [table, entry] of entries.entries()) {
      const fresh = newEntries.find((each) => each.entry === entry);
      const { name, today } = upload;
      // Without an own reading, the entry comes from an earlier file with that name.
      const inspected =
        fresh?.inspected ??
        (entry.skip === undefined ? await inspectTable({ entry, path: name, file, today }) : undefined);
      const known: NewEntry = fresh ?? { entry, evidence: evidenceOfKnown(entry), title: asBefore };
      found.push(foundTable(table, { ...known, inspected }, samples[sheetOf(entry)]?.sample));
    }
    return found;
  });
}

/** Plans the file as in a folder whose almanac.yml has the entries with which files of that name were published before. */
async function planOf(on: Queryable, upload: UploadToRead, file: string): Promise<Plan> {
  const folder = path.dirname(file);
  const known = await knownEntries(on, upload);
  if (known.length > 0) {
    const description = emptyDescription(upload.publication);
    addEntries(
      description,
      known.map((entry) => ({ entry, evidence: {}, title: asBefore })),
    );
    writeDescription(path.join(folder, descriptionFile), description);
  }
  const source = { path: upload.name, file, sha256: upload.sha256 };
  const plan = await planMovedFile(on, folder, source, { facts: {}, again: true, today: upload.today });
  const [unreadable] = plan.unreadable;
  if (unreadable !== undefined)
    throw new IngestFailure('invalid_file', unreadable.reason.replaceAll(file, upload.name));
  return plan;
}

/** The newest entries for files of that name, one for each sheet. */
async function knownEntries(on: Queryable, { publication, name }: UploadToRead): Promise<TableDescription[]> {
  const all = (await publishedEntries(on, publication)).flatMap((entry) => {
    const parsed = tableSchema.safeParse(entry); // an entry of another version is detected anew
    return parsed.success ? [parsed.data] : [];
  });
  const bySheet = new Map<string | undefined, TableDescription>();
  for (const entry of entriesFor(name, all)) if (!bySheet.has(entry.sheet)) bySheet.set(entry.sheet, entry);
  return [...bySheet.values()];
}

function foundTable(table: number, described: NewEntry, sample: Sample | undefined): FoundTable {
  const { entry, evidence, inspected } = described;
  const guessed = new Set(entry.guessed ?? []);
  const findings = Object.entries(evidence).map(([path, why]) => ({
    path: shown(path),
    value: shown(valueAt(entry, path)),
    evidence: shown(why),
  }));
  const { guessed: _, ...confirmed } = entry; // publishing the table confirms it
  return {
    table,
    sheet: entry.sheet === undefined ? null : shown(entry.sheet),
    lines_read: sample?.lines.length ?? 0,
    sure: findings.filter(({ path }) => !guessed.has(path)),
    guesses: findings.filter(({ path }) => guessed.has(path)),
    skip: entry.skip === undefined ? null : shown(entry.skip),
    entry: entryText({ ...described, entry: confirmed }).toWellFormed(),
    choices: (inspected?.choices ?? []).map(storedChoice),
    preview: inspected === undefined ? null : everyText(inspected.preview, shown),
    sample: (sample?.rows ?? [])
      .slice(0, rowsShown)
      .map((row) => row.slice(0, cellsShown).map((cell) => shown(cell))),
  };
}

/** Key by key: the file was published before, so nothing in it is a guess. */
function evidenceOfKnown(entry: TableDescription): Record<string, string> {
  const keys = Object.keys(entry).filter((key) => !['file', 'sheet', 'series'].includes(key));
  const facts = Object.keys(entry.series ?? {}).map((name) => `series.${name}`);
  return Object.fromEntries(
    [...keys, ...facts].map((key) => [key, 'as the file of this name was published before']),
  );
}

/** The value as in the file, in characters that PostgreSQL accepts in JSON. */
function storedChoice(choice: Choice): Choice {
  const storable = (text: string) => text.toWellFormed().replaceAll('\0', ' ');
  return {
    ...everyText(choice, shown),
    key: storable(choice.key),
    text: choice.text === null ? null : storable(choice.text),
    options: choice.options.map(({ label, set }) => ({ label: shown(label), set: everyText(set, storable) })),
  };
}

/** Keys are texts from the file, too. */
function everyText<Value>(value: Value, change: (text: string) => string): Value {
  const walk = (each: unknown): unknown => {
    if (typeof each === 'string') return change(each);
    if (Array.isArray(each)) return each.map(walk);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, own]) => [change(key), walk(own)]));
  };
  return walk(value) as Value;
}

/** On one line, in characters that PostgreSQL accepts in JSON. */
const shown = (text: string): string =>
  text
    .slice(0, charactersShown)
    .toWellFormed()
    .replaceAll(/\p{Cc}/gu, ' ');
