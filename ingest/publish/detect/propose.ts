// From the rows of a table to the entry of almanac.yml that loads it: each part with its evidence, and whether it is a guess.
// A pure function: it knows the rows, the name of the file, and what the command line says of all new tables.
import { entryAt } from '../../../kernel/entries.ts';
import { metadataNames } from '../../datasets/metadata.ts';
import { dateInText, detectFrequency, type DateSpan, type FrequencyFound } from './date-forms.ts';
import type { TableDescription } from '../description.ts';
import { detectColumns, isDetermined, type Columns } from './columns.ts';
import { detectLayout, periodTitle, type Layout } from './layout.ts';
import { detectNumbers, isMissingMark } from './number-forms.ts';
import { sdmxEntry } from './sdmx.ts';
import type { Sample } from '../table-rows.ts';
import { idPart } from '../templates.ts';

/** What is known of a table beside its rows. */
export interface About {
  /** The name of the file without folder and endings, and without a date in it. */
  stem: string;
  /** The date in the name of the file. */
  dateInName: string | null;
  sheet: string | undefined;
  /** The folder's name. */
  folder: string;
  /** Facts of new series by the command line. */
  facts: Readonly<Record<string, string>>;
  /** YYYY-MM-DD. */
  today: string;
}

export interface Proposal {
  /** Without the file. */
  entry: Omit<TableDescription, 'file'>;
  /** By the key of the entry, `series.unit` of a part. */
  evidence: Record<string, string>;
  /** The rows of data that were read. */
  rows: number;
}

type Entry = Proposal['entry'];
type Draft = { entry: Entry; evidence: Record<string, string>; guessed: string[] };

/** @returns an entry with `skip` if the rows are no table that can be loaded. */
export function propose(sample: Sample, about: About): Proposal {
  const layout = detectLayout(sample);
  if (typeof layout === 'string') return skipped(layout);
  const rows = sample.rows.slice(layout.firstRow);
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
    date: dates.kind === 'column' ? dates.column : null,
    periods: dates.kind === 'across' ? dates.columns : [],
  });
  if (columns.values.length === 0) return skipped('it has no column of numbers');
  addColumns(draft, layout, columns);
  addNumbers(draft, rows, columns);
  addSeries(draft, { layout, columns, rows, about });
  const repeated = addRepeated(draft, { layout, columns, rows });
  if (repeated.rows > repeated.of * repeatedShareMax)
    return skipped(
      `${repeated.rows} of ${repeated.of} rows state a point that an earlier row states, and at most 1 % may: no column tells them apart`,
    );
  return finished(draft, rows.length, layout);
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
    entry.date =
      dates.kind === 'column'
        ? { column: entryAt(titles, dates.column), ...format }
        : { across: 'columns', ...format };
    evidence['date'] = why;
    if (!isSure) guessed.push('date');
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
    entry.leave_out = { [title(columns.totals.column)]: columns.totals.texts };
    evidence['leave_out'] = 'rows that sum up others';
    draft.guessed.push('leave_out');
  }
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
  rows: readonly string[][],
  { values }: Columns,
): void {
  const texts: string[] = [];
  for (const row of rows)
    for (const at of values) {
      const text = (row[at] ?? '').trim();
      if (text !== '' && texts.length < numbersSampled) texts.push(text);
    }
  const { decimal, thousands, missing, flags } = detectNumbers(texts);
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
    evidence['flags'] = flags.evidence;
  }
}

interface Seen {
  layout: Layout;
  columns: Columns;
  rows: readonly string[][];
}

const isCode = (title: string) =>
  /^[A-Z][A-Za-z0-9._&:-]*$/.test(title) && /[A-Z0-9].*[A-Z0-9]/.test(title) && !/[a-z]{3}/.test(title);

