// Settles guesses of an almanac.yml entry: a picked option, or a typed text, becomes a change of the entry. Shared by the command line and
// the operators' pages; only this module interprets the keys of a change.
import {
  isMap,
  isScalar,
  parseDocument,
  stringify,
  type Document,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml';
import type { TableDescription } from './entry-schema.ts';

/** The value of a key of an entry, as JSON. */
export type EntryValue = string | number | boolean | null | EntryValue[] | { [key: string]: EntryValue };

/**
 * Keys of an entry → their values; null removes the key. A fact of the series is `series.unit`, one of a column `columns.Price.unit`, a
 * part of the date `date.format`.
 */
export type EntryChange = Readonly<Record<string, EntryValue>>;

export interface Option {
  /** The meaning of the option. */
  label: string;
  set: EntryChange;
}

/** A guess that is settled by picking one of its readings, or by typing a text. */
export interface Choice {
  /** The guessed key, such as `date`. */
  key: string;
  /** With a cell of the file as an example. */
  question: string;
  /** The first is the present value. Empty if a text is to be typed. */
  options: Option[];
  /** The key for a typed text; null if none is accepted. */
  text: string | null;
}

/** How a choice is settled. */
export type Pick = { option: number } | { text: string };

type EntryMap = Record<string, EntryValue>;

/** The parts of an entry that are changed by themselves; any other key is changed as a whole. The title of a column may have points. */
const divided = [/^(series|date)\.(.+)$/s, /^(columns)\.(.+)\.(\w+)$/s];

/** The keys from the entry down to the value. */
function placeOf(key: string): [root: string, ...parts: string[]] {
  const [, root = key, ...parts] = divided.flatMap((form) => form.exec(key) ?? []);
  return [root, ...parts];
}

/** @returns null if the choice has no such option, or accepts no text. */
export function changeOf({ options, text }: Choice, pick: Pick): EntryChange | null {
  if ('option' in pick) return options[pick.option]?.set ?? null;
  return text === null || pick.text.trim() === '' ? null : { [text]: pick.text.trim() };
}

/** A copy of the entry with the change. */
export function changed<Entry extends Partial<TableDescription>>(entry: Entry, change: EntryChange): Entry {
  const all = { ...entry } as EntryMap;
  for (const [key, value] of Object.entries(change)) {
    put(all, placeOf(key), value);
  }
  return all as Entry;
}

/** Maps on the path are copied: the given ones are not modified. */
function put(map: EntryMap, [key, ...below]: string[], value: EntryValue): void {
  if (key === undefined) return;
  if (below.length > 0) {
    const parts = { ...(map[key] as EntryMap | undefined) };
    put(parts, below, value);
    map[key] = parts;
  } else if (value === null) delete map[key];
  else map[key] = value;
}

/** The present values at the keys of the changes: they undo any of the changes. */
export function valuesAt(entry: Partial<TableDescription>, changes: readonly EntryChange[]): EntryChange {
  const keys = new Set(changes.flatMap((change) => Object.keys(change)));
  return Object.fromEntries(
    [...keys].map((key) => {
      let value: EntryValue = entry;
      for (const part of placeOf(key)) value = (value as EntryMap | null)?.[part] ?? null;
      return [key, value];
    }),
  );
}

/**
 * Changes the entry, and its map of almanac.yml. The comments of other keys stay.
 * @param why the comment of the keys that are changed; undefined: they keep theirs.
 */
export function applyChange(
  entry: TableDescription,
  node: YAMLMap,
  document: Document,
  { change, why }: { change: EntryChange; why: string | undefined },
): void {
  const after = changed(entry, change);
  for (const key of Object.keys(entry)) delete (entry as Partial<EntryMap>)[key];
  Object.assign(entry, after);
  writeChange(node, document, change, why);
}

/** The text of one entry, with the change. @throws never: the text was read before. */
export function changedText(text: string, changes: readonly EntryChange[]): string {
  const document = parseDocument(text);
  if (!isMap(document.contents)) return text;
  for (const change of changes) writeChange(document.contents, document, change, 'chosen by an operator');
  return document.toString({ lineWidth: 0 });
}

function writeChange(node: YAMLMap, document: Document, change: EntryChange, why: string | undefined): void {
  for (const [key, value] of Object.entries(change)) {
    writeAt(node, document, placeOf(key), value, why);
  }
}

/** Writes into the existing maps, and creates missing ones. */
function writeAt(
  node: YAMLMap,
  document: Document,
  [key, ...below]: [string, ...string[]],
  value: EntryValue,
  why: string | undefined,
): void {
  const [next, ...further] = below;
  const parent = node.get(key);
  if (next === undefined) writeKey(node, document, key, value, why);
  else if (isMap(parent)) writeAt(parent, document, [next, ...further], value, why);
  else if (value !== null)
    writeKey(
      node,
      document,
      key,
      below.reduceRight<EntryValue>((inner, part) => ({ [part]: inner }), value),
      why,
    );
}

function writeKey(
  map: YAMLMap,
  document: Document,
  key: string,
  value: EntryValue,
  why: string | undefined,
): void {
  if (value === null) return void map.delete(key);
  const isFlow = map.flow !== true && typeof value === 'object';
  const created = document.createNode(value, { flow: isFlow });
  const pairs = map.items as Pair<Scalar>[];
  let pair = pairs.find((each) => each.key.value === key);
  if (pair === undefined) {
    pair = document.createPair(key, created) as Pair<Scalar>;
    // Unconfirmed keys stay last.
    const last = pairs.findIndex((each) => each.key.value === 'guessed');
    pairs.splice(last < 0 ? pairs.length : last, 0, pair);
  } else if (isScalar(pair.value) && isScalar(created))
    pair.value.value = created.value; // keeps the comment behind it
  else pair.value = created;
  if (map.flow !== true && why !== undefined) pair.key.commentBefore = ` ${why}`;
}

/** On one line, in almanac.yml's syntax. */
export const flow = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', lineWidth: 0 }).trim();

/** The lines of almanac.yml that make the change, such as `date: { column: Date, format: M/D/YYYY }`. */
export function linesOf(entry: Partial<TableDescription>, change: EntryChange): string {
  const after = changed(entry, change) as EntryMap;
  const lines = new Set<string>();
  for (const [key, value] of Object.entries(change)) {
    const [root, ...parts] = placeOf(key);
    const part = parts.at(-1);
    const above = parts.length > 1 ? `columns, ${parts[0] ?? ''}` : root;
    if (root !== 'date' && part !== undefined)
      lines.add(value === null ? `no ${part} under ${above}` : `${part}: ${flow(value)} under ${above}`);
    else if (after[root] === undefined) lines.add(`no ${root}`);
    else lines.add(`${root}: ${flow(after[root])}`);
  }
  const [first = '', ...others] = [...lines];
  return others.length > linesMax
    ? `${first}, and the names of its columns as they are then`
    : [first, ...others].join('; ');
}

/** An encoding changes all texts of an entry. */
const linesMax = 3;
