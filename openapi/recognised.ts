// The tables of docs/recognised.md between `<!-- recognised: dates -->` and `<!-- end -->`: the detector's own tables, each example with the
// detector's result. A test publishes every example and compares the stored data with the page.
import iconv from 'iconv-lite';
import { otherFiles, otherFormats, tableEndings } from '../ingest/read/file-kind.ts';
import { delimiters } from '../ingest/read/csv-dialect.ts';
import { decoderOf, detectedByLetters, detectEncoding, encodingsNamed } from '../ingest/read/encodings.ts';
import { detectDates, markedExamples, type DatesFound } from '../ingest/detect/table/date-format.ts';
import { detectFrequency } from '../ingest/detect/table/frequency.ts';
import { detectNumbers, factors } from '../ingest/detect/table/number-format.ts';
import { sdmxFrequencies } from '../ingest/detect/sdmx-csv.ts';
import { boundExamples, currencySigns, markExamples } from '../ingest/cells/cell-forms.ts';
import { dateTextReader } from '../ingest/cells/dates/dates-of-table.ts';
import { numberForms, orderForms, plainExamples, type DatedText } from '../ingest/cells/dates/date-forms.ts';
import { languages } from '../ingest/cells/dates/month-names.ts';
import {
  numberExamples,
  numberReader,
  type NumberRead,
  type NumberStyle,
} from '../ingest/cells/numbers/number-formats.ts';
import { scaleAbove, scaleExamples, scales } from '../ingest/cells/numbers/scales.ts';

const block = /<!-- recognised: ([\w ]+) -->\n[^]*?<!-- end -->/g;

/** The page with its tables updated. @throws Error if it has a table of another name, or the detector does not know an example. */
export function withRecognised(page: string): string {
  return page.replaceAll(block, (_found, name: string) => {
    const write = parts[name];
    if (write === undefined) throw new Error(`There is no table "${name}" of what is recognised.`);
    return `<!-- recognised: ${name} -->\n${write()}\n<!-- end -->`;
  });
}

const parts: Readonly<Record<string, () => string>> = {
  endings: () => wrapped(tableEndings.map(code), ', '),
  'refused files': refusedFiles,
  encodings,
  delimiters: () => delimiters.map((each) => (each === '\t' ? 'tab' : code(each))).join(', '),
  dates,
  'date formats': dateFormats,
  'date columns': dateColumns,
  'date marks': dateMarks,
  languages: () => wrapped(languages.map(languageName), ', '),
  frequencies,
  'frequency codes': () =>
    Object.entries(sdmxFrequencies)
      .map(([letter, frequency]) => `${code(letter)} ${frequency}`)
      .join(', '),
  numbers,
  currencies: () => wrapped(currencySigns.map(code), ' '),
  marks,
  multiples: () => byValue(factors, (factor) => `× ${grouped(factor)}`, ['sign behind the number', 'factor']),
  'scale words': () => byValue(scales, String, ['words', '`unit_multiplier`']),
  scales: scaleLines,
};

/** A list over lines of at most 150 characters. */
function wrapped(items: readonly string[], separator: string): string {
  const lines: string[] = [];
  for (const item of items) {
    const last = lines.at(-1);
    if (last === undefined || last.length + separator.length + item.length > 149) lines.push(item);
    else lines[lines.length - 1] = last + separator + item;
  }
  return lines.join(`${separator.trimEnd()}\n`);
}

const code = (text: string): string => (text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``);
const cell = (text: string): string => code(text).replaceAll('|', String.raw`\|`);
const asked = (isSure: boolean): string => (isSure ? '' : 'asked');
const table = (titles: readonly string[], rows: readonly (readonly string[])[]): string =>
  [rowText(titles), `|${'---|'.repeat(titles.length)}`, ...rows.map(rowText)].join('\n');
const rowText = (cells: readonly string[]): string =>
  `|${cells.map((each) => (each === '' ? ' ' : ` ${each} `)).join('|')}|`;
const grouped = (digits: string): string => digits.replaceAll(/\B(?=(?:\d{3})+$)/g, ',');
const languageName = (language: string): string =>
  new Intl.DisplayNames('en', { type: 'language' }).of(language) ?? language;

function refusedFiles(): string {
  const texts = otherFormats.map(({ name, advice }) => [name, advice]);
  const others = Object.values(otherFiles).map((message) => {
    const [, name = '', advice = ''] =
      /^The file is (.*?)(?:, which is not read)?: (.*)\.$/.exec(message) ?? [];
    return [name, advice];
  });
  return table(['the file is', 'what to do'], [...texts, ...others]);
}

