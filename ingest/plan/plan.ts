// Plans a run of almanac publish: which files have an entry, which are new, with their proposals, and which have changed since they were
// loaded. Reads files, almanac.yml and the database's record; changes nothing.
import { createHash } from 'node:crypto';
import { createReadStream, existsSync, statSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import type { Queryable } from '../../kernel/database.ts';
import { datasetNames } from '../datasets/datasets.ts';
import { isDataPackage, isNamedWorkbook, tableEndings } from '../read/file-kind.ts';
import { IngestFailure } from '../failure.ts';
import { dataFileOf } from '../load/datapackage.ts';
import { descriptionFile, type TableDescription } from '../entry/entry-schema.ts';
import {
  addEntries,
  emptyDescription,
  giveFacts,
  readDescription,
  type DescriptionFile,
  type NewEntry,
} from '../entry/entry-file.ts';
import { entryChanges } from '../entry/entry-changes.ts';
import { fetchFile, type FetchedFile } from '../read/fetch-url.ts';
import { groupTables, shapeOf, type FoundTable } from '../detect/file-groups.ts';
import { entriesFor, entriesWithoutFile } from '../entry/entries-for.ts';
import { fileNameOf, isUrl } from '../read/file-path.ts';
import { namesIn } from '../entry/file-name.ts';
import { findTables, type FindTables } from '../preview/find-tables.ts';
import { idChoice } from '../preview/choices.ts';
import { findPublished, namesOfSeries, type PublishedFile } from './publish-record.sql.ts';
import { idPart } from '../entry/templates.ts';
import { filesOf, whyNotReadable, type TargetFiles } from './target-files.ts';

export interface PlanOptions {
  /** Folders, files and URLs. */
  targets: readonly string[];
  /** Facts of new series, and of those that have guesses instead, such as unit and source. */
  facts: Readonly<Record<string, string>>;
  /** Also loads unchanged files. */
  again: boolean;
  /** YYYY-MM-DD. */
  today: string;
  /** Reads a file to find its tables: `findTables`, in a child process unless this is one. */
  find: (given: FindTables) => Promise<FoundTable[]>;
  /** Called before each file that is read. */
  onFile?: (path: string, number: number, of: number) => void;
  /** The actual paths of files that are not at their nominal paths. */
  moved?: ReadonlyMap<string, SourceFile>;
}

/** A table to load: a file, or a sheet of one, and its entry. */
export interface FileToLoad {
  entry: TableDescription;
  /** Below the folder, or a URL. */
  path: string;
  /** Its path on this machine. */
  file: string;
  /** Its bytes, if it is not a file: of an entry with `dataset`. */
  input?: Readable;
  contentSha256: string;
  /** The entry that it was loaded with. */
  loadedWith: TableDescription | null;
}

export interface PlannedTable extends FileToLoad {
  bytes: number;
  /** `no table`: left out by its own entry, which is not confirmed; `skipped`: left out on purpose. */
  state: 'new' | 'file changed' | 'entry changed' | 'load retracted' | 'unchanged' | 'skipped' | 'no table';
  /** Loaded only if the guesses are accepted. */
  isGuessed: boolean;
  /** The consequences of an edit of the entry since the table was loaded. */
  changes: string[];
}

export interface Plan {
  /** almanac.yml. */
  descriptionPath: string;
  description: DescriptionFile;
  /** There is no almanac.yml yet. */
  isNew: boolean;
  /** The entries of files that had none; already in the description, but not in its file. */
  newEntries: NewEntry[];
  /** Facts were given to entries that had guesses of them; not in the file yet. */
  isCompleted: boolean;
  tables: PlannedTable[];
  /** Files that cannot be read, and why. */
  unreadable: { path: string; reason: string }[];
  /** The entries that name no file, in a run of the whole folder. */
  withoutFile: TableDescription[];
  /** Deletes what was fetched. */
  close(): Promise<void>;
}

/** A file of a target, with its path. */
export interface SourceFile {
  path: string;
  file: string;
  sha256?: string;
}

/** One plan for each folder: files and URLs share the almanac.yml beside them. */
export async function planPublishing(on: Queryable, options: PlanOptions): Promise<Plan[]> {
  const folders = new Map<string, Omit<TargetFiles, 'folder' | 'paths'> & { paths: Set<string> }>();
  for (const target of options.targets) {
    const { folder, paths, closed, isWhole } = filesOf(target);
    const all = folders.get(folder) ?? { paths: new Set(), closed: [], isWhole: false };
    for (const each of paths) all.paths.add(each);
    if (isWhole) Object.assign(all, { closed, isWhole });
    folders.set(folder, all);
  }
  const plans: Plan[] = [];
  for (const [folder, { paths, closed, isWhole }] of folders)
    plans.push(await planFolder(on, { folder, paths: [...paths], closed, isWhole }, options));
  return plans;
}

/** Plans one file that is loaded as if it were in `folder`, wherever it is stored. Reads the file in this process, so callers run it in a child process. */
export function planMovedFile(
  on: Queryable,
  folder: string,
  source: SourceFile,
  options: Omit<PlanOptions, 'targets' | 'moved' | 'find'>,
): Promise<Plan> {
  const given = { folder, paths: [source.path], closed: [], isWhole: false };
  const moved = new Map([[source.path, source]]);
  return planFolder(on, given, { ...options, targets: [], moved, find: findTables });
}

async function planFolder(
  on: Queryable,
  { folder, paths: given, closed, isWhole }: TargetFiles,
  options: PlanOptions,
): Promise<Plan> {
  const descriptionPath = path.join(folder, descriptionFile);
  const written = readDescription(descriptionPath);
  const description = written ?? emptyDescription(await publicationName(on, folder, given, options.moved));
  const paths = [...given, ...(isWhole ? [...urlsIn(description), ...namedIn(description, folder)] : [])];
  if (paths.length === 0 && written === null)
    throw new IngestFailure(
      'usage',
      `${folder} has no CSV file and no workbook: ${tableEndings.join(', ')} are read.` +
        closed.map((each) => ` ${each.path}: ${each.reason}`).join(''),
    );
  const fetched: FetchedFile[] = [];
  const plan: Plan = {
    descriptionPath,
    description,
    isNew: written === null,
    newEntries: [],
    isCompleted: false,
    tables: [],
    unreadable: [...closed],
    withoutFile: isWhole ? entriesWithoutFile(paths, description.description.tables) : [],
    close: async () => void (await Promise.all(fetched.map(({ remove }) => remove()))),
  };
  const remembered = new Map(
    (await findPublished(on, description.description.name)).map((row) => [`${row.path}\n${row.sheet}`, row]),
  );
  const found: FoundTable[] = [];
  const sources: SourceFile[] = [];
  const described: string[] = [];
  try {
    for (const [number, each] of [...new Set(paths)].entries()) {
      options.onFile?.(each, number + 1, paths.length);
      try {
        const source = options.moved?.get(each) ?? (await sourceOf(each, folder, fetched));
        sources.push(source);
        const entries = entriesFor(each, description.description.tables);
        if (entries.length > 0) described.push(each);
        if (giveFacts(description, entries, options.facts)) plan.isCompleted = true;
        if (mayHaveMoreTables(source.file, entries)) {
          const { facts, today } = options;
          found.push(
            ...(await options.find({ source, entries, folder: path.basename(folder), facts, today })),
          );
        }
      } catch (error) {
        if (!(error instanceof IngestFailure)) throw error;
        const temporary = fetched.map(({ file }) => file);
        const reason = temporary.reduce((text, file) => text.replaceAll(file, each), error.message);
        plan.unreadable.push({ path: each, reason });
      }
    }
    const grouped = groupTables(found, { described, today: options.today });
    plan.newEntries = await doubtExistingIds(on, uniqueIds(grouped), remembered);
    addEntries(description, plan.newEntries);
    for (const source of sources)
      for (const entry of entriesFor(source.path, description.description.tables))
        plan.tables.push(await plannedTable(source, entry, remembered, options.again));
  } catch (error) {
    await plan.close();
    throw error;
  }
  plan.tables.sort((a, b) => (orderOf(a) < orderOf(b) ? -1 : 1));
  return plan;
}

/** Referenced data first, as items before prices. Oldest vintage first, which is the fastest order. Files without one keep their order. */
const orderOf = ({ path: name, entry }: PlannedTable): string => {
  const rank = String(datasetNames.indexOf(entry.dataset ?? 'observations')).padStart(3, '0');
  const isDated = typeof entry.vintage === 'object' && 'in' in entry.vintage;
  const date = isDated ? namesIn(fileNameOf(name)).dateInName : null;
  return `${rank}\n${date ?? ''}\n${name}\n${entry.sheet ?? ''}`;
};

/** All tables except those left out on purpose. */
const urlsIn = ({ description }: DescriptionFile): string[] =>
  description.tables
    .filter(({ skip, guessed = [] }) => skip === undefined || guessed.length > 0)
    .flatMap(({ file }) => [file].flat().filter(isUrl));

/** The files of datasets that the entries name, whatever their ending: a release calendar, or a data package. */
const namedIn = ({ description }: DescriptionFile, folder: string): string[] =>
  description.tables
    .filter(({ dataset }) => dataset !== undefined)
    .flatMap(({ file }) => [file].flat())
    .filter((name) => !isUrl(name) && !/\*|(?:^|\/)\.\.(?:\/|$)/.test(name))
    .filter((name) => existsSync(path.join(folder, name)));

/**
 * The name of the folder, followed by a number if the database has loads of another folder with that name. If a file that was loaded is unchanged in
 * the folder, it counts as the same folder even without its almanac.yml.
 */
async function publicationName(
  on: Queryable,
  folder: string,
  paths: readonly string[],
  moved?: ReadonlyMap<string, SourceFile>,
): Promise<string> {
  const here = new Set(paths);
  const isHere = async ({ path: name, contentSha256 }: PublishedFile) => {
    if (!here.has(name) || isUrl(name)) return here.has(name);
    const { file, sha256 } = moved?.get(name) ?? (await sourceOf(name, folder, []));
    return (sha256 ?? (await sha256Of(file))) === contentSha256;
  };
  const base = folderName(folder);
  for (let number = 1; ; number++) {
    const name = number === 1 ? base : `${base}-${number}`;
    const loaded = await findPublished(on, name);
    if (loaded.length === 0) return name;
    for (const each of loaded) if (await isHere(each)) return name;
  }
}

function folderName(folder: string): string {
  const name = path
    .basename(folder)
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[^A-Za-z0-9]+/, '')
    .slice(0, 75); // a number may follow; 80 are allowed
  return name === '' ? 'tables' : name;
}

