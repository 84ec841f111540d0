// Which process of a cluster reads which setting: the one table that docs/operations.md, docker-compose.yml and k8s/ are tested against.
import { settingNames, type SettingName } from '../kernel/settings/variables.ts';

/** The processes: the services, the job that migrates, and every other command. */
export const processNames = [
  ...(['gateway', 'data-api', 'accounts-api', 'worker', 'publisher'] as const),
  ...(['migrate', 'commands'] as const),
] as const;
export type ProcessName = (typeof processNames)[number];

const [gateway, dataApi, accountsApi, worker, publisher, migrate, commands] = processNames;
const serving = [gateway, dataApi, accountsApi, publisher] as const;
const services = [...serving, worker] as const;
const ofDatabase = [dataApi, accountsApi, worker, publisher] as const;
const ofAccounts = [accountsApi, worker, commands] as const;

/** The processes that read each setting. */
export const readBy: Readonly<Record<SettingName, readonly ProcessName[]>> = {
  HOST: serving,
  PORT: [gateway],
  DATA_API_PORT: [dataApi],
  ACCOUNTS_API_PORT: [accountsApi],
  PUBLISHER_PORT: [publisher],
  DATA_DIR: [gateway, worker, commands],
  DATABASE_URL: [...ofDatabase, migrate, commands],
  DATABASE_READ_URL: [dataApi],
  DATABASE_PASSWORD: [...ofDatabase, migrate, commands],
  DATA_API_DATABASE_PASSWORD: [migrate],
  ACCOUNTS_API_DATABASE_PASSWORD: [migrate],
  PUBLISHER_DATABASE_PASSWORD: [migrate],
  REPLICA_LAG_MAX_MS: [dataApi],
  REDIS_URL: [gateway, accountsApi, commands],
  REDIS_PASSWORD: [gateway, accountsApi, commands],
  IDENTITY_SECRET: [...services, commands],
  IDENTITY_SECRET_PREVIOUS: [dataApi, publisher, ...ofAccounts],
  DATA_API_URL: [gateway],
  ACCOUNTS_API_URL: [gateway],
  PUBLISHER_URL: [gateway],
  SERVICE_TLS_CERT: [dataApi, accountsApi, publisher],
  SERVICE_TLS_KEY: [dataApi, accountsApi, publisher],
  SERIES_TIME_ZONE: [dataApi, publisher, commands],
  FISCAL_YEAR_FIRST_MONTH: [publisher, commands],
  INBOX_DIR: [publisher, commands],
  BULK_DIR: [dataApi, publisher, commands],
  BULK_S3_ENDPOINT: [dataApi, publisher, commands],
  BULK_S3_REGION: [dataApi, publisher, commands],
  BULK_S3_BUCKET: [dataApi, publisher, commands],
  BULK_S3_PREFIX: [dataApi, publisher, commands],
  BULK_S3_PATH_STYLE: [dataApi, publisher, commands],
  AWS_ACCESS_KEY_ID: [dataApi, publisher, commands],
  AWS_SECRET_ACCESS_KEY: [dataApi, publisher, commands],
  BULK_KEEP_DAYS: [publisher],
  BULK_PINNED_DAYS: [publisher],
  PREVIEW_POINTS: [dataApi],
  OPEN_REVISIONS_SERIES: [dataApi],
  SYNONYMS_FILE: [dataApi],
  FRONT_PAGE_FILE: [dataApi],
  PLANS_FILE: [...services, commands],
  TRUSTED_PROXY_HOPS: [gateway],
  PUBLIC_CALLS_SECOND: [gateway],
  MANAGEMENT_CALLS_SECOND: [gateway],
  ANSWER_WITHIN_MS: [gateway],
  RESPONSE_CACHE_MB: [gateway],
  UPLOAD_MB: [gateway, publisher],
  FILE_MEMORY_MB: [publisher, commands],
  FILE_SECONDS: [publisher, commands],
  QUOTA_OUTAGE: [gateway],
  DRAIN_DELAY_MS: serving,
  JOURNAL_DIR: [gateway],
  METRICS_PORT: services,
  METRICS_HOST: services,
  SLOW_STATEMENT_MS: ofDatabase,
  OTEL_EXPORTER_OTLP_ENDPOINT: serving,
  OTEL_TRACES_SAMPLER_ARG: serving,
  PUBLIC_URL: [gateway, dataApi, publisher, ...ofAccounts],
  DASHBOARD: [gateway],
  DASHBOARD_ORIGINS: [gateway],
  PASSWORD_LENGTH_MIN: [accountsApi, commands],
  OPERATOR_SECOND_FACTOR: [accountsApi],
  SMTP_URL: ofAccounts,
  SMTP_PASSWORD: ofAccounts,
  MAIL_FROM: [worker],
  GOOGLE_CLIENT_ID: [accountsApi, commands],
  GOOGLE_CLIENT_SECRET: [accountsApi, commands],
  GOOGLE_ISSUER: [accountsApi, commands],
  WEBHOOK_SECRET_KEY: ofAccounts,
  WEBHOOK_SECRET_KEY_PREVIOUS: ofAccounts,
  WEBHOOK_ALLOW_CIDRS: ofAccounts,
  WEBHOOK_ALLOW_HTTP: ofAccounts,
  SOURCE_ALLOW_CIDRS: [publisher, commands],
  SOURCE_ALLOW_HTTP: [publisher, commands],
  STRIPE_SECRET_KEY: ofAccounts,
  STRIPE_WEBHOOK_SECRET: ofAccounts,
  STRIPE_API_URL: ofAccounts,
  BILLING_GRACE_DAYS: ofAccounts,
  LOG_LEVEL: [...services, commands],
};

/** The settings that a process reads. */
export function settingsOf(name: ProcessName): readonly string[] {
  return settingNames.filter((setting) => readBy[setting as SettingName].includes(name));
}
