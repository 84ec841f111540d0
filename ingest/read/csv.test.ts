import { gzipSync } from 'node:zlib';
import { Readable } from 'node:stream';
import test from 'ava';
import { parse } from 'csv-parse/sync';
import { stringify } from 'csv-stringify/sync';
import fc from 'fast-check';
import { readCsv, type CsvOptions } from './csv.ts';
import { IngestFailure } from '../failure.ts';

async function read(bytes: Buffer | string, options: CsvOptions = {}, pieceBytes = 1 << 20) {
  const whole = Buffer.from(bytes);
  const pieces: Buffer[] = [];
  for (let at = 0; at < whole.length; at += pieceBytes) pieces.push(whole.subarray(at, at + pieceBytes));
  const rows: string[][] = [];
  const lines: number[] = [];
  for await (const batch of readCsv(Readable.from(pieces), options)) {
    rows.push(...batch.rows);
    lines.push(...batch.lines);
  }
  return { rows, lines };
}

const cell = fc.string({ unit: fc.constantFrom('a', 'ß', '€', '😀', '"', ',', '\n', '\r\n', ' ', '1') });

test('any written CSV is read back with its line numbers, in chunks of any size, gzipped or not', async (t) => {
  const rows = fc
    .integer({ min: 1, max: 4 })
    .chain((width) =>
      fc.array(fc.array(cell, { minLength: width, maxLength: width }), { minLength: 1, maxLength: 8 }),
    );
  await fc.assert(
    fc.asyncProperty(
      rows,
      fc.constantFrom('\n', '\r\n'),
      fc.boolean(),
      fc.integer({ min: 1, max: 9 }),
      async (rows, end, zip, pieceBytes) => {
        const text = stringify(rows, { record_delimiter: end, quoted: true });
        const expected: number[] = [];
        let line = 1;
        for (const row of rows) {
          expected.push(line);
          line += 1 + row.join('').split(/\r\n|[\r\n]/).length - 1;
        }
        const found = await read(zip ? gzipSync(text) : text, { delimiter: ',' }, pieceBytes);
        t.deepEqual(found, { rows, lines: expected });
      },
    ),
    { includeErrorInReport: true },
  );
});

test('unquoted cells are read like by a parser, even if quotes begin only later', async (t) => {
  const text = fc.string({
    unit: fc.constantFrom('a', '€', ',', ' ', '\n', '\r\n', '\r', ',\n'),
    maxLength: 40,
  });
  const quoted = fc.constantFrom('', '\n"b,\nc",d\n', '\r\n"b""\n",d');
  await fc.assert(
    fc.asyncProperty(text, quoted, fc.integer({ min: 1, max: 3 }), async (plain, quoted, headerLine) => {
      // The first 64 KB are examined together; the quoted cells are in a later piece.
      const start = `x,y\n${`1,${'2'.repeat(70)}\n`.repeat(1_000)}${plain}`;
      const whole = Buffer.from(start + quoted);
      const found = await read(whole, { delimiter: ',', headerLine }, Buffer.byteLength(start));
      t.deepEqual(found.rows, parse(whole, { relax_column_count: true, from_line: headerLine }));
      // Only the last row can have two lines. A \r that is not this file's line end is a line end only to the parser.
      if (!(plain + quoted).includes('\r'))
        t.deepEqual(
          found.lines,
          found.rows.map((_, i) => headerLine + i),
        );
    }),
    { numRuns: 30 },
  );
  await fc.assert(
    fc.asyncProperty(text, fc.integer({ min: 1, max: 9 }), async (text, pieceBytes) => {
      fc.pre(text !== '');
      const found = await read(text, { delimiter: ',' }, pieceBytes);
      t.deepEqual(found.rows, parse(text, { relax_column_count: true }));
      t.deepEqual(
        found.lines,
        found.rows.map((_, i) => i + 1),
      );
    }),
  );
});

test('a byte order mark is not part of the first column, in UTF-8 and in UTF-16', async (t) => {
  const text = 'date,wert\n2024-01,ä€\n';
  const expected = [
    ['date', 'wert'],
    ['2024-01', 'ä€'],
  ];
  const swapped = Buffer.from(`\ufeff${text}`, 'utf16le').swap16();
  for (const bytes of [
    Buffer.from(`\ufeff${text}`),
    Buffer.from(`\ufeff\ufeff${text}`),
    Buffer.from(`\ufeff${text}`, 'utf16le'),
    swapped,
  ])
    for (const pieceBytes of [1, 7, 1000]) t.deepEqual((await read(bytes, {}, pieceBytes)).rows, expected);
});

