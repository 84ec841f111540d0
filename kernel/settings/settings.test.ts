import path from 'node:path';
import test from 'ava';
import { projectRoot } from '../project.ts';
import { misspelledSettings } from './misspelled.ts';
import { readSettings } from './settings.ts';
import { variableNames } from './variables.ts';
import { createAuthority } from '../../test/services/certificates.ts';

const authority = createAuthority();
test.after.always(() => authority.remove());
const { cert, key } = authority.issue();

test('without variables, every setting has its default', (t) => {
  const settings = readSettings({ PATH: '/bin', PORT: '' });
  t.is(settings.port, 8080);
  t.is(settings.host, '127.0.0.1');
  t.is(settings.databaseUrl, undefined);
  t.true(Object.isFrozen(settings));
});

test('all invalid settings are reported together, and no value is shown', (t) => {
  const error = t.throws(() =>
    readSettings({
      PORT: '99999',
      DATABASE_URL: 'mysql://root:hunter2@db',
      SERIES_TIME_ZONE: 'Mars/Olympus',
      IDENTITY_SECRET: 'short',
      TRUSTED_PROXY_HOPS: '-1',
      DASHBOARD_ORIGINS: 'https://dashboard.example/',
    }),
  );
  for (const name of [
    'PORT',
    'DATABASE_URL',
    'SERIES_TIME_ZONE',
    'IDENTITY_SECRET',
    'TRUSTED_PROXY_HOPS',
    'DASHBOARD_ORIGINS',
  ]) {
    t.true(error?.message.includes(name), name);
  }
  t.false(error?.message.includes('hunter2'));
});

const faultsOf = (env: Record<string, string>): string[] => {
  try {
    readSettings(env);
    return [];
  } catch (error) {
    return String(error)
      .split('\n')
      .slice(1)
      .map((line) => line.trim().split(' ')[0] ?? '');
  }
};

test('each number is accepted at both ends of its range and refused just outside', (t) => {
  const ranges: Record<string, [number, number]> = {
    PORT: [0, 65_535],
    DATA_API_PORT: [0, 65_535],
    ACCOUNTS_API_PORT: [0, 65_535],
    METRICS_PORT: [0, 65_535],
    SLOW_STATEMENT_MS: [0, 86_400_000],
    TRUSTED_PROXY_HOPS: [0, 10],
    PUBLIC_CALLS_SECOND: [1, 100_000],
    MANAGEMENT_CALLS_SECOND: [1, 100_000],
    ANSWER_WITHIN_MS: [1_000, 86_400_000],
    DRAIN_DELAY_MS: [0, 600_000],
    PREVIEW_POINTS: [0, 1_000],
    REPLICA_LAG_MAX_MS: [0, 86_400_000],
    PASSWORD_LENGTH_MIN: [8, 64],
  };
  for (const [name, [least, most]] of Object.entries(ranges)) {
    for (const accepted of [least, most]) t.deepEqual(faultsOf({ [name]: String(accepted) }), [], name);
    for (const refused of [least - 1, most + 1, 1.5, 'a', '1e1', ' 9']) {
      t.deepEqual(faultsOf({ [name]: String(refused) }), [name], `${name}=${refused}`);
    }
  }
});

