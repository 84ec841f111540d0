// Files that only look like workbooks, and workbooks that claim more content than they have, are rejected before they use memory or time.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { CFB, utils, write, type BookType } from '@e965/xlsx';
import { hostileFiles, workbookOf } from '../../test/ingest/hostile-files.ts';
import { fileKind } from './file-kind.ts';
import { IngestFailure } from '../failure.ts';
import { samplesOf } from './table-rows.ts';
import { readWorkbook } from './workbook.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
function written(name: string, content: Buffer): string {
  const file = path.join(folder, name);
  writeFileSync(file, content);
  return file;
}

/** Files that are read, but contain no table. */
const harmless = /^(?:nested\.xlsx|laughs\.xlsx|page\.xls)$/;

for (const { name, content, refused } of hostileFiles().filter((file) => !harmless.test(file.name)))
  test(`${name} is refused by what it is`, async (t) => {
    const error = await t.throwsAsync(samplesOf(written(name, content)), { instanceOf: IngestFailure });
    t.regex(error.message, refused);
  });

for (const type of ['xlsx', 'xlsm', 'xlsb', 'xls', 'biff5', 'biff2'] satisfies BookType[])
  test(`a sound workbook is read: ${type}`, (t) => {
    const book = utils.book_new();
    utils.book_append_sheet(
      book,
      utils.aoa_to_sheet([['Date', 'Value'], ['2024', 1.5], [], ['2025', 2]]),
      'A',
    );
    const content = write(book, { type: 'buffer', bookType: type }) as Buffer;
    const file = written(`book-${type}.${type.startsWith('biff') ? 'xls' : type}`, content);
    t.is(fileKind(file), 'workbook');
    t.deepEqual(readWorkbook(file)[0]?.rows, [['Date', 'Value'], ['2024', '1.5'], [], ['2025', '2']]);
  });

function openDocumentOf(sheets: readonly string[]): Buffer {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([['A']]), 'A');
  const archive = CFB.read(write(book, { type: 'buffer', bookType: 'ods' }) as Buffer, { type: 'buffer' });
  const unseen = '<style:style style:name="unseen" style:family="table"><style:table-properties table:display="false"/></style:style>'; // prettier-ignore
  const written = Buffer.from(CFB.find(archive, '/content.xml')?.content as Buffer).toString();
  CFB.utils.cfb_del(archive, '/content.xml');
  CFB.utils.cfb_add(
    archive,
    '/content.xml',
    Buffer.from(
      written
        .replace('</office:automatic-styles>', (end) => `${unseen}${end}`)
        .replace(/<table:table .*<\/table:table>/s, sheets.join('')),
    ),
  );
  return CFB.write(archive, { type: 'buffer', fileType: 'zip' }) as Buffer;
}

test('a percentage in an OpenDocument is read as shown, with a style and without', (t) => {
  const book = utils.book_new();
  utils.book_append_sheet(
    book,
    utils.aoa_to_sheet([
      ['Date', 'Rate'],
      ['2024', 0.844],
    ]),
    'A',
  );
  const archive = CFB.read(write(book, { type: 'buffer', bookType: 'ods' }) as Buffer, { type: 'buffer' });
  const content = CFB.find(archive, '/content.xml')?.content as Buffer;
  const changed = Buffer.from(content).toString().replace(/<table:table-cell office:value-type="float" office:value="0.844"[^>]*>.*?<\/table:table-cell>/, '<table:table-cell office:value-type="percentage" office:value="0.844"><text:p>84.4%</text:p></table:table-cell>'); // prettier-ignore
  CFB.utils.cfb_del(archive, '/content.xml');
  CFB.utils.cfb_add(archive, '/content.xml', Buffer.from(changed));
  const file = written('share.ods', CFB.write(archive, { type: 'buffer', fileType: 'zip' }) as Buffer);
  t.deepEqual(readWorkbook(file)[0]?.rows[1], ['2024', '84.4%']);
});

test('a superscript in a cell is not read as a digit of its number', (t) => {
  const raised = '<r><rPr><vertAlign val="superscript"/></rPr><t>1)</t></r>';
  const cells = `<c r="A1" t="inlineStr"><is><r><t>2022</t></r>${raised}</is></c><c r="B1" t="inlineStr"><is><t>a &lt;sup&gt;1</t></is></c>`;
  const file = written('raised.xlsx', workbookOf(`<row r="1">${cells}</row>`));
  t.deepEqual(readWorkbook(file)[0]?.rows, [['2022¹', 'a <sup>1']]);
});

