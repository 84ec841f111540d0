// Derives from the rows of a table the almanac.yml entry that loads it: each part with its evidence, and whether it is a guess. A pure
// function of the rows, the name of the file, and the command line's facts for all new tables.
import { entryAt } from '../../kernel/entries.ts';
import { metadataNames } from '../datasets/metadata.ts';
import { isValueText } from '../cells/cell-forms.ts';
import { addDoubts } from './proposal/doubts.ts';
import { addNumbers } from './add-number-format.ts';
import { detectColumns, otherDates, type Columns } from './table/column-roles.ts';
import { frequencyOf } from './table/frequency.ts';
import { cellsShown, isUntitled, namingDates } from './table/header-lines.ts';
import {
  dateColumns,
  dateText,
  detectLayout,
  distinctIn,
  filledDown,
  withAllYears,
  type Layout,
} from './table/layout.ts';
import { possibleParts, withParts } from './table/dates-in-two-parts.ts';
import { movingPeriods } from './table/moving-periods.ts';
import type { About, Draft, Entry, Proposal } from './proposal/proposal.ts';
import { raggedReason } from './ragged-rows.ts';
import { addRepeated } from './repeated-rows.ts';
import { addUndated } from './undated-rows.ts';
import { unreadDates, unreadForms } from './unread-dates.ts';
import { sdmxEntry } from './sdmx-csv.ts';
import { addFacts, addSeries } from './series-facts.ts';
import { isDateTitle } from '../cells/dates/date-column-titles.ts';
import type { Sample } from '../read/table-rows.ts';
import { idPart } from '../entry/templates.ts';

/** @returns an entry with `skip` if the rows are not a table that can be loaded. */
export function propose(sample: Sample, about: About): Proposal {
  if (sample.fault !== undefined) return skipped(sample.fault);
  const found = detectLayout(sample);
  const isDated =
    typeof found !== 'string' && (found.dates.kind === 'column' || found.dates.kind === 'across');
  const moving = isDated ? null : movingPeriods(sample.rows);
  if (moving !== null) return skipped(moving);
  if (typeof found === 'string') return skipped(unreadForms(sample) ?? found);
  const below = sample.rows.slice(found.firstRow);
  const layout = withParts(found, below);
  if (typeof layout === 'string') return skipped(layout);
  const { dates } = layout;
  const rows = withAllYears(below, dates);
  const draft = placesOf(sample, layout);
  const sdmx = sdmxEntry(layout.titles, rows);
  if (typeof sdmx === 'string') return skipped(sdmx);
  if (sdmx !== null) {
    Object.assign(draft.entry, sdmx.entry);
    Object.assign(draft.evidence, sdmx.evidence);
    addDateForm(draft, layout);
    if (draft.entry.series?.frequency === 'irregular') addFrequency(draft, layout, sdmx.dimensions, rows);
    addFacts(draft, sdmx.facts, about);
    addNumbers(draft, sample, rows, sdmx.values);
    return finished(draft, rows.length, layout);
  }
  if (!addDate(draft, layout, about))
    return skipped(
      unreadDates(sample, about) ??
        `it has no dates: neither a column (${firstLine(sample, layout)}), nor titles, nor a line above, nor its name. ${namingDates}`,
    );
  const sideBySide = sideBySideReason(layout, rows);
  if (sideBySide !== null) return skipped(sideBySide);
  const columns = detectColumns(rows, layout.titles, {
    dates: dateColumns(dates),
    periods: dates.kind === 'across' ? dates.columns : [],
    ...(dates.kind === 'column' && {
      spanOf: (row: readonly string[]) => dates.found.read(dateText(row, dates)),
    }),
  });
  if (columns.values.length === 0)
    return skipped(
      `it has no column of numbers: ${firstLine(sample, layout)}. Name one under values, and its signs under decimal, thousands, missing and flags`,
    );
  if (isContents(layout, columns, rows))
    return { ...skipped('its rows list series, with the first and the last date of each'), isContents: true };
  const ragged = raggedReason(sample, layout);
  if (ragged !== null) return skipped(ragged);
  const undivided = undividedMonths(layout, columns, rows);
  if (undivided !== null) return skipped(undivided);
  addColumns(draft, layout, columns);
  const above = sample.rows.slice(0, found.firstRow);
  const misread = addDoubts(draft, { layout, columns, rows }, { about, sheet: sample.doubts, above });
  if (misread !== null) return skipped(misread);
  const kinds = addUndated(draft, { layout, columns, rows });
  if (typeof kinds === 'string') return skipped(kinds);
  const unread = addNumbers(draft, sample, dated(rows, layout, columns), columns.values);
  if (unread !== null) return skipped(unread);
  addSeries(draft, {
    layout,
    columns,
    kinds,
    rows: filledDown(rows, columns.filled),
    about,
    above,
  });
  const contradicting = addRepeated(draft, { layout, columns, rows: filledDown(rows, columns.filled) });
  if (contradicting !== null) return skipped(contradicting);
  const titles = columns.values.map((at) => entryAt(layout.titles, at));
  return { ...finished(draft, rows.length, layout), columns: titles };
}

