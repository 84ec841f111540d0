// Reads the cells of an Excel 97–2003 workbook (.xls, BIFF8 in a compound file): texts, numbers, results of formulas.
// Hides sectors, shared strings and packed numbers. A date is a number, as Excel stores it: days since 1899-12-30.

export type Cell = string | number;

export interface Sheet {
  name: string;
  /** Row → column → cell, counted from 0; empty cells are absent. */
  rows: Map<number, Map<number, Cell>>;
}

/** The day of an Excel date, `YYYY-MM-DD`. */
export function excelDate(days: number): string {
  return new Date(Date.UTC(1899, 11, 30) + Math.floor(days) * 86_400_000).toISOString().slice(0, 10);
}

/** The sheets in their order. @throws Error where the bytes are no such workbook. */
export function readXls(file: Buffer): Sheet[] {
  const workbook = workbookStream(file);
  const sheets: { name: string; offset: number }[] = [];
  let strings: string[] = [];
  for (const { id, parts } of records(workbook, 0)) {
    const [body = Buffer.alloc(0)] = parts;
    if (id === 0x85) sheets.push({ offset: body.readUInt32LE(0), name: textAt(body, 6, 1) });
    if (id === 0xfc) strings = sharedStrings(parts);
    if (id === 0x0a) break;
  }
  return sheets.map(({ name, offset }) => ({ name, rows: readRows(workbook, offset, strings) }));
}

/** The bytes of the stream with the workbook, assembled from its sectors. */
function workbookStream(file: Buffer): Buffer {
  if (file.length < 512 || file.readUInt32BE(0) !== 0xd0cf11e0)
    throw new Error('The file is no .xls workbook.');
  const sectorBytes = 1 << file.readUInt16LE(30);
  const sector = (n: number) => file.subarray((n + 1) * sectorBytes, (n + 2) * sectorBytes);
  const words = (bytes: Buffer) =>
    Array.from({ length: bytes.length >> 2 }, (_, i) => bytes.readUInt32LE(i * 4));
  const isSector = (n: number) => n < 0xfffffffa;

  const tableSectors = words(file.subarray(76, 512)).filter(isSector);
  for (let next = file.readUInt32LE(68); isSector(next);) {
    const more = words(sector(next));
    next = more.pop() ?? 0xfffffffe;
    tableSectors.push(...more.filter(isSector));
  }
  const table = tableSectors.flatMap((n) => words(sector(n)));
  const chain = (first: number): Buffer => {
    const parts: Buffer[] = [];
    for (let n = first; isSector(n); n = table[n] ?? 0xfffffffe) parts.push(sector(n));
    return Buffer.concat(parts);
  };

  const directory = chain(file.readUInt32LE(48));
  for (let at = 0; at + 128 <= directory.length; at += 128) {
    const name = directory.toString('utf16le', at, at + Math.max(0, directory.readUInt16LE(at + 64) - 2));
    if (name !== 'Workbook' && name !== 'Book') continue;
    return chain(directory.readUInt32LE(at + 116)).subarray(0, directory.readUInt32LE(at + 120));
  }
  throw new Error('The file has no workbook in it.');
}

/** Records from an offset on; a continued record has several parts. */
function* records(stream: Buffer, from: number): Iterable<{ id: number; parts: Buffer[] }> {
  let current: { id: number; parts: Buffer[] } | null = null;
  for (let at = from; at + 4 <= stream.length;) {
    const id = stream.readUInt16LE(at);
    const body = stream.subarray(at + 4, at + 4 + stream.readUInt16LE(at + 2));
    at += 4 + body.length;
    if (id === 0x3c) current?.parts.push(body);
    else {
      if (current !== null) yield current;
      current = { id, parts: [body] };
    }
  }
  if (current !== null) yield current;
}

