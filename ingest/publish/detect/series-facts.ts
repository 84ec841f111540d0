// What the series of a table are: their id, name, unit and frequency, from its columns, its titles and the name of its file.
import { entryAt } from '../../../kernel/entries.ts';
import { isDetermined, isDoubtful, type Columns } from './columns.ts';
import type { Layout } from './layout.ts';
import type { About, Draft, Seen } from './proposal.ts';
import { frequencyOf } from './series-frequency.ts';
import { idPart } from '../templates.ts';

const isCode = (title: string) =>
  /^[A-Z][A-Za-z0-9._&:-]*$/.test(title) && /[A-Z0-9].*[A-Z0-9]/.test(title) && !/[a-z]{3}/.test(title);

/** The id, the name, the frequency and the unit of the series, and the columns that say nothing more. */
export function addSeries(draft: Draft, { layout, columns, rows, about }: Seen & { about: About }): void {
  const { entry, evidence } = draft;
  const title = (at: number) => entryAt(layout.titles, at);
  const parts = idColumns(columns, rows);
  const isSeveral = layout.dates.kind !== 'across' && columns.values.length > 1;
  const { id, why: idWhy } = idOf({ layout, columns, about, parts, isSeveral });
  const { evidence: why, isSure, value: frequency } = frequencyOf(layout, columns, rows);
  entry.series = { id, frequency, unit: 'not stated', source: about.folder };
  evidence['series.id'] = idWhy;
  evidence['series.frequency'] = why;
  if (!isSure) draft.guessed.push('series.frequency');
  // What is in an id is no dimension.
  if (entry.dimensions !== undefined) {
    const inId = new Set(parts.map(title));
    const left = Object.entries(entry.dimensions).filter(([, each]) => !inId.has(each));
    if (left.length === 0) delete entry.dimensions;
    else entry.dimensions = Object.fromEntries(left);
  }
  const facts = {
    name:
      columns.name !== null
        ? `{${title(columns.name)}}`
        : [...parts.map((at) => `{${title(at)}}`), isSeveral ? '{column}' : '']
            .filter((part) => part !== '')
            .join(', ') || words(about.stem),
    ...unitOf(layout, columns, rows, about),
    ...about.facts,
  };
  addFacts(draft, facts, about);
  if (isSeveral) addOwnUnits(draft, layout, columns);
  addIgnored(draft, layout, columns, parts);
}

