// The units and scales of the series of a table, from its columns, the lines above them, its titles and the name of its file.
import { entryAt } from '../../kernel/entries.ts';
import { currencySigns } from '../cells/cell-forms.ts';
import { scaleAbove, scaleIn } from '../cells/numbers/scales.ts';
import type { About, Draft } from './proposal/proposal.ts';
import { inEveryRow, type Columns } from './table/column-roles.ts';
import { unknownScale } from './table/dimensions.ts';
import { cellOfLine, scaleOfLine } from './table/header-lines.ts';
import { distinctIn, type Layout } from './table/layout.ts';

/** The unit of all series, from a column, a line above the data, or a title. */
export function unitOf(
  layout: Layout,
  columns: Columns,
  rows: readonly string[][],
  { about, above }: { about: About; above: readonly string[][] },
): { unit?: string } {
  const { dates, titles, headerRows } = layout;
  const title = (at: number) => `{${entryAt(titles, at)}}`;
  if (columns.unit !== null)
    return {
      unit:
        columns.currency === null
          ? title(columns.unit)
          : `${title(columns.currency)} per ${title(columns.unit)}`,
    };
  if (layout.facts.unit !== undefined) {
    const prefix = layout.facts.prefix === undefined ? '' : lineTemplate(layout, 'prefix');
    return { unit: `${prefix}${lineTemplate(layout, 'unit')}` };
  }
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
  const [only, second] = dates.kind === 'across' ? [] : columns.values;
  const below = only === undefined || second !== undefined ? undefined : unitBelow(above, headerRows, only);
  if (below !== undefined) return { unit: below };
  return /percent|%|yield|inflation/i.test(named) ? { unit: '%' } : {};
}

/** The power of ten of the unit, from a column, or from words such as `in millions` and `(000)`. */
export function multiplierOf(
  { evidence, guessed }: Draft,
  { titles, facts, headerRows, dates }: Layout,
  columns: Columns,
  rows: readonly string[][],
  above: readonly string[][],
): { unit_multiplier?: string } {
  if (columns.multiplier !== null)
    return multiplierOfColumn(evidence, titles, columns, columns.multiplier, rows);
  const heads = new Set([...headerRows, ...Object.values(facts)]);
  const [only, second] = columns.values;
  const single =
    only === undefined || second !== undefined
      ? []
      : [entryAt(titles, only), unitBelow(above, headerRows, only) ?? ''];
  const lines = above.filter((_, at) => !heads.has(at));
  const constant = [...columns.ignored].flatMap(([at, why]) =>
    why.endsWith(inEveryRow) ? distinctIn(rows, at).slice(0, 1) : [],
  );
  const found =
    (only === undefined || second !== undefined ? null : scaleOfLine(facts, above, only)) ??
    scaleAbove([
      ...lines.flatMap((line) => [...line, ...labelled(line)]),
      ...single,
      ...constant,
      ...(dates.kind === 'across' ? [dates.after, ...columns.dimensions.map((at) => titles[at] ?? '')] : []),
    ]);
  if (found === null) return {};
  evidence['series.unit_multiplier'] = `"${found.text.slice(0, 80)}"`;
  const names = [
    ...(single.length > 0 ? [] : columns.values.map((at) => titles[at] ?? '')),
    ...[columns.key, columns.name, columns.unit, ...columns.dimensions].flatMap((at) =>
      at === null ? [] : distinctIn(rows, at),
    ),
  ];
  const other = ofAnotherScale(found.text, names, lines, columns.values);
  if (other !== undefined)
    evidence['series.unit_multiplier'] += `; it may not hold for ${other.slice(0, 60)}`;
  if (!found.isSure || exception.test(found.text) || other !== undefined)
    guessed.push('series.unit_multiplier');
  return { unit_multiplier: String(found.exponent) };
}

/** The power of ten in a column; a column of other texts is left out, as a guess. */
function multiplierOfColumn(
  evidence: Draft['evidence'],
  titles: readonly string[],
  { ignored }: Columns,
  at: number,
  rows: readonly string[][],
): { unit_multiplier?: string } {
  const texts = distinctIn(rows, at);
  // A factor of 1 beside 1000 is no power of ten.
  const isFactor = texts.some((text) => /^10{2,}$/.test(text));
  const unknown = texts.find((text) => scaleIn(text) === null || (isFactor && /^\d{1,2}$/.test(text)));
  if (unknown !== undefined) {
    ignored.set(at, `${unknownScale} "${unknown}"`);
    return {};
  }
  evidence['series.unit_multiplier'] = `the column ${entryAt(titles, at)}`;
  return { unit_multiplier: `{${entryAt(titles, at)}}` };
}

/** The first name, or text of the scale's line above another column of values, that has another unit than the table. */
function ofAnotherScale(
  scale: string,
  names: readonly string[],
  lines: readonly (readonly string[])[],
  values: readonly number[],
): string | undefined {
  const line = lines.find((cells) => cells.some((cell) => cell.trim() === scale)) ?? [];
  const beside = values.map((at) => (line[at] ?? '').trim());
  return (
    names.find((name) => ofNoScale.test(name) || ofOwnUnit.test(name)) ??
    beside.find((text) => text !== '' && text !== scale)
  );
}

/** A label and its text in two cells, as `Unit:` and `million USD`, in one. */
function labelled(line: readonly string[]): string[] {
  const [label = '', text, other] = line.map((cell) => cell.trim()).filter((cell) => cell !== '');
  return text === undefined || other !== undefined ? [] : [`${label.replace(/\s*[:：]$/, '')}: ${text}`];
}

