// All settings: environment variables, read once into one typed, frozen object. Hides parsing and defaults.
// Every fault is reported at once, by name, before anything listens. `.env.example` documents each (a test compares).
import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import path from 'node:path';
import { z } from 'zod';
import { isTimeZone } from './clock.ts';
import { editDistance } from './http/params.ts';
import { parseRedisUrl } from './redis.ts';
import { certificateFaults, readSecretFiles, withPasswords } from './secrets.ts';

const anyPort = z
  .string()
  .regex(/^\d{1,5}$/, 'must be a port number from 0 to 65535')
  .transform(Number)
  .refine((n) => n <= 65535, 'must be a port number from 0 to 65535');

const port = (fallback: number) => anyPort.default(fallback);

const wholeNumber = (fallback: number, least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,9}$/, `must be a whole number from ${least} to ${most}`)
    .transform(Number)
    .refine((n) => n >= least && n <= most, `must be a whole number from ${least} to ${most}`)
    .default(fallback);

const urlOf = (...protocols: string[]) =>
  z.string().refine(
    (text) => {
      const url = URL.parse(text);
      return url !== null && protocols.includes(url.protocol.slice(0, -1));
    },
    `must be a URL that begins ${protocols.map((p) => `${p}://`).join(' or ')}`,
  );

const commaList = z.string().transform((text) => text.split(',').map((part) => part.trim()));
const urls = commaList.pipe(z.array(urlOf('http', 'https')).min(1));

const originRule = 'must be origins, such as https://dashboard.example, divided by commas, without a path';
const origins = commaList.pipe(
  z.array(
    z.string().refine((text) => {
      const url = URL.parse(text);
      return url !== null && /^https?:$/.test(url.protocol) && url.origin === text;
    }, originRule),
  ),
);

const redisUrl = z
  .string()
  .refine(
    (text) => parseRedisUrl(text) !== null,
    'must begin redis://, rediss://, redis+cluster:// or redis+sentinel://; see .env.example',
  );

const cidrRule = 'must be networks, such as 10.20.0.0/16 or fd12:3456::/32, separated by commas';
const cidrs = commaList.pipe(z.array(z.string().refine(isCidr, cidrRule)));

function isCidr(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  const kind = isIP(address);
  return kind !== 0 && Number(bits) <= (kind === 4 ? 32 : 128);
}

const timeZone = z.string().refine(isTimeZone, 'must be an IANA time zone, such as Asia/Karachi');

const secret = z.string().min(32, 'must have at least 32 characters');

// In ASCII, for PostgreSQL's rules of comparing others (SASLprep) need not be known then.
const databasePassword = z
  .string()
  .regex(/^[!-~]{12,}$/, 'must have at least 12 characters, of ASCII and without spaces');

