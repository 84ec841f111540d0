// All settings: environment variables, read once into one typed, frozen object. Hides parsing and defaults.
// Every fault is reported at once, by name, before anything listens. `.env.example` documents each (a test compares).
import path from 'node:path';
import { z } from 'zod';
import { isTimeZone } from './clock.ts';
import { parseRedisUrl } from './redis.ts';

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
const urls = commaList.pipe(z.array(urlOf('http')).min(1));

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

const timeZone = z.string().refine(isTimeZone, 'must be an IANA time zone, such as Asia/Karachi');

const secret = z.string().min(32, 'must have at least 32 characters');

const variables = z.object({
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: port(8080),
  DATA_API_PORT: port(8081),
  ACCOUNTS_API_PORT: port(8082),
  DATA_DIR: z.string().min(1).default('.almanac'),
  DATABASE_URL: urlOf('postgres', 'postgresql').optional(),
  DATABASE_READ_URL: urlOf('postgres', 'postgresql').optional(),
  REDIS_URL: redisUrl.optional(),
  IDENTITY_SECRET: secret.optional(),
  IDENTITY_SECRET_PREVIOUS: secret.optional(),
  DATA_API_URL: urls.optional(),
  ACCOUNTS_API_URL: urls.optional(),
  SERIES_TIME_ZONE: timeZone.default('UTC'),
  PLANS_FILE: z.string().min(1).optional(),
  TRUSTED_PROXY_HOPS: wholeNumber(0, 0, 10),
  PUBLIC_CALLS_SECOND: wholeNumber(20, 1, 100_000),
  QUOTA_OUTAGE: z.enum(['bounded', 'closed', 'open']).default('bounded'),
  DRAIN_DELAY_MS: wholeNumber(0, 0, 600_000),
  JOURNAL_DIR: z.string().min(1).optional(),
  METRICS_PORT: anyPort.optional(),
  METRICS_HOST: z.string().min(1).default('127.0.0.1'),
  PUBLIC_URL: urlOf('http', 'https').optional(),
  DASHBOARD_ORIGINS: origins.optional(),
  PASSWORD_LENGTH_MIN: wholeNumber(8, 8, 64),
  SMTP_URL: urlOf('smtp', 'smtps').optional(),
  MAIL_FROM: z.string().min(3).default('Almanac <almanac@localhost>'),
  GOOGLE_CLIENT_ID: z.string().min(1).optional(),
  GOOGLE_CLIENT_SECRET: z.string().min(1).optional(),
  GOOGLE_ISSUER: urlOf('https', 'http').default('https://accounts.google.com'),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('warn'),
});

const schema = variables.refine(
  (s) => (s.GOOGLE_CLIENT_ID === undefined) === (s.GOOGLE_CLIENT_SECRET === undefined),
  {
    path: ['GOOGLE_CLIENT_SECRET'],
    message: 'and GOOGLE_CLIENT_ID must be given both, or neither',
  },
);

export type Settings = Readonly<{
  host: string;
  port: number;
  dataApiPort: number;
  accountsApiPort: number;
  /** Absolute. */
  dataDir: string;
  /** Undefined: the embedded PostgreSQL. */
  databaseUrl: string | undefined;
  databaseReadUrl: string | undefined;
  redisUrl: string | undefined;
  identitySecret: string | undefined;
  /** The previous secret, while it is being replaced. */
  previousIdentitySecret: string | undefined;
  dataApiUrls: readonly string[] | undefined;
  accountsApiUrls: readonly string[] | undefined;
  seriesTimeZone: string;
  /** Absolute. */
  plansFile: string;
  trustedProxyHops: number;
  publicCallsPerSecond: number;
  /** What a gateway serves if the remaining quota of a month is unknown. */
  quotaOutage: 'bounded' | 'closed' | 'open';
  drainDelayMs: number;
  /** Absolute; where a gateway stores the usage that it has not yet reported. */
  journalDir: string;
  /** Where the gateway serves /metrics; undefined: nowhere. */
  metrics: { host: string; port: number } | undefined;
  /** The public URL of the gateway; no slash at the end. */
  publicUrl: string;
  /** Origins whose pages may call account and sign-in endpoints, besides publicUrl. */
  dashboardOrigins: readonly string[];
  passwordLengthMin: number;
  /** Undefined: mails are written to DATA_DIR/outbox. */
  smtpUrl: string | undefined;
  mailFrom: string;
  /** Undefined: no sign-in with Google. */
  google: { clientId: string; clientSecret: string; issuer: string } | undefined;
  logLevel: string;
}>;

/** The names of all settings, for the test that compares `.env.example`. */
export const settingNames: readonly string[] = Object.keys(variables.shape);

/** The directory of the project's own files (config, migrations). */
export const projectRoot = path.resolve(import.meta.dirname, '..');

/**
 * Reads the settings. An empty variable counts as unset.
 * @throws Error that names every invalid variable, one per line, with what is allowed; never its value.
 */
export function readSettings(env: Readonly<Record<string, string | undefined>>): Settings {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  );
  const parsed = schema.safeParse(given);
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `  ${String(issue.path[0])} ${issue.message}`);
    throw new Error(`These settings are not right:\n${[...new Set(faults)].join('\n')}`);
  }
  const s = parsed.data;
  return Object.freeze({
    host: s.HOST,
    port: s.PORT,
    dataApiPort: s.DATA_API_PORT,
    accountsApiPort: s.ACCOUNTS_API_PORT,
    dataDir: path.resolve(s.DATA_DIR),
    databaseUrl: s.DATABASE_URL,
    databaseReadUrl: s.DATABASE_READ_URL,
    redisUrl: s.REDIS_URL,
    identitySecret: s.IDENTITY_SECRET,
    previousIdentitySecret: s.IDENTITY_SECRET_PREVIOUS,
    dataApiUrls: s.DATA_API_URL,
    accountsApiUrls: s.ACCOUNTS_API_URL,
    seriesTimeZone: s.SERIES_TIME_ZONE,
    plansFile: path.resolve(s.PLANS_FILE ?? path.join(projectRoot, 'config/plans.yml')),
    trustedProxyHops: s.TRUSTED_PROXY_HOPS,
    publicCallsPerSecond: s.PUBLIC_CALLS_SECOND,
    quotaOutage: s.QUOTA_OUTAGE,
    drainDelayMs: s.DRAIN_DELAY_MS,
    journalDir: path.resolve(s.JOURNAL_DIR ?? path.join(s.DATA_DIR, 'journal')),
    metrics: s.METRICS_PORT === undefined ? undefined : { host: s.METRICS_HOST, port: s.METRICS_PORT },
    publicUrl: (s.PUBLIC_URL ?? `http://127.0.0.1:${s.PORT}`).replace(/\/+$/, ''),
    dashboardOrigins: s.DASHBOARD_ORIGINS ?? [],
    passwordLengthMin: s.PASSWORD_LENGTH_MIN,
    smtpUrl: s.SMTP_URL,
    mailFrom: s.MAIL_FROM,
    google:
      s.GOOGLE_CLIENT_ID === undefined || s.GOOGLE_CLIENT_SECRET === undefined
        ? undefined
        : { clientId: s.GOOGLE_CLIENT_ID, clientSecret: s.GOOGLE_CLIENT_SECRET, issuer: s.GOOGLE_ISSUER },
    logLevel: s.LOG_LEVEL,
  });
}