/** A file without an entry, or a workbook whose entries may be of some of its sheets. One that leaves the file out is for all of them. */
const mayHaveMoreTables = (file: string, entries: readonly TableDescription[]): boolean =>
  entries.length === 0 ||
  (isNamedWorkbook(file) && entries.some(({ skip, sheet }) => skip === undefined || sheet !== undefined));

async function sourceOf(each: string, folder: string, fetched: FetchedFile[]): Promise<SourceFile> {
  if (!isUrl(each)) {
    const file = path.join(folder, ...each.split('/'));
    const reason = whyNotReadable(file);
    if (reason !== null) throw new IngestFailure('invalid_file', reason);
    return { path: each, file };
  }
  const answer = await fetchFile(each);
  if (answer === null)
    throw new IngestFailure('invalid_file', `${each} answers 304 to an unconditional request.`);
  fetched.push(answer);
  return { path: each, file: answer.file, sha256: answer.sha256 };
}

/** No two tables propose one series, unless they are of one form but for the lines they are on: the later ones get a number. */
function uniqueIds(entries: NewEntry[]): NewEntry[] {
  const owners = new Map<string, string>();
  for (const { entry, inspected } of entries) {
    if (entry.series === undefined || entry.series.id.startsWith('{')) continue;
    const owner = `${shapeOf([entry.file].flat()[0] ?? '')}\n${entry.sheet ?? ''}`;
    const { id } = entry.series;
    let own = id;
    for (let number = 2; (owners.get(own) ?? owner) !== owner; number++) own = `${id}.${number}`;
    owners.set(own, owner);
    entry.series.id = own;
    for (const point of inspected?.preview.points ?? []) point.series += own.slice(id.length);
  }
  return entries;
}

