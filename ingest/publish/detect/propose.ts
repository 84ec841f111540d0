// From the rows of a table to the entry of almanac.yml that loads it: each part with its evidence, and whether it is a guess.
// A pure function: it knows the rows, the name of the file, and what the command line says of all new tables.
import { entryAt } from '../../../kernel/entries.ts';
import { metadataNames } from '../../datasets/metadata.ts';
import { detectColumns, isDoubtful, type Columns } from './columns.ts';
import { possibleParts, withParts } from './divided-dates.ts';
import { detectDates, isBareYear, type DateSpan } from './date-forms.ts';
import { dateText, detectLayout, type Layout } from './layout.ts';
import { addNotes } from './notes.ts';
import { detectNumbers } from './number-forms.ts';
import type { About, Draft, Entry, Proposal } from './proposal.ts';
import { addRepeated } from './repeated-rows.ts';
import { sdmxEntry } from './sdmx.ts';
import { addFacts, addSeries } from './series-facts.ts';
import type { Sample } from '../table-rows.ts';
import { idPart } from '../templates.ts';

/** @returns an entry with `skip` if the rows are no table that can be loaded. */
export function propose(sample: Sample, about: About): Proposal {
  if (sample.fault !== undefined) return skipped(sample.fault);
  const found = detectLayout(sample);
  if (typeof found === 'string') return skipped(found);
  const rows = sample.rows.slice(found.firstRow);
  const layout = withParts(found, rows);
  const draft = placesOf(sample, layout);
  const sdmx = sdmxEntry(layout.titles, rows);
  if (sdmx !== null) {
    Object.assign(draft.entry, sdmx.entry);
    Object.assign(draft.evidence, sdmx.evidence);
    addFacts(draft, { ...sdmx.facts, ...about.facts }, about);
    return finished(draft, rows.length, layout);
  }
  if (!addDate(draft, layout, about))
    return skipped('it has no dates: neither a column, nor titles, nor a line above, nor its name');
  const { dates } = layout;
  const columns = detectColumns(rows, layout.titles, {
    dates: datePlaces(dates),
    periods: dates.kind === 'across' ? dates.columns : [],
  });
  if (columns.values.length === 0) return skipped('it has no column of numbers');
  addColumns(draft, layout, columns);
  doubtYears(draft, layout, rows, about);
  doubtParts(draft, layout, columns, rows);
  doubtDates(draft, layout, columns, rows);
  addNotes(draft, rows, layout.titles, columns);
  addNumbers(draft, sample, rows, columns);
  addSeries(draft, { layout, columns, rows, about });
  const tooMany = addRepeated(draft, { layout, columns, rows });
  if (tooMany !== null) return skipped(tooMany);
  const titles = columns.values.map((at) => entryAt(layout.titles, at));
  return { ...finished(draft, rows.length, layout), columns: titles };
}

/** That a file is left out is for somebody to confirm: it may be a table that was not understood. */
const skipped = (skip: string): Proposal => ({ entry: { skip, guessed: ['skip'] }, evidence: {}, rows: 0 });

function finished({ entry, evidence, guessed }: Draft, rows: number, layout: Layout): Proposal {
  evidence['first'] = layout.evidence;
  return { entry: guessed.length === 0 ? entry : { ...entry, guessed }, evidence, rows };
}

function placesOf(sample: Sample, { headerRows, firstRow, unitRow }: Layout): Draft {
  const line = (row: number) => entryAt(sample.lines, row);
  const header = headerRows.map(line);
  const [only = 1] = header;
  const entry: Entry = {
    ...(sample.delimiter !== undefined && sample.delimiter !== ',' && { delimiter: sample.delimiter }),
    header: header.length === 1 ? only : header,
    first: line(firstRow),
    ...(unitRow !== null && { unit_line: line(unitRow) }),
  };
  return { entry, evidence: {}, guessed: [] };
}

