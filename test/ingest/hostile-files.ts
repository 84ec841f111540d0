// Hostile files: small ones that need much memory or time, false ones, and endless ones. Created for each run.
import { crc32, deflateRawSync, gzipSync } from 'node:zlib';
import { utils, write } from '@e965/xlsx';

export interface HostileFile {
  name: string;
  content: Buffer;
  /** The reason for the refusal. */
  refused: RegExp;
}

interface PartOfZip {
  name: string;
  content: Buffer | string;
  /** The size stated by the archive; default: the actual one. */
  size?: number;
}

/** A zip archive that may state false sizes. */
function zipOf(parts: readonly PartOfZip[]): Buffer {
  const [bodies, directory]: [Buffer[], Buffer[]] = [[], []];
  let offset = 0;
  for (const { name, content, size } of parts) {
    const plain = Buffer.from(content);
    const packed = deflateRawSync(plain);
    const facts = Buffer.alloc(26);
    facts.writeUInt16LE(20, 0);
    facts.writeUInt16LE(8, 4);
    facts.writeUInt32LE(crc32(plain), 10);
    facts.writeUInt32LE(packed.length, 14);
    facts.writeUInt32LE(size ?? plain.length, 18);
    facts.writeUInt16LE(name.length, 22);
    const body = Buffer.concat([Buffer.from('PK\x03\x04'), facts, Buffer.from(name), packed]);
    const place = Buffer.alloc(14);
    place.writeUInt32LE(offset, 10);
    directory.push(Buffer.concat([Buffer.from('PK\x01\x02\x14\x00'), facts, place, Buffer.from(name)]));
    bodies.push(body);
    offset += body.length;
  }
  const listed = Buffer.concat(directory);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(parts.length, 4);
  end.writeUInt16LE(parts.length, 6);
  end.writeUInt32LE(listed.length, 8);
  end.writeUInt32LE(offset, 12);
  return Buffer.concat([...bodies, listed, Buffer.from('PK\x05\x06'), end]);
}

const xml = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>';
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const office = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const packages = 'http://schemas.openxmlformats.org/package/2006';

/**
 * A workbook with one sheet. @param rows their XML. @param size of the sheet's part. @param before the text before the rows; `behind`: after them.
 */
export function workbookOf(
  rows: string,
  { size, before = '', behind = '' }: { size?: number; before?: string; behind?: string } = {},
): Buffer {
  const relation = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${office}/${type}" Target="${target}"/>`;
  const types = `application/vnd.openxmlformats-officedocument.spreadsheetml`;
  return zipOf([
    {
      name: '[Content_Types].xml',
      content: `${xml}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`,
    },
    {
      name: '_rels/.rels',
      content: `${xml}<Relationships xmlns="${packages}/relationships">${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    },
    {
      name: 'xl/workbook.xml',
      content: `${xml}<workbook xmlns="${main}" xmlns:r="${office}"><sheets><sheet name="Sheet1" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: `${xml}<Relationships xmlns="${packages}/relationships">${relation(1, 'worksheet', 'worksheets/sheet1.xml')}</Relationships>`,
    },
    {
      name: 'xl/worksheets/sheet1.xml',
      content: `${xml}${before}<worksheet xmlns="${main}"><sheetData>${rows}</sheetData>${behind}</worksheet>`,
      ...(size !== undefined && { size }),
    },
  ]);
}

const cell = (place: string, value: string | number = 1) => `<c r="${place}"><v>${value}</v></c>`;
const row = (number: number, cells: string) => `<row r="${number}">${cells}</row>`;
const text = (content: string) => Buffer.from(content, 'latin1');
const mb = 1024 * 1024;

/** A compound file whose sector table is circular. */
function loopingCompoundFile(): Buffer {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet([['Date', 'Value']]), 'Sheet1');
  const file = Buffer.from(write(book, { type: 'buffer', bookType: 'xls' }) as Buffer);
  const table = (file.readUInt32LE(76) + 1) * 512;
  for (let at = 0; at < 126; at += 2) {
    file.writeUInt32LE(at + 1, table + at * 4);
    file.writeUInt32LE(at, table + at * 4 + 4);
  }
  return file;
}