test('bytes that are not UTF-8 are read as windows-1252; if they occur late, the file is refused', async (t) => {
  t.deepEqual((await read(Buffer.from('ort,wert\nKöln,1\n', 'latin1'))).rows[1], ['Köln', '1']);
  const late = Buffer.concat([
    Buffer.from(`ort,wert\n${'Bonn,1\n'.repeat(20_000)}`),
    Buffer.from('Köln,1\n', 'latin1'),
  ]);
  await t.throwsAsync(read(late, {}, 50_000), {
    instanceOf: IngestFailure,
    message: /with --encoding, such as windows-1252/,
  });
  t.deepEqual((await read(late, { encoding: 'latin1' })).rows.at(-1), ['Köln', '1']);
  await t.throwsAsync(read('a,b', { encoding: 'klingon' }), { instanceOf: IngestFailure });
});

test('the delimiter is the most frequent candidate in the header, outside quotes', async (t) => {
  t.deepEqual((await read('a;b\n1,5;2\n')).rows[1], ['1,5', '2']);
  t.deepEqual((await read('a\tb\n1,5\t2\n')).rows[1], ['1,5', '2']);
  t.deepEqual((await read('"a;b;c",d\n1,2\n')).rows[1], ['1', '2']);
  t.deepEqual((await read('a,b;c;d\n1,2\n', { delimiter: ',' })).rows[1], ['1', '2']);
});

test('lines above the header are skipped, and lines are still counted from the top of the file', async (t) => {
  const found = await read('# TYPE x\nTitle; of it\na,b\n1,2\n', { headerLine: 3 });
  t.deepEqual(found, {
    rows: [
      ['a', 'b'],
      ['1', '2'],
    ],
    lines: [3, 4],
  });
});

const rowBytesMax = 4 * 1024 * 1024;

test('a row without quotes may have 4 MB and not a byte more', async (t) => {
  // The end of the row arrives in a piece of its own, so its length is checked before the row is complete.
  const lengthOf = async (bytes: number) => {
    const input = Readable.from([Buffer.from(`a\n${'x'.repeat(bytes)}`), Buffer.from('\n')]);
    let length = 0;
    for await (const { rows } of readCsv(input, {})) length = rows.at(-1)?.[0]?.length ?? length;
    return length;
  };
  t.is(await lengthOf(rowBytesMax), rowBytesMax);
  await t.throwsAsync(lengthOf(rowBytesMax + 1), {
    instanceOf: IngestFailure,
    message: /at line 2: a row is longer than 4 MB/,
  });
});

test('a row that never ends is refused at 4 MB and not read further', async (t) => {
  for (const start of ['a,b\n1,', 'a,b\n1,"', '']) {
    let readBytes = 0;
    const unending = function* () {
      yield Buffer.from(start);
      while (readBytes < 4 * rowBytesMax) {
        readBytes += 1 << 20;
        yield Buffer.alloc(1 << 20, 'x');
      }
    };
    const reading = async () => {
      for await (const _ of readCsv(Readable.from(unending(), { highWaterMark: 1 }), {}));
    };
    await t.throwsAsync(reading, { instanceOf: IngestFailure, message: /longer than 4 MB/ });
    t.true(readBytes <= rowBytesMax + (2 << 20), `${readBytes} bytes were taken`);
  }
});

test('a damaged file is refused with the line and the reason', async (t) => {
  await t.throwsAsync(read('a,b\n1,2\n3,"4\n5,6\n'), {
    instanceOf: IngestFailure,
    message: /line 3: .*never ends/,
  });
  await t.throwsAsync(read('a,b\n1,x"y\n'), {
    instanceOf: IngestFailure,
    message: /line 2: a quote is inside/,
  });
  await t.throwsAsync(read('a,b\n1,"x"y\n'), { instanceOf: IngestFailure, message: /line 2: text follows/ });
  await t.throwsAsync(read(''), { instanceOf: IngestFailure, message: /empty/ });
  await t.throwsAsync(read(`a,b\n"${'x'.repeat(5 << 20)}`), {
    instanceOf: IngestFailure,
    message: /longer than 4 MB/,
  });
});
