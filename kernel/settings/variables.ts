// The environment variables that are settings: the format of each, its default, and which are secret. `.env.example` documents each (a test
// compares).
import { isIP } from 'node:net';
import { z } from 'zod';
import { isTimeZone } from '../clock.ts';
import { parseRedisUrl } from '../redis.ts';
import {
  answerWithinMsByDefault,
  fileMemoryMbByDefault,
  fileSecondsByDefault,
  responseCacheMbByDefault,
  uploadMbByDefault,
} from './limits.ts';

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

const isDecodedRule = 'must have "%" written as %25 in its user name and its password';

/** Whether user name and password can be decoded. The libraries that connect fail otherwise, without the name of the setting. */
function isDecoded(url: string): boolean {
  const [, user = ''] = /^[a-z+]+:\/\/([^/?#]*)@/i.exec(url) ?? [];
  try {
    return decodeURIComponent(user) !== null;
  } catch {
    return false;
  }
}

const urlOf = (...protocols: string[]) => {
  const beginnings = protocols.map((protocol) => `${protocol}://`);
  return z
    .string()
    .refine(
      (text) => URL.canParse(text) && beginnings.some((each) => text.toLowerCase().startsWith(each)),
      `must be a URL that begins with ${beginnings.join(' or ')}`,
    )
    .refine(isDecoded, isDecodedRule);
};

const commaList = z.string().transform((text) => text.split(',').map((part) => part.trim()));
const serviceUrl = urlOf('http', 'https')
  .refine((text) => {
    const url = URL.parse(text);
    return url === null || url.href === `${url.origin}/`;
  }, 'must be URLs without a path, such as http://data-api:8081, separated by commas')
  .transform((text) => new URL(text).origin);
const serviceUrls = commaList.pipe(z.array(serviceUrl).min(1));

const originRule = 'must be origins, such as https://dashboard.example, separated by commas, without a path';
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
    (text) => !isDecoded(text) || parseRedisUrl(text) !== null,
    'must begin with redis://, rediss://, redis+cluster:// or redis+sentinel://; see .env.example',
  )
  .refine(isDecoded, isDecodedRule);

const cidrRule = 'must be networks, such as 10.20.0.0/16 or fd12:3456::/32, separated by commas';
const cidrs = commaList.pipe(z.array(z.string().refine(isCidr, cidrRule)));

function isCidr(text: string): boolean {
  const [, address = '', bits = ''] = /^([^/%]+)\/(\d{1,3})$/.exec(text) ?? [];
  const kind = isIP(address);
  return kind !== 0 && Number(bits) <= (kind === 4 ? 32 : 128);
}

const timeZone = z.string().refine(isTimeZone, 'must be UTC or an IANA time zone such as Asia/Karachi');

const secret = z.string().min(32, 'must have at least 32 characters');

const mailFrom = z
  .string()
  .regex(
    /^(?:[^<>\r\n]*<[^\s<>@,;]+@[^\s<>@,;]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/,
    'must be an e-mail address, or a name and an address, such as Almanac <almanac@example.org>',
  );

// ASCII only, so that PostgreSQL's comparison rules for other characters (SASLprep) do not apply.
const databasePassword = z
  .string()
  .regex(/^[!-~]{12,}$/, 'must have at least 12 characters, of ASCII and without spaces');

export const variables = z.object({
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
  DATA_API_URL: serviceUrls.optional(),
  ACCOUNTS_API_URL: serviceUrls.optional(),
  PUBLISHER_URL: serviceUrls.optional(),
  SERVICE_TLS_CERT: z.string().optional(),
  SERVICE_TLS_KEY: z.string().optional(),
  SERIES_TIME_ZONE: timeZone.default('UTC'),
  FISCAL_YEAR_FIRST_MONTH: wholeNumber(7, 1, 12),
  INBOX_DIR: z.string().min(1).optional(),
  BULK_DIR: z.string().min(1).optional(),
  BULK_S3_ENDPOINT: urlOf('https', 'http').optional(),
  BULK_S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,64}$/, 'must be a region, such as eu-central-1')
    .default('us-east-1'),
  BULK_S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket: 3 to 63 of a-z, 0-9, - and .')
    .optional(),
  BULK_S3_PREFIX: z
    .string()
    .regex(
      /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}(?:\/[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}){0,9}\/?$/,
      'must be a path in the bucket, such as almanac/bulk, of letters, digits, - _ and .',
    )
    .optional(),
  BULK_S3_PATH_STYLE: z.enum(['true', 'false'], { error: 'must be true or false' }).optional(),
  AWS_ACCESS_KEY_ID: z.string().optional(),
  AWS_SECRET_ACCESS_KEY: z.string().optional(),
  BULK_KEEP_DAYS: wholeNumber(7, 0, 365),
  BULK_PINNED_DAYS: wholeNumber(10, 0, 1_000),
  PREVIEW_POINTS: wholeNumber(120, 0, 1_000),
  OPEN_REVISIONS_SERIES: z
    .string()
    .regex(/^(?:none|[A-Za-z0-9][A-Za-z0-9._-]{0,127})$/, 'must be the id of a series, or none')
    .default('DEMO.PAYROLLS'),
  SYNONYMS_FILE: z.string().min(1).optional(),
  FRONT_PAGE_FILE: z.string().min(1).optional(),
  PLANS_FILE: z.string().min(1).optional(),
  TRUSTED_PROXY_HOPS: wholeNumber(0, 0, 10),
  PUBLIC_CALLS_SECOND: wholeNumber(20, 1, 100_000),
  MANAGEMENT_CALLS_SECOND: wholeNumber(20, 1, 100_000),
  ANSWER_WITHIN_MS: wholeNumber(answerWithinMsByDefault, 1_000, 86_400_000),
  RESPONSE_CACHE_MB: wholeNumber(responseCacheMbByDefault, 0, 4_096),
  UPLOAD_MB: wholeNumber(uploadMbByDefault, 1, 1_024),
  FILE_MEMORY_MB: wholeNumber(fileMemoryMbByDefault, 32, 65_536),
  FILE_SECONDS: wholeNumber(fileSecondsByDefault, 1, 3_600),
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
  OPERATOR_SECOND_FACTOR: z
    .enum(['optional', 'required'], { error: 'must be optional or required' })
    .default('optional'),
  SMTP_URL: urlOf('smtp', 'smtps').optional(),
  SMTP_PASSWORD: z.string().optional(),
  MAIL_FROM: mailFrom.default('Almanac <almanac@localhost>'),
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
        z.string().regex(/^whsec_\S+$/, 'must be signing secrets of Stripe, whsec_…, separated by commas'),
      ),
    )
    .optional(),
  STRIPE_API_URL: urlOf('https', 'http').default('https://api.stripe.com'),
  BILLING_GRACE_DAYS: wholeNumber(14, 0, 90),
  LOG_LEVEL: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']).default('warn'),
});

