import test from 'ava';
import { addressCheck, areWithin, isAddressRange } from './key-access.ts';

test('addresses and ranges of either version are accepted; everything else is refused', (t) => {
  for (const text of [
    '203.0.113.7',
    '203.0.113.0/24',
    '0.0.0.0/0',
    '2001:db8::/32',
    '2001:DB8::1/128',
    '::/0',
  ])
    t.true(isAddressRange(text), text);
  for (const text of [
    ...[
      '',
      '203.0.113',
      '203.0.113.0/33',
      '203.0.113.0/-1',
      '203.0.113.0/08',
      '203.0.113.0/',
      '203.0.113.0/24/8',
    ],
    ...[
      '2001:db8::/129',
      'fe80::1%eth0',
      '::ffff:203.0.113.7',
      'example.org',
      ' 203.0.113.7',
      '203.0.113.7 ',
    ],
  ])
    t.false(isAddressRange(text), text);
});

test('an address is in a range to the last bit, and never in one of the other version', (t) => {
  const check = addressCheck(['203.0.113.128/25', '198.51.100.7', '2001:db8:1::/48']);
  for (const address of [
    '203.0.113.128',
    '203.0.113.255',
    '198.51.100.7',
    '2001:db8:1::',
    '2001:db8:1:ffff::1',
  ])
    t.true(check(address), address);
  for (const address of [
    '203.0.113.127',
    '203.0.114.0',
    '198.51.100.6',
    '198.51.100.8',
    '2001:db8:2::',
    '::1',
    'unknown',
    '',
  ])
    t.false(check(address), address);
  t.true(addressCheck(['fe80::/10'])('fe80::1%eth0'), 'a zone is not part of the address');
  t.false(addressCheck(['0.0.0.0/0'])('2001:db8::1'));
  t.false(addressCheck([])('203.0.113.7'));
});

test('ranges are within others if none extends beyond them', (t) => {
  t.true(areWithin(['203.0.113.0/24', '2001:db8::1'], ['203.0.0.0/16', '2001:db8::/32']));
  t.true(areWithin(['203.0.113.0/24'], ['203.0.113.0/24']));
  t.false(areWithin(['203.0.112.0/23'], ['203.0.113.0/24']));
  t.false(areWithin(['203.0.114.0/24'], ['203.0.113.0/24']));
  t.false(areWithin(['0.0.0.0/0'], ['::/0']));
  t.true(areWithin(null, null));
  t.true(areWithin(['203.0.113.7'], null));
  t.false(areWithin(null, ['0.0.0.0/0', '::/0']), 'all addresses are more than those of ranges');
});