/**
 * An existing id may be meant for another series, as two folders may each have a gdp.csv. So it is a guess, unless the file was loaded before. Ids
 * with parts from rows are not known yet.
 */
async function doubtExistingIds(
  on: Queryable,
  entries: readonly NewEntry[],
  remembered: ReadonlyMap<string, PublishedFile>,
): Promise<NewEntry[]> {
  const names = await namesOfSeries(on, entries.flatMap(knownIds));
  return entries.map((proposed) => {
    const { entry, evidence, inspected } = proposed;
    const existing = knownIds(proposed).find((id) => names.has(id));
    const files = [entry.file].flat();
    if (existing === undefined || files.some((file) => remembered.has(`${file}\n${entry.sheet ?? ''}`)))
      return proposed;
    const doubt = `a series ${existing} exists, "${names.get(existing) ?? ''}", and would be revised`;
    return {
      ...proposed,
      entry: { ...entry, guessed: [...(entry.guessed ?? []), 'series.id'] },
      evidence: { ...evidence, 'series.id': `${doubt}; ${evidence['series.id'] ?? ''}` },
      inspected: inspected && {
        ...inspected,
        choices: [
          ...inspected.choices,
          idChoice(entry.series?.id ?? existing, existing, names.get(existing) ?? ''),
        ],
      },
    };
  });
}

