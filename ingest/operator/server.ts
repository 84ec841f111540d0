// Starts the HTTP server of the publisher, for the calls of operators. It has its own connections: calls use none of those for releases.
import { openDatabase } from '../../kernel/database.ts';
import type { Clock } from '../../kernel/clock.ts';
import type { ServiceCertificate } from '../../kernel/http/certificate.ts';
import { createCursors } from '../../kernel/http/cursor.ts';
import { startService, type RunningService } from '../../kernel/http/server.ts';
import { createOpener } from '../../kernel/identity.ts';
import type { Log } from '../../kernel/log/log.ts';
import { createServiceMetrics } from '../../kernel/metrics/service.ts';
import type { Metric } from '../../kernel/metrics/text.ts';
import { uploadMbByDefault } from '../../kernel/settings/limits.ts';
import { openServiceClock } from '../../kernel/time/database-clock.ts';
import type { Tracing } from '../../kernel/tracing/tracing.ts';
import {
  createChildRunner,
  type ChildRunnerOptions,
  type ReadLimits,
} from '../publisher/child-process/run-in-child.ts';
import type { Tasks } from '../publisher/child-process-tasks.ts';
import type { ReleaseClock } from '../publisher/releases/release-clock.ts';
import { toRoutes } from './routes.ts';

export interface OperatorServerOptions {
  /** Verifies the gateway's tokens and seals the page cursors. */
  identitySecret: string;
  /** The previous secret, which gateways may still use while the secret is being replaced. */
  previousIdentitySecret?: string | undefined;
  host: string;
  port: number;
  /** How long close() continues to serve after /readyz has turned to 503; 0 by default. */
  drainDelayMs?: number | undefined;
  /** Serves TLS with it. Undefined: plain HTTP, for the gateway alone. */
  certificate?: ServiceCertificate | undefined;
  /** The publisher's time zone, an IANA name. */
  seriesTimeZone: string;
  /** From 1 to 12, as of loads. */
  fiscalYearFirstMonth: number;
  /** The gateway's URL: errors link to its pages. */
  publicUrl?: string;
  /** The maximum size of a file that operators upload, in MiB. */
  uploadMb?: number;
  /** Default: PostgreSQL's. */
  clock?: Clock;
}

interface Publisher {
  databaseUrl: string;
  slowStatementMs?: number | undefined;
  releaseClock: ReleaseClock;
  ready: () => Promise<void>;
  /** The limits of the processes that read files. */
  readLimits: ReadLimits | undefined;
  env: ChildRunnerOptions['env'];
  /** Continues the traces of gateways; default: no tracing. */
  tracing?: Tracing | undefined;
  log: Log;
}

/** @throws Error if the port is in use. */
export async function startOperatorServer(
  {
    identitySecret,
    previousIdentitySecret,
    seriesTimeZone,
    fiscalYearFirstMonth,
    uploadMb = uploadMbByDefault,
    clock: given,
    ...options
  }: OperatorServerOptions,
  { databaseUrl, slowStatementMs, releaseClock, ready, readLimits, env, tracing, log }: Publisher,
): Promise<RunningService & { metrics: readonly Metric[] }> {
  const applicationName = 'almanac operators';
  const database = openDatabase(databaseUrl, log, { applicationName, connectionsMax: 4, slowStatementMs });
  const ownClock = await openServiceClock(given, (text) => database.query(text), log);
  const { clock } = ownClock;
  const children = createChildRunner<Tasks>({ databaseUrl, applicationName, log, limits: readLimits, env });
  const metrics = createServiceMetrics('publisher');
  try {
    const service = await startService({
      ...{ ...options, log, metrics, tracing },
      async ready() {
        ownClock.requireSynchronised();
        await ready();
      },
      portSetting: 'PUBLISHER_PORT',
      requestWithinMs: 0, // the gateway times uploads
      routes: toRoutes({
        ...{ database, seriesTimeZone, fiscalYearFirstMonth, clock, releaseClock, uploadMb, children },
        cursors: createCursors(identitySecret),
      }),
      openIdentity: createOpener(identitySecret, 'publisher', previousIdentitySecret),
    });
    return {
      url: service.url,
      metrics: [...metrics.metrics, ...database.metrics],
      async close() {
        await service.close();
        await children.close();
        await ownClock.close();
        await database.close();
      },
    };
  } catch (error) {
    await ownClock.close();
    await database.close();
    throw error;
  }
}