test('formats that show another number, a text, or only a part of a date are reported', (t) => {
  const book = utils.book_new();
  const sheet = utils.aoa_to_sheet([['Month', 'A'], [45314, 1234000], [45315, 0]]); // prettier-ignore
  for (const [place, format] of [
    ['A2', 'd-mmm'],
    ['B2', '#,##0,'],
    ['B3', '"c"'],
  ])
    // prettier-ignore
    Object.assign(sheet[place ?? ''] as object, { z: format });
  utils.book_append_sheet(book, sheet, 'A');
  const file = written('formats.xlsx', write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer);
  const [read] = readWorkbook(file);
  t.deepEqual(read?.rows, [['Month', 'A'], ['2024-01-23', '1234000'], ['45315', 'c']]); // prettier-ignore
  t.regex(read?.doubts?.date ?? '', /A2 shows no year/);
  t.regex(read?.doubts?.values ?? '', /B2 divides what the sheet shows by 1000: .* multiply: 0\.001$/);
});

test('a flag or a multiple that a format shows behind a number is read with it; a format that shows a number above zero as one below it is named', (t) => {
  const shown = (value: number, format: string) => {
    const sheet = utils.aoa_to_sheet([
      ['Year', 'A'],
      [2023, value],
    ]);
    Object.assign(sheet['B2'] as object, { z: format });
    const book = utils.book_new();
    utils.book_append_sheet(book, sheet, 'A');
    const [read] = readWorkbook(
      written('shown.xlsx', write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer),
    );
    return { text: read?.rows[1]?.[1], doubt: read?.doubts?.values };
  };
  for (const [value, format, text] of [
    [7.5, '0.0"p"', '7.5 p'],
    [7.5, '0.0" (r)"', '7.5 (r)'],
    [7.5, '0.0\\e', '7.5 e'],
    [7.5, 'General"p"', '7.5 p'],
    [7.5, '#,##0.0"bn"', '7.5 bn'],
    [7.5, '0.0"%"', '7.5'],
    [7.5, '0.0\\%', '7.5'],
    [0.075, '0.0%', '7.5%'],
    [-7.5, '0.0"p";-0.0', '-7.5'],
    [7.5, '#,##0.0" kr"', '7.5'],
    [7.5, '#,##0.0" km²"', '7.5'],
    [-7.5, '#,##0.0_);(#,##0.0)', '-7.5'],
    [7.5, '#,##0.0_);(#,##0.0)', '7.5'],
    [7.5, '_(* #,##0.00_);_(* (#,##0.00);_(* "-"??_)', '7.5'],
    [7.5, '[Red]-0.0;0.0', '7.5'],
    [7.5, '"("0.0")"', '7.5'],
  ] as const) {
    const { text: read, doubt } = shown(value, format);
    t.is(read, text, format);
    t.is(doubt !== undefined, /^(?:\[Red\]-|"\(")/.test(format), format);
  }
  t.regex(shown(7.5, '(0.0)').doubt ?? '', /the format of B2 shows the number 7\.5 as one below zero/);
});

/** Adds the record that hides row 3 of the last sheet: the library writes only hidden columns. */
function withHiddenRow(content: Buffer): Buffer {
  const book = CFB.read(content, { type: 'buffer' });
  const records = Buffer.from(CFB.find(book, '/Workbook')?.content as Buffer);
  const at = records.lastIndexOf(Buffer.from([0x7d, 0x00, 0x0c, 0x00]));
  const row = Buffer.from([0x08, 0x02, 16, 0, 2, 0, 0, 0, 3, 0, 0xff, 0, 0, 0, 0, 0, 0x20, 1, 0x0f, 0]);
  CFB.utils.cfb_del(book, '/Workbook');
  CFB.utils.cfb_add(book, '/Workbook', Buffer.concat([records.subarray(0, at), row, records.subarray(at)]));
  return CFB.write(book, { type: 'buffer' }) as Buffer;
}

