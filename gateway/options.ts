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

export interface GatewayOptions {
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
  /** The public URL of the gateway; errors link to its pages. If it is https, answers carry the HSTS header. */
  publicUrl?: string;
  /** Origins whose pages may call account and sign-in endpoints, besides the gateway's own; empty by default. */
  dashboardOrigins?: readonly string[];
  /** The directory of the built dashboard, once it is built; by default no dashboard is served. API calls do not wait for it. */
  dashboard?: Promise<string>;
  /** How long close() keeps serving after /readyz has changed to 503. */
  drainDelayMs: number;
  host: string;
  port: number;
  log: Log;
  clock: Clock;
  /** The directory of gateway.config.yml, system.config.yml and models/; by default the project's config/. */
  configDirectory?: string;
  /** How long a service may be silent; 30 s by default. */
  upstreamTimeoutMs?: number;
  /** The deadline of the complete answer to a data call; 5 minutes by default. */
  answerWithinMs?: number;
  /** The memory limit of the response cache, in MiB; 0 disables it. */
  responseCacheMb?: number;
  /** The longest accepted upload, in MiB. */
  uploadMb?: number;
  /** The memory limit of all client request bodies together, in MB; 32 by default. */
  bodiesMb?: number;
  /** What is served while the remaining quota of a month is unknown; `bounded` by default. */
  quotaOutage?: QuotaOutage;
  /** How often usage is reported to accounts-api; 250 ms by default. */
  settleEveryMs?: number;
  /** How long close() tries to report the last usage to accounts-api; 10 s by default. */
  closeWithinMs?: number;
  /** The directory for unreported usage, in which each gateway has its own subdirectory; by default it is only in memory. */
  journalDirectory?: string;
  /** How long a client may take to send a request; a third of it for the headers. 30 s by default. */
  requestWithinMs?: number;
  /** Rejects while calls cannot be served for a reason outside the services; /readyz then answers 503. */
  requireReady?: () => Promise<void>;
  /** The address of /metrics; not served by default. */
  metrics?: { host: string; port: number };
  /** The metrics of other services in this process, served at the same address. */
  moreMetrics?: readonly Metric[];
  /** By default calls are not traced. */
  tracing?: Tracing | undefined;
}

const defaults = {
  publicUrl: '',
  dashboardOrigins: [] as readonly string[],
  configDirectory: path.resolve(import.meta.dirname, '../config'),
  upstreamTimeoutMs: 30_000,
  answerWithinMs: answerWithinMsByDefault,
  responseCacheMb: responseCacheMbByDefault,
  uploadMb: uploadMbByDefault,
  bodiesMb: 32,
  quotaOutage: 'bounded' as QuotaOutage,
  settleEveryMs: 250,
  closeWithinMs: 10_000,
  requestWithinMs: 30_000,
  moreMetrics: [] as readonly Metric[],
};

/** The options, with defaults applied. */
export type SetOptions = GatewayOptions & typeof defaults;

export function withDefaults(options: GatewayOptions): SetOptions {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...defaults, ...options, ...given };
}

/** Whether browsers reach the gateway by https. */
export function isPublicOnTls({ publicUrl }: Pick<GatewayOptions, 'publicUrl'>): boolean {
  return publicUrl?.startsWith('https:') === true;
}
