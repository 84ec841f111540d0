// The facts of the series of a table: id, name and frequency, from its columns, its titles and the name of its file.
import { entryAt } from '../../kernel/entries.ts';
import type { Columns } from './table/column-roles.ts';
import { isDoubtful } from './table/dimensions.ts';
import { isDetermined } from './table/column-profile.ts';
import type { Layout } from './table/layout.ts';
import { doubt, type About, type Draft, type Seen } from './proposal/proposal.ts';
import type { PeriodKind } from '../cells/dates/date-forms.ts';
import { addYearEnds } from './year-ends.ts';
import { frequencyOf, mixedFrequency } from './table/frequency.ts';
import { isUntitled } from './table/header-lines.ts';
import { frequencyOfDate, idPart } from '../entry/templates.ts';
import { addStatedColumns, namesOf } from './series-names.ts';
import { addLowerFrequencies } from './sparse-series.ts';
import { wordsOf } from '../entry/file-name.ts';
import { addUnitsOfColumns, lineTemplate, multiplierOf, unitOf } from './series-units.ts';

const isCode = (title: string) =>
  /^[A-Z][A-Za-z0-9._&:-]*$/.test(title) && /[A-Z0-9].*[A-Z0-9]/.test(title) && !/[a-z]{3}/.test(title);

/** Adds the id, the name, the frequency and the unit of the series, and the columns without further information. */
export function addSeries(
  draft: Draft,
  {
    layout,
    columns,
    rows,
    about,
    above,
    kinds,
  }: Seen & {
    about: About;
    above: readonly string[][];
    /** The rows by the lengths of their dates, if these are several frequencies. */
    kinds: ReadonlyMap<PeriodKind, number> | null;
  },
): void {
  const { entry, evidence } = draft;
  const title = (at: number) => entryAt(layout.titles, at);
  const parts = idColumns(columns, rows);
  const isSeveral =
    layout.dates.kind !== 'across' && (columns.values.length > 1 || layout.facts.id !== undefined);
  const { id, why: idWhy } = idOf({ layout, columns, about, parts, isSeveral, above });
  const mixed = kinds === null ? null : mixedFrequency(layout, columns, rows, kinds);
  const { evidence: why, isSure, value: frequency } = mixed ?? frequencyOf(layout, columns, rows);
  entry.series = {
    id: mixed === null || mixed.isOfKey ? id : `${id}.{${frequencyOfDate}}`,
    frequency,
  };
  evidence['series.id'] = idWhy;
  evidence['series.frequency'] = why;
  if (!isSure) draft.guessed.push('series.frequency');
  addYearEnds(draft, { layout, rows, frequency, above });
  // A column in the id is not a dimension.
  if (entry.dimensions !== undefined) {
    const inId = new Set(parts.map(title));
    const left = Object.entries(entry.dimensions).filter(([, each]) => !inId.has(each));
    if (left.length === 0) delete entry.dimensions;
    else entry.dimensions = Object.fromEntries(left);
  }
  const line = layout.facts.name === undefined ? undefined : lineTemplate(layout, 'name');
  const names = namesOf({ layout, columns, about, above }, { parts, isSeveral, line });
  evidence['series.name'] = names.evidence;
  if (names.title !== undefined) draft.title = names.title;
  if (names.isMissing) draft.isNameMissing = true;
  const facts = {
    name: names.name,
    ...unitOf(layout, columns, rows, { about, above }),
    ...multiplierOf(draft, layout, columns, rows, above),
    ...(columns.dataset !== null && { description: `{${title(columns.dataset)}}` }),
    ...(layout.facts.description !== undefined &&
      layout.facts.description !== layout.facts.name && {
        description: lineTemplate(layout, 'description'),
      }),
  };
  addFacts(draft, facts, about);
  if (layout.unitDoubt !== undefined) doubt(draft, 'series.unit', layout.unitDoubt);
  if (columns.currency !== null && parts.includes(columns.currency))
    doubt(
      draft,
      'series.unit',
      `${title(columns.currency)} may be what the values are of, as exchange rates are, and not their unit`,
    );
  if (isSeveral) addUnitsOfColumns(draft, layout, columns, above);
  addStatedColumns(draft, columns.values.map(title), about, isSeveral);
  if (mixed === null) addLowerFrequencies(draft, { layout, columns, rows }, isSeveral);
  addIgnored(draft, layout, columns, parts);
}

