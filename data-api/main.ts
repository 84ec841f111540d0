// Starts the data-api: the service that reads schema `data`. It holds no state; any number of instances may run.
import { readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { openDatabase } from '../kernel/database.ts';
import type { Clock } from '../kernel/clock.ts';
import { startService, type RunningService } from '../kernel/http/server.ts';
import { serverMetrics } from '../kernel/metrics/database.ts';
import { createServiceMetrics } from '../kernel/metrics/service.ts';
import type { Metric } from '../kernel/metrics/text.ts';
import type { Tracing } from '../kernel/tracing/tracing.ts';
import { createOpener } from '../kernel/identity.ts';
import { requireSchema, type Migration } from '../kernel/schema.sql.ts';
import type { Log } from '../kernel/log.ts';
import { programVersion } from '../kernel/settings.ts';
import { createCursors } from '../kernel/http/cursor.ts';
import { createResponseCache } from '../kernel/http/response-cache.ts';
import { createLoads, newestLoad } from './loads.ts';
import { loadsMetrics } from './observability/loads-metrics.ts';
import { createUrlValidatorCache } from './url-validator-cache.ts';
import { loadSynonyms, synonymsFile } from './discovery/synonyms.ts';
import { toRoutes } from './endpoint.ts';
import { endpoints } from './routes.ts';
import { createSeriesFacts } from './series/series-facts.ts';

interface DataApiOptions {
  /** The primary database or a read replica. */
  databaseUrl: string;
  /** The migrations that the database must have for this to be ready. Undefined: it need only answer. */
  schema?: readonly Migration[] | undefined;
  /** Verifies the gateway's tokens and seals the page cursors; the same for every data-api of an installation. */
  identitySecret: string;
  /** The previous secret, which gateways may still seal with while the secret is being replaced. */
  previousIdentitySecret?: string | undefined;
  /** The publisher's time zone, an IANA name. */
  seriesTimeZone: string;
  /** The most points per combination of dimension values in the previews of visitors; 0, the default: there are none. */
  previewPoints?: number | undefined;
  /** The id of the series whose revisions visitors may see; undefined: there is none. */
  openRevisionsSeries?: string | undefined;
  host: string;
  port: number;
  /** How long close() continues to serve after /readyz has turned to 503; 0 by default. */
  drainDelayMs?: number | undefined;
  /** Logs each statement that takes longer; 0, the default: none. */
  slowStatementMs?: number | undefined;
  /** Continues the traces of gateways; by default none is. */
  tracing?: Tracing | undefined;
  log: Log;
  clock: Clock;
}

// A stream reads and renders in turn, so that one connection keeps this process busy where several answers are under way. A second one
// takes CPU from short reads unless PostgreSQL has cores of its own: their p99 was 159 ms on two cores, and 68 ms with one (2026-11-22).
export const longReadConnections = availableParallelism() > 2 ? 2 : 1;

export async function start(
  options: DataApiOptions,
): Promise<RunningService & { metrics: readonly Metric[] }> {
  const { databaseUrl, identitySecret, seriesTimeZone, host, port, log, clock, slowStatementMs } = options;
  const synonyms = loadSynonyms();
  const { previewPoints = 0, openRevisionsSeries } = options;
  const database = openDatabase(databaseUrl, log, {
    applicationName: 'almanac data-api',
    failsWhenStalled: true,
    slowStatementMs,
  });
  const longReads = openDatabase(databaseUrl, log, {
    applicationName: 'almanac data-api long reads',
    connectionsMax: longReadConnections,
    failsWhenStalled: true,
    slowStatementMs,
  });
  const seriesFacts = createSeriesFacts(database);
  const loads = createLoads(database, [
    ...[programVersion, readFileSync(synonymsFile, 'utf8'), identitySecret], // the secret seals cursors
    ...[seriesTimeZone, previewPoints, openRevisionsSeries],
  ]);
  const metrics = createServiceMetrics('data-api');
  const service = await startService({
    log,
    metrics,
    tracing: options.tracing,
    routes: [
      newestLoad(loads),
      ...toRoutes(endpoints, {
        database,
        longReads,
        cursors: createCursors(identitySecret),
        seriesFacts,
        responseCache: createResponseCache(),
        urlValidatorCache: createUrlValidatorCache(seriesFacts, clock),
        loads,
        synonyms,
        clock,
        seriesTimeZone,
        previewPoints,
        openRevisionsSeries,
        log,
      }),
    ],
    openIdentity: createOpener(identitySecret, 'data-api', options.previousIdentitySecret),
    ready: () => requireSchema((text) => database.query(text), options.schema ?? []),
    host,
    port,
    portSetting: 'DATA_API_PORT',
    drainDelayMs: options.drainDelayMs,
  });
  return {
    url: service.url,
    metrics: [
      ...metrics.metrics,
      ...database.metrics,
      ...longReads.metrics,
      ...serverMetrics({ service: 'data-api', server: 'primary' }, (text) => database.query(text), log),
      ...loadsMetrics(database, log),
    ],
    async close() {
      await service.close();
      await longReads.close();
      await database.close();
    },
  };
}
