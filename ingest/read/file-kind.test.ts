import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { gzipSync } from 'node:zlib';
import test from 'ava';
import { fileKind, otherFormats, refusalOf, splitEndings, tableEnding, tableEndings } from './file-kind.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
const written = (content: string | Buffer, name = 'file.xls') => {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
};

test('the content of a file decides its kind, not its name', (t) => {
  t.is(fileKind(written('Date;Rate\n2023-01;95,5\n')), 'text');
  t.is(fileKind(written(gzipSync('Date,Rate\n2023-01,1\n'))), 'text');
  t.is(fileKind(written(Buffer.from('\ufeffDate\tRate\n', 'utf16le'))), 'text');
  t.is(fileKind(written(Buffer.from('\t2020\t2021\nA\t1\t2\n', 'utf16le'))), 'text', 'as Excel 2 begins');
  t.is(fileKind(written('<html><table><tr><td>1</td></tr></table></html>')), 'web page');
  t.is(fileKind(written('<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet">')), 'workbook'); // prettier-ignore
  t.is(fileKind(written(Buffer.from('d0cf11e0a1b11ae10000', 'hex'))), 'workbook');
});

test('every supported ending is recognised and removed from the name, with all others', (t) => {
  for (const ending of tableEndings) {
    t.regex(`gold${ending.toUpperCase()}`, tableEnding);
    t.deepEqual(splitEndings(`gold.v2${ending}`), { stem: 'gold.v2', endings: ending });
  }
  t.deepEqual(splitEndings('gold.csv.gz.txt'), { stem: 'gold', endings: '.csv.gz.txt' });
  t.deepEqual(splitEndings('gold.pdf'), { stem: 'gold.pdf', endings: '' });
  t.notRegex('gold.pdf', tableEnding);
});

test('an unsupported format is refused by name, with advice', (t) => {
  for (const format of otherFormats)
    t.throws(() => fileKind(written(format.example)), { message: refusalOf(format) });
  for (const [content, message] of [
    ['{"data":[{"date":"2023-01"}]}', /is JSON, which is not read: save the table as CSV\./],
    ['CHARSET="ANSI";\nAXIS-VERSION="2010";\n', /is a PC-Axis file \(\.px\), which is not read/],
    ['ID;PWXL;N;E\n', /is a SYLK file/],
    ['%PDF-1.7\n', /is a PDF document/],
    [Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'), /is an image/],
    [Buffer.from('ffd8ffe000104a46494600010101', 'hex'), /is an image/],
    ['<?xml version="1.0"?><rss/>', /is an XML file, which is not read: save its table/],
    [Buffer.from('504b03041400000000000000', 'hex'), /is a zip archive, which is not read: unpack it/],
  ] as const)
    t.throws(() => fileKind(written(content, 'file.csv')), { message });
});