for (const bookType of ['xlsx', 'xlsb', 'xls'] as const)
  test(`hidden rows and columns of ${bookType} are named if they have content`, (t) => {
    const book = utils.book_new();
    const rows = [['Month', 'A', 'B'], ['2024-01', 1, 2], ['2024-02', 3, 4]]; // prettier-ignore
    const shown = utils.aoa_to_sheet(rows);
    const hidden = utils.aoa_to_sheet(rows);
    const line = { hidden: true };
    shown['!rows'] = Object.assign([], { 7: line });
    shown['!cols'] = Object.assign([], { 7: line });
    hidden['!rows'] = Object.assign([], { 2: line });
    hidden['!cols'] = Object.assign([], { 1: line });
    utils.book_append_sheet(book, shown, 'Shown');
    utils.book_append_sheet(book, hidden, 'Hidden');
    const content = write(book, { type: 'buffer', bookType }) as Buffer;
    const file = written(`hidden.${bookType}`, bookType === 'xls' ? withHiddenRow(content) : content);
    const [first, second] = readWorkbook(file);
    t.is(first?.doubts, undefined);
    t.regex(second?.doubts?.values ?? '', /^row 3 and column B of the sheet are hidden and were read/);
  });

for (const bookType of ['xlsx', 'xls', 'ods'] satisfies BookType[])
  test(`a number merged over several cells of ${bookType} is named, and a year is not`, (t) => {
    const doubtOf = (value: number) => {
      const sheet = utils.aoa_to_sheet([['Month', 'Sales'], ['Jan', value], ['Feb'], ['Mar', 7.5]]);
      sheet['!merges'] = [utils.decode_range('B2:B3')];
      const book = utils.book_new(sheet, 'A');
      const content = write(book, { type: 'buffer', bookType }) as Buffer;
      return readWorkbook(written(`merged-${value}.${bookType}`, content))[0]?.doubts?.values;
    };
    t.regex(doubtOf(100.5) ?? '', /^B2:B3 are merged, and have one number/);
    t.is(doubtOf(2024), undefined);
  });

test('rows and columns of an OpenDocument that are hidden by hand or by a filter are named if they have content; hidden sheets are not read', (t) => {
  const cells = (row: string) =>
    row.split('').map((text) => `<table:table-cell office:value-type="string"><text:p>${text}</text:p></table:table-cell>`).join(''); // prettier-ignore
  const sheet = (name: string, columns: string, rows: string) =>
    `<table:table table:name="${name}">${columns}<table:table-row>${cells('ABC')}</table:table-row>${rows}</table:table>`;
  const column = '<table:table-column table:number-columns-repeated="2"/>';
  const row = `<table:table-row>${cells('DEF')}</table:table-row>`;
  const empty = (visibility: string, count: number) =>
    `<table:table-row table:visibility="${visibility}" table:number-rows-repeated="${count}"><table:table-cell/></table:table-row>`;
  const hidden = (visibility: string) => row.replace('>', ` table:visibility="${visibility}">`);
  const file = written(
    'hidden.ods',
    openDocumentOf([
      sheet('a>b', column, row + empty('collapse', 1_048_574)),
      sheet('B', column, empty('visible', 3) + hidden('filter')),
      sheet('C', `${column}<table:table-column table:visibility="collapse"/>`, hidden('collapse')),
      sheet('D', column, row).replace('>', ' table:style-name="unseen">'),
    ]),
  );
  const [first, second, third, ...others] = readWorkbook(file);
  t.deepEqual(others, []);
  t.is(first?.doubts, undefined);
  t.regex(second?.doubts?.values ?? '', /^row 5 of the sheet is hidden and was read/);
  t.regex(third?.doubts?.values ?? '', /^row 2 and column C of the sheet are hidden and were read/);
});

test('a truncated archive is refused', (t) => {
  t.throws(() => readWorkbook(written('packed.xlsx', Buffer.from('PK\x03\x04'))), {
    message: /its archive is damaged/,
  });
});

test('the last possible cell of a sheet is read', (t) => {
  const rows = '<row r="1048576"><c r="A1048576"><v>1</v></c></row>';
  t.is(readWorkbook(written('last.xlsx', workbookOf(rows)))[0]?.rows.length, 1_048_576);
});

test('a workbook that counts days from 1904 has that noted, if numbers of days lack the format of a date', (t) => {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([['Date', 'A'], [43830, 1]]), 'A'); // prettier-ignore
  const doubts = (date1904: boolean) => {
    book.Workbook = { WBProps: { date1904 } };
    const content = write(book, { type: 'buffer', bookType: 'xlsx' }) as Buffer;
    return readWorkbook(written(`since-${date1904}.xlsx`, content))[0]?.doubts;
  };
  t.is(doubts(false), undefined);
  t.regex(doubts(true)?.serial ?? '', /counts days from 1904/);
});
