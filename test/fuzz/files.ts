// Files as an operator may send them, drawn at random: valid, nearly valid, and without any table.
import { gzipSync } from 'node:zlib';
import { utils, write, type BookType } from '@e965/xlsx';
import type { Random } from '../chaos/random.ts';
import { hostileText } from './values.ts';

export const fileNames = [
  ...['a.csv', 'gdp 2024-03.csv', 'a.csv.gz', 'a.xlsx', 'a.xls', 'a.tsv', 'a.txt', 'a.pdf', 'a'],
  ...['../a.csv', '.a.csv', 'a/b.csv', 'C:\\a.csv', 'CON.csv', '\u202evsc.exe', '<script>.csv', '=1+1.csv'],
];

/** The bytes of a file: its content need not match its extension. */
export function drawFile(random: Random): Buffer {
  switch (random.below(8)) {
    case 0:
      return Buffer.from(random.pick(['', '\n', 'date,value', '\ufeff', 'PK', '%PDF-1.7', '<html><table>']));
    case 1:
      return Buffer.from(Array.from({ length: random.between(1, 2_000) }, () => random.below(256)));
    case 2:
      return damaged(random, gzipSync(drawCsv(random)));
    case 3:
    case 4:
      return damaged(random, drawWorkbook(random));
    default:
      return damaged(random, Buffer.from(drawCsv(random)));
  }
}

function drawCsv(random: Random): string {
  const delimiter = random.pick([',', ';', '\t', '|']);
  const end = random.pick(['\n', '\r\n', '\r']);
  return drawRows(random)
    .map((row) => row.join(delimiter))
    .join(end);
}

function drawWorkbook(random: Random): Buffer {
  const book = utils.book_new();
  for (let n = random.between(1, 3); n > 0; n -= 1)
    utils.book_append_sheet(book, utils.aoa_to_sheet(drawRows(random)), `Sheet ${n}`);
  const bookType: BookType = random.pick(['xlsx', 'xls', 'biff8', 'xlsb', 'ods']);
  return write(book, { type: 'buffer', bookType }) as Buffer;
}

function drawRows(random: Random): string[][] {
  const [columns, rows] = [random.between(1, 8), random.between(0, 60)];
  const head = Array.from({ length: columns }, (_, i) =>
    i === 0 ? random.pick(['date', 'Month', 'Year', hostileText(random)]) : hostileText(random).slice(0, 40),
  );
  const dated = (i: number) => new Date(Date.UTC(2000, i + 1, 0)).toISOString().slice(0, 10);
  const cell = () =>
    random.below(20) === 0 ? hostileText(random) : String(random.below(1_000_000) / random.pick([1, 7, 100]));
  return [
    head,
    ...Array.from({ length: rows }, (_row, i) =>
      Array.from({ length: columns }, (_column, at) => (at === 0 ? dated(i) : cell())),
    ),
  ];
}

/** The bytes, or in one of three cases cut, or with some bytes changed. */
function damaged(random: Random, bytes: Buffer): Buffer {
  if (bytes.length === 0 || random.below(3) > 0) return bytes;
  if (random.below(2) === 0) return bytes.subarray(0, random.below(bytes.length));
  for (let n = random.between(1, 5); n > 0; n -= 1) bytes[random.below(bytes.length)] = random.below(256);
  return bytes;
}