/** Exceeds the memory limit of the process that reads it: rows of distinct cells. @param rows of twenty cells. */
export function largeWorkbook(rows: number): Buffer {
  const cells = Array.from({ length: rows }, (_, at) =>
    Array.from({ length: 20 }, (__, column) => `${at} ${column}`),
  );
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet(cells), 'Large');
  return write(book, { type: 'buffer', bookType: 'xlsx', compression: true }) as Buffer;
}

/** Twenty files, all small but with large content or large claims. */
export function hostileFiles(): HostileFile[] {
  const far = row(1, cell('A1') + cell('B1')) + row(999_999_999, cell('A999999999'));
  const laughs = `<!DOCTYPE x [<!ENTITY a "ha">${Array.from({ length: 9 }, (_, at) => `<!ENTITY b${at} "${(at === 0 ? '&a;' : `&b${at - 1};`).repeat(10)}">`).join('')}]>`;
  const zeros = gzipSync(Buffer.alloc(16 * mb));
  const noTable = /no table|guess/i;
  const wide = Array.from({ length: 400 }, (_, at) => row(at + 1, cell(`XFD${at + 1}`))).join('');
  const files: [name: string, content: Buffer, refused: RegExp][] = [
    ['far-row.xlsx', workbookOf(far), /a cell in row 999999999; the limit for a sheet is 1048576/],
    [
      'far-column.xlsx',
      workbookOf(row(1, cell('ZZZZ1'))),
      /a cell in column 475254; the limit for a sheet is 16384/,
    ],
    ['sylk.xls', text('ID;PWXL;N;E\nC;Y1;X99999999;K"x"\nC;Y99999999;X1;K1\nE\n'), /is a SYLK file/],
    [
      'understated.xlsx',
      workbookOf(' '.repeat(20 * mb), { size: 100 }),
      /a part is not as large as it states/,
    ],
    ['stated.xlsx', workbookOf('', { size: 600 * mb }), /is 601 MB unpacked; the limit is 512 MB/],
    [
      'merged.xlsx',
      workbookOf(row(1, cell('XFD1')) + row(100_000, cell('A100000')), {
        behind: `<mergeCells>${'<mergeCell ref="XFD1:XFD100000"/>'.repeat(50)}</mergeCells>`,
      }),
      /too many cells; the limit for a workbook is 5000000/,
    ],
    ['wide.xlsx', workbookOf(wide), /too many cells; the limit for a workbook is 5000000/],
    ['nested.xlsx', workbookOf('<row r="1">'.repeat(200_000)), noTable],
    ['laughs.xlsx', workbookOf(row(1, cell('A1', '&b8;')), { before: laughs }), noTable],
    ['laughs.xls', text(`${xml}${laughs}<Workbook>&b8;</Workbook>`), /is an XML file, which is not read/],
    [
      'page.xls',
      text(`<html><table><tr><td colspan="99999999" rowspan="99999999">1</td></tr></table>`),
      noTable,
    ],
    [
      'dif.xls',
      text('TABLE\n0,1\n"x"\nVECTORS\n0,999999999\n""\nTUPLES\n0,999999999\n""\n'),
      /is a DIF file/,
    ],
    ['loop.xls', loopingCompoundFile(), /cannot be read as a workbook/],
    ['lotus.xls', Buffer.from('00000200060406000800ffffffffffff', 'hex'), /neither text nor a workbook/],
    [
      'open.xlsx',
      zipOf([{ name: 'META-INF/manifest.xml', content: '<x/>' }]),
      /it is an archive without a workbook/,
    ],
    ['apple.xlsb', zipOf([{ name: 'Index/Document.iwa', content: 'x' }]), /it is a Numbers file/],
    [
      'columns.csv',
      text(`Date${',a'.repeat(100_000)}\n2024-01-01${',1'.repeat(100_000)}\n`),
      /Line 1 has 100001 columns; the limit is 16384/,
    ],
    ['quote.csv', text(`Date,Value\n2024-01-01,"${'1\n'.repeat(10 * mb)}`), /is a quote left open\?/],
    ['endless.csv', Buffer.alloc(20 * mb, '7'), /a row is longer than 4 MB/],
    ['packed.csv.gz', Buffer.concat(Array.from({ length: 300 }, () => zeros)), /a row is longer than 4 MB/],
  ];
  return files.map(([name, content, refused]) => ({ name, content, refused }));
}
