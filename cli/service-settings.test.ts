import { readFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import {
  ownAccountsOptions,
  ownDataApiOptions,
  ownGatewayOptions,
  ownPublisherOptions,
  ownWorkerOptions,
} from './commands/start.ts';
import type { Installation } from './installation.ts';
import { processNames, readBy, settingsOf, type ProcessName } from './service-settings.ts';
import { openPlans } from '../kernel/plans.ts';
import { projectRoot } from '../kernel/project.ts';
import { plansFileOf, readSettings, type Settings } from '../kernel/settings/settings.ts';
import { settingNames } from '../kernel/settings/variables.ts';

/** The variables from which each property of the settings is derived. */
const variablesOf: Record<keyof Settings, readonly string[]> = {
  host: ['HOST'],
  port: ['PORT'],
  dataApiPort: ['DATA_API_PORT'],
  accountsApiPort: ['ACCOUNTS_API_PORT'],
  publisherPort: ['PUBLISHER_PORT'],
  dataDir: ['DATA_DIR'],
  databaseUrl: ['DATABASE_URL', 'DATABASE_PASSWORD'],
  databaseReadUrl: ['DATABASE_READ_URL', 'DATABASE_PASSWORD'],
  databasePasswords: [
    ...['DATA_API_DATABASE_PASSWORD', 'ACCOUNTS_API_DATABASE_PASSWORD', 'PUBLISHER_DATABASE_PASSWORD'],
  ],
  replicaLagMaxMs: ['REPLICA_LAG_MAX_MS'],
  redisUrl: ['REDIS_URL', 'REDIS_PASSWORD'],
  identitySecret: ['IDENTITY_SECRET'],
  previousIdentitySecret: ['IDENTITY_SECRET_PREVIOUS'],
  dataApiUrls: ['DATA_API_URL'],
  accountsApiUrls: ['ACCOUNTS_API_URL'],
  publisherUrls: ['PUBLISHER_URL'],
  serviceTls: ['SERVICE_TLS_CERT', 'SERVICE_TLS_KEY'],
  seriesTimeZone: ['SERIES_TIME_ZONE'],
  fiscalYearFirstMonth: ['FISCAL_YEAR_FIRST_MONTH'],
  inboxDir: ['INBOX_DIR'],
  bulkPlace: [
    ...['BULK_DIR', 'BULK_S3_ENDPOINT', 'BULK_S3_REGION', 'BULK_S3_BUCKET', 'BULK_S3_PREFIX'],
    ...['BULK_S3_PATH_STYLE', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'],
  ],
  bulkKeepDays: ['BULK_KEEP_DAYS'],
  bulkPinnedDays: ['BULK_PINNED_DAYS'],
  previewPoints: ['PREVIEW_POINTS'],
  openRevisionsSeries: ['OPEN_REVISIONS_SERIES'],
  synonymsFile: ['SYNONYMS_FILE'],
  frontPageFile: ['FRONT_PAGE_FILE'],
  plansFile: ['PLANS_FILE'],
  trustedProxyHops: ['TRUSTED_PROXY_HOPS'],
  publicCallsPerSecond: ['PUBLIC_CALLS_SECOND'],
  managementCallsPerSecond: ['MANAGEMENT_CALLS_SECOND'],
  answerWithinMs: ['ANSWER_WITHIN_MS'],
  responseCacheMb: ['RESPONSE_CACHE_MB'],
  uploadMb: ['UPLOAD_MB'],
  fileLimits: ['FILE_MEMORY_MB', 'FILE_SECONDS'],
  quotaOutage: ['QUOTA_OUTAGE'],
  drainDelayMs: ['DRAIN_DELAY_MS'],
  journalDir: ['JOURNAL_DIR', 'DATA_DIR'],
  metrics: ['METRICS_PORT', 'METRICS_HOST'],
  slowStatementMs: ['SLOW_STATEMENT_MS'],
  tracing: ['OTEL_EXPORTER_OTLP_ENDPOINT', 'OTEL_TRACES_SAMPLER_ARG'],
  publicUrl: ['PUBLIC_URL'],
  dashboard: ['DASHBOARD'],
  dashboardOrigins: ['DASHBOARD_ORIGINS'],
  passwordLengthMin: ['PASSWORD_LENGTH_MIN'],
  operatorSecondFactor: ['OPERATOR_SECOND_FACTOR'],
  smtpUrl: ['SMTP_URL', 'SMTP_PASSWORD'],
  mailFrom: ['MAIL_FROM'],
  google: ['GOOGLE_CLIENT_ID', 'GOOGLE_CLIENT_SECRET', 'GOOGLE_ISSUER'],
  webhooks: [
    'WEBHOOK_SECRET_KEY',
    'WEBHOOK_SECRET_KEY_PREVIOUS',
    'WEBHOOK_ALLOW_CIDRS',
    'WEBHOOK_ALLOW_HTTP',
  ],
  sources: ['SOURCE_ALLOW_CIDRS', 'SOURCE_ALLOW_HTTP'],
  stripe: ['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'STRIPE_API_URL', 'BILLING_GRACE_DAYS'],
  logLevel: ['LOG_LEVEL'],
};

/** The variables of all settings that the work reads; every start of a service also reads the plans. */
function readWithin(work: (settings: Settings) => void): string[] {
  const read = new Set<keyof Settings>(['plansFile']);
  const real = readSettings({ DASHBOARD: 'off', IDENTITY_SECRET: 'i'.repeat(32) });
  work(
    new Proxy(real, {
      get(target, name) {
        read.add(name as keyof Settings);
        return Reflect.get(target, name) as unknown;
      },
    }),
  );
  return [...new Set([...read].flatMap((name) => variablesOf[name]))].sort();
}

const plans = openPlans(plansFileOf({}));

/** As openInstallation creates it for an external database. */
function installationOf(settings: Settings): Installation {
  const nothing = () => Promise.resolve();
  return {
    settings,
    ...{ databaseUrl: 'postgres://h/d', migrated: [], databaseDirectory: undefined },
    get dataApiDatabaseUrl() {
      return settings.databaseUrl ?? '';
    },
    get accountsDatabaseUrl() {
      return settings.databaseUrl ?? '';
    },
    get publisherDatabaseUrl() {
      return settings.databaseUrl ?? '';
    },
    get identitySecret() {
      return settings.identitySecret ?? '';
    },
    ...{ stop: nothing, release: nothing },
  };
}

test('each service reads exactly the settings in the table', (t) => {
  const signal = new AbortController().signal;
  const starts: Partial<Record<ProcessName, (settings: Settings) => void>> = {
    gateway: (settings) => void ownGatewayOptions(settings, plans, signal),
    'data-api': (settings) => void ownDataApiOptions(installationOf(settings), plans),
    'accounts-api': (settings) => void ownAccountsOptions(installationOf(settings), plans),
    worker: (settings) => void ownWorkerOptions(installationOf(settings), plans),
    publisher: (settings) => void ownPublisherOptions(installationOf(settings)),
  };
  for (const [name, start] of Object.entries(starts))
    t.deepEqual(readWithin(start), [...settingsOf(name as ProcessName)].sort(), name);
  t.deepEqual(
    Object.values(variablesOf)
      .flat()
      .filter((name) => !settingNames.includes(name)),
    [],
  );
});

test('each setting is read by a process', (t) => {
  t.deepEqual(Object.keys(readBy).sort(), [...settingNames].sort());
  for (const [name, processes] of Object.entries(readBy)) t.true(processes.length > 0, name);
});

test('docs/operations.md states which process reads which setting', (t) => {
  const text = readFileSync(path.join(projectRoot, 'docs/operations.md'), 'utf8');
  const rows = [...text.matchAll(/^\| `([A-Z][A-Z0-9_]+)` \|((?: [x ]? ?\|){7})$/gm)];
  const documented = rows.map(([, name = '', cells = '']) => {
    const marks = cells.split('|').slice(0, -1);
    return [name, processNames.filter((_, at) => marks[at]?.trim() === 'x')];
  });
  const table = settingNames.map((name) => [
    name,
    processNames.filter((each) => settingsOf(each).includes(name)),
  ]);
  t.deepEqual(documented, table);
});

test('the replacement of IDENTITY_SECRET begins with every service that reads the previous one, and ends with the gateways', (t) => {
  const text = readFileSync(path.join(projectRoot, 'docs/operations.md'), 'utf8');
  const [, steps = ''] = text.split('## Changing `IDENTITY_SECRET`');
  const [first = '', second = ''] = [...steps.matchAll(/^\d\. ([^:]+): set /gm)].map(([, names]) => names);
  const services = readBy.IDENTITY_SECRET_PREVIOUS.filter((name) => name !== 'commands');
  t.deepEqual(first.split(', ').sort(), [...services].sort());
  t.is(second, 'gateways');
});