/** @returns whether there are dates. */
function addDate({ entry, evidence, guessed }: Draft, { dates, titles }: Layout, about: About): boolean {
  if (dates.kind === 'column' || dates.kind === 'across') {
    const { value, evidence: why, isSure } = dates.form;
    const format = value.format === null ? {} : { format: value.format };
    const [place = '', part] = datePlaces(dates).map((at) => entryAt(titles, at));
    entry.date =
      dates.kind === 'column'
        ? { column: part === undefined ? place : [place, part], ...format }
        : { across: 'columns', ...(place !== '' && { year: place }), ...format };
    evidence['date'] = why;
    if (!isSure) guessed.push('date');
    if (
      dates.kind === 'column' &&
      dates.part !== null &&
      dates.part.others.length > 0 &&
      part !== undefined
    ) {
      entry.leave_out = { [part]: dates.part.others };
      evidence['leave_out'] = 'neither a month nor a quarter of the year';
      guessed.push('leave_out');
    }
    if (about.dateInName !== null && dayOf(about.dateInName) <= about.today) {
      entry.vintage = { in: 'file name' };
      evidence['vintage'] =
        `the name of the file has the date ${about.dateInName}, and the rows have dates of their own`;
      guessed.push('vintage');
    }
    return true;
  }
  if (dates.kind === 'none' && about.dateInName === null) return false;
  entry.date = { in: dates.kind === 'title' ? 'title' : 'file name' };
  evidence['date'] =
    dates.kind === 'title'
      ? `no column has dates; ${dates.evidence}`
      : `no column has dates; the file's name has ${about.dateInName ?? ''}`;
  guessed.push('date');
  return true;
}

/** The columns that date the rows: one, or that of the year and that of its months. */
const datePlaces = (dates: Layout['dates']): number[] =>
  dates.kind === 'column'
    ? [dates.column, ...(dates.part === null ? [] : [dates.part.column])]
    : dates.kind === 'across' && dates.year !== null
      ? [dates.year]
      : [];

const dayOf = (date: string) => (date.length === 7 ? `${date}-01` : date);

function addColumns(draft: Draft, { titles, dates }: Layout, columns: Columns): void {
  const { entry, evidence } = draft;
  const title = (at: number) => entryAt(titles, at);
  if (dates.kind !== 'across') {
    const [only = 0, second] = columns.values;
    // The star takes columns that a later file adds; it is for files whose columns are series.
    const isWide =
      columns.key === null &&
      columns.dimensions.length === 0 &&
      second !== undefined &&
      dates.kind === 'column';
    entry.values = isWide ? '*' : second === undefined ? title(only) : columns.values.map(title);
    evidence['values'] = isWide
      ? `${columns.values.length} columns of numbers beside the dates: a series each`
      : columns.values
          .map((at) => `${title(at)}: ${columns.evidence.get(at) ?? 'it has numbers'}`)
          .join('; ');
  }
  if (columns.dimensions.length > 0) {
    entry.dimensions = namedDimensions(columns.dimensions.map(title));
    evidence['dimensions'] = columns.dimensions
      .map((at) => `${title(at)}: ${columns.evidence.get(at) ?? ''}`)
      .join('; ');
  }
  if (columns.status !== null) {
    entry.status = title(columns.status);
    evidence['status'] = 'its title';
  }
  if (columns.only !== null) {
    entry.only = { [title(columns.only.column)]: columns.only.expression };
    evidence['only'] = columns.only.evidence;
    draft.guessed.push('only');
  }
  if (columns.totals !== null) {
    entry.leave_out = { ...entry.leave_out, [title(columns.totals.column)]: columns.totals.texts };
    evidence['leave_out'] = [evidence['leave_out'], 'rows that sum up others']
      .filter((why) => why !== undefined)
      .join('; ');
    if (!draft.guessed.includes('leave_out')) draft.guessed.push('leave_out');
  }
}

/** Values by year that may be of the months of it are a guess: a series of each month would be another one. */
function doubtParts(
  { evidence, guessed }: Draft,
  { dates, titles }: Layout,
  columns: Columns,
  rows: readonly string[][],
): void {
  if (dates.kind !== 'column' || dates.part !== null) return;
  if (!rows.slice(0, 1_000).every((row) => isBareYear(dateText(row, dates)) || dateText(row, dates) === ''))
    return;
  for (const key of ['values', 'dimensions'] as const) {
    const parts = possibleParts(columns[key], titles, rows);
    if (parts.length === 0) continue;
    const named = parts.slice(0, 3).map((at) => entryAt(titles, at));
    evidence[key] =
      `${evidence[key] ?? ''}; but ${named.join(', ')} may say which months of the year the values are of`;
    guessed.push(key);
  }
}

/** Years that tables of figures look ahead. */
const yearsAhead = 10;

/** Years of two digits are of one century, whose limit the dates may cross. */
function doubtYears(
  { evidence, guessed }: Draft,
  { dates, titles }: Layout,
  rows: readonly string[][],
  { today }: About,
): void {
  if (dates.kind !== 'column' && dates.kind !== 'across') return;
  const texts =
    dates.kind === 'column'
      ? rows.map((row) => dateText(row, dates))
      : dates.columns.map((at) => entryAt(titles, at));
  const last = String(Number(today.slice(0, 4)) + yearsAhead);
  const late = texts.find(
    (text) => !/\d{4}/.test(text) && (dates.form.value.read(text)?.from ?? '').slice(0, 4) > last,
  );
  if (late === undefined) return;
  const year = dates.form.value.read(late)?.from.slice(0, 4) ?? '';
  evidence['date'] =
    `${evidence['date'] ?? ''}; "${late}" is read as ${year}: of years of two digits, 69 to 99 are 1969 to 1999, and 00 to 68 are 2000 to 2068`;
  if (!guessed.includes('date')) guessed.push('date');
}