const variables = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port(8080),
  DATA_API_PORT: port(8081),
  ACCOUNTS_API_PORT: port(8082),
  PUBLISHER_PORT: port(8083),
  DATA_DIR: z.string().min(1).default('.almanac'),
  DATABASE_URL: urlOf('postgres', 'postgresql').optional(),
  DATABASE_READ_URL: urlOf('postgres', 'postgresql').optional(),
  REPLICA_LAG_MAX_MS: wholeNumber(60_000, 0, 86_400_000),
  DATABASE_PASSWORD: z.string().optional(),
  DATA_API_DATABASE_PASSWORD: databasePassword.optional(),
  ACCOUNTS_API_DATABASE_PASSWORD: databasePassword.optional(),
  PUBLISHER_DATABASE_PASSWORD: databasePassword.optional(),
  REDIS_URL: redisUrl.optional(),
  REDIS_PASSWORD: z.string().optional(),
  IDENTITY_SECRET: secret.optional(),
  IDENTITY_SECRET_PREVIOUS: secret.optional(),
  DATA_API_URL: urls.optional(),
  ACCOUNTS_API_URL: urls.optional(),
  PUBLISHER_URL: urls.optional(),
  SERVICE_TLS_CERT: z.string().optional(),
  SERVICE_TLS_KEY: z.string().optional(),
  SERIES_TIME_ZONE: timeZone.default('UTC'),
  FISCAL_YEAR_FIRST_MONTH: wholeNumber(7, 1, 12),
  INBOX_DIR: z.string().min(1).optional(),
  PREVIEW_POINTS: wholeNumber(120, 0, 1_000),
  OPEN_REVISIONS_SERIES: z
    .string()
    .regex(/^(?:none|[A-Za-z0-9][A-Za-z0-9._-]{0,127})$/, 'must be the id of a series, or none')
    .default('DEMO.PAYROLLS'),
  PLANS_FILE: z.string().min(1).optional(),
  TRUSTED_PROXY_HOPS: wholeNumber(0, 0, 10),
  PUBLIC_CALLS_SECOND: wholeNumber(20, 1, 100_000),
  MANAGEMENT_CALLS_SECOND: wholeNumber(20, 1, 100_000),
  ANSWER_WITHIN_MS: wholeNumber(300_000, 1_000, 86_400_000),
  RESPONSE_CACHE_MB: wholeNumber(64, 0, 4_096),
  UPLOAD_MB: wholeNumber(64, 1, 1_024),
  QUOTA_OUTAGE: z.enum(['bounded', 'closed', 'open']).default('bounded'),
  DRAIN_DELAY_MS: wholeNumber(0, 0, 600_000),
  JOURNAL_DIR: z.string().min(1).optional(),
  METRICS_PORT: anyPort.optional(),
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  OTEL_EXPORTER_OTLP_ENDPOINT: urlOf('http', 'https').optional(),
  OTEL_TRACES_SAMPLER_ARG: z
    .string()
    .regex(/^(?:0?\.\d{1,9}|0|1(?:\.0{1,9})?)$/, 'must be a number from 0 to 1')
    .transform(Number)
    .default(1),
  SLOW_STATEMENT_MS: wholeNumber(1_000, 0, 86_400_000),
  PUBLIC_URL: urlOf('http', 'https').optional(),
  DASHBOARD: z.enum(['on', 'off'], { error: 'must be on or off' }).default('on'),
  DASHBOARD_ORIGINS: origins.optional(),
  PASSWORD_LENGTH_MIN: wholeNumber(8, 8, 64),
  SMTP_URL: urlOf('smtp', 'smtps').optional(),
  SMTP_PASSWORD: z.string().optional(),
  MAIL_FROM: z.string().min(3).default('Almanac <almanac@localhost>'),
  GOOGLE_CLIENT_ID: z.string().min(1).optional(),
  GOOGLE_CLIENT_SECRET: z.string().min(1).optional(),
  GOOGLE_ISSUER: urlOf('https', 'http').default('https://accounts.google.com'),
  WEBHOOK_SECRET_KEY: secret.optional(),
  WEBHOOK_SECRET_KEY_PREVIOUS: secret.optional(),
  WEBHOOK_ALLOW_CIDRS: cidrs.optional(),
  WEBHOOK_ALLOW_HTTP: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
  SOURCE_ALLOW_CIDRS: cidrs.optional(),
  SOURCE_ALLOW_HTTP: z.enum(['true', 'false'], { error: 'must be true or false' }).default('false'),
  STRIPE_SECRET_KEY: z
    .string()
    .regex(/^[sr]k_(?:test|live)_\S+$/, 'must be a secret or restricted key of Stripe: sk_… or rk_…')
    .optional(),
  STRIPE_WEBHOOK_SECRET: commaList
    .pipe(
      z.array(
        z.string().regex(/^whsec_\S+$/, 'must be signing secrets of Stripe, whsec_…, divided by commas'),
      ),
    )
    .optional(),
  STRIPE_API_URL: urlOf('https', 'http').default('https://api.stripe.com'),
  BILLING_GRACE_DAYS: wholeNumber(14, 0, 90),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('warn'),
});