const firstLine = ({ rows, lines }: Sample, { firstRow }: Layout): string =>
  `line ${entryAt(lines, firstRow)} has ${cellsShown(entryAt(rows, firstRow))}`;

/** SDMX-CSV without the column FREQ: as in any other table. */
function addFrequency(
  { entry, evidence, guessed }: Draft,
  layout: Layout,
  dimensions: number[],
  rows: readonly string[][],
): void {
  const { value, evidence: why, isSure } = frequencyOf(layout, { key: null, dimensions }, rows);
  if (entry.series !== undefined) entry.series.frequency = value;
  evidence['series.frequency'] = why;
  if (!isSure) guessed.push('series.frequency');
}

/** The rows that have a point: rows with a date, or, if the rows have no dates, with a number or mark in a column of values. */
function dated(rows: readonly string[][], { dates }: Layout, { values }: Columns): string[][] {
  if (dates.kind === 'column') return rows.filter((row) => dates.found.read(dateText(row, dates)) !== null);
  return rows.filter((row) => values.some((at) => isValueText(row[at] ?? '')));
}

const startTitle =
  /^(?:series |obs(?:ervation)? ?)?(?:start|begin|first)(?: date| period| obs(?:ervation)?)?$/i;
const endTitle = /^(?:series |obs(?:ervation)? ?)?(?:end|last|latest)(?: date| period| obs(?:ervation)?)?$/i;

/** A list of series, as on the first sheet of the ABS's workbooks: each row has the first and last date of a series. */
function isContents({ titles }: Layout, { key }: Columns, rows: readonly string[][]): boolean {
  if (
    key === null ||
    !titles.some((title) => startTitle.test(title)) ||
    !titles.some((title) => endTitle.test(title))
  )
    return false;
  const keys = rows.map((row) => (row[key] ?? '').trim()).filter((text) => text !== '');
  return new Set(keys).size === keys.length;
}

/** Years beside a column that has one of twelve or four texts for each: months or quarters, in unknown words. */
function undividedMonths(
  { dates, titles }: Layout,
  columns: Columns,
  rows: readonly string[][],
): string | null {
  if (dates.kind !== 'column' || dates.found.kind !== 'year' || dates.columns.length > 1) return null;
  const year = entryAt(dates.columns, 0);
  const at = columns.dimensions.find((each) => {
    const texts = distinctIn(rows, each);
    return texts.length === 12 && possibleParts([each], titles, rows).length > 0 && each !== year;
  });
  if (at === undefined) return null;
  return `the column ${entryAt(titles, at)} has twelve texts for each year, such as "${distinctIn(rows, at)[0] ?? ''}", which may be its months: give both columns under date, and their language`;
}

/** A person must confirm that a file is left out: it may be a table that was not understood. */
const skipped = (skip: string): Proposal => ({ entry: { skip, guessed: ['skip'] }, evidence: {}, rows: 0 });

function finished(
  { entry, evidence, guessed, ignored, title, isNameMissing }: Draft,
  rows: number,
  layout: Layout,
): Proposal {
  evidence['first'] = layout.evidence;
  return {
    ...{ entry: guessed.length === 0 ? entry : { ...entry, guessed }, evidence, rows },
    ...(ignored !== undefined && { ignored }),
    ...(title !== undefined && { title }),
    ...(isNameMissing && { isNameMissing }),
  };
}

function placesOf(sample: Sample, { headerRows, firstRow }: Layout): Draft {
  const line = (row: number) => entryAt(sample.lines, row);
  const header = headerRows.map(line);
  const [only = 1] = header;
  const entry: Entry = {
    ...(sample.encoding !== undefined && { encoding: sample.encoding }),
    ...(sample.delimiter !== undefined && sample.delimiter !== ',' && { delimiter: sample.delimiter }),
    ...(sample.quote !== undefined && { quote: sample.quote }),
    ...(sample.split !== undefined && { split: sample.split }),
    ...(sample.crosstab !== undefined && { crosstab: sample.crosstab }),
    header: header.length === 1 ? only : header,
    first: line(firstRow),
  };
  const draft: Draft = { entry, evidence: {}, guessed: [] };
  if (sample.crosstab !== undefined) {
    const { periods, groups } = sample.crosstab;
    draft.evidence['crosstab'] =
      `line ${periods} has periods, and line ${groups} groups that recur for each of them`;
  }
  if (sample.encodingDoubt !== undefined) {
    draft.evidence['encoding'] = sample.encodingDoubt;
    draft.guessed.push('encoding');
  }
  return draft;
}

