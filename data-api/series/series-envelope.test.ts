import test from 'ava';
import { parse } from 'csv-parse/sync';
import fc from 'fast-check';
import { digits } from '../../kernel/digits.ts';
import { listCsv } from '../../kernel/http/list.ts';
import { seriesCsv } from './series-envelope.ts';

/** Splits text into lines at any kind of line end. */
const cells = (csv: string): string[][] => parse(csv, { record_delimiter: ['\r\n', '\n', '\r'] });

/** The characters with which a formula begins in a spreadsheet. */
const formulaSigns = ['=', '+', '-', '@', '\t', '\r', '\n'];
/** Blanks and invisible characters, which a spreadsheet may drop. */
const blanks = [
  ' ',
  '\u00a0',
  '\u3000',
  '\u200b',
  '\ufeff',
  '\u00ad',
  '\u202e',
  '\u0000',
  '\u001b',
  '\u3164',
  '\ufe0f',
];

/** By Unicode's own mapping of full-width, small and superscript forms to the plain sign. */
function defused(text: string): string {
  if (/^[\t\r\n]/.test(text)) return `'${text}`;
  const visible = /[^\s\p{Cc}\p{Default_Ignorable_Code_Point}]/u.exec(text)?.[0] ?? '';
  const plain = visible.normalize('NFKC').replace('\u2212', '-');
  return ['=', '+', '-', '@'].includes(plain) ? `'${text}` : text;
}

/** Every character of Unicode that a spreadsheet may read as the beginning of a formula. */
const variants = Array.from({ length: 0x11_0000 }, (_, code) => code)
  .filter((code) => code < 0xd800 || code > 0xdfff)
  .map((code) => String.fromCodePoint(code))
  .filter((sign) => defused(sign) !== sign);

const anyText = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc
    .tuple(fc.constantFrom(...variants, ...blanks, "'", '"', ','), fc.string())
    .map(([sign, rest]) => sign + rest),
);

test('a line break within a text begins no new line for any CSV reader', (t) => {
  for (const end of ['\n', '\r', '\r\n']) {
    const text = `a${end}=1+1`;
    t.deepEqual(cells(listCsv([{ [text]: text, b: text }], [text, 'b'])), [
      [text, 'b'],
      [text, text],
    ]);
  }
});

test('each character that begins a formula is defused in every text of a list, and no other text is changed', (t) => {
  for (const sign of [...formulaSigns, '＝', '＋', '－', '＠', '﹦', '﹢', '﹣', '﹫', '−', '⁼', '₊']) {
    t.true(variants.includes(sign), sign);
  }
  for (const sign of [...variants, ...blanks.map((blank) => `${blank}=`), ' \ufeff＝']) {
    t.deepEqual(cells(listCsv([{ a: `${sign}1+1`, b: `x${sign}` }], ['a', 'b'])), [
      ['a', 'b'],
      [`'${sign}1+1`, `x${sign}`],
    ]);
  }
  fc.assert(
    fc.property(anyText, anyText, (a, b) => {
      t.deepEqual(cells(listCsv([{ a, b }], ['a', 'b']))[1], [defused(a), defused(b)]);
    }),
  );
});

test('a number is passed on as published, whatever its sign', (t) => {
  const published = fc
    .tuple(
      fc.constantFrom('', '-'),
      fc.bigInt({ min: 0n, max: 10n ** 30n }),
      fc.constantFrom('', '.0', '.50', '.000001'),
    )
    .map((parts) => parts.join(''));
  fc.assert(
    fc.property(
      published,
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.boolean(),
      (text, number, flag) => {
        const row = { text: digits(text), number, flag, none: null };
        t.is(
          listCsv([row], ['text', 'number', 'flag', 'none', 'missing']).split('\r\n')[1],
          `${text},${number},${flag},,`,
        );
        const points = {
          dates: ['2024-01-31'],
          values: [text],
          lineNos: [0],
          publishedOn: [''],
          statuses: [null],
        };
        const csv = seriesCsv({ dimensions: [], combinations: [] }, ['date', 'value', 'dims']);
        t.is(csv.lines(points), `2024-01-31,${text}\r\n`);
      },
    ),
  );
});

test('in a series each dimension, its values and each status is defused', (t) => {
  const text = anyText.filter((value) => value !== '');
  fc.assert(
    fc.property(text, text, text, (name, value, status) => {
      const series = {
        dimensions: [name],
        combinations: [{ lineNo: 0, dims: Object.fromEntries([[name, value]]) }],
      };
      const csv = seriesCsv(series, ['date', 'value', 'dims', 'status']);
      const points = {
        dates: ['2024-01-31'],
        values: ['-1'],
        lineNos: [0],
        publishedOn: [''],
        statuses: [status],
      };
      t.deepEqual(cells(csv.header + csv.lines(points)), [
        ['date', 'value', defused(name), 'status'],
        ['2024-01-31', '-1', defused(value), defused(status)],
      ]);
    }),
  );
});

test('a dimension with the name of another column gets the prefix dim_', (t) => {
  const series = { dimensions: ['Series', 'note', 'dim_note'], combinations: [] };
  t.is(
    seriesCsv(series, ['date', 'value', 'dims'], 'A').header,
    'series,date,value,dim_Series,note,dim_note\r\n',
  );
  t.is(seriesCsv(series, ['date', 'value', 'dims']).header, 'date,value,Series,note,dim_note\r\n');
  const noted = seriesCsv(series, ['date', 'value', 'dims', 'notes'], 'A').header;
  t.is(noted, 'series,date,value,dim_Series,dim_note,dim_dim_note,note\r\n');
});

test('a row whose only cell is empty is not a blank line, which readers of CSV skip', (t) => {
  const [points, dimensions] = [{ dates: ['2024-01-31', '2024-02-29'], values: ['', '1'] }, []];
  const others = { lineNos: [0, 0], publishedOn: ['', ''], statuses: [null, null] };
  const series = seriesCsv({ dimensions, combinations: [] }, ['value']);
  t.is(series.header + series.lines({ ...points, ...others }), 'value\r\n""\r\n1\r\n');
  t.is(listCsv([{ isin: null }, { isin: 'A' }], ['isin']), 'isin\r\n""\r\nA\r\n');
});
