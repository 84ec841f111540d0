// Reads and writes almanac.yml. A fault is reported by line and key, with the allowed values; entries are added with their evidence as
// comments, and the author's text is otherwise preserved.
import { existsSync, readFileSync } from 'node:fs';
import {
  Document,
  isMap,
  isSeq,
  LineCounter,
  parseDocument,
  visit,
  type YAMLMap,
  type Node,
  type Pair,
  type Scalar,
  type YAMLSeq,
} from 'yaml';
import type { z } from 'zod';
import { nearestName } from '../../kernel/http/params.ts';
import { IngestFailure } from '../failure.ts';
import type { Inspected } from './table-preview.ts';
import { isOpenFact } from './missing-facts.ts';
import { linesOf, applyChange, type Choice, type EntryChange } from './resolve-guesses.ts';
import {
  descriptionSchema,
  jsonSchema,
  tableSchema,
  type Description,
  type TableDescription,
} from './entry-schema.ts';

export interface DescriptionFile {
  description: Description;
  /** The YAML with its comments. */
  document: Document;
}

const faultsShown = 10;

/** @returns null if the file does not exist. @throws IngestFailure with all faults, each by line and key. */
export function readDescription(file: string): DescriptionFile | null {
  if (!existsSync(file)) return null;
  return parseDescription(readFileSync(file, 'utf8'), file);
}

export function parseDescription(text: string, file: string): DescriptionFile {
  const { value, document } = parsed(text, file, descriptionSchema, []);
  return { description: value, document };
}

/** A single entry, as `entryText` writes it. @throws IngestFailure with all faults, each by line and key. */
export const parseEntry = (text: string): TableDescription =>
  parsed(text, 'The entry', tableSchema, ['tables', 0]).value;

/** @param above the path of the text within almanac.yml. */
function parsed<Schema extends z.ZodType>(
  text: string,
  file: string,
  schema: Schema,
  above: readonly PropertyKey[],
): { value: z.output<Schema>; document: Document } {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false });
  const broken = document.errors.map(
    ({ message, pos }) => `  line ${lines.linePos(pos[0]).line}: ${message}`,
  );
  visit(document, {
    Scalar: (_, { value, range }) => {
      if (typeof value === 'string' && (value.includes('\0') || !value.isWellFormed()))
        broken.push(
          `  line ${lines.linePos(range?.[0] ?? 0).line}: a text has U+0000 or half of a character, which cannot be stored. Remove it.`,
        );
    },
  });
  if (broken.length > 0) failFaulty(file, broken);
  const result = schema.safeParse(valueOf(document, file));
  if (result.success) return { value: result.data, document };
  const faults = result.error.issues.flatMap((issue) => faultsOf(issue, above));
  return failFaulty(
    file,
    faults.map(({ keys: all, message }) => {
      const keys = all.slice(above.length);
      return `  line ${lineOf(document, lines, keys)}, ${nameOf(keys)}: ${message}`;
    }),
  );
}

function valueOf(document: Document, file: string): unknown {
  try {
    return document.toJS();
  } catch (error) {
    if (!(error instanceof ReferenceError)) throw error; // unresolved or excessive aliases
    return failFaulty(file, [`  ${error.message}`]);
  }
}

function failFaulty(file: string, faults: readonly string[]): never {
  const more = faults.length > faultsShown ? [`  and ${faults.length - faultsShown} more`] : [];
  throw new IngestFailure(
    'invalid_file',
    `${file} cannot be used:\n${[...faults.slice(0, faultsShown), ...more].join('\n')}`,
  );
}

interface Fault {
  keys: PropertyKey[];
  message: string;
}

function faultsOf(issue: z.core.$ZodIssue, above: readonly PropertyKey[]): Fault[] {
  const keys = [...above, ...issue.path];
  if (issue.code === 'unrecognized_keys') {
    const allowed = keysAllowedAt(keys);
    return issue.keys.map((key) => {
      const nearest = nearestName(key, allowed);
      const hint = nearest === undefined ? '' : ` Did you mean "${nearest}"?`;
      return { keys: [...keys, key], message: `is not a key here.${hint} Allowed: ${allowed.join(', ')}` };
    });
  }
  if (issue.code === 'invalid_union') {
    // The form that comes closest gives the most useful error.
    const [closest] = issue.errors.toSorted((a, b) => rank(a) - rank(b));
    if (closest !== undefined && closest.length > 0 && rank(closest) < 100)
      return closest.flatMap((each) => faultsOf(each, keys));
    return [{ keys, message: `must be ${formsAllowedAt(keys)}` }];
  }
  // The library's own message, which has terms of JavaScript.
  const isOwn = !/^Invalid (?:input|option): /.test(issue.message);
  if (isOwn) return [{ keys, message: issue.message }];
  const absent = issue.message.endsWith('received undefined') ? 'is missing: it ' : '';
  return [{ keys, message: `${absent}must be ${formsAllowedAt(keys)}` }];
}

