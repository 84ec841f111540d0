// Reads a release calendar: CSV, or iCalendar (RFC 5545) converted to the rows of such a CSV, one per event. Memory is one batch, whatever
// the file size.
import { Readable } from 'node:stream';
import type { CsvBatch } from './csv-batch.ts';
import { icsProduct, icsProperties } from '../../domain/release-ics.ts';
import { concatenate, readCsv, readPieces, type CsvOptions } from './csv.ts';
import { examinedBytes, kindOf } from './file-kind.ts';
import { IngestFailure, usageError } from '../failure.ts';

/** The columns of the rows, named as in the calendar dataset. */
const header = ['release_id', 'title', 'release_at', 'time_zone', 'status', 'url'];
/** The columns for files that data-api has written. */
const ownHeader = ['release_id', 'title', 'url', ...Object.keys(icsProperties)];

const batchEvents = 1_000;

/** One property of an event: `DTSTART;TZID=Asia/Karachi:20240105T100000`. */
interface Property {
  name: string;
  parameters: ReadonlyMap<string, string>;
  value: string;
}

/** The options that apply only to a CSV file. */
interface CalendarOptions extends CsvOptions {
  skipRows?: number;
  dateFormat?: string;
}

function refuseCsvOptions({ delimiter, headerLine, skipRows, dateFormat }: CalendarOptions): void {
  const given = Object.entries({
    '--delimiter': delimiter,
    '--header-line': headerLine,
    '--skip-rows': skipRows,
    '--date-format': dateFormat,
  }).filter(([, value]) => value !== undefined);
  if (given.length > 0)
    usageError(`${given.map(([name]) => name).join(', ')}: not for iCalendar files, which have one form.`);
}

/** The rows of the file in batches, the header first. @throws IngestFailure as `readCsv` and `readIcs` do. */
export async function* readCalendar(
  input: Readable | string,
  options: CalendarOptions,
): AsyncGenerator<CsvBatch> {
  const pieces = readPieces(input, options);
  const first = await pieces.next();
  const whole = Readable.from(concatenate(first.value ?? Buffer.alloc(0), pieces));
  const start: Buffer = first.value ?? Buffer.alloc(0);
  if (kindOf(start.subarray(0, examinedBytes), { encoding: 'utf-8' }) === 'calendar') {
    refuseCsvOptions(options);
    yield* readIcs(whole);
  } else yield* readCsv(whole, { ...options, encoding: 'utf-8', onBytes: () => undefined });
}

/**
 * The events as rows, the header first; a row has the line number of the event's first line.
 * @throws IngestFailure if an event does not end, or repeats: only single events are releases.
 */
async function* readIcs(pieces: AsyncIterable<Buffer>): AsyncGenerator<CsvBatch> {
  let isOwn = false;
  let batch: CsvBatch = { rows: [], lines: [] };
  let hasHeader = false;
  const addHeader = (): void => {
    if (hasHeader) return;
    batch = { rows: [isOwn ? ownHeader : header], lines: [1] };
    hasHeader = true;
  };
  let event: { line: number; properties: Map<string, Property> } | null = null;
  for await (const { text, line } of contentLines(pieces)) {
    const property = parseProperty(text);
    if (property === null) continue;
    const { name, value } = property;
    if (name === 'PRODID') isOwn = value === icsProduct;
    if (name === 'BEGIN' && value === 'VEVENT') {
      addHeader();
      event = { line, properties: new Map() };
    } else if (event !== null && name === 'END' && value === 'VEVENT') {
      batch.rows.push(isOwn ? ownRowOf(event.properties) : rowOf(event.properties, event.line));
      batch.lines.push(event.line);
      event = null;
      if (batch.rows.length >= batchEvents) {
        yield batch;
        batch = { rows: [], lines: [] };
      }
    } else if (event !== null && !event.properties.has(name)) event.properties.set(name, property);
  }
  if (event !== null)
    throw new IngestFailure('invalid_file', `The event that begins on line ${event.line} does not end.`);
  addHeader();
  yield batch;
}

function ownRowOf(event: ReadonlyMap<string, Property>): string[] {
  const named = ['UID', 'SUMMARY', 'URL', ...Object.values(icsProperties)];
  return named.map((name) => unescape(event.get(name)?.value ?? '', '\n'));
}

function rowOf(event: ReadonlyMap<string, Property>, line: number): string[] {
  const textOf = (name: string): string => unescape(event.get(name)?.value ?? '');
  if (event.has('RRULE') || event.has('RDATE'))
    throw new IngestFailure(
      'invalid_file',
      `The event that begins on line ${line} repeats by a rule; a release is an event of its own.`,
    );
  const start = event.get('DTSTART');
  const time = /^(\d{4})(\d{2})(\d{2})(?:T(\d{2})(\d{2})(\d{2})(Z?))?$/.exec(start?.value ?? '');
  const [, year, month, day, hour, minute, second, utc] = time ?? [];
  const date = `${year}-${month}-${day}`;
  const isCancelled = textOf('STATUS').toUpperCase() === 'CANCELLED';
  return [
    textOf('UID'),
    textOf('SUMMARY'),
    // A text that is not a time is passed on, and rejected later.
    time === null ? (start?.value ?? '') : hour === undefined ? date : `${date} ${hour}:${minute}:${second}`,
    utc === 'Z' ? 'UTC' : (start?.parameters.get('TZID') ?? ''),
    isCancelled ? 'cancelled' : '',
    textOf('URL'),
  ];
}

/** The unfolded lines; `line` is the number of the first physical line of each. */
async function* contentLines(pieces: AsyncIterable<Buffer>): AsyncGenerator<{ text: string; line: number }> {
  let content: { text: string; line: number } | undefined;
  let line = 0;
  for await (const text of lines(pieces)) {
    line += 1;
    if (content !== undefined && /^[ \t]/.test(text)) {
      content.text += text.slice(1);
      continue;
    }
    if (content !== undefined) yield content;
    content = { text, line };
  }
  if (content !== undefined) yield content;
}

async function* lines(pieces: AsyncIterable<Buffer>): AsyncGenerator<string> {
  let rest = '';
  for await (const piece of pieces) {
    const found = (rest + piece.toString()).split(/\r?\n/);
    rest = found.pop() ?? '';
    yield* found;
  }
  yield rest;
}

/** Null for a line that is not a property. */
function parseProperty(text: string): Property | null {
  const parts = /^([A-Za-z0-9-]+)((?:;[A-Za-z0-9-]+=(?:"[^"]*"|[^";:]*))*):(.*)$/s.exec(text);
  if (parts === null) return null;
  const [, name = '', parameters = '', value = ''] = parts;
  const pairs = [...parameters.matchAll(/;([A-Za-z0-9-]+)=("[^"]*"|[^";]*)/g)];
  return {
    name: name.toUpperCase(),
    parameters: new Map(
      pairs.map(([, key = '', text = '']) => [key.toUpperCase(), text.replaceAll('"', '')]),
    ),
    value: value.trim(),
  };
}

/** @param lineBreak the replacement for a line break. */
function unescape(text: string, lineBreak = ' '): string {
  return text.replaceAll(/\\(.)/g, (_, sign: string) => (sign === 'n' || sign === 'N' ? lineBreak : sign));
}