/** A second column of dates may belong to the values beside it, as where two tables stand side by side. */
function doubtDates(
  { evidence, guessed }: Draft,
  { dates, titles }: Layout,
  { dimensions, ignored }: Columns,
  rows: readonly string[][],
): void {
  if (dates.kind !== 'column') return;
  const doubt = 'has dates of its own, which may be those of the values beside it';
  const isOther = (at: number) =>
    hasOtherDates(rows.slice(0, 1_000), at, (row) => dates.form.value.read(dateText(row, dates)));
  for (const [at, why] of ignored)
    if (isDoubtful(why) && isOther(at)) ignored.set(at, `${why}; but it ${doubt}`);
  const named = dimensions.filter(isOther).map((at) => entryAt(titles, at));
  if (named.length === 0) return;
  evidence['dimensions'] = `${evidence['dimensions'] ?? ''}; but ${named.join(', ')} ${doubt}`;
  if (!guessed.includes('dimensions')) guessed.push('dimensions');
}

/** Whether the texts of the column are dates, and one of them lies outside of the period that its row is of. */
function hasOtherDates(
  rows: readonly string[][],
  at: number,
  spanOf: (row: readonly string[]) => DateSpan | null,
): boolean {
  const texts = [...new Set(rows.map((row) => (row[at] ?? '').trim()))].filter((text) => text !== '');
  if (texts.every((text) => /^\d+$/.test(text))) return false;
  const form = detectDates(texts)?.value;
  if (form === undefined) return false;
  return rows.some((row) => {
    const [own, span] = [form.read((row[at] ?? '').trim()), spanOf(row)];
    return own !== null && span !== null && (own.to < span.from || own.from > span.to);
  });
}

const reserved = new Set([...metadataNames, 'series_id', 'date', 'value', 'status', 'vintage']);

/** The names under which readers select, made of the titles. */
function namedDimensions(titles: readonly string[]): Record<string, string> {
  const named: Record<string, string> = {};
  for (const title of titles) {
    let name = idPart(title.toLowerCase()).replaceAll(/[.-]/g, '_').slice(0, 50);
    if (!/^[a-z_]/.test(name)) name = `d_${name}`;
    while (reserved.has(name) || name in named) name += '_';
    named[name] = title;
  }
  return named;
}

const numbersSampled = 200_000;

function addNumbers(
  { entry, evidence, guessed }: Draft,
  { delimiter }: Sample,
  rows: readonly string[][],
  { values }: Columns,
): void {
  const texts: string[] = [];
  for (const row of rows)
    for (const at of values) {
      const text = (row[at] ?? '').trim();
      if (text !== '' && texts.length < numbersSampled) texts.push(text);
    }
  const { decimal, thousands, missing, flags } = detectNumbers(texts, delimiter);
  if (decimal.value === ',') {
    entry.decimal = ',';
    evidence['decimal'] = decimal.evidence;
  }
  if (thousands !== null) {
    entry.thousands = thousands.value;
    evidence['thousands'] = thousands.evidence;
    if (!thousands.isSure) guessed.push('thousands');
  }
  if (missing !== null) {
    entry.missing = missing.value;
    evidence['missing'] = missing.evidence;
    if (!missing.isSure) guessed.push('missing');
  }
  if (flags !== null) {
    entry.flags = flags.value;
    const mixed = flags.value['%'] === null ? values.filter((at) => isPartlyPercent(rows, at)) : [];
    const doubt = '; in one column some numbers have % and others not: they may be shares';
    evidence['flags'] = `${flags.evidence}${mixed.length > 0 ? doubt : ''}`;
    if (!flags.isSure || mixed.length > 0) guessed.push('flags');
  }
}

/** 1.5% and 0.015 may be the same: a workbook has both where only some cells are formatted. */
function isPartlyPercent(rows: readonly string[][], column: number): boolean {
  const texts = rows.map((row) => (row[column] ?? '').trim()).filter((text) => /\d/.test(text));
  const percent = texts.filter((text) => text.endsWith('%')).length;
  return percent > 0 && percent < texts.length;
}