test('a setting for words or URLs accepts only the listed ones', (t) => {
  const cases: Record<string, { accepted: string[]; refused: string[] }> = {
    DATABASE_URL: {
      accepted: ['postgres://h/d', 'postgresql://h/d'],
      refused: ['http://h', 'h', 'postgres'],
    },
    DATABASE_READ_URL: {
      accepted: ['postgres://u:%25@h/d'],
      refused: ['redis://h', 'postgres://u:50%off@h/d'],
    },
    DATA_API_DATABASE_PASSWORD: {
      accepted: ["twelve'chars"],
      refused: ['eleven char', 'with a blank', 'zwölf Zeichen'],
    },
    ACCOUNTS_API_DATABASE_PASSWORD: { accepted: ['twelve_chars'], refused: ['eleven_char', 'zwölf_Zeichen'] },
    PUBLISHER_DATABASE_PASSWORD: { accepted: ['twelve_chars'], refused: ['eleven_char', 'zwölf_Zeichen'] },
    REDIS_URL: {
      accepted: ['redis://h', 'rediss+cluster://h:1', 'redis+sentinel://u:%25@h:1,i:2/m'],
      refused: ['http://h', 'redis', 'redis://:50%off@h', 'redis+sentinel://u:50%off@h:1/m'],
    },
    IDENTITY_SECRET: { accepted: ['s'.repeat(32)], refused: ['s'.repeat(31)] },
    IDENTITY_SECRET_PREVIOUS: { accepted: ['s'.repeat(32)], refused: ['s'.repeat(31)] },
    DATA_API_URL: {
      accepted: ['https://a', 'http://a/', 'http://a, http://b:1'],
      refused: ['ftp://a', 'http://a,', 'a', 'http://a/b', 'http://a/?b', 'http://u:p@a'],
    },
    ACCOUNTS_API_URL: { accepted: ['http://a,http://b'], refused: ['ftp://a', ','] },
    PUBLISHER_URL: { accepted: ['http://a,http://b'], refused: ['ftp://a', ','] },
    SERIES_TIME_ZONE: {
      accepted: ['UTC', 'Asia/Karachi'],
      refused: ['Mars/Olympus', 'Karachi', '+05:00', 'IST'],
    },
    OPEN_REVISIONS_SERIES: { accepted: ['none', 'A', 'x.y-Z_9'], refused: ['.a', 'a b', 'a/b'] },
    QUOTA_OUTAGE: { accepted: ['bounded', 'closed', 'open'], refused: ['Open', 'half'] },
    OTEL_EXPORTER_OTLP_ENDPOINT: {
      accepted: ['http://a:4318', 'https://a/b/'],
      refused: ['a:4317', 'grpc://a'],
    },
    OTEL_TRACES_SAMPLER_ARG: {
      accepted: ['0', '1', '0.05', '.5', '1.0'],
      refused: ['2', '-1', '1.1', 'a', '1e-3'],
    },
    PUBLIC_URL: { accepted: ['http://a', 'https://a/b/'], refused: ['a', 'ftp://a'] },
    OPERATOR_SECOND_FACTOR: { accepted: ['optional', 'required'], refused: ['on', 'Required'] },
    DASHBOARD: { accepted: ['on', 'off'], refused: ['yes', 'On', 'true'] },
    DASHBOARD_ORIGINS: {
      accepted: ['https://a', 'http://a:1, https://b'],
      refused: ['https://a/', 'https://a/b', 'ftp://a', 'https://A', 'null', '*', 'https://a,'],
    },
    SMTP_URL: {
      accepted: ['smtp://h', 'smtps://h:465', 'smtp://u:50%25@h'],
      refused: ['http://h', 'h', 'smtp:h', 'smtp://u:50%off@h'],
    },
    MAIL_FROM: {
      accepted: ['a@b', 'A <a@b>', 'A, B & C <a@b>'],
      refused: ['ab', 'Almanac', 'A a@b', 'A <a>', '<a@b> A', 'a@b, c@d', 'A\nBcc: c@d <a@b>'],
    },
    WEBHOOK_SECRET_KEY: { accepted: ['s'.repeat(32)], refused: ['s'.repeat(31)] },
    WEBHOOK_SECRET_KEY_PREVIOUS: { accepted: ['s'.repeat(32)], refused: ['s'.repeat(31)] },
    WEBHOOK_ALLOW_CIDRS: {
      accepted: ['10.0.0.0/8', '0.0.0.0/0, ::/0', '10.1.2.3/32', 'fd00::1/128'],
      refused: [
        '10.0.0.0',
        '10.0.0.0/33',
        '::/129',
        '10.0.0/8',
        'a/8',
        '10.0.0.0/8,',
        'fe80::1%1/64',
        '10.0.0.0/-1',
      ],
    },
    WEBHOOK_ALLOW_HTTP: { accepted: ['true', 'false'], refused: ['yes', '1', 'True'] },
    SOURCE_ALLOW_CIDRS: { accepted: ['10.0.0.0/8, fd00::/8'], refused: ['10.0.0.0', 'a/8', '10.0.0.0/8,'] },
    SOURCE_ALLOW_HTTP: { accepted: ['true', 'false'], refused: ['yes', '1', 'True'] },
    GOOGLE_ISSUER: { accepted: ['https://a', 'http://a'], refused: ['a', 'ftp://a'] },
    STRIPE_API_URL: { accepted: ['https://a', 'http://127.0.0.1:1'], refused: ['a', 'ftp://a'] },
    BILLING_GRACE_DAYS: { accepted: ['0', '90'], refused: ['-1', '91', '1.5'] },
    LOG_LEVEL: {
      accepted: ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      refused: ['verbose', 'INFO'],
    },
  };
  for (const [name, { accepted, refused }] of Object.entries(cases)) {
    for (const value of accepted) t.deepEqual(faultsOf({ [name]: value }), [], `${name}=${value}`);
    for (const value of refused) t.deepEqual(faultsOf({ [name]: value }), [name], `${name}=${value}`);
  }
});