function readRows(workbook: Buffer, offset: number, strings: readonly string[]): Sheet['rows'] {
  const rows: Sheet['rows'] = new Map();
  let formula: [row: number, column: number] | null = null;
  const put = (row: number, column: number, cell: Cell) => {
    const cells = rows.get(row) ?? new Map<number, Cell>();
    rows.set(row, cells.set(column, cell));
  };
  for (const { id, parts } of records(workbook, offset)) {
    const [body = Buffer.alloc(0)] = parts;
    if (id === 0x0a) break; // the end of the sheet
    const at = () => [body.readUInt16LE(0), body.readUInt16LE(2)] as const;
    if (id === 0xfd) put(...at(), strings[body.readUInt32LE(6)] ?? '');
    else if (id === 0x203) put(...at(), body.readDoubleLE(6));
    else if (id === 0x27e) put(...at(), packedNumber(body.readUInt32LE(6)));
    else if (id === 0xbd) {
      const [row, first] = at();
      for (let i = 0; 4 + i * 6 + 6 <= body.length - 2; i += 1)
        put(row, first + i, packedNumber(body.readUInt32LE(6 + i * 6)));
    } else if (id === 0x204) put(...at(), textAt(body, 6, 2));
    else if (id === 0x06) {
      // The result is a number unless its last two bytes mark another type; a text follows in a separate record.
      if (body.readUInt16LE(12) !== 0xffff) put(...at(), body.readDoubleLE(6));
      else if (body[6] === 0) formula = [body.readUInt16LE(0), body.readUInt16LE(2)];
    } else if (id === 0x207 && formula !== null) put(...formula, textAt(body, 0, 2));
  }
  return rows;
}

/** Excel's short numbers: 30 bits of a double or of an integer, perhaps in hundredths. */
function packedNumber(bits: number): number {
  const isInteger = (bits & 2) !== 0;
  const double = Buffer.alloc(8);
  double.writeUInt32LE((bits & 0xfffffffc) >>> 0, 4);
  const number = isInteger ? bits >> 2 : double.readDoubleLE(0);
  return (bits & 1) !== 0 ? number / 100 : number;
}

/** A text: its length, in one byte or two, how wide its letters are, and the letters. */
function textAt(body: Buffer, at: number, lengthBytes: 1 | 2): string {
  const length = lengthBytes === 1 ? (body[at] ?? 0) : body.readUInt16LE(at);
  const from = at + lengthBytes + 1;
  return ((body[from - 1] ?? 0) & 1) !== 0
    ? body.toString('utf16le', from, from + length * 2)
    : body.toString('latin1', from, from + length);
}

/** The texts of all sheets. A text may be split at the end of a part; the next part states the width of its characters again. */
function sharedStrings(parts: readonly Buffer[]): string[] {
  let part = 0;
  let at = 8;
  let body = parts[0] ?? Buffer.alloc(0);
  const nextPart = () => {
    part += 1;
    body = parts[part] ?? Buffer.alloc(0);
    at = 0;
  };
  const strings: string[] = [];
  const total = body.readUInt32LE(4);
  while (strings.length < total && part < parts.length) {
    if (at >= body.length) nextPart();
    if (body.length === 0) break;
    let left = body.readUInt16LE(at);
    let flags = body[at + 2] ?? 0;
    at += 3;
    const runs = (flags & 8) !== 0 ? body.readUInt16LE(at) : 0;
    if ((flags & 8) !== 0) at += 2;
    const extra = (flags & 4) !== 0 ? body.readUInt32LE(at) : 0;
    if ((flags & 4) !== 0) at += 4;
    let text = '';
    for (;;) {
      const width = (flags & 1) !== 0 ? 2 : 1;
      const letters = Math.min(left, Math.floor((body.length - at) / width));
      text += body.toString(width === 2 ? 'utf16le' : 'latin1', at, at + letters * width);
      at += letters * width;
      left -= letters;
      if (left === 0) break;
      nextPart();
      flags = body[0] ?? 0;
      at = 1;
    }
    strings.push(text);
    for (let skip = runs * 4 + extra; skip > 0;) {
      const here = Math.min(skip, body.length - at);
      at += here;
      skip -= here;
      if (skip > 0) nextPart();
    }
  }
  return strings;
}
