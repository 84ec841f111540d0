import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { readSettings, SettingsError } from './settings.ts';
import { secretSettings } from './variables.ts';
import { createAuthority } from '../../test/services/certificates.ts';

/** The settings that are refused. */
function faultsOf(env: Record<string, string>): string[] {
  try {
    readSettings(env);
    return [];
  } catch (error) {
    return (error as SettingsError).faults.map((fault) => fault.split(' ')[0] ?? '');
  }
}

/** Writes a file that is removed after the test. @returns its path. */
function fileWith(t: ExecutionContext, content: string): string {
  const directory = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  const file = path.join(directory, 'secret');
  writeFileSync(file, content);
  return file;
}

const authority = createAuthority();
test.after.always(() => authority.remove());
const { cert, key } = authority.issue();

const validSecrets: Record<(typeof secretSettings)[number], string> = {
  DATABASE_URL: 'postgres://h/a',
  DATABASE_READ_URL: 'postgres://h/b',
  DATABASE_PASSWORD: 'of the database',
  DATA_API_DATABASE_PASSWORD: 'of-data-api-role',
  ACCOUNTS_API_DATABASE_PASSWORD: 'of-accounts-api-role',
  PUBLISHER_DATABASE_PASSWORD: 'of-publisher-role',
  REDIS_URL: 'redis://h',
  REDIS_PASSWORD: 'of redis',
  IDENTITY_SECRET: 'i'.repeat(32),
  IDENTITY_SECRET_PREVIOUS: 'j'.repeat(32),
  SERVICE_TLS_CERT: cert,
  SERVICE_TLS_KEY: key,
  AWS_SECRET_ACCESS_KEY: 'of the bucket',
  SMTP_URL: 'smtp://m',
  SMTP_PASSWORD: 'of the mail',
  GOOGLE_CLIENT_SECRET: 'of google',
  WEBHOOK_SECRET_KEY: 'k'.repeat(32),
  WEBHOOK_SECRET_KEY_PREVIOUS: 'l'.repeat(32),
  STRIPE_SECRET_KEY: 'sk_test_a',
  STRIPE_WEBHOOK_SECRET: 'whsec_a',
};

test('every secret can be given as the path of a file, without its last line end', (t) => {
  const others = { GOOGLE_CLIENT_ID: 'id', BULK_S3_BUCKET: 'statistics', AWS_ACCESS_KEY_ID: 'id' };
  const plain = readSettings({ ...validSecrets, ...others });
  for (const lineEnd of ['', '\n', '\r\n']) {
    const files = Object.entries(validSecrets).map(([name, value]) => [
      `${name}_FILE`,
      fileWith(t, value + lineEnd),
    ]);
    t.deepEqual(readSettings({ ...Object.fromEntries(files), ...others }), plain);
  }
  const loaded = readSettings({ IDENTITY_SECRET_FILE: fileWith(t, `${'i'.repeat(32)} \n\n`) });
  t.is(loaded.identitySecret, `${'i'.repeat(32)} \n`, 'one line end, and nothing else');
});

test('a secret cannot be given twice, and an unusable file is reported only by its setting', (t) => {
  for (const name of secretSettings) {
    const env = { GOOGLE_CLIENT_ID: 'id', ...validSecrets };
    t.deepEqual(faultsOf({ ...env, [`${name}_FILE`]: fileWith(t, validSecrets[name]) }), [`${name}_FILE`]);
  }
  const missing = t.throws(() => readSettings({ IDENTITY_SECRET_FILE: '/hunter2' }));
  t.regex(missing?.message ?? '', /^  IDENTITY_SECRET_FILE must name a file that can be read \(ENOENT\)$/m);
  t.false(missing?.message.includes('hunter2'));
  t.deepEqual(faultsOf({ IDENTITY_SECRET_FILE: fileWith(t, '\n') }), ['IDENTITY_SECRET_FILE']);
  t.deepEqual(faultsOf({ IDENTITY_SECRET_FILE: fileWith(t, 'short') }), ['IDENTITY_SECRET']);
});

test('a required setting can be in a file, and is reported once if that cannot be read', (t) => {
  const needs = { service: 'data-api', settings: ['DATABASE_URL', 'IDENTITY_SECRET'] } as const;
  const given = { DATABASE_URL_FILE: fileWith(t, 'postgres://h/d\n') };
  const settings = readSettings({ ...given, IDENTITY_SECRET: 's'.repeat(32) }, needs);
  t.is(settings.databaseUrl, 'postgres://h/d');
  const error = t.throws(() => readSettings({ ...given, IDENTITY_SECRET_FILE: '/nowhere' }, needs));
  t.is(error?.message.split('\n').length, 2);
});

