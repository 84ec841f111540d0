// What a file is by its content, whatever its name: only Excel workbooks are given to the library that reads them. It would read two dozen other
// formats too, and some of them without an end.
import { isAsStated, partsOf, unpackedSize } from './unpacked-size.ts';

/** A workbook is a zip archive: unpacked it may be a thousand times as large. */
const unpackedBytesMax = 512 * 1024 * 1024;
const beginningLength = 4_096;

const compoundFile = Buffer.from('d0cf11e0a1b11ae1', 'hex');
/** Of a workbook of Excel 2 to 4: the number of its first record, and the versions that this may have. */
const oldWorkbook = { record: 0x09, versions: [0x00, 0x02, 0x04, 0x08] };

/** What else has the name of a workbook, by how it begins. */
const others: readonly (readonly [beginning: RegExp, format: string])[] = [
  [/^\s*<\?xml[^]*?<(?:\w+:)?Workbook/i, 'an XML spreadsheet of Excel 2003'],
  [/^\s*<(?:!doctype html|html|head|body|table|meta|style|div)/i, 'a web page (HTML)'],
  [/^\s*<\?xml/i, 'an XML file'],
  [/^\s*<|^MIME-Version:/i, 'a web page (HTML)'],
  [/^ID;/, 'a SYLK file'],
  [/^TABLE\r?\n/, 'a DIF file'],
  [/^\{\\rt/, 'an RTF document'],
  [/^%PDF/, 'a PDF document'],
  [/^[{[]/, 'a JSON file'],
];

/** By its name. */
export const isWorkbook = (file: string): boolean => /\.(?:xlsx|xlsm|xlsb|xls)$/i.test(file);

/** Why the content cannot be read as an Excel workbook, as the end of a sentence with what to do; null: it can. */
export function workbookFault(content: Buffer): string | null {
  if (content.length === 0) return 'it is empty.';
  if (content.subarray(0, compoundFile.length).equals(compoundFile)) return null;
  const beginning = content.toString('latin1', 0, beginningLength);
  if (beginning.startsWith('PK')) return archiveFault(content);
  if (content[0] === oldWorkbook.record && oldWorkbook.versions.includes(content[1] ?? -1)) return null;
  const text = beginning.replace(/^\u{ef}\u{bb}\u{bf}/u, '');
  const found = others.find(([form]) => form.test(text))?.[1];
  if (found !== undefined) return `it is ${found}. ${save}`;
  return isText(text)
    ? 'it is text. Give it the ending .csv, or save it as .xlsx.'
    : `it begins as no workbook does. ${save}`;
}

/** UTF-16 has zeros, and begins with a mark. */
const isText = (beginning: string): boolean =>
  /^(?:\u{ff}\u{fe}|\u{fe}\u{ff})/u.test(beginning) || /^[\t\n\r\f\u{20}-\u{ff}]*$/u.test(beginning);

const save = 'Save it as .xlsx or as CSV.';

function archiveFault(content: Buffer): string | null {
  const parts = partsOf(content);
  if (parts === null) return 'its archive is damaged.';
  const names = new Set(parts.map(({ name }) => name.toLowerCase().replaceAll('\\', '/').replace(/^\//, '')));
  if (names.has('meta-inf/manifest.xml')) return `it is an OpenDocument file. ${save}`;
  if (names.has('index/document.iwa') || names.has('index.zip')) return `it is a Numbers file. ${save}`;
  if (!names.has('[content_types].xml')) return `it is an archive without a workbook. ${save}`;
  const unpacked = unpackedSize(parts);
  if (unpacked > unpackedBytesMax)
    return `it has ${Math.ceil(unpacked / 1024 / 1024)} MB unpacked; a workbook may have ${unpackedBytesMax / 1024 / 1024}. Save its sheets as CSV.`;
  return isAsStated(parts) ? null : 'its archive is damaged: a part is not as large as it states.';
}