export type SettingName = keyof typeof variables.shape;

/** The names of all settings. */
export const settingNames: readonly string[] = Object.keys(variables.shape);

/** Settings that are secret, or may contain a password: each may be given as the path of a file, under its name and `_FILE`. */
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
  'AWS_SECRET_ACCESS_KEY',
  'SMTP_URL',
  'SMTP_PASSWORD',
  'GOOGLE_CLIENT_SECRET',
  'WEBHOOK_SECRET_KEY',
  'WEBHOOK_SECRET_KEY_PREVIOUS',
  'STRIPE_SECRET_KEY',
  'STRIPE_WEBHOOK_SECRET',
] as const satisfies readonly SettingName[];

/** The passwords given separately from their URLs, so that they need no encoding. */
export const passwords = [
  { password: 'DATABASE_PASSWORD', urls: ['DATABASE_URL', 'DATABASE_READ_URL'] },
  { password: 'REDIS_PASSWORD', urls: ['REDIS_URL'] },
  { password: 'SMTP_PASSWORD', urls: ['SMTP_URL'] },
] as const satisfies readonly { password: SettingName; urls: readonly SettingName[] }[];

/** The names of all variables that are read. */
export const variableNames: readonly string[] = [
  ...settingNames,
  ...secretSettings.map((name) => `${name}_FILE`),
];
