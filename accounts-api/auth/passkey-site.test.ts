// The passkey site of a public URL.
import test from 'ava';
import { passkeySiteOf } from './passkey-site.ts';

test('passkeys are bound to the host of the public URL, on HTTPS or on this machine', (t) => {
  for (const [publicUrl, rpId, origin] of [
    ['https://almanac.example', 'almanac.example', 'https://almanac.example'],
    ['https://Data.Example:8443/a', 'data.example', 'https://data.example:8443'],
    ['http://localhost:8080', 'localhost', 'http://localhost:8080'],
    ['http://a.localhost:8080', 'a.localhost', 'http://a.localhost:8080'],
    ['http://127.0.0.1:8080', 'localhost', 'http://localhost:8080'],
    ['http://127.8.9.1', 'localhost', 'http://localhost'],
    ['http://[::1]:8080', 'localhost', 'http://localhost:8080'],
    ['https://127.0.0.1', 'localhost', 'https://localhost'],
  ] as const)
    t.deepEqual(passkeySiteOf(publicUrl), { rpId, origin }, publicUrl);
  for (const publicUrl of [
    'http://almanac.example',
    'http://10.0.0.1',
    'https://10.0.0.1',
    'https://[2001:db8::1]',
  ])
    t.is(passkeySiteOf(publicUrl), null, publicUrl);
});
