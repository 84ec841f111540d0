// The tables of a file that almanac.yml has no entry for, with what each is proposed to be. Reads the file: whoever does not trust it does this in a
// process of its own.
import path from 'node:path';
import { fileKind } from '../../files/file-kind.ts';
import type { TableDescription } from '../description.ts';
import { fileNameOf, isUrl, type FoundTable } from '../file-groups.ts';
import { inspect } from '../preview/inspect.ts';
import { contentOf, samplesOf, type Sample } from '../table-rows.ts';
import { sheetNames } from '../workbook.ts';
import { namesIn } from '../forms/file-name.ts';
import type { Proposal } from './proposal.ts';
import { propose } from './propose.ts';

export interface FindTables {
  source: { path: string; file: string };
  /** Those that the file has. */
  entries: readonly TableDescription[];
  /** The name of its folder. */
  folder: string;
  /** Facts of new series, by the command line. */
  facts: Readonly<Record<string, string>>;
  /** YYYY-MM-DD. */
  today: string;
}

/**
 * The tables of a file that have no entry, and the sheets that are none beside them: each gets an entry.
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
  const samples = await samplesOf(source.file);
  const isDescribed = (name: string | undefined, at: number) =>
    entries.some(({ sheet }) => (sheet === undefined ? at === 0 : sheet === name));
  const found: (FoundTable & { content: string })[] = [];
  for (const [at, { sheet, sample }] of samples.entries()) {
    if (isDescribed(sheet, at)) continue;
    const proposal = propose(sample, {
      stem: samples.length > 1 && sheet !== undefined && at > 0 ? `${names.stem} ${sheet}` : names.stem,
      dateInName: names.dateInName,
      ...{ sheet, folder, facts, today },
    });
    const ownSheet = at === 0 ? undefined : sheet;
    found.push({
      ...{ path: source.path, sheet: ownSheet, content: contentOf(sample) },
      proposal: await withRows(proposal, { ...source, today, sheet: ownSheet }, sample),
    });
  }
  const isTable = ({ proposal }: FoundTable) => proposal.entry.skip === undefined;
  // One entry says that a file has no table, however many sheets it has.
  if (entries.length === 0 && !found.some(isTable)) return found.slice(0, 1);
  return found
    .filter((table) => isTable(table) || table.content !== 'nothing')
    .map((table) => (isTable(table) ? table : { ...table, proposal: withoutTable(table) }));
}

/** With its rows as they will be served: the sample is in memory now. */
async function withRows(
  proposal: Proposal,
  { sheet, ...source }: { path: string; file: string; today: string; sheet: string | undefined },
  sample: Sample,
): Promise<Proposal> {
  if (proposal.entry.skip !== undefined) return proposal;
  const entry = { file: source.path, ...(sheet !== undefined && { sheet }), ...proposal.entry };
  return { ...proposal, inspected: await inspect({ ...source, entry }, sample, proposal.ignored) };
}

/** Whether a workbook that has entries has a sheet that has none. */
function hasFurtherSheets(file: string, entries: readonly TableDescription[]): boolean {
  const named = new Set(entries.map(({ sheet }) => sheet));
  const others = sheetNames(file).filter((name) => !named.has(name));
  return others.length > (named.has(undefined) ? 1 : 0);
}

/** Contents and notes beside a table: nobody has to confirm that they are none. */
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