test('the URL of a service may end in a slash', (t) => {
  const { dataApiUrls } = readSettings({ DATA_API_URL: 'http://a/, https://b:1' });
  t.deepEqual(dataApiUrls, ['http://a', 'https://b:1']);
});

test('unset settings have the defaults of .env.example, and paths are absolute', (t) => {
  const { dataDir, plansFile, journalDir, ...settings } = readSettings({});
  t.is(dataDir, path.join(projectRoot, '.almanac'));
  t.is(plansFile, path.join(projectRoot, 'config/plans.yml'));
  t.is(journalDir, path.join(projectRoot, '.almanac/journal'));
  t.deepEqual(settings, {
    host: '127.0.0.1',
    port: 8080,
    dataApiPort: 8081,
    accountsApiPort: 8082,
    publisherPort: 8083,
    databaseUrl: undefined,
    databaseReadUrl: undefined,
    databasePasswords: { dataApi: undefined, accountsApi: undefined, publisher: undefined },
    replicaLagMaxMs: 60_000,
    redisUrl: undefined,
    identitySecret: undefined,
    previousIdentitySecret: undefined,
    dataApiUrls: undefined,
    accountsApiUrls: undefined,
    publisherUrls: undefined,
    serviceTls: undefined,
    seriesTimeZone: 'UTC',
    fiscalYearFirstMonth: 7,
    inboxDir: undefined,
    bulkPlace: undefined,
    bulkKeepDays: 7,
    bulkPinnedDays: 10,
    previewPoints: 120,
    openRevisionsSeries: 'DEMO.PAYROLLS',
    synonymsFile: undefined,
    frontPageFile: undefined,
    trustedProxyHops: 0,
    publicCallsPerSecond: 20,
    managementCallsPerSecond: 20,
    answerWithinMs: 300_000,
    responseCacheMb: 64,
    uploadMb: 64,
    fileLimits: { memoryMb: 512, stepSeconds: 120 },
    quotaOutage: 'bounded',
    drainDelayMs: 0,
    metrics: undefined,
    tracing: undefined,
    slowStatementMs: 1_000,
    publicUrl: 'http://127.0.0.1:8080',
    dashboard: true,
    dashboardOrigins: [],
    passwordLengthMin: 8,
    operatorSecondFactor: 'optional',
    smtpUrl: undefined,
    mailFrom: 'Almanac <almanac@localhost>',
    google: undefined,
    webhooks: { secretKey: undefined, previousSecretKey: undefined, allowCidrs: [], allowHttp: false },
    sources: { allowCidrs: [], allowHttp: false },
    stripe: undefined,
    logLevel: 'warn',
  });
});

