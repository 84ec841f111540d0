// What a file is, by its content and not by its name: text, a web page, a workbook, or a format that is not read.
import { closeSync, openSync, readSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { IngestFailure } from '../load/failure.ts';
import { decoderOf, detectEncoding } from './encodings.ts';

export type FileKind = 'text' | 'web page' | 'workbook';

const examinedBytes = 8 * 1024;
/** Text has none of these but between its pages. */
const isBinary = (text: string): boolean =>
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  (text.match(/[\u0000-\u0008\u000e-\u001b]/g)?.length ?? 0) * 100 > text.length;

/** Formats that are not read, by the beginning of their text. */
const otherFormats: readonly [expression: RegExp, name: string, advice: string][] = [
  [/^\s*[[{]\s*(?:"|\{|\[|\])/, 'JSON', 'save the table as CSV'],
  [/^\s*(?:CHARSET|AXIS-VERSION|CODEPAGE|LANGUAGE|CREATION-DATE|MATRIX|TITLE)\s*=\s*"/i, 'a PC-Axis file (.px)', 'save the table as CSV or as a workbook in PxWeb'],
  [/^\s*<\?xml[^>]*\?>\s*<(?:\w+:)?(?:Structure|GenericData|StructureSpecificData|MessageGroup|CompactData)\b/, 'SDMX-ML', 'ask the service for SDMX-CSV (application/vnd.sdmx.data+csv)'],
  [/^%PDF-/, 'a PDF document', 'ask the office for the table as CSV or a workbook'],
  [/^PAR1/, 'a Parquet file', 'save the table as CSV'],
  [/^(?:<stata_dta>|\$FL2@\(#\) SPSS)/, 'a data file of Stata or SPSS', 'save the table as CSV'],
  [/^ID;P/, 'a SYLK file', 'save the table as CSV or .xlsx'],
  [/^TABLE\r?\n0,1\r?\n/, 'a DIF file', 'save the table as CSV or .xlsx'],
  [/^\{\\rtf/, 'a text document (RTF)', 'ask the office for the table as CSV or a workbook'],
]; // prettier-ignore

/** @throws IngestFailure if the file is of a format that is not read; the message names it. */
export function fileKind(file: string): FileKind {
  const start = beginningOf(file);
  if (start.subarray(0, 4).toString('latin1') === 'PK\u0003\u0004') return zipKind(file, start);
  if (start.subarray(0, 8).toString('hex') === 'd0cf11e0a1b11ae1' || isOldWorkbook(start)) return 'workbook';
  const unpacked = start[0] === 0x1f && start[1] === 0x8b ? beginningUnpacked(start) : start;
  const decoder = decoderOf(detectEncoding(unpacked).name);
  const text = decoder.write(unpacked);
  for (const [expression, name, advice] of otherFormats)
    if (expression.test(text.replace(/^\ufeff+/, '')))
      throw new IngestFailure('invalid_file', `The file is ${name}, which is not read: ${advice}.`);
  if (isBinary(text))
    throw new IngestFailure(
      'invalid_file',
      'The file is neither text nor a workbook of Excel or OpenDocument: save its table as CSV or .xlsx.',
    );
  if (/^\s*<\?xml[^>]*>\s*(?:<\?mso[^>]*>\s*)?<(?:\w+:)?Workbook\b/i.test(text)) return 'workbook';
  if (/^\s*<\?xml(?![^>]*>\s*<!doctype html)/i.test(text))
    throw new IngestFailure(
      'invalid_file',
      'The file is an XML file, which is not read: save its table as CSV or .xlsx.',
    );
  return /^\s*(?:\ufeff)?(?:<!doctype html|<html|<head|<body|<table|<meta|<div|<\?xml[^>]*>\s*<!doctype html|<!--)/i.test(
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

/** A file with the extension of a workbook is read as one; if it is not one, reading it reports what is wrong. */
function zipKind(file: string, start: Buffer): FileKind {
  if (/\.(?:xls[xmb]?|ods)$/i.test(file)) return 'workbook';
  const names = start.toString('latin1');
  if (
    /mimetypeapplication\/vnd\.oasis\.opendocument\.spreadsheet|\[Content_Types\]\.xml|xl\/|_rels\/\.rels|docProps\//.test(
      names,
    )
  )
    return 'workbook';
  if (/mimetypeapplication\/vnd\.oasis\.opendocument/.test(names))
    throw new IngestFailure(
      'invalid_file',
      'The file is an OpenDocument file, but not a spreadsheet: save its table as CSV or .ods.',
    );
  throw new IngestFailure(
    'invalid_file',
    'The file is a zip archive, which is not read: unpack it, and publish the files that are in it.',
  );
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
