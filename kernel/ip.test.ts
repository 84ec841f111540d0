import test from 'ava';
import { limitKey } from './ip.ts';

test('an IPv6 client is limited by its /64, in every notation of its IP address', (t) => {
  const network = limitKey('2001:db8:0:1::1');
  t.is(network, '2001:db8:0:1::/64');
  t.is(limitKey('2001:0db8:0000:0001:ffff:ffff:ffff:ffff'), network);
  t.is(limitKey('2001:DB8:0:1:0:0:0:2%eth0'), network);
  t.not(limitKey('2001:db8:0:2::1'), network);
  t.is(limitKey('::1'), '0:0:0:0::/64');
  t.is(limitKey('192.0.2.1'), '192.0.2.1');
});

test('each of the first 64 bits distinguishes networks, and none of the last 64 does', (t) => {
  const groups = ['2001', 'db8', 'a', 'b', 'c', 'd', 'e', 'f'];
  const address = groups.join(':');
  t.is(limitKey(address), '2001:db8:a:b::/64');
  for (const at of groups.keys()) {
    const other = limitKey(groups.with(at, '1').join(':'));
    t.is(other === limitKey(address), at >= 4, `group ${at}`);
  }
});

test('a run of zeros represents as many groups as are missing, wherever it is', (t) => {
  t.is(limitKey('2001:db8::'), '2001:db8:0:0::/64');
  t.is(limitKey('1:2:3::5:6:7:8'), '1:2:3:0::/64');
  t.is(limitKey('1::4:5:6:7:8'), '1:0:0:4::/64');
  t.is(limitKey('::3:4:5:6:7:8'), '0:0:3:4::/64');
  t.is(limitKey('::'), '0:0:0:0::/64');
  t.is(limitKey('no IP address'), 'no IP address');
  t.is(limitKey('::1%a:b:c:d:e:f:a:b'), '0:0:0:0::/64'); // what is after % is no group
});