export type Settings = Readonly<{
  host: string;
  port: number;
  dataApiPort: number;
  accountsApiPort: number;
  publisherPort: number;
  /** Absolute. */
  dataDir: string;
  /** Undefined: the embedded PostgreSQL. */
  databaseUrl: string | undefined;
  /** A streaming replica of the database, for data-api. */
  databaseReadUrl: string | undefined;
  /** The passwords that "almanac migrate" gives to the roles of the services; undefined: it leaves them. */
  databasePasswords: Readonly<Record<'dataApi' | 'accountsApi' | 'publisher', string | undefined>>;
  /** For how long data-api reads from the replica alone while the primary does not answer. */
  replicaLagMaxMs: number;
  redisUrl: string | undefined;
  identitySecret: string | undefined;
  /** The previous secret, while it is being replaced. */
  previousIdentitySecret: string | undefined;
  dataApiUrls: readonly string[] | undefined;
  accountsApiUrls: readonly string[] | undefined;
  /** Undefined: operators have no endpoints about data. */
  publisherUrls: readonly string[] | undefined;
  /** What data-api, accounts-api or the publisher serves TLS with; undefined: it serves plain HTTP. */
  serviceTls: Certificate | undefined;
  seriesTimeZone: string;
  /** Of funds for which neither they nor their company state it; 1 is January. */
  fiscalYearFirstMonth: number;
  /** Absolute; the folder whose files the publisher loads. Undefined: none is watched. */
  inboxDir: string | undefined;
  /** The most points per combination of dimension values that visitors see without a key; 0: none. */
  previewPoints: number;
  /** The id of the series whose revisions visitors see without a key; undefined: of none. */
  openRevisionsSeries: string | undefined;
  /** Absolute. */
  plansFile: string;
  trustedProxyHops: number;
  publicCallsPerSecond: number;
  managementCallsPerSecond: number;
  /** The deadline of the whole answer to a data call. */
  answerWithinMs: number;
  /** How much memory of a gateway answers of data-api may take; 0: none are kept. */
  responseCacheMb: number;
  /** The most that a file may have which operators send to the API. */
  uploadMb: number;
  /** What a gateway serves if the remaining quota of a month is unknown. */
  quotaOutage: 'bounded' | 'closed' | 'open';
  drainDelayMs: number;
  /** Absolute; where a gateway stores the usage that it has not yet reported. */
  journalDir: string;
  /** Where /metrics is served; undefined: nowhere. */
  metrics: { host: string; port: number } | undefined;
  /** Where traces are sent, and which part of them is kept; undefined: calls are not traced. */
  tracing: { endpoint: string; ratio: number } | undefined;
  /** A statement of a service that takes longer is logged; 0: none is. */
  slowStatementMs: number;
  /** The public URL of the gateway; no slash at the end. */
  publicUrl: string;
  /** Whether the gateway serves the dashboard. */
  dashboard: boolean;
  /** Origins whose pages may call account and sign-in endpoints, besides publicUrl. */
  dashboardOrigins: readonly string[];
  passwordLengthMin: number;
  /** Undefined: mails are written to DATA_DIR/outbox. */
  smtpUrl: string | undefined;
  mailFrom: string;
  /** Undefined: no sign-in with Google. */
  google: { clientId: string; clientSecret: string; issuer: string } | undefined;
  webhooks: {
    /** Encrypts the secrets of endpoints; undefined: identitySecret does. */
    secretKey: string | undefined;
    /** The previous key, while it is being replaced. */
    previousSecretKey: string | undefined;
    /** Networks that are not public, to which webhooks may be sent. */
    allowCidrs: readonly string[];
    allowHttp: boolean;
  };
  sources: {
    /** Networks that are not public, from which sources may be fetched. */
    allowCidrs: readonly string[];
    allowHttp: boolean;
  };
  /** Undefined: billing is not configured, and no plan can be bought. */
  stripe: StripeSettings | undefined;
  logLevel: string;
}>;

/** A certificate of a server, with the chain below the authority, and its private key; both PEM. */
export interface Certificate {
  cert: string;
  key: string;
}

/** The connection to Stripe. */
export interface StripeSettings {
  secretKey: string;
  /** The secrets that events may be signed with: more than one while it is being replaced. */
  webhookSecrets: readonly string[];
  /** `https://api.stripe.com`; only tests have another one. */
  apiUrl: string;
  /** For how many days an account with a payment overdue is served. */
  graceDays: number;
}

/** The file of the plans, absolute; known even if other settings are not right. */
export function plansFileOf(env: Environment): string {
  return inProject(env['PLANS_FILE'] || 'config/plans.yml');
}

/** The path of a setting, absolute: relative to the project, so that it is the same from every folder. */
function inProject(file: string): string {
  return path.resolve(projectRoot, file);
}

export type SettingName = keyof typeof variables.shape;

/** The names of all settings. */
export const settingNames: readonly string[] = Object.keys(variables.shape);