/** Forms of another type are further away than those with a wrong key. */
function rank(issues: readonly z.core.$ZodIssue[]): number {
  return (
    issues.length + (issues.some(({ code, path }) => code === 'invalid_type' && path.length === 0) ? 100 : 0)
  );
}

type JsonSchema = {
  properties?: Record<string, JsonSchema>;
  items?: JsonSchema;
  anyOf?: JsonSchema[];
  type?: string;
  enum?: unknown[];
  const?: unknown;
  additionalProperties?: JsonSchema | boolean;
};

function schemasAt(keys: readonly PropertyKey[]): JsonSchema[] {
  let schemas: JsonSchema[] = [jsonSchema()];
  for (const key of keys) {
    schemas = schemas
      .flatMap((schema) => schema.anyOf ?? [schema])
      .flatMap((schema) => {
        const next =
          typeof key === 'number'
            ? schema.items
            : (schema.properties?.[String(key)] ?? schema.additionalProperties);
        return typeof next === 'object' ? [next] : [];
      });
  }
  return schemas.flatMap((schema) => schema.anyOf ?? [schema]);
}

function keysAllowedAt(keys: readonly PropertyKey[]): string[] {
  return [...new Set(schemasAt(keys).flatMap(({ properties = {} }) => Object.keys(properties)))];
}

const typeWords: Readonly<Record<string, string>> = {
  array: 'a list',
  boolean: 'true or false',
  integer: 'a whole number',
  number: 'a number',
  object: 'names with values, { name: value }',
  string: 'text',
};

function formsAllowedAt(keys: readonly PropertyKey[]): string {
  const forms = schemasAt(keys).map(({ properties, type, enum: words, const: only }) => {
    if (properties !== undefined) return `{ ${Object.keys(properties).join(', ')} }`;
    if (words !== undefined) return words.map((word) => JSON.stringify(word)).join(' or ');
    return only === undefined ? (typeWords[type ?? ''] ?? 'of another form') : JSON.stringify(only);
  });
  return [...new Set(forms)].join('; or ');
}

function nameOf(keys: readonly PropertyKey[]): string {
  return (
    keys
      .map((key, at) => (typeof key === 'number' ? `[${key}]` : `${at === 0 ? '' : '.'}${String(key)}`))
      .join('') || 'the file'
  );
}

/** The line of the key, or of the enclosing value. */
function lineOf(document: Document, lines: LineCounter, keys: readonly PropertyKey[]): number {
  for (let length = keys.length; length > 0; length--) {
    const parent = document.getIn(keys.slice(0, length - 1), true);
    const last = keys[length - 1];
    if (isMap(parent)) {
      const pair = parent.items.find(({ key }) => (key as Scalar | null)?.value === last);
      const start = (pair?.key as Scalar | null | undefined)?.range?.[0];
      if (start !== undefined) return lines.linePos(start).line;
    }
    if (isSeq(parent)) {
      const start = (parent.items[Number(last)] as Node | undefined)?.range?.[0];
      if (start !== undefined) return lines.linePos(start).line;
    }
  }
  return 1;
}

const heading = ` How the tables of this folder are loaded, as almanac publish has found it: a comment says why.
 Edit it, and run almanac publish again: it prints what the edit changes, and loads it. The keys are in docs/entries.md.`;

/** A description without tables. @param name the database identifies the folder by it. */
export function emptyDescription(name: string): DescriptionFile {
  const document = new Document({ version: 1, name, tables: [] });
  document.commentBefore = heading;
  return { description: { version: 1, name, tables: [] }, document };
}

/** An entry to add, with its evidence by key (`series.unit` of a part). */
export interface NewEntry {
  entry: TableDescription;
  evidence: Readonly<Record<string, string>>;
  /** The preview's name of the table. */
  title: string;
  /** The titles of the columns of values of its only file. */
  columns?: readonly string[] | undefined;
  /** Its rows as they will be served, and the choices for its guesses; of several files, those of the first. */
  inspected?: Inspected | undefined;
}

