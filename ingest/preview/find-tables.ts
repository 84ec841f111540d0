// Finds the tables of a file that have no entry in almanac.yml, and proposes an entry for each. Reads the file: untrusted ones are read in a
// child process (ingest/publisher/child-process).
import path from 'node:path';
import { fileKind } from '../read/file-kind.ts';
import type { TableDescription } from '../entry/entry-schema.ts';
import type { FoundTable } from '../detect/file-groups.ts';
import { fileNameOf, isUrl } from '../read/file-path.ts';
import { inspect } from './inspect.ts';
import { titleQuestion } from '../entry/missing-facts.ts';
import { contentOf, samplesOf, type Sample } from '../read/table-rows.ts';
import { sheetNames } from '../read/workbook.ts';
import { findMetadata } from '../entry/metadata-files/find-metadata.ts';
import type { StatedFacts } from '../entry/metadata-files/stated-facts.ts';
import { namesIn } from '../entry/file-name.ts';
import type { About, Proposal } from '../detect/proposal/proposal.ts';
import { propose } from '../detect/propose.ts';
import { withoutCrosstab } from '../detect/table/find-crosstab.ts';

export interface FindTables {
  source: { path: string; file: string };
  /** The entries of the file. */
  entries: readonly TableDescription[];
  /** The name of its folder. */
  folder: string;
  /** Facts of new series, by the command line. */
  facts: Readonly<Record<string, string>>;
  /** YYYY-MM-DD. */
  today: string;
}

/**
 * Finds the tables of a file without an entry. Sheets that have no table get an entry too, with the reason to skip them.
 * @throws IngestFailure if the file cannot be read.
 */
export async function findTables({
  source,
  entries,
  folder,
  facts,
  today,
}: FindTables): Promise<FoundTable[]> {
  if (entries.length > 0 && (fileKind(source.file) !== 'workbook' || !hasFurtherSheets(source.file, entries)))
    return [];
  const fileName = isUrl(source.path) ? path.basename(source.file) : fileNameOf(source.path);
  const names = namesIn(fileName);
  const metadata = isUrl(source.path) ? undefined : metadataOf(source);
  const samples = await samplesOf(source.file);
  const isDescribed = (name: string | undefined, at: number) =>
    entries.some(({ sheet }) => (sheet === undefined ? at === 0 : sheet === name));
  const ofSheets = proposeSheets(
    samples
      .map(({ sheet, sample }, at) => ({ sheet, sample: withoutCrosstab(sample), at }))
      .filter(({ sheet, at }) => !isDescribed(sheet, at)),
    { stem: names.stem, dateInName: names.dateInName, ...{ folder, facts, metadata, today } },
  );
  const found: (FoundTable & { content: string })[] = [];
  for (const { at, sheet, sample, proposal } of ofSheets) {
    const ownSheet = at === 0 ? undefined : sheet;
    found.push({
      ...{ path: source.path, sheet: ownSheet, content: contentOf(sample) },
      proposal: await withRows(proposal, { ...source, today, sheet: ownSheet }, sample),
    });
  }
  const isTable = ({ proposal }: FoundTable) => proposal.entry.skip === undefined;
  // A file without any table gets one entry, not one per sheet.
  if (entries.length === 0 && !found.some(isTable)) {
    const likely = found.find(({ content }) => content === 'numbers') ?? found[0];
    return likely === undefined ? [] : [ofWholeFile(likely)];
  }
  return found
    .filter((table) => isTable(table) || table.content !== 'nothing')
    .map((table) => (isTable(table) ? table : { ...table, proposal: withoutTable(table) }));
}

type OfSheet = Awaited<ReturnType<typeof samplesOf>>[number] & { at: number };

/** The proposal for each sheet. The table of the first sheet gets the name of the file alone, unless other sheets have tables. */
function proposeSheets(
  sheets: readonly OfSheet[],
  about: Omit<About, 'sheet'>,
): (OfSheet & { proposal: Proposal })[] {
  const proposed = ({ sheet, sample }: OfSheet, isNamed: boolean): Proposal =>
    propose(sample, {
      ...about,
      sheet,
      stem: isNamed && sheet !== undefined ? `${about.stem} ${sheet}` : about.stem,
    });
  const found = sheets.map((each) => ({ ...each, proposal: proposed(each, each.at > 0) }));
  const tables = found.filter(({ proposal }) => proposal.entry.skip === undefined);
  return found.map((each) =>
    each.at === 0 && tables.length > 1 && tables.includes(each)
      ? { ...each, proposal: proposed(each, true) }
      : each,
  );
}

/** Facts from metadata beside the file; a file that is not at its nominal path, such as an upload, has none. */
function metadataOf({ path: name, file }: FindTables['source']): StatedFacts | undefined {
  const end = path.join(path.sep, ...name.split('/'));
  return file.endsWith(end) ? findMetadata(file.slice(0, -end.length), name) : undefined;
}

/** With its rows as they will be served: the sample is in memory now. */
async function withRows(
  proposal: Proposal,
  { sheet, ...source }: { path: string; file: string; today: string; sheet: string | undefined },
  sample: Sample,
): Promise<Proposal> {
  if (proposal.entry.skip !== undefined) return proposal;
  const entry = { file: source.path, ...(sheet !== undefined && { sheet }), ...proposal.entry };
  const { preview, choices } = await inspect({ ...source, entry }, sample, proposal.ignored);
  const title = proposal.isNameMissing === true ? [titleQuestion(entry)] : [];
  return { ...proposal, inspected: { preview, choices: [...choices, ...title] } };
}

/** Whether a workbook with entries has a sheet without one. */
function hasFurtherSheets(file: string, entries: readonly TableDescription[]): boolean {
  const named = new Set(entries.map(({ sheet }) => sheet));
  const others = sheetNames(file).filter((name) => !named.has(name));
  return others.length > (named.has(undefined) ? 1 : 0);
}

/** The reason why the most likely sheet is not a table, reported for the file. */
function ofWholeFile(table: FoundTable): FoundTable {
  const { sheet, proposal } = table;
  if (sheet === undefined) return table;
  const skip = `sheet ${sheet}: ${proposal.entry.skip ?? ''}`;
  return { ...table, sheet: undefined, proposal: { ...proposal, entry: { ...proposal.entry, skip } } };
}

/** A sheet of contents or notes beside a table: skipped without confirmation. */
const sheetOfText: FoundTable['proposal'] = {
  entry: { skip: 'a sheet of text' },
  evidence: {},
  rows: 0,
};

/** Lists of series, contents and notes beside a table need no confirmation. */
function withoutTable({ proposal, content }: FoundTable & { content: string }): FoundTable['proposal'] {
  if (proposal.isContents === true) return { ...proposal, entry: { skip: proposal.entry.skip } };
  return content === 'text' ? sheetOfText : proposal;
}
