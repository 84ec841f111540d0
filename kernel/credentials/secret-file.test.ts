import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { readOrMakeSecret } from './secret-file.ts';

const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
test.after.always(() => rmSync(directory, { recursive: true }));

test('a secret is made once, and only its owner may read it', (t) => {
  const file = path.join(directory, 'made');
  const secret = readOrMakeSecret(file, 24);
  t.is(Buffer.from(secret, 'base64url').length, 24);
  t.is(statSync(file).mode & 0o777, 0o600);
  t.is(readOrMakeSecret(file, 24), secret);
  t.throws(() => readOrMakeSecret(path.join(directory, 'no-folder', 'secret'), 24), { message: /ENOENT/ });
});

test('an empty file, as a power failure may leave it, is no secret, and stays', (t) => {
  const file = path.join(directory, 'empty');
  for (const text of ['', '\n']) {
    writeFileSync(file, text);
    t.throws(() => readOrMakeSecret(file, 24), {
      message: `${file} is empty, and must have a secret of this installation. Restore it from a copy; delete it only if nothing was stored yet.`,
    });
    t.is(readFileSync(file, 'utf8'), text);
  }
});
