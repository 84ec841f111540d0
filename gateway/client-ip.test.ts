import test from 'ava';
import { createClients } from './client-ip.ts';

/** Resolves clients behind this many trusted proxies, and collects the warnings that are logged. */
function behind(hops: number) {
  const warnings: string[] = [];
  const warn = (_entry: object, message: string) => void warnings.push(message);
  return { ...createClients(hops, { warn } as Parameters<typeof createClients>[1]), warnings };
}

const clientIp = (peer: string, forwardedFor: readonly string[], hops: number) =>
  behind(hops).ipOf(peer, forwardedFor);

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

test('an entry is the same client with a port, in brackets or in quotes', (t) => {
  for (const entry of [
    '192.0.2.1',
    '192.0.2.1:443',
    '"192.0.2.1"',
    '"192.0.2.1:443"',
    '[::ffff:192.0.2.1]:1',
  ]) {
    t.is(clientIp('10.0.0.1', [`6.6.6.6, ${entry}`], 1), '192.0.2.1', entry);
  }
  for (const entry of [
    '2001:db8::1',
    '[2001:db8::1]',
    '[2001:db8::1]:443',
    '"[2001:db8::1]:443"',
    '"2001:db8::1"',
  ]) {
    t.is(clientIp('10.0.0.1', [`6.6.6.6, ${entry}`], 1), '2001:db8::1', entry);
  }
});

const noAddresses = [
  'unknown',
  '',
  '_hidden',
  '192.0.2.1:',
  '192.0.2.1:x',
  '192.0.2.1:443:1',
  '[192.0.2',
  '[]',
  '"',
  '""',
  '1.2.3',
  '192.0.2.1 6.6.6.6',
  'a"192.0.2.1"',
];

test('an entry that is not an IP address is ignored, and logged once', (t) => {
  const { ipOf, warnings } = behind(1);
  for (const entry of noAddresses) t.is(ipOf('10.0.0.1', [entry]), '10.0.0.1', entry);
  t.is(warnings.length, 1);
  t.regex(warnings[0] ?? '', /entry of X-Forwarded-For is not an IP address/);
  t.is(ipOf('10.0.0.1', []), '10.0.0.1');
});

test('a header that no proxy is trusted to send is logged once; a call without one, or with a usable one, is not', (t) => {
  const alone = behind(0);
  t.is(alone.ipOf('192.0.2.1', []), '192.0.2.1');
  t.deepEqual(alone.warnings, []);
  for (let i = 0; i < 3; i += 1) t.is(alone.ipOf('192.0.2.1', ['6.6.6.6']), '192.0.2.1');
  t.is(alone.warnings.length, 1);
  t.regex(alone.warnings[0] ?? '', /TRUSTED_PROXY_HOPS is 0/);
  const trusted = behind(2);
  trusted.ipOf('10.0.0.1', []);
  trusted.ipOf('10.0.0.1', ['192.0.2.1:443, 10.0.0.2']);
  t.deepEqual(trusted.warnings, []);
});

test('a client is on TLS if the outermost trusted proxy reports it, in any letter case', (t) => {
  for (const [headers, hops, isOnTls] of [
    [['https'], 1, true],
    [['HTTPS'], 1, true],
    [['http, https'], 1, true],
    [['http', 'https'], 1, true],
    [['https, http'], 1, false],
    [['https, http'], 2, true],
    [['https,http , http'], 2, false],
    [['https'], 2, true],
    [['https'], 0, false],
    [['http'], 1, false],
    [['httpsx'], 1, false],
    [[''], 1, false],
    [[], 1, false],
  ] as const) {
    t.is(behind(hops).isOnTls(headers), isOnTls, `${headers.join(' and ')} behind ${hops}`);
  }
});