test('a password given separately from its URL is inserted unchanged, whatever its characters', (t) => {
  const password = 'p@s/s:w?o#r%d é';
  const encoded = encodeURIComponent(password);
  const settings = readSettings({
    ...{ DATABASE_URL: 'postgres://almanac@db:5432/almanac?sslmode=require', DATABASE_PASSWORD: password },
    ...{ DATABASE_READ_URL: 'postgresql://reader@replica/almanac' },
    ...{ REDIS_URL: 'redis://redis:6379/0', REDIS_PASSWORD: password },
    ...{ SMTP_URL: 'smtps://almanac@mail', SMTP_PASSWORD: password },
  });
  t.is(settings.databaseUrl, `postgres://almanac:${encoded}@db:5432/almanac?sslmode=require`);
  t.is(settings.databaseReadUrl, `postgresql://reader:${encoded}@replica/almanac`);
  t.is(settings.redisUrl, `redis://:${encoded}@redis:6379/0`);
  t.is(settings.smtpUrl, `smtps://almanac:${encoded}@mail`);
  for (const url of [settings.databaseUrl, settings.redisUrl, settings.smtpUrl])
    t.is(decodeURIComponent(new URL(url ?? '').password), password);
  for (const [given, completed] of [
    ['redis+cluster://user@h1:1,h2:2', `redis+cluster://user:${encoded}@h1:1,h2:2`],
    ['redis+sentinel://h1:1,h2:2/name', `redis+sentinel://:${encoded}@h1:1,h2:2/name`],
    ['rediss://user@[::1]:6379', `rediss://user:${encoded}@[::1]:6379`],
  ] as const)
    t.is(readSettings({ REDIS_URL: given, REDIS_PASSWORD: password }).redisUrl, completed);
});

test('a password without a URL is refused, and so is one for a URL that already has a password', (t) => {
  t.deepEqual(faultsOf({ DATABASE_PASSWORD: 'p' }), ['DATABASE_PASSWORD']);
  t.deepEqual(faultsOf({ REDIS_PASSWORD: 'p' }), ['REDIS_PASSWORD']);
  t.deepEqual(faultsOf({ SMTP_PASSWORD: 'p' }), ['SMTP_PASSWORD']);
  for (const url of ['postgres://u:q@h/d', 'postgres://u:@h/d', 'postgres:///d'])
    t.deepEqual(faultsOf({ DATABASE_URL: url, DATABASE_PASSWORD: 'p' }), ['DATABASE_URL'], url);
  const both = { DATABASE_URL: 'postgres://u@h/d', DATABASE_READ_URL: 'postgres://u:q@h/d' };
  t.deepEqual(faultsOf({ ...both, DATABASE_PASSWORD: 'p' }), ['DATABASE_READ_URL']);
});

test('a certificate and its key are given together, as PEM, and belong to each other; no part of a key is shown', (t) => {
  const rules = {
    both: 'SERVICE_TLS_CERT and SERVICE_TLS_KEY must both be set, or neither',
    cert: 'SERVICE_TLS_CERT must be a certificate, as PEM',
    key: 'SERVICE_TLS_KEY must be a private key without a passphrase, as PEM',
    pair: 'SERVICE_TLS_KEY must be the private key of SERVICE_TLS_CERT',
  };
  const other = authority.issue();
  for (const [given, ...faults] of [
    [{ SERVICE_TLS_CERT: cert }, rules.both],
    [{ SERVICE_TLS_KEY: key }, rules.both],
    [{ SERVICE_TLS_CERT: 'hunter2', SERVICE_TLS_KEY: key }, rules.cert],
    [{ SERVICE_TLS_CERT: cert, SERVICE_TLS_KEY: cert }, rules.key],
    [{ SERVICE_TLS_CERT: 'hunter2', SERVICE_TLS_KEY: 'hunter2' }, rules.cert, rules.key],
    [{ SERVICE_TLS_CERT: cert, SERVICE_TLS_KEY: other.key }, rules.pair],
  ] as const) {
    const error = t.throws(() => readSettings(given), { instanceOf: SettingsError });
    t.deepEqual(error?.faults, faults);
  }
  t.deepEqual(readSettings({ SERVICE_TLS_CERT: other.cert, SERVICE_TLS_KEY: other.key }).serviceTls, other);
});
