import { createHash } from 'node:crypto';
import test from 'ava';
import { mintSessionToken, parseSessionToken } from './session-token.ts';

test('a new token names its session and contains no part of the hash', (t) => {
  const { token, id, secretHash } = mintSessionToken();
  t.deepEqual(parseSessionToken(token), { id, secretHash });
  t.false(token.includes(secretHash));
  t.is(new Set(Array.from({ length: 1000 }, () => mintSessionToken().token)).size, 1000);
});

test('anything that does not have exactly the format of a token names no session', (t) => {
  const { token } = mintSessionToken();
  for (const text of [
    '',
    'sess_',
    token.slice(0, -1),
    `${token}A`,
    ` ${token}`,
    `${token}\n`,
    token.toUpperCase(),
  ]) {
    t.is(parseSessionToken(text), null, JSON.stringify(text));
  }
});

test('a token of another version can be read in this one: only the SHA-256 of its secret half is stored', (t) => {
  const id = `sess_${'a2'.repeat(8)}`;
  t.deepEqual(parseSessionToken(`${id}.${'A'.repeat(43)}`), {
    id,
    secretHash: createHash('sha256').update('A'.repeat(43)).digest('hex'),
  });
  t.is(parseSessionToken(`${id}.${'A'.repeat(42)}`), null);
  t.is(parseSessionToken(`${id.slice(0, -1)}.${'A'.repeat(43)}`), null);
  t.is(parseSessionToken(`${id}a.${'A'.repeat(43)}`), null);
  t.is(parseSessionToken(`${id.replace('2', '1')}.${'A'.repeat(43)}`), null);
  t.is(parseSessionToken(`${id}.${'A'.repeat(42)}+`), null);
  t.is(parseSessionToken(`${id}:${'A'.repeat(43)}`), null);
});

test('both halves of a token are random in every character', (t) => {
  const tokens = Array.from({ length: 1_000 }, () => mintSessionToken().token);
  const seenAt = (at: number) => new Set(tokens.map((token) => token[at])).size;
  for (let at = 'sess_'.length; at < 'sess_'.length + 16; at += 1) t.is(seenAt(at), 32, `character ${at}`);
  // The last character of 32 bytes in base64url has four bits.
  for (let at = 'sess_'.length + 17; at < 64; at += 1) t.true(seenAt(at) >= 55, `character ${at}`);
  t.is(seenAt(64), 16);
});
