import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:tls';
import test from 'ava';
import { createLog } from '../log/log.ts';
import { certificateEnd, certificateMetrics } from './certificate.ts';

// A self-signed certificate for almanac.example, valid until `until`.
const key = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgpTfx3U0hrwJ/0Ma5
bocYnovE9ZcJDtdy7U70hYfbpQyhRANCAAQ4lbedmqxUycC6HJNTXxan5L0JfbAK
pb4JTAN5N00uCPxIwXjW+GuAkDGDQ+781xkXkSNWUbARSULbQvaznT7T
-----END PRIVATE KEY-----`;
const cert = `-----BEGIN CERTIFICATE-----
MIIBiDCCAS+gAwIBAgIUSXf4TwhQ3vZ8e0dbNkMM1zleKrgwCgYIKoZIzj0EAwIw
GjEYMBYGA1UEAwwPYWxtYW5hYy5leGFtcGxlMB4XDTI2MTEyMzEzMTU1N1oXDTQ2
MTExODEzMTU1N1owGjEYMBYGA1UEAwwPYWxtYW5hYy5leGFtcGxlMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEOJW3nZqsVMnAuhyTU18Wp+S9CX2wCqW+CUwDeTdN
Lgj8SMF41vhrgJAxg0Pu/NcZF5EjVlGwEUlC20L2s50+06NTMFEwHQYDVR0OBBYE
FB09SBd76BZ9TF80G88Yoy77LM0rMB8GA1UdIwQYMBaAFB09SBd76BZ9TF80G88Y
oy77LM0rMA8GA1UdEwEB/wQFMAMBAf8wCgYIKoZIzj0EAwIDRwAwRAIgIfg18luR
628OlWvzrKV9U+6zA/aqoHWrHv1RlU3yGhgCIGRQCwqvbekYT73nm00YQkv8f8cW
M2zeA+i21ml6kyHN
-----END CERTIFICATE-----`;
const until = 'Nov 18 13:15:57 2046 GMT';

test('the expiry of a certificate is read even if the certificate is not trusted', async (t) => {
  const server = createServer({ key, cert });
  server.on('tlsClientError', () => undefined);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => server.close());
  const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.is(await certificateEnd(new URL(url)), Date.parse(until));
  const [metric] = certificateMetrics(url, createLog('test', 'silent'));
  await metric?.refresh?.();
  const [sample] = metric?.read() ?? [];
  const expected = (Date.parse(until) - Date.now()) / 1000;
  t.true(Math.abs((sample?.value ?? 0) - expected) < 600, String(sample?.value));
});

test('a URL that cannot be reached has no value, and one without TLS has no metric', async (t) => {
  await t.throwsAsync(certificateEnd(new URL('https://127.0.0.1:1')));
  const [metric] = certificateMetrics('https://127.0.0.1:1', createLog('test', 'silent'));
  await metric?.refresh?.();
  t.deepEqual(metric?.read(), []);
  t.deepEqual(certificateMetrics('http://127.0.0.1:1', createLog('test', 'silent')), []);
});