/** Adds entries, with their evidence as comments. */
export function addEntries(file: DescriptionFile, entries: readonly NewEntry[]): void {
  const tables = file.document.get('tables') as YAMLSeq;
  for (const { entry, evidence, title, inspected } of entries) {
    const node = file.document.createNode(entry) as YAMLMap;
    const guessed = new Set(entry.guessed ?? []);
    comment(node, '', evidence, guessed);
    for (const choice of inspected?.choices ?? []) nameOthers(node, entry, choice);
    node.commentBefore = ` ${title}`;
    node.spaceBefore = true;
    const guesses = node.items.find(({ key }) => (key as Scalar).value === 'guessed');
    if (guesses !== undefined)
      (guesses.key as Scalar).commentBefore =
        entry.skip === undefined
          ? ' Unconfirmed guesses. Delete this line when they are right, or load with --yes.'
          : ' Delete this line to leave the file out on purpose; until then the exit code is 1. Delete the entry to have a corrected file read again.';
    tables.add(node);
    file.description.tables.push(entry);
  }
}

function comment(
  node: YAMLMap,
  above: string,
  evidence: Readonly<Record<string, string>>,
  guessed: ReadonlySet<string>,
): void {
  for (const pair of node.items as Pair<Scalar, Node | null>[]) {
    const key = `${above}${String(pair.key.value)}`;
    const why = evidence[key];
    if (why !== undefined) pair.key.commentBefore = ` ${guessed.has(key) ? 'guess: ' : ''}${oneLine(why)}`;
    if (isMap(pair.value)) {
      if (above === '' && key === 'series') comment(pair.value, 'series.', evidence, guessed);
      else if (key === 'date' || key === 'vintage') pair.value.flow = true;
    }
    if (isSeq(pair.value) && pair.value.items.length <= 8) pair.value.flow = true;
  }
}

/** Below the guess, its alternatives, each with the line to write instead. */
function nameOthers(node: YAMLMap, entry: TableDescription, { key, options }: Choice): void {
  const [root = '', part] = key.split('.');
  const parent = part === undefined ? node : node.get(root);
  const pair = isMap<Scalar>(parent)
    ? parent.items.find((each) => each.key.value === (part ?? root))
    : undefined;
  if (pair === undefined) return;
  const lines = options
    .slice(1)
    .map(({ label, set }) => ` or ${oneLine(linesOf(entry, set))} -- if ${oneLine(label)}`);
  pair.key.commentBefore = [pair.key.commentBefore ?? '', ...lines].filter((line) => line !== '').join('\n');
}

/** A comment ends at the end of its line; the evidence may quote cells of the file. */
const oneLine = (text: string) => text.replaceAll(/[\p{Cc}\u2028\u2029]+/gu, ' ').slice(0, 600);

/** A description of these entries alone, with their evidence, as text. */
export function describedEntries(name: string, entries: readonly NewEntry[]): string {
  const description = emptyDescription(name);
  addEntries(description, entries);
  return textOf(description);
}

/** One entry alone, as a map, with its evidence. */
export function entryText(entry: NewEntry): string {
  const description = emptyDescription('entry');
  addEntries(description, [entry]);
  const [node] = (description.document.get('tables') as YAMLSeq<YAMLMap>).items;
  const document = new Document();
  document.contents = node ?? null;
  return document.toString({ lineWidth: 0 });
}

/**
 * Gives entries the facts that are still guessed there, or missing. Confirmed facts stay.
 * @returns whether an entry has changed.
 */
export function giveFacts(
  file: DescriptionFile,
  entries: readonly TableDescription[],
  facts: Readonly<Record<string, string>>,
): boolean {
  let isChanged = false;
  for (const entry of entries) {
    const open = Object.entries(facts).filter(([name]) => isOpenFact(entry, name));
    if (open.length === 0) continue;
    isChanged = true;
    const given = Object.fromEntries(open.map(([name, value]) => [`series.${name}`, value]));
    changeEntry(file, entry, given, 'the command line');
    const left = (entry.guessed ?? []).filter((key) => !(key in given));
    if (entry.guessed !== undefined) changeEntry(file, entry, { guessed: left.length === 0 ? null : left });
  }
  return isChanged;
}

/** Changes an entry and its text. @param why the new comment of the keys that are changed; if omitted, they keep theirs. */
export function changeEntry(
  file: DescriptionFile,
  entry: TableDescription,
  change: EntryChange,
  why?: string,
): void {
  const at = file.description.tables.indexOf(entry);
  const node = (file.document.get('tables') as YAMLSeq<YAMLMap>).items[at];
  if (node !== undefined) applyChange(entry, node, file.document, { change, why: why && oneLine(why) });
}

/** Confirms the guesses of entries. */
export function confirmGuesses(file: DescriptionFile, entries: readonly TableDescription[]): void {
  for (const entry of entries) changeEntry(file, entry, { guessed: null });
}

/** The YAML, with its comments. */
export const textOf = ({ document }: DescriptionFile) => document.toString({ lineWidth: 0 });