function idOf({
  layout,
  columns,
  about,
  parts,
  isSeveral,
  above,
}: Omit<Seen, 'rows'> & {
  about: About;
  parts: readonly number[];
  isSeveral: boolean;
  above: readonly string[][];
}): {
  id: string;
  why: string;
} {
  const title = (at: number) => entryAt(layout.titles, at);
  const end = isSeveral ? '.{column}' : '';
  if (columns.key !== null) {
    const key = title(columns.key);
    const place = [columns.key, ...parts].map((at) => `{${title(at)}}`).join('.');
    return { id: `${place}${end}`, why: `the column ${key} names the series` };
  }
  const stem = idPart(about.stem) || idPart(about.folder) || 'table';
  const ids =
    layout.facts.id === undefined
      ? []
      : columns.values.map((at) => idPart(above[layout.facts.id ?? 0]?.[at] ?? ''));
  if (ids.length > 0 && ids.every((text) => /^[A-Za-z0-9]/.test(text)) && new Set(ids).size === ids.length)
    return { id: lineTemplate(layout, 'id'), why: 'a line above the data has the ids of the series' };
  if (parts.length > 0) {
    const place = parts.map((at) => `{${title(at)}}`).join('.');
    return { id: `${stem}.${place}${end}`, why: 'the name of the file, and what the unit depends on' };
  }
  const codes = columns.values.filter((at) => isCode(title(at))).length;
  if (isSeveral && codes >= columns.values.length * 0.8)
    return { id: '{column}', why: 'the titles are codes' };
  return { id: `${stem}${end}`, why: 'the name of the file' };
}

/** Names the columns that are not loaded, so that a column which a publisher adds is noticed. */
function addIgnored(draft: Draft, { titles }: Layout, columns: Columns, parts: readonly number[]): void {
  const { entry, evidence, guessed } = draft;
  const title = (at: number) => entryAt(titles, at);
  const named = new Set([
    ...parts,
    columns.key,
    columns.name,
    columns.unit,
    columns.currency,
    columns.status,
    columns.vintage?.at ?? null,
    ...columns.dimensions,
    ...columns.values,
  ]);
  const ignored = [...columns.ignored].filter(([at]) => !named.has(at));
  const mentioned = JSON.stringify(entry.series);
  for (const at of [columns.frequency, columns.currency, columns.unit, columns.multiplier])
    if (at !== null && !columns.ignored.has(at) && !mentioned.includes(`{${title(at)}}`))
      ignored.push([at, 'the entry has the same']);
  // A column without a title need not be named, unless it has numbers.
  const listed = ignored.filter(([at, why]) => !isUntitled(title(at), at) || isDoubtful(why));
  if (listed.length === 0) return;
  entry.ignore = listed.map(([at]) => title(at));
  draft.ignored = Object.fromEntries(listed.map(([at, why]) => [title(at), why]));
  if (listed.some(([, why]) => isDoubtful(why))) guessed.push('ignore');
  evidence['ignore'] = listed.map(([at, why]) => `${title(at)}: ${why}`).join('; ');
}

/** Unit and scale belong to a series: the columns on which they depend are part of the id, or they are themselves. */
function idColumns(
  { key, unit, currency, multiplier, dimensions }: Columns,
  rows: readonly string[][],
): number[] {
  const parts = new Set<number>();
  for (const fact of [unit, currency, multiplier]) {
    if (fact === null) continue;
    const body = rows.filter((row) => (row[fact] ?? '').trim() !== '').slice(0, 20_000);
    const known = [...(key === null ? [] : [key]), ...parts];
    if (isDetermined(body, known, fact)) continue;
    const one = dimensions.find((at) => isDetermined(body, [...known, at], fact));
    if (one !== undefined) parts.add(one);
    else if (isDetermined(body, [...known, ...dimensions], fact)) for (const at of dimensions) parts.add(at);
    else parts.add(fact);
  }
  return [...parts];
}

/**
 * The facts of the series: those of the command line override those stated beside the data, which override those found. A unit or source
 * that none of them has is left out: the user is asked for it, and it is never invented.
 */
export function addFacts(
  { entry, evidence, guessed }: Draft,
  facts: Readonly<Record<string, string>>,
  { stem, facts: given, metadata }: About,
): void {
  const { id = idPart(stem) || 'table', frequency = 'irregular' } = entry.series ?? {};
  const { name: _named, ...stated } = metadata?.facts ?? {};
  const found: Record<string, string> = {
    name: metadata?.facts['name'] ?? wordsOf(stem),
    ...facts,
    ...stated,
    ...given,
  };
  for (const fact of Object.keys(stated)) evidence[`series.${fact}`] = `stated by ${metadata?.from ?? ''}`;
  for (const fact of Object.keys(given)) evidence[`series.${fact}`] = 'the command line';
  const isFound = found['unit'] !== undefined && given['unit'] === undefined && stated['unit'] === undefined;
  if (isFound && found['unit']?.includes('{') !== true) {
    evidence['series.unit'] ??= 'words of a title or a name';
    guessed.push('series.unit');
  }
  const { name, unit, source, frequency: chosen, ...others } = found;
  const {
    id: _,
    name: __,
    frequency: ___,
    unit: ____,
    source: _____,
    ...known
  } = { name: '', unit: '', source: '', ...entry.series };
  entry.series = {
    ...{ id, name, frequency: chosen ?? frequency },
    ...(unit !== undefined && { unit }),
    ...(source !== undefined && { source }),
    ...known,
    ...others,
  };
}
