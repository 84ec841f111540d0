// Shared by the tests of the converters: small Excel workbooks and zip archives as bytes.
import { Buffer } from 'node:buffer';

/** A zip archive of stored files; no checksums, which the converters do not read. */
export function zipOf(files: Readonly<Record<string, string>>): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const [name, text] of Object.entries(files)) {
    const content = Buffer.from(text);
    const local = Buffer.alloc(30);
    local.writeUInt32LE(0x04034b50, 0);
    local.writeUInt16LE(name.length, 26);
    const entry = Buffer.alloc(46);
    entry.writeUInt32LE(0x02014b50, 0);
    entry.writeUInt32LE(content.length, 20);
    entry.writeUInt16LE(name.length, 28);
    entry.writeUInt32LE(offset, 42);
    locals.push(local, Buffer.from(name), content);
    entries.push(entry, Buffer.from(name));
    offset += 30 + name.length + content.length;
  }
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(Object.keys(files).length, 10);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...locals, ...entries, end]);
}

/** A workbook (.xlsx) with one sheet of texts. */
export function xlsxOf(rows: readonly (readonly string[])[]): Buffer {
  const cells = rows.flatMap((row, i) =>
    row.map(
      (text, j) => `<c r="${String.fromCharCode(65 + j)}${i + 1}" t="inlineStr"><is><t>${text}</t></is></c>`,
    ),
  );
  return zipOf({ 'xl/worksheets/sheet1.xml': `<sheetData>${cells.join('')}</sheetData>` });
}

const sectorBytes = 512;

/** A workbook (.xls) of some sheets of texts and numbers. */
export function xlsOf(sheets: Readonly<Record<string, readonly (readonly (string | number)[])[]>>): Buffer {
  const record = (id: number, body: Buffer) => {
    const head = Buffer.alloc(4);
    head.writeUInt16LE(id, 0);
    head.writeUInt16LE(body.length, 2);
    return Buffer.concat([head, body]);
  };
  const end = record(0x0a, Buffer.alloc(0));
  const cell = (row: number, column: number, value: string | number) => {
    const at = Buffer.alloc(6);
    at.writeUInt16LE(row, 0);
    at.writeUInt16LE(column, 2);
    if (typeof value === 'string') {
      const length = Buffer.from([value.length, 0, 0]);
      return record(0x204, Buffer.concat([at, length, Buffer.from(value, 'latin1')]));
    }
    const number = Buffer.alloc(8);
    number.writeDoubleLE(value);
    return record(0x203, Buffer.concat([at, number]));
  };
  const contents = Object.values(sheets).map((rows) =>
    Buffer.concat([...rows.flatMap((row, i) => row.map((value, j) => cell(i, j, value))), end]),
  );
  const names = Object.keys(sheets);
  let offset = names.reduce((bytes, name) => bytes + 4 + 8 + name.length, end.length);
  const bounds = names.map((name, i) => {
    const body = Buffer.alloc(8);
    body.writeUInt32LE(offset, 0);
    body.writeUInt8(name.length, 6);
    offset += contents[i]?.length ?? 0;
    return record(0x85, Buffer.concat([body, Buffer.from(name, 'latin1')]));
  });
  return compoundOf(Buffer.concat([...bounds, end, ...contents]));
}

/** A compound file whose only stream is the workbook: sector 0 has the table, 1 the directory, the others the stream. */
function compoundOf(stream: Buffer): Buffer {
  const streamSectors = Math.ceil(stream.length / sectorBytes);
  const header = Buffer.alloc(sectorBytes, 0xff);
  header.writeUInt32BE(0xd0cf11e0, 0);
  header.writeUInt16LE(9, 30);
  header.writeUInt32LE(1, 48);
  header.writeUInt32LE(0xfffffffe, 68);
  header.writeUInt32LE(0, 76);
  const table = Buffer.alloc(sectorBytes, 0xff);
  const chained = [0xfffffffd, 0xfffffffe, ...Array.from({ length: streamSectors }, (_, i) => i + 3)];
  chained[chained.length - 1] = 0xfffffffe;
  chained.forEach((next, at) => table.writeUInt32LE(next, at * 4));
  const directory = Buffer.alloc(sectorBytes);
  const name = Buffer.from('Workbook\0', 'utf16le');
  name.copy(directory);
  directory.writeUInt16LE(name.length, 64);
  directory.writeUInt32LE(2, 116);
  directory.writeUInt32LE(stream.length, 120);
  const content = Buffer.alloc(streamSectors * sectorBytes);
  stream.copy(content);
  return Buffer.concat([header, table, directory, content]);
}