test('a variable sets the setting of its name, and no other', (t) => {
  const secret = (letter: string) => letter.repeat(32);
  const { dataDir, plansFile, synonymsFile, frontPageFile, ...others } = readSettings({
    ...{ HOST: '0.0.0.0', PORT: '1', DATA_API_PORT: '2', ACCOUNTS_API_PORT: '3', DATA_DIR: 'data' },
    PUBLISHER_PORT: '4',
    ...{ DATABASE_URL: 'postgres://h/a', DATABASE_READ_URL: 'postgres://h/b', REDIS_URL: 'redis://h' },
    ...{ DATA_API_DATABASE_PASSWORD: "of-data-api'1", ACCOUNTS_API_DATABASE_PASSWORD: 'of-accounts-api' },
    PUBLISHER_DATABASE_PASSWORD: 'of-the-publisher',
    REPLICA_LAG_MAX_MS: '700',
    ...{ IDENTITY_SECRET: secret('a'), IDENTITY_SECRET_PREVIOUS: secret('b') },
    ...{
      DATA_API_URL: 'http://a, https://b',
      ACCOUNTS_API_URL: 'http://c',
      PUBLISHER_URL: 'http://p',
      SERIES_TIME_ZONE: 'Asia/Karachi',
    },
    ...{ SERVICE_TLS_CERT: cert, SERVICE_TLS_KEY: key },
    ...{
      PLANS_FILE: 'plans.yml',
      SYNONYMS_FILE: 'words.yml',
      FRONT_PAGE_FILE: 'page.yml',
      FISCAL_YEAR_FIRST_MONTH: '10',
      INBOX_DIR: 'put-here',
      BULK_DIR: 'files',
      BULK_KEEP_DAYS: '2',
      BULK_PINNED_DAYS: '3',
      PREVIEW_POINTS: '36',
      OPEN_REVISIONS_SERIES: 'GDP',
      TRUSTED_PROXY_HOPS: '4',
      PUBLIC_CALLS_SECOND: '5',
      QUOTA_OUTAGE: 'open',
    },
    ...{
      ANSWER_WITHIN_MS: '1500',
      MANAGEMENT_CALLS_SECOND: '8',
      DRAIN_DELAY_MS: '6',
      RESPONSE_CACHE_MB: '32',
      UPLOAD_MB: '16',
      FILE_MEMORY_MB: '256',
      FILE_SECONDS: '30',
      JOURNAL_DIR: 'kept',
      METRICS_PORT: '7',
      METRICS_HOST: '::',
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://traces:4318/',
      OTEL_TRACES_SAMPLER_ARG: '.25',
      SLOW_STATEMENT_MS: '9',
    },
    ...{ PUBLIC_URL: 'https://a.example//', DASHBOARD: 'off', DASHBOARD_ORIGINS: 'https://d, https://e' },
    ...{ PASSWORD_LENGTH_MIN: '9', OPERATOR_SECOND_FACTOR: 'required' },
    ...{ SMTP_URL: 'smtp://m', MAIL_FROM: 'a@b', LOG_LEVEL: 'info' },
    ...{ GOOGLE_CLIENT_ID: 'id', GOOGLE_CLIENT_SECRET: 'secret', GOOGLE_ISSUER: 'https://i' },
    ...{ WEBHOOK_SECRET_KEY: secret('c'), WEBHOOK_SECRET_KEY_PREVIOUS: secret('d') },
    ...{ WEBHOOK_ALLOW_CIDRS: '10.0.0.0/8, fd00::/8', WEBHOOK_ALLOW_HTTP: 'true' },
    ...{ SOURCE_ALLOW_CIDRS: '10.1.0.0/16', SOURCE_ALLOW_HTTP: 'true' },
    ...{ STRIPE_SECRET_KEY: 'sk_test_a', STRIPE_WEBHOOK_SECRET: 'whsec_a, whsec_b' },
    ...{ STRIPE_API_URL: 'http://s:1', BILLING_GRACE_DAYS: '3' },
  });
  const { journalDir, inboxDir, bulkPlace, ...settings } = others;
  t.is(dataDir, path.join(projectRoot, 'data'));
  t.is(plansFile, path.join(projectRoot, 'plans.yml'));
  t.is(synonymsFile, path.join(projectRoot, 'words.yml'));
  t.is(frontPageFile, path.join(projectRoot, 'page.yml'));
  t.is(journalDir, path.join(projectRoot, 'kept'));
  t.is(inboxDir, path.join(projectRoot, 'put-here'));
  t.deepEqual(bulkPlace, { directory: path.join(projectRoot, 'files') });
  t.deepEqual(settings, {
    ...{ host: '0.0.0.0', port: 1, dataApiPort: 2, accountsApiPort: 3, publisherPort: 4 },
    ...{ databaseUrl: 'postgres://h/a', databaseReadUrl: 'postgres://h/b', redisUrl: 'redis://h' },
    databasePasswords: {
      ...{ dataApi: "of-data-api'1", accountsApi: 'of-accounts-api', publisher: 'of-the-publisher' },
    },
    replicaLagMaxMs: 700,
    ...{ identitySecret: secret('a'), previousIdentitySecret: secret('b') },
    ...{
      serviceTls: { cert, key },
      dataApiUrls: ['http://a', 'https://b'],
      accountsApiUrls: ['http://c'],
      publisherUrls: ['http://p'],
      seriesTimeZone: 'Asia/Karachi',
      fiscalYearFirstMonth: 10,
      bulkKeepDays: 2,
      bulkPinnedDays: 3,
      previewPoints: 36,
      openRevisionsSeries: 'GDP',
    },
    ...{ trustedProxyHops: 4, publicCallsPerSecond: 5, quotaOutage: 'open', drainDelayMs: 6 },
    ...{ managementCallsPerSecond: 8, answerWithinMs: 1_500, responseCacheMb: 32, uploadMb: 16 },
    fileLimits: { memoryMb: 256, stepSeconds: 30 },
    ...{
      metrics: { host: '::', port: 7 },
      slowStatementMs: 9,
      tracing: { endpoint: 'http://traces:4318', ratio: 0.25 },
      publicUrl: 'https://a.example',
    },
    ...{
      dashboard: false,
      dashboardOrigins: ['https://d', 'https://e'],
      passwordLengthMin: 9,
      operatorSecondFactor: 'required',
      smtpUrl: 'smtp://m',
    },
    ...{ mailFrom: 'a@b', google: { clientId: 'id', clientSecret: 'secret', issuer: 'https://i' } },
    webhooks: {
      ...{ secretKey: secret('c'), previousSecretKey: secret('d') },
      ...{ allowCidrs: ['10.0.0.0/8', 'fd00::/8'], allowHttp: true },
    },
    sources: { allowCidrs: ['10.1.0.0/16'], allowHttp: true },
    stripe: {
      ...{ secretKey: 'sk_test_a', webhookSecrets: ['whsec_a', 'whsec_b'] },
      ...{ apiUrl: 'http://s:1', graceDays: 3 },
    },
    logLevel: 'info',
  });
});

