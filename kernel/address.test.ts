import test from 'ava';
import { limitKey } from './address.ts';

test('an IPv6 client is limited by its /64, however its address is written', (t) => {
  const network = limitKey('2001:db8:0:1::1');
  t.is(network, '2001:db8:0:1::/64');
  t.is(limitKey('2001:0db8:0000:0001:ffff:ffff:ffff:ffff'), network);
  t.is(limitKey('2001:DB8:0:1:0:0:0:2%eth0'), network);
  t.not(limitKey('2001:db8:0:2::1'), network);
  t.is(limitKey('::1'), '0:0:0:0::/64');
  t.is(limitKey('192.0.2.1'), '192.0.2.1');
});
