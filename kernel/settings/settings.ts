// All settings: environment variables, read once into one typed, frozen object. All faults are reported together, by name, before anything listens.
import path from 'node:path';
import { projectRoot } from '../project.ts';
import { bucketFaults, bucketOf, type BulkPlace } from './bulk-place.ts';
import { certificateFaults, readSecretFiles, withPasswords } from './secrets.ts';
import { passwords, secretSettings, variables, type SettingName } from './variables.ts';

export type Settings = Readonly<{
  host: string;
  port: number;
  dataApiPort: number;
  accountsApiPort: number;
  publisherPort: number;
  /** Absolute path. */
  dataDir: string;
  /** Undefined: the embedded PostgreSQL. */
  databaseUrl: string | undefined;
  /** A streaming replica of the database, for data-api. */
  databaseReadUrl: string | undefined;
  /** The passwords that "almanac migrate" sets for the roles of the services; undefined: unchanged. */
  databasePasswords: Readonly<Record<'dataApi' | 'accountsApi' | 'publisher', string | undefined>>;
  /** How long data-api reads from the replica alone while the primary does not answer, in ms. */
  replicaLagMaxMs: number;
  redisUrl: string | undefined;
  identitySecret: string | undefined;
  /** The previous secret, while it is being replaced. */
  previousIdentitySecret: string | undefined;
  dataApiUrls: readonly string[] | undefined;
  accountsApiUrls: readonly string[] | undefined;
  /** Undefined: the operator endpoints about data do not exist. */
  publisherUrls: readonly string[] | undefined;
  /** The TLS certificate of data-api, accounts-api or the publisher; undefined: plain HTTP. */
  serviceTls: Certificate | undefined;
  seriesTimeZone: string;
  /** For funds without a fiscal year of their own or of their company; 1 is January. */
  fiscalYearFirstMonth: number;
  /** The absolute path of the folder that the publisher loads files from. Undefined: no folder. */
  inboxDir: string | undefined;
  /** The storage of the bulk files that the publisher writes and data-api serves. Undefined: a separately run service has none. */
  bulkPlace: BulkPlace | undefined;
  /** For how many days a bulk file remains after a newer one has replaced it. */
  bulkKeepDays: number;
  /** The most days that keys are pinned to and that have bulk files of their own. */
  bulkPinnedDays: number;
  /** The most points per combination of dimension values shown without a key; 0 shows none. */
  previewPoints: number;
  /** The id of the series whose revisions are shown without a key; undefined: no series. */
  openRevisionsSeries: string | undefined;
  /** The absolute path of the operator's own search synonyms; undefined without such a file. */
  synonymsFile: string | undefined;
  /** The absolute path of the operator's own front page; undefined: the project's front page. */
  frontPageFile: string | undefined;
  /** Absolute path. */
  plansFile: string;
  trustedProxyHops: number;
  publicCallsPerSecond: number;
  managementCallsPerSecond: number;
  /** The deadline of the complete answer to a data call. */
  answerWithinMs: number;
  /** The memory limit of a gateway's response cache; 0 disables it. */
  responseCacheMb: number;
  /** The size limit of a file that operators upload to the API. */
  uploadMb: number;
  /** The limits of a process that reads a file: its heap, and the time of one step. */
  fileLimits: { memoryMb: number; stepSeconds: number };
  /** What a gateway serves while the remaining quota of a month is unknown. */
  quotaOutage: 'bounded' | 'closed' | 'open';
  drainDelayMs: number;
  /** The absolute path where a gateway stores usage that it has not yet reported. */
  journalDir: string;
  /** The address of /metrics; undefined: not served. */
  metrics: { host: string; port: number } | undefined;
  /** Where traces are sent, and the fraction that is sampled; undefined: calls are not traced. */
  tracing: { endpoint: string; ratio: number } | undefined;
  /** Logs statements of a service that take longer; 0: no statement. */
  slowStatementMs: number;
  /** The public URL of the gateway, without a final slash. */
  publicUrl: string;
  /** Whether the gateway serves the dashboard. */
  dashboard: boolean;
  /** Origins whose pages may call account and sign-in endpoints, besides publicUrl. */
  dashboardOrigins: readonly string[];
  passwordLengthMin: number;
  /** Whether operator endpoints refuse operators without a second factor. */
  operatorSecondFactor: 'optional' | 'required';
  /** Undefined: e-mails are written to DATA_DIR/outbox. */
  smtpUrl: string | undefined;
  mailFrom: string;
  /** Undefined: no sign-in with Google. */
  google: { clientId: string; clientSecret: string; issuer: string } | undefined;
  webhooks: {
    /** Encrypts the secrets of webhook endpoints; undefined: identitySecret is used. */
    secretKey: string | undefined;
    /** The previous key, while it is being replaced. */
    previousSecretKey: string | undefined;
    /** Private networks that webhooks may be sent to. */
    allowCidrs: readonly string[];
    allowHttp: boolean;
  };
  sources: {
    /** Private networks that sources may be fetched from. */
    allowCidrs: readonly string[];
    allowHttp: boolean;
  };
  /** Undefined: billing is not configured, and no plan can be bought. */
  stripe: StripeSettings | undefined;
  logLevel: string;
}>;

