// The options of a gateway and their defaults.
import path from 'node:path';
import type { Clock } from '../kernel/clock.ts';
import type { Log } from '../kernel/log/log.ts';
import type { Metric } from '../kernel/metrics/text.ts';
import type { Plans } from '../kernel/plans.ts';
import {
  answerWithinMsByDefault,
  responseCacheMbByDefault,
  uploadMbByDefault,
} from '../kernel/settings/limits.ts';
import type { Tracing } from '../kernel/tracing/tracing.ts';
import type { QuotaOutage } from './heartbeat/quota-outage.ts';

interface OptionsWithoutDefault {
  dataApiUrls: readonly string[];
  accountsApiUrls: readonly string[];
  /** The URLs of the publisher, for operator calls about data; undefined: those calls are answered 404. */
  publisherUrls?: readonly string[] | undefined;
  identitySecret: string;
  plans: Plans;
  /** Undefined: this gateway counts calls per second and concurrent answers alone. */
  redisUrl: string | undefined;
  trustedProxyHops: number;
  publicCallsPerSecond: number;
  /** Per key or session, for calls that manage the account. */
  managementCallsPerSecond: number;
  /** The directory of the built dashboard, once it is built; by default no dashboard is served. API calls do not wait for it. */
  dashboard?: Promise<string>;
  /** How long close() keeps serving after /readyz has changed to 503. */
  drainDelayMs: number;
  host: string;
  port: number;
  log: Log;
  clock: Clock;
  /** The clock of the leases, in ms, for a `clock` that is set without the one of PostgreSQL. By default it follows `clock`. */
  leaseNowMs?: () => number;
  /** The directory for unreported usage, in which each gateway has its own subdirectory; by default it is only in memory. */
  journalDirectory?: string;
  /** Rejects while calls cannot be served for a reason outside the services; /readyz then answers 503. */
  requireReady?: () => Promise<void>;
  /** The address of /metrics; not served by default. */
  metrics?: { host: string; port: number };
  /** By default calls are not traced. */
  tracing?: Tracing | undefined;
}

/** The options that have a default. */
const defaults = {
  /** The public URL of the gateway; errors link to its pages. If it is https, answers carry the HSTS header. */
  publicUrl: '',
  /** Origins whose pages may call account and sign-in endpoints, besides the gateway's own. */
  dashboardOrigins: [] as readonly string[],
  /** The directory of gateway.config.yml, system.config.yml and models/. */
  configDirectory: path.resolve(import.meta.dirname, '../config'),
  /** How long a service may be silent. */
  upstreamTimeoutMs: 30_000,
  /** The deadline of the complete answer to a data call. */
  answerWithinMs: answerWithinMsByDefault,
  /** The memory limit of the response cache, in MiB; 0 disables it. */
  responseCacheMb: responseCacheMbByDefault,
  /** The longest accepted upload, in MiB. */
  uploadMb: uploadMbByDefault,
  /** The memory limit of all client request bodies together, in MB. */
  bodiesMb: 32,
  /** What is served while the remaining quota of a month is unknown. */
  quotaOutage: 'bounded' as QuotaOutage,
  /** How often usage is reported to accounts-api. */
  reportUsageEveryMs: 250,
  /** How long close() tries to report the last usage to accounts-api. */
  closeWithinMs: 10_000,
  /** How long a client may take to send a request; a third of it for the headers. */
  requestWithinMs: 30_000,
  /** The metrics of other services in this process, served at the same address. */
  moreMetrics: [] as readonly Metric[],
};

export type GatewayOptions = OptionsWithoutDefault & Partial<typeof defaults>;

/** The options, with defaults applied. */
export type SetOptions = OptionsWithoutDefault & typeof defaults;

export function withDefaults(options: GatewayOptions): SetOptions {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...defaults, ...options, ...given };
}

/** Whether browsers reach the gateway by https. */
export function isPublicOnTls({ publicUrl }: Pick<GatewayOptions, 'publicUrl'>): boolean {
  return publicUrl?.startsWith('https:') === true;
}
