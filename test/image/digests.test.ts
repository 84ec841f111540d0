import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { differences, digestsOf } from './digests.ts';

test('two images differ by content, mode, link, kind and presence, and not by times', (t) => {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-digests-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const at = (...parts: string[]) => path.join(directory, ...parts);
  for (const side of ['a', 'b']) {
    mkdirSync(at(side, '.hidden'), { recursive: true });
    for (const name of ['same', 'dated', 'moded', '.hidden/content'])
      writeFileSync(at(side, name), name === '.hidden/content' ? side : '');
    symlinkSync(side, at(side, 'link'));
  }
  utimesSync(at('a', 'dated'), 0, 0);
  chmodSync(at('a', 'moded'), 0o700);
  writeFileSync(at('a', 'kind'), '');
  mkdirSync(at('b', 'kind'));
  writeFileSync(at('b', 'only'), '');
  t.deepEqual(differences(digestsOf(at('a')), digestsOf(at('b'))), [
    '.hidden/content',
    ...['kind', 'link', 'moded', 'only'],
  ]);
});