/** Names of series that have no scale of money or persons. */
const ofNoScale =
  /%|\bper ?cent|\bprozent|\bpour ?cent|\bpor ?cento?\b|процент|\bindex\b|\bratio\b|\brates?\b|\bper (?:capita|person|head|worker|employee|household|inhabitant|unit|share|hour|day|month|year|hectare|ha|kg|ton(?:ne)?|barrel)\b/i;
/** Names with a unit in brackets that has no scale, as `Cars (number)`, `Wage (Rs.)` and `Yield (kg/ha)`. */
const ofOwnUnit = new RegExp(
  String.raw`[([](?:nos?|numbers?|units?|persons?|people|heads?|years?|days?|hours?|kg|tons?|tonnes?|ha|${currencySigns.map((each) => RegExp.escape(each)).join('|')}|(?!and/or)\p{L}{1,6}\d?/\p{L}{1,6}\d?)\.?[)\]]`,
  'iu',
);

/** Some series have another scale. */
const exception = /\bunless\b|\bexcept\b|\bexcluding\b|\botherwise\b|\bsauf\b|\bsofern nicht\b|\bsalvo\b/i;

/** Adds the units and scales of single columns of values. */
export function addUnitsOfColumns(
  draft: Draft,
  layout: Layout,
  columns: Columns,
  above: readonly string[][],
): void {
  addOwnUnits(draft, layout, columns);
  addUnitsBelow(draft, layout, columns, above);
  addOwnScales(draft, layout, columns, above);
}

const currencies = ['USD', 'EUR', 'GBP', 'JPY', 'CHF', 'CNY', 'INR'];

/** A column of units or currencies belongs to one of the columns of values: for the others it is a guess, or their title names another. */
function addOwnUnits({ entry, evidence, guessed }: Draft, { titles }: Layout, columns: Columns): void {
  if ((columns.unit === null && columns.currency === null) || entry.series?.unit?.includes('{') !== true)
    return;
  if (!guessed.includes('series.unit')) guessed.push('series.unit');
  evidence['series.unit'] = 'columns of the file; they may not hold for every column of values';
  for (const at of columns.values) {
    const title = entryAt(titles, at);
    const own = currencies.find((code) => title.toUpperCase().includes(code));
    const { currency } = columns;
    const shared = entry.series.unit;
    if (own === undefined || currency === null || shared === undefined) continue;
    entry.columns = {
      ...entry.columns,
      [title]: { unit: shared.replace(`{${entryAt(titles, currency)}}`, own) },
    };
    evidence['columns'] = 'the title has a currency';
    guessed.push('columns');
  }
}

/** The title of a column may have its unit in a line of its own. */
function addUnitsBelow(
  { entry, evidence }: Draft,
  { titles, headerRows, facts }: Layout,
  columns: Columns,
  above: readonly string[][],
): void {
  if (columns.unit !== null || columns.currency !== null || facts.unit !== undefined) return;
  const stated = columns.values.flatMap((at) => {
    const unit = unitBelow(above, headerRows, at);
    return unit === undefined ? [] : [[entryAt(titles, at), unit] as const];
  });
  for (const [title, unit] of stated)
    entry.columns = { ...entry.columns, [title]: { ...entry.columns?.[title], unit } };
  if (stated.length > 0) evidence['columns'] = 'the last line of a title has the unit';
}

/** A scale in the title of a column, or in its cell of the line of units, is that of the column. */
function addOwnScales(
  { entry, evidence, guessed }: Draft,
  { titles, facts, headerRows }: Layout,
  columns: Columns,
  above: readonly string[][],
): void {
  const stated: string[] = [];
  for (const at of columns.values) {
    const title = entryAt(titles, at);
    const unit = cellOfLine(facts.prefix, above, at) + cellOfLine(facts.unit, above, at);
    const currency = cellOfLine(facts.currency, above, at);
    if (/^currency$/i.test(unit) && currency !== '')
      entry.columns = { ...entry.columns, [title]: { ...entry.columns?.[title], unit: currency } };
    const found =
      scaleOfLine(facts, above, at) ??
      scaleAbove([title, unit, `(${unit})`, unitBelow(above, headerRows, at) ?? '']);
    if (found === null) continue;
    const scaled = Object.assign({ ...entry.columns?.[title] }, { unit_multiplier: String(found.exponent) });
    entry.columns = { ...entry.columns, [title]: scaled };
    stated.push(`"${found.text.slice(0, 60)}"`);
    if (!found.isSure && !guessed.includes('columns')) guessed.push('columns');
  }
  if (stated.length > 0)
    evidence['columns'] = [evidence['columns'], `scales: ${stated.slice(0, 5).join(', ')}`]
      .filter((why) => why !== undefined)
      .join('; ');
}

/** The unit in the last line of a cell: in brackets, behind `in`, a percentage, or with a scale. Other lines continue a name. */
function unitBelow(
  above: readonly string[][],
  headerRows: readonly number[],
  at: number,
): string | undefined {
  const cell = above[headerRows.at(-1) ?? 0]?.[at] ?? '';
  const [, ...lines] = cell.trim().split(/\s*[\r\n]+\s*/);
  const last = lines.at(-1) ?? '';
  const named = /^(?:[[(](.{1,40})[\])]|in (.{1,40}))$/i.exec(last);
  if (named !== null) return named[1] ?? named[2];
  return /^(?:%|per ?cent(?:age)?)$/i.test(last) || scaleAbove([last]) !== null ? last : undefined;
}

/** The placeholder for a line above the data. */
export function lineTemplate({ factLines }: Layout, fact: keyof Layout['facts']): string {
  return `{line ${factLines[fact] ?? 0}}`;
}