function addSeries(draft: Draft, { layout, columns, rows, about }: Seen & { about: About }): void {
  const { entry, evidence } = draft;
  const title = (at: number) => entryAt(layout.titles, at);
  const parts = idColumns(columns, rows);
  const several = layout.dates.kind !== 'across' && columns.values.length > 1;
  const stem = idPart(about.stem) || idPart(about.folder) || 'table';
  const isNamedByCodes =
    several &&
    parts.length === 0 &&
    columns.values.filter((at) => isCode(title(at))).length >= columns.values.length * 0.8;
  const place = parts.map((at) => `{${title(at)}}`).join('.');
  const base = columns.key !== null ? `{${title(columns.key)}}` : place === '' ? stem : `${stem}.${place}`;
  const id = isNamedByCodes ? '{column}' : several ? `${base}.{column}` : base;
  const { evidence: why, isSure, value: frequency } = frequencyOf(layout, columns, rows);
  entry.series = { id, frequency, unit: 'not stated', source: about.folder };
  evidence['series.id'] =
    columns.key !== null
      ? `the column ${title(columns.key)} names the series`
      : parts.length > 0
        ? 'the name of the file, and what the unit depends on'
        : isNamedByCodes
          ? 'the titles are codes'
          : 'the name of the file';
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
        : [about.sheet ?? '', ...parts.map((at) => `{${title(at)}}`), several ? '{column}' : '']
            .filter((part) => part !== '' && part !== about.sheet)
            .join(', ') || words(about.stem),
    ...unitOf(layout, columns, rows, about),
    ...about.facts,
  };
  addFacts(draft, facts, about);
  if (several) addOwnUnits(draft, layout, columns);
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
  const idle = [columns.frequency, columns.currency, columns.unit].filter(
    (at) => at !== null && !mentioned.includes(`{${title(at)}}`),
  );
  for (const at of idle) if (at !== null) ignored.push([at, 'it says what the entry says']);
  if (ignored.length > 0) {
    entry.ignore = ignored.map(([at]) => title(at));
    evidence['ignore'] = ignored.map(([at, why]) => `${title(at)}: ${why}`).join('; ');
  }
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
function addFacts(
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
    evidence['series.source'] = "no line of the file says who publishes it: the folder's name";
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

/** The dates of each series, and how often they come where enough series agree. */
function frequencyOf({ dates, titles }: Layout, columns: Columns, rows: readonly string[][]): FrequencyFound {
  if (dates.kind === 'across')
    return detectFrequency(
      dates.columns
        .map((at) => dates.form.value.read(periodTitle(entryAt(titles, at))))
        .filter((span) => span !== null),
    );
  if (dates.kind !== 'column')
    return {
      value: 'monthly',
      isSure: false,
      repeated: 0,
      evidence: 'the file is of one day; a month is the most common distance',
    };
  const groups = spansByKey(dates.column, dates.form.value.read, columns, rows);
  const found = [...groups.values()].slice(0, 200).map((spans) => detectFrequency(spans));
  const telling = found.filter(({ isSure }) => isSure);
  const [first = found[0]] = telling;
  if (first === undefined) return detectFrequency([]);
  const agree = telling.filter(({ value }) => value === first.value);
  if (agree.length >= telling.length * 0.9) return first;
  const common =
    [...Map.groupBy(telling, ({ value }) => value)].toSorted((a, b) => b[1].length - a[1].length)[0]?.[1] ??
    telling;
  const most = entryAt(common, 0);
  return {
    ...most,
    isSure: false,
    evidence: `${common.length} of ${telling.length} series: ${most.evidence}`,
  };
}

function spansByKey(
  dateColumn: number,
  read: (text: string) => DateSpan | null,
  { key, dimensions }: Columns,
  rows: readonly string[][],
): Map<string, DateSpan[]> {
  const by = [...(key === null ? [] : [key]), ...dimensions];
  const groups = new Map<string, DateSpan[]>();
  const known = new Map<string, DateSpan | null>();
  for (const row of rows) {
    const text = (row[dateColumn] ?? '').trim();
    let span = known.get(text);
    if (span === undefined) known.set(text, (span = read(text)));
    if (span === null) continue;
    const group = by.map((at) => (row[at] ?? '').trim()).join('\u001f');
    const spans = groups.get(group);
    if (spans === undefined) groups.set(group, [span]);
    else spans.push(span);
  }
  return groups;
}

const monthsOf: Readonly<Record<string, number>> = { monthly: 1, quarterly: 3, semiannual: 6, annual: 12 };

/** Beyond this, a column that tells the rows apart has been overlooked. */
const repeatedShareMax = 0.01;

/** Where few rows state a period a second time, the first is kept, and that is a guess. @returns how many of the rows do. */
function addRepeated(
  { entry, evidence, guessed }: Draft,
  { layout: { dates, titles }, columns, rows }: Seen,
): { rows: number; of: number } {
  const months = monthsOf[entry.series?.frequency ?? ''];
  const by = [...(columns.key === null ? [] : [columns.key]), ...columns.dimensions];
  const seen = new Set<string>();
  let repeated = 0;
  let counted = 0;
  let example = '';
  for (const row of rows) {
    if (!isLoaded(row, titles, entry, columns)) continue;
    counted++;
    let period = '';
    if (dates.kind === 'column') {
      const span = dates.form.value.read((row[dates.column] ?? '').trim());
      if (span === null) continue;
      const month = Number(span.to.slice(0, 4)) * 12 + Number(span.to.slice(5, 7)) - 1;
      period = months === undefined ? span.to : String(Math.floor(month / months));
    }
    const point = [period, ...by.map((at) => (row[at] ?? '').trim())].join('\u001f');
    if (seen.has(point)) {
      repeated++;
      example ||=
        dates.kind === 'column' ? (row[dates.column] ?? '') : by.map((at) => row[at] ?? '').join(', ');
    }
    seen.add(point);
  }
  if (repeated === 0) return { rows: 0, of: counted };
  entry.skip_invalid = true;
  evidence['skip_invalid'] =
    `${repeated} of ${counted} rows state a point that an earlier row states (${example}): the first is kept, and ${repeated} ${repeated === 1 ? 'is' : 'are'} left out`;
  guessed.push('skip_invalid');
  return { rows: repeated, of: counted };
}

function isLoaded(
  row: readonly string[],
  titles: readonly string[],
  entry: Entry,
  { values }: Columns,
): boolean {
  if (
    values.every((at) => (row[at] ?? '').trim() === '' || isMissingMark((row[at] ?? '').trim())) &&
    values.length > 1
  )
    return false;
  const cell = (title: string) => (row[titles.indexOf(title)] ?? '').trim();
  if (Object.entries(entry.only ?? {}).some(([title, form]) => !new RegExp(form).test(cell(title))))
    return false;
  return !Object.entries(entry.leave_out ?? {}).some(([title, texts]) => texts.includes(cell(title)));
}

/** The name of a file without its endings, and without a date in it; the date. */
export function namesIn(fileName: string): { stem: string; dateInName: string | null } {
  const bare = fileName.replace(/(?:\.(?:csv|tsv|txt|xlsx|xlsm|xlsb|xls|gz))+$/i, '');
  const found = dateInText(bare);
  if (found === null) return { stem: bare, dateInName: null };
  const without = bare
    .replace(found.text, ' ')
    .replaceAll(/(?<![0-9a-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![0-9a-z])/g, ' ')
    .replaceAll(/[\s_.-]*\s[\s_.-]*/g, ' ')
    .replaceAll(/\b(?:as )?on\s*(?=\(|$)/gi, '')
    .trim();
  return { stem: without, dateInName: found.date };
}