/** The ids of the series, if they depend only on the titles of columns. */
function knownIds({ entry: { series }, columns = [] }: NewEntry): string[] {
  if (series === undefined || /\{(?!column\})/.test(series.id)) return [];
  if (!series.id.includes('{column}')) return [series.id];
  return columns.map((title) => series.id.replaceAll('{column}', idPart(title)));
}

async function plannedTable(
  { path: name, file, sha256 }: SourceFile,
  entry: TableDescription,
  remembered: ReadonlyMap<string, PublishedFile & { isRetracted: boolean }>,
  again: boolean,
): Promise<PlannedTable> {
  const contentSha256 = sha256 ?? (await sha256Of(file, ...dataBeside(file, entry)));
  const last = remembered.get(`${name}\n${entry.sheet ?? ''}`);
  const loadedWith = (last?.entry ?? null) as TableDescription | null;
  const changes = loadedWith === null ? [] : entryChanges(loadedWith, entry);
  const isGuessed = (entry.guessed ?? []).length > 0;
  return {
    entry,
    path: name,
    file,
    bytes: statSync(file).size,
    contentSha256,
    isGuessed: isGuessed && entry.skip === undefined,
    changes,
    loadedWith,
    state: state(),
  };

  function state(): PlannedTable['state'] {
    if (entry.skip !== undefined) return isGuessed ? 'no table' : 'skipped';
    if (last === undefined) return 'new';
    if (changes.length > 0) return 'entry changed';
    if (last.contentSha256 !== contentSha256 || again) return 'file changed';
    return last.isRetracted ? 'load retracted' : 'unchanged';
  }
}

/** The file that a data package names, which is loaded with it; none if it has none, which the load reports. */
function dataBeside(file: string, { dataset, resource }: TableDescription): string[] {
  if (dataset === undefined || !isDataPackage(file)) return [];
  try {
    return [dataFileOf(file, resource)].filter((data) => existsSync(data));
  } catch (error) {
    if (!(error instanceof IngestFailure)) throw error;
    return [];
  }
}

async function sha256Of(...files: string[]): Promise<string> {
  const hash = createHash('sha256');
  for (const file of files)
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) hash.update(chunk);
  return hash.digest('hex');
}

/** A file with an entry that was typed: it is loaded, whatever was loaded before. @param input the bytes of a file that is `-`. */
export const typedFile = (entry: TableDescription, file: string, input?: Readable): FileToLoad => ({
  ...{ entry, path: file, file, contentSha256: '', loadedWith: null, ...(input !== undefined && { input }) },
});
