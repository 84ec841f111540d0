import test from 'ava';
import { mintSessionToken, parseSessionToken } from './session-token.ts';

test('a minted token names its session and holds no part of the hash', (t) => {
  const { token, id, secretHash } = mintSessionToken();
  t.deepEqual(parseSessionToken(token), { id, secretHash });
  t.false(token.includes(secretHash));
  t.is(new Set(Array.from({ length: 1000 }, () => mintSessionToken().token)).size, 1000);
});

test('what has not exactly the shape of a token names nothing', (t) => {
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