/** A server's certificate, with its chain below the authority, and its private key; both PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** The connection to Stripe. */
export interface StripeSettings {
  secretKey: string;
  /** The secrets that events may be signed with: several while one is being replaced. */
  webhookSecrets: readonly string[];
  /** `https://api.stripe.com`; only tests use another URL. */
  apiUrl: string;
  /** For how many days an account with an overdue payment is served. */
  graceDays: number;
}

/** Makes the path of a setting absolute: relative to the project, so that it is the same from every folder. */
function inProject(file: string): string {
  return path.resolve(projectRoot, file);
}

/** The absolute path of the plans file; known even if other settings are invalid. */
export function plansFileOf(env: Environment): string {
  return inProject(env['PLANS_FILE'] || 'config/plans.yml');
}

type Environment = Readonly<Record<string, string | undefined>>;

/** Invalid settings. The message names each, one per line, with what is allowed, but never a value. */
export class SettingsError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`These settings are invalid:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/** The settings that one service requires. */
export interface Needs {
  /** The service's name for the message, such as `data-api`. */
  service: string;
  settings: readonly SettingName[];
}

/**
 * Reads the settings. An empty variable counts as unset.
 * @param needs the settings that must be set.
 * @throws SettingsError with all faults at once.
 */
export function readSettings(env: Environment, needs?: Needs): Settings {
  const set = Object.fromEntries(
    Object.entries(env).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
  const { given, faults: unreadable } = readSecretFiles(set, secretSettings, inProject);
  const missing = (needs?.settings ?? []).filter(
    (name) => given[name] === undefined && set[`${name}_FILE`] === undefined,
  );
  const parsed = variables.safeParse(given);
  const invalid = parsed.success ? [] : parsed.error.issues;
  const faults = [
    ...unreadable,
    ...missing.map((name) => `${name} must be set: a separately run ${needs?.service} requires it`),
    ...invalid.map((issue) => `${String(issue.path[0])} ${issue.message}`),
  ];
  if ((given['GOOGLE_CLIENT_ID'] === undefined) !== (given['GOOGLE_CLIENT_SECRET'] === undefined))
    faults.push('GOOGLE_CLIENT_SECRET and GOOGLE_CLIENT_ID must both be set, or neither');
  if ((given['STRIPE_SECRET_KEY'] === undefined) !== (given['STRIPE_WEBHOOK_SECRET'] === undefined))
    faults.push('STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET must both be set, or neither');
  faults.push(...certificateFaults({ cert: given['SERVICE_TLS_CERT'], key: given['SERVICE_TLS_KEY'] }));
  faults.push(...bucketFaults(given));
  const { complete, faults: misplaced } = withPasswords(given, passwords);
  faults.push(...misplaced);
  if (!parsed.success || faults.length > 0) throw new SettingsError([...new Set(faults)]);
  const s = parsed.data;
  return Object.freeze({
    host: s.HOST,
    port: s.PORT,
    dataApiPort: s.DATA_API_PORT,
    accountsApiPort: s.ACCOUNTS_API_PORT,
    publisherPort: s.PUBLISHER_PORT,
    dataDir: inProject(s.DATA_DIR),
    databaseUrl: complete['DATABASE_URL'],
    databaseReadUrl: complete['DATABASE_READ_URL'],
    replicaLagMaxMs: s.REPLICA_LAG_MAX_MS,
    databasePasswords: {
      dataApi: s.DATA_API_DATABASE_PASSWORD,
      accountsApi: s.ACCOUNTS_API_DATABASE_PASSWORD,
      publisher: s.PUBLISHER_DATABASE_PASSWORD,
    },
    redisUrl: complete['REDIS_URL'],
    identitySecret: s.IDENTITY_SECRET,
    previousIdentitySecret: s.IDENTITY_SECRET_PREVIOUS,
    dataApiUrls: s.DATA_API_URL,
    accountsApiUrls: s.ACCOUNTS_API_URL,
    publisherUrls: s.PUBLISHER_URL,
    serviceTls:
      s.SERVICE_TLS_CERT !== undefined && s.SERVICE_TLS_KEY !== undefined
        ? { cert: s.SERVICE_TLS_CERT, key: s.SERVICE_TLS_KEY }
        : undefined,
    seriesTimeZone: s.SERIES_TIME_ZONE,
    fiscalYearFirstMonth: s.FISCAL_YEAR_FIRST_MONTH,
    inboxDir: s.INBOX_DIR === undefined ? undefined : inProject(s.INBOX_DIR),
    bulkPlace: s.BULK_DIR === undefined ? bucketOf(s) : { directory: inProject(s.BULK_DIR) },
    bulkKeepDays: s.BULK_KEEP_DAYS,
    bulkPinnedDays: s.BULK_PINNED_DAYS,
    previewPoints: s.PREVIEW_POINTS,
    openRevisionsSeries: s.OPEN_REVISIONS_SERIES === 'none' ? undefined : s.OPEN_REVISIONS_SERIES,
    synonymsFile: s.SYNONYMS_FILE === undefined ? undefined : inProject(s.SYNONYMS_FILE),
    frontPageFile: s.FRONT_PAGE_FILE === undefined ? undefined : inProject(s.FRONT_PAGE_FILE),
    plansFile: plansFileOf(env),
    trustedProxyHops: s.TRUSTED_PROXY_HOPS,
    publicCallsPerSecond: s.PUBLIC_CALLS_SECOND,
    managementCallsPerSecond: s.MANAGEMENT_CALLS_SECOND,
    answerWithinMs: s.ANSWER_WITHIN_MS,
    responseCacheMb: s.RESPONSE_CACHE_MB,
    uploadMb: s.UPLOAD_MB,
    fileLimits: { memoryMb: s.FILE_MEMORY_MB, stepSeconds: s.FILE_SECONDS },
    quotaOutage: s.QUOTA_OUTAGE,
    drainDelayMs: s.DRAIN_DELAY_MS,
    journalDir: inProject(s.JOURNAL_DIR ?? path.join(s.DATA_DIR, 'journal')),
    metrics: s.METRICS_PORT === undefined ? undefined : { host: s.METRICS_HOST, port: s.METRICS_PORT },
    tracing:
      s.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : {
            endpoint: s.OTEL_EXPORTER_OTLP_ENDPOINT.replace(/\/+$/, ''),
            ratio: s.OTEL_TRACES_SAMPLER_ARG,
          },
    slowStatementMs: s.SLOW_STATEMENT_MS,
    publicUrl: (s.PUBLIC_URL ?? `http://127.0.0.1:${s.PORT}`).replace(/\/+$/, ''),
    dashboard: s.DASHBOARD === 'on',
    dashboardOrigins: s.DASHBOARD_ORIGINS ?? [],
    passwordLengthMin: s.PASSWORD_LENGTH_MIN,
    operatorSecondFactor: s.OPERATOR_SECOND_FACTOR,
    smtpUrl: complete['SMTP_URL'],
    mailFrom: s.MAIL_FROM,
    google:
      s.GOOGLE_CLIENT_ID === undefined || s.GOOGLE_CLIENT_SECRET === undefined
        ? undefined
        : { clientId: s.GOOGLE_CLIENT_ID, clientSecret: s.GOOGLE_CLIENT_SECRET, issuer: s.GOOGLE_ISSUER },
    webhooks: {
      secretKey: s.WEBHOOK_SECRET_KEY,
      previousSecretKey: s.WEBHOOK_SECRET_KEY_PREVIOUS,
      allowCidrs: s.WEBHOOK_ALLOW_CIDRS ?? [],
      allowHttp: s.WEBHOOK_ALLOW_HTTP === 'true',
    },
    sources: {
      allowCidrs: s.SOURCE_ALLOW_CIDRS ?? [],
      allowHttp: s.SOURCE_ALLOW_HTTP === 'true',
    },
    stripe:
      s.STRIPE_SECRET_KEY === undefined || s.STRIPE_WEBHOOK_SECRET === undefined
        ? undefined
        : {
            secretKey: s.STRIPE_SECRET_KEY,
            webhookSecrets: s.STRIPE_WEBHOOK_SECRET,
            apiUrl: s.STRIPE_API_URL,
            graceDays: s.BILLING_GRACE_DAYS,
          },
    logLevel: s.LOG_LEVEL,
  });
}
