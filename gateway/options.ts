// The options of a gateway, and what they are by default.
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
import type { QuotaOutage } from './heartbeat/outage.ts';

export interface GatewayOptions {
  dataApiUrls: readonly string[];
  accountsApiUrls: readonly string[];
  /** Of the publisher, for the calls of operators about data; undefined: they are answered 404. */
  publisherUrls?: readonly string[] | undefined;
  identitySecret: string;
  plans: Plans;
  /** Undefined: the gateway counts calls per second and answers under way by itself. */
  redisUrl: string | undefined;
  trustedProxyHops: number;
  publicCallsPerSecond: number;
  /** With one key or session, for calls that manage the account. */
  managementCallsPerSecond: number;
  /** The public URL of the gateway: errors link to its pages. If it is https, browsers must use https alone from then on. */
  publicUrl?: string;
  /** Origins whose pages may call account and sign-in endpoints, besides the gateway's own; none by default. */
  dashboardOrigins?: readonly string[];
  /** The directory of the built dashboard, once it is built; by default none is served. Calls of the API do not wait for it. */
  dashboard?: Promise<string>;
  /** How long close() continues to serve after /readyz has turned to 503. */
  drainDelayMs: number;
  host: string;
  port: number;
  log: Log;
  clock: Clock;
  /** The directory of gateway.config.yml, system.config.yml and models/; by default the project's config/. */
  configDirectory?: string;
  /** How long a service may be silent; 30 s by default. */
  upstreamTimeoutMs?: number;
  /** How long the whole answer to a data call may take; 5 minutes by default. */
  answerWithinMs?: number;
  /** How much memory answers of data-api may take, in MiB; 0: none are kept. */
  responseCacheMb?: number;
  /** How long the body of an upload may be, in MiB. */
  uploadMb?: number;
  /** How much memory the bodies of clients' requests may take, all together, in MB; 32 by default. */
  bodiesMb?: number;
  /** What is served if the remaining quota of a month is unknown; `bounded` by default. */
  quotaOutage?: QuotaOutage;
  /** How often usage is reported to accounts-api; 250 ms by default. */
  settleEveryMs?: number;
  /** Unreported usage is stored in it, in a subdirectory of this gateway; by default only in memory. */
  journalDirectory?: string;
  /** How long a client may take to send a request, a third of it for the headers; 30 s by default. */
  requestWithinMs?: number;
  /** Rejects while calls cannot be served, for a reason that no service behind knows; /readyz then answers 503. */
  requireReady?: () => Promise<void>;
  /** Where /metrics is served; not served by default. */
  metrics?: { host: string; port: number };
  /** Served there too: those of other services in this process. */
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
  requestWithinMs: 30_000,
  moreMetrics: [] as readonly Metric[],
};

/** The options with the defaults of those that were not given. */
export type SetOptions = GatewayOptions & typeof defaults;

export function withDefaults(options: GatewayOptions): SetOptions {
  const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
  return { ...defaults, ...options, ...given };
}

/** Whether browsers reach the gateway by https. */
export function isPublicOnTls({ publicUrl }: Pick<GatewayOptions, 'publicUrl'>): boolean {
  return publicUrl?.startsWith('https:') === true;
}