/** Adds how the dates are written, and what remains a guess. */
function addDateForm({ entry, evidence, guessed }: Draft, { dates }: Layout): void {
  if ((dates.kind !== 'column' && dates.kind !== 'across') || entry.date === undefined) return;
  const { style, isSure, kind } = dates.found;
  const marks = style.marks === undefined ? {} : { marks: { ...style.marks } };
  entry.date = {
    ...entry.date,
    ...(style.format !== undefined && { format: style.format }),
    ...(style.language !== undefined && { language: style.language }),
    ...marks,
    ...(dates.isFilled && { fill: true }),
  } as Entry['date'];
  evidence['date'] = dates.found.evidence;
  const isAfterWords = dates.kind === 'across' && dates.after !== '' && !isDateTitle(dates.after);
  if (isAfterWords) evidence['date'] += `; before each is "${dates.after}"`;
  if (!isSure || kind === 'years' || isAfterWords) guessed.push('date');
}

/** @returns whether there are dates. */
function addDate(draft: Draft, layout: Layout, about: About): boolean {
  const { entry, evidence, guessed } = draft;
  const { dates, titles } = layout;
  if (dates.kind === 'column' || dates.kind === 'across') {
    const places = dateColumns(dates).map((at) => entryAt(titles, at));
    const [place = '', part] = places;
    entry.date =
      dates.kind === 'column'
        ? { column: part === undefined ? place : places }
        : {
            across: 'columns',
            ...(dates.after !== '' && { after: dates.after }),
            ...(place !== '' && { year: place }),
          };
    addDateForm(draft, layout);
    if (dates.others.length > 0) {
      entry.leave_out = { [part ?? place]: dates.others };
      evidence['leave_out'] = `${dates.others.join(', ')}: neither a month nor a quarter of the year`;
      guessed.push('leave_out');
    }
    // A month in the name of a file is the month of its data as often as that of its publication.
    if (about.dateInName !== null && about.dateInName.length === 10 && about.dateInName <= about.today) {
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

function addColumns(draft: Draft, { titles, dates }: Layout, columns: Columns): void {
  const { entry, evidence } = draft;
  const title = (at: number) => entryAt(titles, at);
  if (dates.kind !== 'across') {
    const [only = 0, second] = columns.values;
    // The star matches columns that a later file adds; it is for files whose columns are series.
    const isWide =
      columns.key === null &&
      columns.dimensions.length === 0 &&
      second !== undefined &&
      dates.kind === 'column' &&
      columns.vintage === null &&
      !columns.statusBeside &&
      !columns.values.some((at) => isUntitled(title(at), at));
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
  const untitled = columns.values.filter((at) => dates.kind !== 'across' && isUntitled(title(at), at));
  if (untitled.length > 0) {
    evidence['values'] =
      `${evidence['values'] ?? ''}; ${untitled.map(title).join(', ')} has numbers and no title`;
    draft.guessed.push('values');
  }
  if (columns.status !== null) {
    entry.status = title(columns.status);
    const why = columns.evidence.get(columns.status);
    evidence['status'] = why ?? 'its title';
    if (why !== undefined) draft.guessed.push('status');
  }
  if (columns.statusBeside) {
    entry.status = { beside: 'values' };
    evidence['status'] = 'the column to the right of each column of values has its flags';
  }
  if (columns.vintage !== null) {
    const { at, format, isSure } = columns.vintage;
    entry.vintage = { column: title(at), ...(format !== undefined && { format }) };
    evidence['vintage'] = `${title(at)} has days, and its title means the day of publication`;
    if (!isSure) draft.guessed.push('vintage');
  }
  if (columns.filled.length > 0) {
    entry.fill = columns.filled.map(title);
    evidence['fill'] = `${entry.fill.join(', ')}: each text is only in the first of its rows`;
    draft.guessed.push('fill');
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

/** Why two tables side by side, each with its own dates under one title, are not read as one. */
function sideBySideReason({ dates, titles }: Layout, rows: readonly string[][]): string | null {
  if (dates.kind !== 'column') return null;
  const own = entryAt(dates.columns, 0);
  for (const at of dates.columns.length > 1 ? [] : otherDates(titles, dates.columns)) {
    const other = rows.find((row) => {
      const [text, span] = [(row[at] ?? '').trim(), dates.found.read((row[at] ?? '').trim())];
      return span !== null && text !== (row[own] ?? '').trim();
    });
    if (other !== undefined)
      return `the columns ${entryAt(titles, own)} and ${entryAt(titles, at)} have different dates on one line, such as "${(other[own] ?? '').trim()}" and "${(other[at] ?? '').trim()}": the sheet has two tables side by side. Put each into its own file or sheet`;
  }
  return null;
}

const reserved = new Set([...metadataNames, 'series_id', 'date', 'value', 'status', 'vintage']);

/** The dimension names for readers, derived from the titles. */
export function namedDimensions(titles: readonly string[]): Record<string, string> {
  const named: Record<string, string> = {};
  for (const title of titles) {
    let name = idPart(title.toLowerCase()).replaceAll(/[.-]/g, '_').slice(0, 50);
    if (!/^[a-z_]/.test(name)) name = `d_${name}`;
    while (reserved.has(name) || name in named) name += '_';
    named[name] = title;
  }
  return named;
}