/** Lines of a table that has the words, in the encoding. The test of the page publishes the same. */
export function encodedExample(encoding: string, words: string): Buffer {
  const months = ['2023-01', '2023-02', '2023-03', '2023-04', '2023-05', '2023-06'];
  const rows = months.flatMap((month) => words.split(' ').map((word, at) => `${month},${word},${at + 1}\n`));
  return iconv.encode(`Month,Region,Value\n${rows.join('')}`, namesOfLibrary[encoding] ?? encoding);
}
const namesOfLibrary: Readonly<Record<string, string>> = { 'x-mac-cyrillic': 'maccyrillic', ibm866: 'cp866' };

function encodings(): string {
  const rows = detectedByLetters.map(({ name, languages: spoken, example }) => {
    const bytes = encodedExample(name, example);
    const found = detectEncoding(bytes);
    const decoder = decoderOf(found.name);
    const text = decoder.write(bytes) + decoder.end();
    const isRead = example.split(' ').every((word) => text.includes(`,${word},`));
    if (!isRead && found.isSure) throw new Error(`"${example}" in ${name} is read as ${found.name}`);
    const first = isRead ? '' : `; the first reading is ${code(found.name)}`;
    return [code(name), spoken.map(languageName).join(', '), example, `${asked(found.isSure)}${first}`];
  });
  const named = wrapped(encodingsNamed.map(code), ', ');
  return `${table(['encoding', 'languages', 'words of a file', ''], rows)}\n\n\`encoding\` in \`almanac.yml\` takes\n${named}.`;
}

const kinds: Readonly<Record<DatedText['kind'], string>> = {
  day: 'day',
  week: 'week',
  month: 'month',
  quarter: 'quarter',
  half: 'half-year',
  year: 'year',
  'fiscal year': 'fiscal year',
  years: 'several years',
};

/** The period that a text covers, and the day of its point. */
const spanCells = ({ kind, from, to }: DatedText): [string, string] => [
  kinds[kind],
  kind === 'fiscal year'
    ? `the end of the fiscal year that ends in ${to.slice(0, 4)}`
    : from === to
      ? from
      : to,
];

function known<Found>(found: Found | null | undefined, text: string): Found {
  if (found === null || found === undefined) throw new Error(`"${text}" is not recognised.`);
  return found;
}

const datesIn = (texts: readonly string[], title: string): DatesFound =>
  known(detectDates(texts, { title, allowsNumbers: true }), texts.join(', '));

function dates(): string {
  const rows = plainExamples.map((texts) => {
    const spans = texts.map((text) => known(datesIn([text], '').read(text), text));
    const [first = ['', ''], ...others] = spans.map(spanCells);
    if (others.some((other) => other.join() !== first.join()))
      throw new Error(`${texts.join(', ')} do not mean the same.`);
    return [texts.map(cell).join(', '), ...first];
  });
  return table(['text', 'it is a', 'its point is dated'], rows);
}

function dateFormats(): string {
  const rows = [...orderForms, ...numberForms].map(({ format, example }) => [
    cell(format),
    cell(example),
    ...spanCells(known(dateTextReader({ format })(example), example)),
  ]);
  return table(['`format`', 'text', 'it is a', 'its point is dated'], rows);
}

/** Columns of numbers alone, which have several readings until other rows decide. */
const columnExamples: readonly (readonly [title: string, ...texts: string[]])[] = [
  ['Date', '12/01/2024', '13/01/2024', '14/01/2024'],
  ['Date', '01/12/2024', '01/13/2024', '01/14/2024'],
  ['Date', '01/02/2023', '02/02/2023', '03/02/2023'],
  ['Date', '1.5.24', '1.6.24', '1.7.24', '31.8.24'],
  ['Period', '2015/01', '2015/02', '2015/03', '2015/04', '2015/05'],
  ['Period', '2015/01', '2015/02', '2015/03', '2015/04', '2016/01', '2016/02'],
  ['Period', '2015/01', '2015/02', '2015/03', '2015/04'],
  ['Quarter', '2015/01', '2015/02', '2015/03', '2015/04'],
  ['Period', '2015/01', '2015/02', '2016/01', '2016/02'],
  ['Year', '2004-05', '2005-06', '2006-07'],
  ['Month', '1/2023', '2/2023', '3/2023', '4/2023'],
  ['Period', '202401', '202402', '202403'],
  ['Time', '2024', '2024.25', '2024.5', '2024.75'],
  ['Date', '45292', '45323', '45352'],
  ['Time', '1704067200', '1706745600', '1709251200'],
];

