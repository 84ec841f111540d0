// The unpacked sizes of workbooks: real ones, and archives with false sizes.
import test from 'ava';
import { utils, write } from '@e965/xlsx';
import { isAsStated, partsOf, unpackedSize as sizeOf } from './zip-parts.ts';

function workbook(rows: number): Buffer {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet(Array.from({ length: rows }, () => ['a', 1])), 'Sheet');
  return write(book, { type: 'buffer', bookType: 'xlsx', compression: true }) as Buffer;
}

const unpackedSize = (archive: Buffer): number | null => {
  const parts = partsOf(archive);
  return parts === null ? null : sizeOf(parts);
};

/** An archive whose parts state these sizes, in the directory and in their own headers. */
function stating(archive: Buffer, size: number): Buffer {
  const changed = Buffer.from(archive);
  for (const [signature, offset] of [
    ['PK\x01\x02', 24],
    ['PK\x03\x04', 22],
  ] as const)
    for (
      let at = changed.indexOf(signature, 0, 'latin1');
      at >= 0;
      at = changed.indexOf(signature, at + 1, 'latin1')
    )
      changed.writeUInt32LE(size, at + offset);
  return changed;
}

test('the unpacked size of a workbook exceeds its packed size, and grows with its rows', (t) => {
  const [few, many] = [workbook(10), workbook(5_000)];
  t.true((unpackedSize(many) ?? 0) > 2 * many.length);
  t.true((unpackedSize(many) ?? 0) > (unpackedSize(few) ?? 0));
});

test('the stated sizes of the parts are added up, however large', (t) => {
  t.true((unpackedSize(stating(workbook(10), 0xffffffff)) ?? 0) > 4 * 1024 ** 3);
});

test('a part without a size, a truncated directory and an archive without a directory are refused', (t) => {
  const whole = workbook(10);
  t.is(unpackedSize(stating(whole, 0)), null);
  t.is(unpackedSize(whole.subarray(0, whole.length - 21)), null);
  t.is(unpackedSize(Buffer.from('PK and nothing else')), null);
  const away = Buffer.from(whole);
  away.writeUInt32LE(whole.length, whole.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1')) + 16);
  t.is(unpackedSize(away), null);
});

test('an archive whose parts are larger than stated is recognised', (t) => {
  const whole = workbook(5_000);
  t.true(isAsStated(partsOf(whole) ?? []));
  t.false(isAsStated(partsOf(stating(whole, 100)) ?? []));
});

test('a file that is not an archive has no parts', (t) => {
  t.is(unpackedSize(Buffer.from('date,value\n')), 0);
});
