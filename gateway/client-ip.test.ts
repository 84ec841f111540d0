import test from 'ava';
import { clientIp } from './client-ip.ts';

test('without trusted proxies the connection’s own IP address counts, whatever the client says', (t) => {
  t.is(clientIp('192.0.2.1', ['6.6.6.6'], 0), '192.0.2.1');
  t.is(clientIp('::ffff:192.0.2.1', [], 0), '192.0.2.1');
});

test('with trusted proxies the entry written by the outermost of them counts, not the entries left of it', (t) => {
  t.is(clientIp('10.0.0.1', ['6.6.6.6, 192.0.2.1'], 1), '192.0.2.1');
  t.is(clientIp('10.0.0.1', ['6.6.6.6, 192.0.2.1, 10.0.0.2'], 2), '192.0.2.1');
  t.is(clientIp('10.0.0.1', ['6.6.6.6', '192.0.2.1'], 1), '192.0.2.1');
  t.is(clientIp('10.0.0.1', ['192.0.2.1'], 3), '192.0.2.1');
});

test('an entry that is not an IP address is ignored', (t) => {
  t.is(clientIp('10.0.0.1', ['unknown'], 1), '10.0.0.1');
  t.is(clientIp('10.0.0.1', [''], 1), '10.0.0.1');
  t.is(clientIp('10.0.0.1', [], 1), '10.0.0.1');
});
