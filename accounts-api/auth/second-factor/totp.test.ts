// The test vectors of RFC 6238 for SHA-1; their last six digits are the code.
import test from 'ava';
import { mintTotpSecret, provisioningOf, stepOfCode } from './totp.ts';

const secret = Buffer.from('12345678901234567890');

test('the codes of RFC 6238 are accepted at their instants, and belong to their time steps', (t) => {
  for (const [seconds, code] of [
    [59, '287082'],
    [1_111_111_109, '081804'],
    [1_234_567_890, '005924'],
    [20_000_000_000, '353130'],
  ] as const) {
    t.is(stepOfCode(secret, code, new Date(seconds * 1000)), Math.floor(seconds / 30));
    t.is(stepOfCode(secret, code, new Date((seconds + 90) * 1000)), null);
    t.is(stepOfCode(mintTotpSecret(), code, new Date(seconds * 1000)), null);
  }
});

test('the set-up URI contains the secret, the service and the account', (t) => {
  const { secret: text, uri } = provisioningOf(secret, { issuer: 'Almanac a.example', label: 'a@b.example' });
  t.is(text, 'GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ');
  t.is(
    uri,
    'otpauth://totp/Almanac%20a.example:a%40b.example?issuer=Almanac%20a.example' +
      '&secret=GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ&algorithm=SHA1&digits=6&period=30',
  );
});