test('without a host setting, metrics are served only on loopback', (t) => {
  t.deepEqual(readSettings({ METRICS_PORT: '0' }).metrics, { host: '127.0.0.1', port: 0 });
});

test('incomplete settings for Google are refused, whichever is missing', (t) => {
  for (const name of ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET']) {
    t.deepEqual(faultsOf({ [name]: 'given' }), ['GOOGLE_CLIENT_SECRET'], name);
  }
});

test('incomplete settings for Stripe are refused, and so is a malformed key or secret', (t) => {
  const [key, signing] = ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'];
  const [sk, whsec] = ['sk_live_a', 'whsec_a'];
  for (const half of [{ [key]: sk }, { [signing]: whsec }]) t.deepEqual(faultsOf(half), [key]);
  for (const accepted of ['rk_live_a', 'rk_test_a', sk]) {
    t.deepEqual(faultsOf({ [key]: accepted, [signing]: whsec }), []);
  }
  for (const refused of ['pk_live_a', 'sk_a', 'sk_live_']) {
    t.deepEqual(faultsOf({ [key]: refused, [signing]: whsec }), [key], refused);
  }
  for (const refused of ['a', 'whsec_', 'whsec_a,', 'whsec_a,b']) {
    t.deepEqual(faultsOf({ [key]: sk, [signing]: refused }), [signing], refused);
  }
});