function idOf({
  layout,
  columns,
  about,
  parts,
  isSeveral,
}: Omit<Seen, 'rows'> & { about: About; parts: readonly number[]; isSeveral: boolean }): {
  id: string;
  why: string;
} {
  const title = (at: number) => entryAt(layout.titles, at);
  const end = isSeveral ? '.{column}' : '';
  if (columns.key !== null) {
    const key = title(columns.key);
    return { id: `{${key}}${end}`, why: `the column ${key} names the series` };
  }
  const stem = idPart(about.stem) || idPart(about.folder) || 'table';
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
function addIgnored(
  { entry, evidence, guessed }: Draft,
  { titles }: Layout,
  columns: Columns,
  parts: readonly number[],
): void {
  const title = (at: number) => entryAt(titles, at);
  const named = new Set([
    ...parts,
    columns.key,
    columns.name,
    columns.unit,
    columns.currency,
    ...columns.dimensions,
    ...columns.values,
  ]);
  const ignored = [...columns.ignored].filter(([at]) => !named.has(at));
  const mentioned = JSON.stringify(entry.series);
  for (const at of [columns.frequency, columns.currency, columns.unit])
    if (at !== null && !mentioned.includes(`{${title(at)}}`))
      ignored.push([at, 'it says what the entry says']);
  if (ignored.length === 0) return;
  entry.ignore = ignored.map(([at]) => title(at));
  if (ignored.some(([, why]) => isDoubtful(why))) guessed.push('ignore');
  evidence['ignore'] = ignored.map(([at, why]) => `${title(at)}: ${why}`).join('; ');
}

const currencies = ['USD', 'EUR', 'GBP', 'JPY', 'CHF', 'CNY', 'INR'];

/** A column of units or currencies was written for one of the columns of values: for the others it is a guess, or their title says another. */
function addOwnUnits({ entry, evidence, guessed }: Draft, { titles }: Layout, columns: Columns): void {
  if (columns.unit === null && columns.currency === null) return;
  if (!guessed.includes('series.unit')) guessed.push('series.unit');
  evidence['series.unit'] = 'columns of the file; they may not hold for every column of values';
  for (const at of columns.values) {
    const title = entryAt(titles, at);
    const own = currencies.find((code) => title.toUpperCase().includes(code));
    const { currency } = columns;
    if (own === undefined || currency === null || entry.series === undefined) continue;
    entry.columns = {
      ...entry.columns,
      [title]: { unit: entry.series.unit.replace(`{${entryAt(titles, currency)}}`, own) },
    };
    evidence['columns'] = 'the title has a currency';
    guessed.push('columns');
  }
}

/** The unit belongs to a series: what it depends on is part of the id. */
function idColumns({ key, unit, dimensions }: Columns, rows: readonly string[][]): number[] {
  if (key !== null || unit === null) return [];
  const body = rows.filter((row) => (row[unit] ?? '').trim() !== '').slice(0, 20_000);
  if (isDetermined(body, [], unit)) return [];
  const one = dimensions.find((at) => isDetermined(body, [at], unit));
  return one !== undefined ? [one] : isDetermined(body, dimensions, unit) ? [...dimensions] : [];
}

/** The facts of the series, those of the command line above what was found. */
export function addFacts(
  { entry, evidence, guessed }: Draft,
  facts: Readonly<Record<string, string>>,
  about: About,
): void {
  const { id = idPart(about.stem) || 'table', frequency = 'irregular' } = entry.series ?? {};
  const given = about.facts;
  const found: Record<string, string> = {
    name: words(about.stem),
    unit: 'not stated',
    source: about.folder,
    ...facts,
  };
  for (const name of Object.keys(given)) evidence[`series.${name}`] = 'the command line';
  if (found['unit'] === 'not stated') {
    evidence['series.unit'] = 'no line of the file says it';
    guessed.push('series.unit');
  } else if (given['unit'] === undefined && found['unit']?.includes('{') !== true)
    guessed.push('series.unit');
  if (facts['source'] === undefined) {
    evidence['series.source'] =
      'no line of the file says who publishes it: the name of the folder, or of the publication of an upload';
    guessed.push('series.source');
  }
  const { name = '', unit = '', source = '', frequency: stated, ...others } = found;
  entry.series = { id, name, frequency: stated ?? frequency, unit, source, ...others };
}

function unitOf(
  { dates, titles, unitRow }: Layout,
  columns: Columns,
  rows: readonly string[][],
  about: About,
): { unit?: string } {
  const title = (at: number) => `{${entryAt(titles, at)}}`;
  if (columns.unit !== null)
    return {
      unit:
        columns.currency === null
          ? title(columns.unit)
          : `${title(columns.currency)} per ${title(columns.unit)}`,
    };
  if (unitRow !== null) return { unit: '{unit line}' };
  if (columns.currency !== null) return { unit: title(columns.currency) };
  const { name } = columns;
  const names =
    name === null ? [] : [...new Set(rows.slice(0, 1_000).map((row) => (row[name] ?? '').trim()))];
  const [oneName = '', anotherName] = names.filter((text) => text !== '');
  const named =
    anotherName === undefined && oneName !== ''
      ? oneName
      : dates.kind === 'across'
        ? about.stem
        : columns.values.length === 1
          ? entryAt(titles, entryAt(columns.values, 0))
          : '';
  const inBrackets = /\(([^()]+)\)\s*$/.exec(named)?.[1];
  if (inBrackets !== undefined) return { unit: inBrackets };
  return /percent|%|yield|inflation/i.test(named) ? { unit: '%' } : {};
}

const words = (stem: string) => stem.replaceAll(/[_\s]+/g, ' ').trim() || 'Table';