function dateColumns(): string {
  const rows = columnExamples.map(([title, ...texts]) => {
    const { style, read, isSure, others } = datesIn(texts, title);
    const [first = ''] = texts;
    const [kind, date] = spanCells(known(read(first), first));
    const form = style.format === undefined ? 'ISO 8601' : code(style.format);
    return [
      title,
      texts.map(code).join(', '),
      form,
      `${kind}, ${date}`,
      isSure ? '' : `asked: ${others[0] ?? ''}`,
    ];
  });
  return table(['title', 'texts', '`format`', 'the first text is', ''], rows);
}

function dateMarks(): string {
  const rows = markedExamples.map((text) => {
    const { read } = datesIn([text], '');
    const { status, ...span } = known(read(text), text);
    return [cell(text), ...spanCells(span), status === '' ? 'none' : code(status)];
  });
  return table(['text', 'it is a', 'its point is dated', 'status'], rows);
}

const frequencyExamples: readonly (readonly string[])[] = [
  ['2024-01-04', '2024-01-05', '2024-01-08', '2024-01-09'],
  ['2024-01-05', '2024-01-12', '2024-01-19', '2024-01-26'],
  ['2024-W01', '2024-W02', '2024-W03'],
  ['2024-01', '2024-02', '2024-03'],
  ['2024-01-31', '2024-02-29', '2024-03-28', '2024-04-30'],
  ['2024-01-15', '2024-02-15', '2024-03-15'],
  ['2024-Q1', '2024-Q2', '2024-Q3'],
  ['2024-01-01', '2024-04-01', '2024-07-01'],
  ['2024-03', '2024-06', '2024-09'],
  ['2024-H1', '2024-H2'],
  ['2022', '2023', '2024'],
  ['2022-06-30', '2023-06-30', '2024-06-30'],
  ['2024-01-05', '2024-02-20', '2024-02-23', '2024-05-11'],
  ['2024-01-05', '2024-02-20'],
];

function frequencies(): string {
  const rows = frequencyExamples.map((texts) => {
    const spans = texts.map((text) => known(datesIn([text], '').read(text), text));
    const { value, isSure, evidence } = detectFrequency(spans);
    return [texts.map(code).join(', '), code(value), evidence, asked(isSure)];
  });
  return table(['dates of a series', '`frequency`', 'because', ''], rows);
}

/** The number that the detector reads in a cell among plain numbers. */
function numberIn(text: string): { read: NumberRead; isSure: boolean } {
  const { words, ...found } = detectNumbers(['7', text, '8'], { delimiter: '\t' });
  const style: NumberStyle = Object.fromEntries(
    Object.entries(found).flatMap(([key, finding]) => (finding === null ? [] : [[key, finding.value]])),
  );
  const isSure = Object.values(found).every((finding) => finding === null || finding.isSure);
  if (words.size > 0) throw new Error(`"${text}" is a word.`);
  return { read: known(numberReader(style)(text), text), isSure };
}

const readCells = ({ value, status }: NumberRead): [string, string] => [
  value === null ? 'missing' : code(value),
  status === '' ? '' : code(status),
];

function numbers(): string {
  const rows = numberExamples.flatMap(([what, texts]) =>
    texts.map((text, at) => {
      const { read, isSure } = numberIn(text);
      return [at === 0 ? what : '', cell(text), ...readCells(read), asked(isSure)];
    }),
  );
  return table(['', 'text', 'value', 'status', ''], rows);
}

/** Marks in the place of a number, those of one meaning in a row. */
function marks(): string {
  const texts = [...markExamples, ...boundExamples];
  const found = texts.map((text) => ({ text, ...numberIn(text) }));
  const meanings = Map.groupBy(found, ({ text, read, isSure }) => {
    const isOwn = read.status !== '' && text.includes(read.status);
    const status = isOwn ? 'with its letters or bound as the status' : `with the status ${code(read.status)}`;
    return `${read.status === '' ? 'missing' : `missing, ${status}`}|${asked(isSure)}`;
  });
  return table(
    ['texts', 'they are', ''],
    [...meanings].map(([meaning, group]) => [
      group.map(({ text }) => cell(text)).join(' '),
      ...meaning.split('|'),
    ]),
  );
}

/** Words by meaning, one row for each value. */
function byValue(
  words: Readonly<Record<string, string | number>>,
  shown: (value: string) => string,
  titles: readonly [string, string],
): string {
  const letter = (word: string) => (word.length === 1 ? word.toUpperCase() : word);
  const groups = Map.groupBy(Object.entries(words), ([, value]) => String(value));
  return table(
    titles,
    [...groups].map(([value, group]) => [group.map(([word]) => code(letter(word))).join(' '), shown(value)]),
  );
}

function scaleLines(): string {
  const rows = scaleExamples.map((text) => {
    const { exponent, isSure } = known(scaleAbove([text]), text);
    return [cell(text), code(String(exponent)), asked(isSure)];
  });
  return table(['line or title', '`unit_multiplier`', ''], rows);
}