test('a bucket is read from its settings; incomplete ones, or a folder in addition, are refused', (t) => {
  const keys = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };
  const bucket = { BULK_S3_BUCKET: 'statistics', ...keys };
  const read = { bucket: 'statistics', accessKeyId: 'id', secretAccessKey: 'secret' };
  t.deepEqual(readSettings({ ...bucket, BULK_S3_REGION: 'eu-central-1' }).bulkPlace, {
    ...{ ...read, region: 'eu-central-1', prefix: '', isPathStyle: false },
    endpoint: 'https://s3.eu-central-1.amazonaws.com',
  });
  const own = { BULK_S3_ENDPOINT: 'http://store:9000/', BULK_S3_PREFIX: 'almanac/bulk' };
  const atOwn = { ...read, region: 'us-east-1', prefix: 'almanac/bulk/', endpoint: 'http://store:9000' };
  t.deepEqual(readSettings({ ...bucket, ...own }).bulkPlace, { ...atOwn, isPathStyle: true });
  t.deepEqual(readSettings({ ...bucket, ...own, BULK_S3_PATH_STYLE: 'false' }).bulkPlace, {
    ...{ ...atOwn, isPathStyle: false },
  });
  // Other tools read these too.
  t.is(readSettings(keys).bulkPlace, undefined);
  t.is(readSettings({ AWS_ACCESS_KEY_ID: 'id' }).bulkPlace, undefined);
  t.deepEqual(faultsOf(own), ['BULK_S3_ENDPOINT', 'BULK_S3_PREFIX']);
  t.deepEqual(faultsOf({ BULK_S3_BUCKET: 'statistics' }), Object.keys(keys));
  t.deepEqual(faultsOf({ ...bucket, BULK_DIR: 'files' }), ['BULK_DIR']);
  for (const prefix of ['/a', '../a', 'a//b', 'a b'])
    t.deepEqual(faultsOf({ ...bucket, BULK_S3_PREFIX: prefix }), ['BULK_S3_PREFIX'], prefix);
});

test('missing required settings are reported together with all other faults', (t) => {
  const needs = { service: 'data-api', settings: ['DATABASE_URL', 'IDENTITY_SECRET'] } as const;
  const error = t.throws(() =>
    readSettings({ DATABASE_URL: '', PORT: 'x', METRICS_PORT: '-', GOOGLE_CLIENT_ID: 'id' }, needs),
  );
  t.deepEqual(error?.message.split('\n').slice(1), [
    '  DATABASE_URL must be set: a separately run data-api requires it',
    '  IDENTITY_SECRET must be set: a separately run data-api requires it',
    '  PORT must be a port number from 0 to 65535',
    '  METRICS_PORT must be a port number from 0 to 65535',
    '  GOOGLE_CLIENT_SECRET and GOOGLE_CLIENT_ID must both be set, or neither',
  ]);
  const settings = readSettings({ DATABASE_URL: 'postgres://h/d', IDENTITY_SECRET: 's'.repeat(32) }, needs);
  t.is(settings.databaseUrl, 'postgres://h/d');
});

test('a variable with nearly the name of a setting is reported with that name; variables of other programs are not', (t) => {
  const misspelled = {
    REDIS_ULR: 'REDIS_URL',
    REDISURL: 'REDIS_URL',
    redis_url: 'REDIS_URL',
    DATABASE_URI: 'DATABASE_URL',
    DATBASE_URL: 'DATABASE_URL',
    DATABASE_READ_URLS: 'DATABASE_READ_URL',
    IDENTITY_SECRETS: 'IDENTITY_SECRET',
    ACCOUNT_API_URL: 'ACCOUNTS_API_URL',
    TRUST_PROXY_HOPS: 'TRUSTED_PROXY_HOPS',
    PROT: 'PORT',
    Host: 'HOST',
  };
  const foreign = [
    ...['PATH', 'PWD', 'HOME', 'HOSTNAME', 'HOSTTYPE', 'USER', 'LOGNAME', 'MAIL', 'SHELL', 'LANG', 'TERM'],
    ...['PGHOST', 'PGPORT', 'PGDATA', 'HTTP_URL', 'POSTGRES_URL', 'MYSQL_URL', 'DB_URL', 'DATABASE_HOST'],
    ...['REDIS_PORT', 'REDIS_HOST', 'REDIS_SERVICE_HOST', 'DATA_API_SERVICE_PORT', 'SMTP_HOST', 'SMTP_PORT'],
    ...[
      'POST',
      'SORT',
      'PORTS',
      'GHOST',
      'GOOGLE_API_KEY',
      'LOG_FORMAT',
      'NODE_ENV',
      'npm_config_cache',
      'TZ',
    ],
  ];
  t.deepEqual(
    misspelledSettings(Object.fromEntries(Object.keys(misspelled).map((name) => [name, 'x']))),
    Object.entries(misspelled).map(([name, meant]) => ({ name, meant })),
  );
  t.deepEqual(misspelledSettings(Object.fromEntries(foreign.map((name) => [name, 'x']))), []);
  t.deepEqual(misspelledSettings(Object.fromEntries(variableNames.map((name) => [name, 'x']))), []);
});