/** The settings that are secret, or may have a password in them: each may be given as the path of a file, under its name and `_FILE`. */
export const secretSettings = [
  'DATABASE_URL',
  'DATABASE_READ_URL',
  'DATABASE_PASSWORD',
  'DATA_API_DATABASE_PASSWORD',
  'ACCOUNTS_API_DATABASE_PASSWORD',
  'PUBLISHER_DATABASE_PASSWORD',
  'REDIS_URL',
  'REDIS_PASSWORD',
  'IDENTITY_SECRET',
  'IDENTITY_SECRET_PREVIOUS',
  'SERVICE_TLS_CERT',
  'SERVICE_TLS_KEY',
  'SMTP_URL',
  'SMTP_PASSWORD',
  'GOOGLE_CLIENT_SECRET',
  'WEBHOOK_SECRET_KEY',
  'WEBHOOK_SECRET_KEY_PREVIOUS',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
] as const satisfies readonly SettingName[];

/** The passwords that are given apart from their URLs, in which they need no encoding. */
const passwords = [
  { password: 'DATABASE_PASSWORD', urls: ['DATABASE_URL', 'DATABASE_READ_URL'] },
  { password: 'REDIS_PASSWORD', urls: ['REDIS_URL'] },
  { password: 'SMTP_PASSWORD', urls: ['SMTP_URL'] },
] as const satisfies readonly { password: SettingName; urls: readonly SettingName[] }[];

/** All names of variables that are read. */
export const variableNames: readonly string[] = [
  ...settingNames,
  ...secretSettings.map((name) => `${name}_FILE`),
];

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Variables that are no settings and whose names are nearly those of settings, such as `REDIS_ULR`: a letter too many, missing, another,
 * or two exchanged; in a long name two letters. Variables of other programs differ more.
 */
export function misspelledSettings(env: Environment): { name: string; meant: string }[] {
  return Object.keys(env).flatMap((name) => {
    if (variableNames.includes(name)) return [];
    const meant = variableNames.find((setting) => isNearly(name.toUpperCase(), setting));
    return meant === undefined ? [] : [{ name, meant }];
  });
}

function isNearly(name: string, setting: string): boolean {
  if (Math.abs(name.length - setting.length) > 2) return false;
  const distance = editDistance(name, setting);
  const lettersAllowed = setting.length < 6 ? 0 : setting.length < 12 ? 1 : 2;
  return distance <= lettersAllowed || (distance <= 2 && lettersOf(name) === lettersOf(setting));
}

function lettersOf(name: string): string {
  return name.split('').toSorted().join('');
}

/** The directory of the project's own files (config, migrations). */
export const projectRoot = path.resolve(import.meta.dirname, '..');

/** The version of the program, from package.json. */
export const { version: programVersion } = JSON.parse(
  readFileSync(path.join(projectRoot, 'package.json'), 'utf8'),
) as { version: string };

/** Settings that are not right. The message names each, one per line, with what is allowed; never its value. */
export class SettingsError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(`These settings are not right:\n${faults.map((fault) => `  ${fault}`).join('\n')}`);
    this.faults = faults;
  }
}

/** What one service cannot do without. */
export interface Needs {
  /** For the message, such as `data-api`. */
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
    ...missing.map((name) => `${name} must be set: a ${needs?.service} of its own needs it`),
    ...invalid.map((issue) => `${String(issue.path[0])} ${issue.message}`),
  ];
  if ((given['GOOGLE_CLIENT_ID'] === undefined) !== (given['GOOGLE_CLIENT_SECRET'] === undefined))
    faults.push('GOOGLE_CLIENT_SECRET and GOOGLE_CLIENT_ID must be given both, or neither');
  if ((given['STRIPE_SECRET_KEY'] === undefined) !== (given['STRIPE_WEBHOOK_SECRET'] === undefined))
    faults.push('STRIPE_SECRET_KEY and STRIPE_WEBHOOK_SECRET must be given both, or neither');
  faults.push(...certificateFaults({ cert: given['SERVICE_TLS_CERT'], key: given['SERVICE_TLS_KEY'] }));
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
    previewPoints: s.PREVIEW_POINTS,
    openRevisionsSeries: s.OPEN_REVISIONS_SERIES === 'none' ? undefined : s.OPEN_REVISIONS_SERIES,
    plansFile: plansFileOf(env),
    trustedProxyHops: s.TRUSTED_PROXY_HOPS,
    publicCallsPerSecond: s.PUBLIC_CALLS_SECOND,
    managementCallsPerSecond: s.MANAGEMENT_CALLS_SECOND,
    answerWithinMs: s.ANSWER_WITHIN_MS,
    responseCacheMb: s.RESPONSE_CACHE_MB,
    uploadMb: s.UPLOAD_MB,
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
