// Detects the kind of a file: text, a web page, a workbook, a release calendar, a data package, or an unsupported format. It depends on the
// content, not the name, for every input; csv-dialect.ts finds the delimiter, and encodings.ts the encoding.
import { closeSync, openSync, readSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { IngestFailure } from '../failure.ts';
import { decoderOf, detectEncoding, knownEncoding } from './encodings.ts';

export type FileKind = 'text' | 'web page' | 'workbook' | 'calendar' | 'data package';

/** How much of the beginning of a file is examined. */
export const examinedBytes = 8 * 1024;
/** Text has none of these except between its pages. */
const isBinary = (text: string): boolean =>
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  (text.match(/[\u0000-\u0008\u000e-\u001b]/g)?.length ?? 0) * 100 > text.length;

/** The supported endings of file names. The content determines the kind of a file. */
export const tableEndings = ['.csv', '.tsv', '.txt', '.csv.gz', '.tsv.gz', '.xlsx', '.xlsm', '.xlsb', '.xls', '.ods'] as const; // prettier-ignore
const alternatives = (endings: readonly string[]) => endings.map((each) => RegExp.escape(each)).join('|');
const workbookEnding = /\.(?:xls[xmb]?|ods)$/i;
/** Whether the file is named as a workbook, and so may have several tables. */
export const isNamedWorkbook = (name: string): boolean => workbookEnding.test(name);
export const tableEnding = new RegExp(`(?:${alternatives(tableEndings)})$`, 'i');
const everyEnding = new RegExp(`(?:${alternatives(['.gz', ...tableEndings])})+$`, 'i');
/** The name without its endings, however many it has, and those: `gold.csv.gz` is `gold` and `.csv.gz`. */
export function splitEndings(name: string): { stem: string; endings: string } {
  const [endings = ''] = everyEnding.exec(name) ?? [];
  return { stem: name.slice(0, name.length - endings.length), endings };
}

interface OtherFormat {
  /** Matches the beginning of its text. */
  expression: RegExp;
  name: string;
  advice: string;
  /** An example of the beginning of such a file, for docs/recognised.md. */
  example: string;
}

const asCsv = 'save the table as CSV';
const byOffice = 'ask the office for the table as CSV or a workbook';
/** Unsupported text and XML formats. The last matches every other XML. */
export const otherFormats: readonly OtherFormat[] = [
  { name: 'JSON', advice: asCsv, expression: /^\s*[[{]\s*(?:"|\{|\[|\])/, example: '{"data":[{"date":"2023-01","value":1}]}' },
  { name: 'a PC-Axis file (.px)', advice: 'save the table as CSV or as a workbook in PxWeb', expression: /^\s*(?:CHARSET|AXIS-VERSION|CODEPAGE|LANGUAGE|CREATION-DATE|MATRIX|TITLE)\s*=\s*"/i, example: 'CHARSET="ANSI";\nAXIS-VERSION="2010";\n' },
  { name: 'SDMX-ML', advice: 'ask the service for SDMX-CSV (application/vnd.sdmx.data+csv)', expression: /^\s*<\?xml[^>]*\?>\s*<(?:\w+:)?(?:Structure|GenericData|StructureSpecificData|MessageGroup|CompactData)\b/, example: '<?xml version="1.0"?>\n<message:GenericData>' },
  { name: 'a PDF document', advice: byOffice, expression: /^%PDF-/, example: '%PDF-1.7\n' },
  { name: 'an image', advice: byOffice, expression: /^(?:.PNG\r\n|GIF8[79]a|.{3,12}(?:JFIF|Exif)\0)/s, example: '\u0089PNG\r\n\u001a\n' },
  { name: 'a Parquet file', advice: asCsv, expression: /^PAR1/, example: 'PAR1\u0015\u0004' },
  { name: 'a data file of Stata or SPSS', advice: asCsv, expression: /^(?:<stata_dta>|\$FL2@\(#\) SPSS)/, example: '<stata_dta><header>' },
  { name: 'a SYLK file', advice: 'save the table as CSV or .xlsx', expression: /^ID;P/, example: 'ID;PWXL;N;E\n' },
  { name: 'a DIF file', advice: 'save the table as CSV or .xlsx', expression: /^TABLE\r?\n0,1\r?\n/, example: 'TABLE\n0,1\n"EXCEL"\n' },
  { name: 'a text document (RTF)', advice: byOffice, expression: /^\{\\rtf/, example: '{\\rtf1\\ansi' },
  { name: 'an XML file', advice: 'save its table as CSV or .xlsx', expression: /^\s*<\?xml(?![^>]*>\s*(?:<!doctype html|(?:<\?mso[^>]*>\s*)?<(?:\w+:)?Workbook\b))/i, example: '<?xml version="1.0"?>\n<rss version="2.0">' },
]; // prettier-ignore

/** Unsupported zip archives, and content that is neither text nor a workbook. */
export const otherFiles = {
  document: 'The file is an OpenDocument that is not a spreadsheet: save its table as CSV or .ods.',
  archive: 'The file is a zip archive, which is not read: unpack it, and publish the files that are in it.',
  binary: 'The file is neither text nor a workbook of Excel or OpenDocument: save its table as CSV or .xlsx.',
} as const;

export const refusalOf = ({ name, advice }: OtherFormat): string =>
  `The file is ${name}, which is not read: ${advice}.`;

/** Only the name shows that a JSON file describes tables: the beginning need not name its resources. */
export const isDataPackage = (name: string): boolean => /\.json$/i.test(name);

/** @throws IngestFailure if the file cannot be read, or its format is unsupported; the message names it. */
export const fileKind = (file: string, encoding?: string): FileKind =>
  isDataPackage(file) ? 'data package' : kindOf(beginningOf(file), { name: file, encoding });

/**
 * The kind of a file whose beginning is known, for example of a stream.
 * @param start its first `examinedBytes`, or all of it.
 * @param given the name, if it has one; the encoding, if it is known.
 * @throws IngestFailure if its format is unsupported; the message names it.
 */
export function kindOf(
  start: Buffer,
  given: { name?: string | undefined; encoding?: string | undefined } = {},
): FileKind {
  if (start.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004') return zipKind(given.name ?? '', start);
  if (start.subarray(0, 8).toString('hex') === 'd0cf11e0a1b11ae1' || isOldWorkbook(start)) return 'workbook';
  const unpacked = start[0] === 0x1f && start[1] === 0x8b ? beginningUnpacked(start) : start;
  const encoding =
    given.encoding === undefined ? detectEncoding(unpacked).name : knownEncoding(given.encoding);
  const text = decoderOf(encoding)
    .write(unpacked)
    .replace(/^\ufeff+/, '');
  const bytes = unpacked.toString('latin1'); // of an image, the detected encoding may be any
  const other = otherFormats.find(({ expression }) => expression.test(text) || expression.test(bytes));
  if (other !== undefined) throw new IngestFailure('invalid_file', refusalOf(other));
  if (isBinary(text)) throw new IngestFailure('invalid_file', otherFiles.binary);
  if (/^BEGIN:VCALENDAR\s/i.test(text)) return 'calendar';
  if (/^\s*<\?xml[^>]*>\s*(?:<\?mso[^>]*>\s*)?<(?:\w+:)?Workbook\b/i.test(text)) return 'workbook';
  return /^\s*(?:<!doctype html|<html|<head|<body|<table|<meta|<div|<\?xml[^>]*>\s*<!doctype html|<!--)/i.test(
    text,
  )
    ? 'web page'
    : 'text';
}

/** Of Excel 2 to 4: the number of the first record with a version, and its length in two bytes. A tab in UTF-16 begins with the same two bytes. */
const isOldWorkbook = (start: Buffer): boolean =>
  start[0] === 0x09 &&
  [0x00, 0x02, 0x04, 0x08].includes(start[1] ?? -1) &&
  [4, 6, 8, 16].includes(start[2] ?? -1) &&
  start[3] === 0;

/** A file with the extension of a workbook is read as one; if it is not one, reading it reports the error. */
function zipKind(file: string, start: Buffer): FileKind {
  if (isNamedWorkbook(file)) return 'workbook';
  const names = start.toString('latin1');
  if (
    /mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet|\[Content_Types\]\.xml|xl\/|_rels\/\.rels|docProps\//.test(
      names,
    )
  )
    return 'workbook';
  if (/mimetypeapplication\/vnd\.oasis\.opendocument/.test(names))
    throw new IngestFailure('invalid_file', otherFiles.document);
  throw new IngestFailure('invalid_file', otherFiles.archive);
}

function beginningOf(file: string): Buffer {
  let handle: number;
  try {
    handle = openSync(file, 'r');
  } catch (error) {
    throw new IngestFailure('invalid_file', `The file ${file} cannot be read.`, { cause: error });
  }
  try {
    const start = Buffer.alloc(examinedBytes);
    return start.subarray(0, readSync(handle, start, 0, examinedBytes, 0));
  } finally {
    closeSync(handle);
  }
}

/** The beginning of a gzip file; reading all of it reports any damage. */
function beginningUnpacked(start: Buffer): Buffer {
  try {
    return gunzipSync(start, { finishFlush: 2, maxOutputLength: 1024 * 1024 }).subarray(0, examinedBytes);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code?.startsWith('Z_') === true || error instanceof RangeError)
      return Buffer.alloc(0);
    throw error;
  }
}
