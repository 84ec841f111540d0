// Starts the data-api: the service that reads schema `data`. It holds no state; any number of instances may run.
import { availableParallelism } from 'node:os';
import { openDatabase, type Database } from '../kernel/database.ts';
import { openBulkStore } from '../domain/bulk/open-store.ts';
import type { Clock } from '../kernel/clock.ts';
import type { ServiceCertificate } from '../kernel/http/certificate.ts';
import { startService, type Route, type RunningService } from '../kernel/http/server.ts';
import { serverMetrics } from '../kernel/metrics/database.ts';
import { createServiceMetrics } from '../kernel/metrics/service.ts';
import type { Metric } from '../kernel/metrics/text.ts';
import type { BulkPlace } from '../kernel/settings/bulk-place.ts';
import type { Tracing } from '../kernel/tracing/tracing.ts';
import { createOpener } from '../kernel/identity.ts';
import { requireSchema, type Migration } from '../kernel/schema.sql.ts';
import type { Log } from '../kernel/log/log.ts';
import { openServiceClock } from '../kernel/time/database-clock.ts';
import { createCursors } from '../kernel/http/cursor.ts';
import { createBulkFiles } from './bulk/files.ts';
import { createDrawingSlots } from './charts/drawing-slots.ts';
import { loadFrontPage } from './front-page/front-page-file.ts';
import type { Dependencies } from './dependencies.ts';
import { createLoads, editionOf, newestLoad, type Loads } from './loads.ts';
import { loadsMetrics } from './observability/loads-metrics.ts';
import { routesOfEither, watchReplica, type ServerName, type WatchedServer } from './replica.ts';
import { loadVocabulary } from './search/vocabulary.ts';
import { toRoutes } from './endpoint.ts';
import { endpoints } from './routes.ts';
import { createSeriesFacts } from './series/series-cache.ts';

export interface DataApiOptions {
  /** The primary database. */
  databaseUrl: string;
  /** A streaming replica of it, which is read while it is known to be current. */
  replica?: { url: string; lagMaxMs: number } | undefined;
  /** The migrations that the database must have for this to be ready. Undefined: a reachable database is enough. */
  schema?: readonly Migration[] | undefined;
  /** Verifies the gateway's tokens and seals the page cursors; the same for every data-api of an installation. */
  identitySecret: string;
  /** The previous secret, which gateways may still use while the secret is being replaced. */
  previousIdentitySecret?: string | undefined;
  /** The publisher's time zone, an IANA name. */
  seriesTimeZone: string;
  /** Where clients reach the gateway, without a slash at the end. */
  publicUrl: string;
  /** The most points per combination of dimension values in the previews of visitors; 0, the default, disables them. */
  previewPoints?: number | undefined;
  /** The id of the series whose revisions visitors may see; undefined: there is none. */
  openRevisionsSeries?: string | undefined;
  /** The folder or bucket of the bulk files; undefined if the publisher writes none. */
  bulkPlace?: BulkPlace | undefined;
  /** The operator's own synonyms of search, beside those of `config/synonyms.yml`; undefined if the operator has no such file. */
  synonymsFile?: string | undefined;
  /** The absolute path of the front page's configuration; undefined: `config/front-page.yml`. */
  frontPageFile?: string | undefined;
  host: string;
  port: number;
  /** How long close() continues to serve after /readyz has turned to 503; 0 by default. */
  drainDelayMs?: number | undefined;
  /** Serves TLS with it. Undefined: plain HTTP, for the gateway alone. */
  certificate?: ServiceCertificate | undefined;
  /** Logs each statement that takes longer; 0, the default: none. */
  slowStatementMs?: number | undefined;
  /** Continues the traces of gateways; default: no tracing. */
  tracing?: Tracing | undefined;
  log: Log;
  /** Default: that of the primary database, which all instances share. */
  clock?: Clock;
}

// A stream reads and renders in turn, so one connection keeps this process busy when several answers are in flight. A second one takes CPU
// from short reads unless PostgreSQL has cores of its own: their p99 was 159 ms on two cores with two connections, and 68 ms with one
// (2026-11-22).
export const longReadConnections = availableParallelism() > 2 ? 2 : 1;

/** The readers of one server: connections, and caches of its data. */
interface DataServer extends WatchedServer {
  database: Database;
  /** The newest load there. */
  loads: Loads;
  routes: Route[];
  metrics: readonly Metric[];
  close(): Promise<void>;
}

export async function start(
  options: DataApiOptions,
): Promise<RunningService & { metrics: readonly Metric[] }> {
  const { identitySecret, host, port, log } = options;
  const files = {
    vocabulary: loadVocabulary(options.synonymsFile),
    frontPage: loadFrontPage(options.frontPageFile),
  };
  const forClock = openDatabase(options.databaseUrl, log, {
    ...{ applicationName: 'almanac data-api clock', connectionsMax: 1, cutsAtClose: true },
  });
  const ownClock = await openServiceClock(options.clock, (text) => forClock.query(text), log);
  const bulk = options.bulkPlace && createBulkFiles(await openBulkStore(options.bulkPlace));
  const shared = sharedDependencies(options, { ...files, bulk }, ownClock.clock);
  const primary = openServer('primary', options.databaseUrl, options, shared);
  const replica = options.replica && openServer('replica', options.replica.url, options, shared);
  const watch =
    options.replica && replica && watchReplica({ primary, replica, lagMaxMs: options.replica.lagMaxMs, log });
  const close = async () => {
    await forClock.close();
    await ownClock.close();
    watch?.close();
    await replica?.close();
    await primary.close();
  };
  const metrics = createServiceMetrics('data-api');
  const service = await startService({
    log,
    metrics,
    tracing: options.tracing,
    publicUrl: options.publicUrl,
    routes: [
      newestLoad(primary.loads),
      ...(watch && replica
        ? routesOfEither(watch, { primary: primary.routes, replica: replica.routes })
        : primary.routes),
    ],
    openIdentity: createOpener(identitySecret, 'data-api', options.previousIdentitySecret),
    async ready() {
      ownClock.requireSynchronised();
      const { database } = watch?.choose() === 'replica' && replica ? replica : primary;
      await requireSchema((text) => database.query(text), options.schema ?? []);
    },
    host,
    port,
    portSetting: 'DATA_API_PORT',
    drainDelayMs: options.drainDelayMs,
    certificate: options.certificate,
  }).catch(async (error: unknown) => {
    await close();
    throw error;
  });
  return {
    url: service.url,
    metrics: [
      ...metrics.metrics,
      ...primary.metrics,
      ...(replica?.metrics ?? []),
      ...loadsMetrics(primary.database, log),
    ],
    async close() {
      await service.close();
      await close();
    },
  };
}

type Shared = ReturnType<typeof sharedDependencies>;

/** The dependencies that do not depend on the server that is read. */
function sharedDependencies(
  options: DataApiOptions,
  { vocabulary, frontPage, bulk }: Pick<Dependencies, 'vocabulary' | 'frontPage' | 'bulk'>,
  clock: Clock,
) {
  const { identitySecret, seriesTimeZone, log, publicUrl } = options;
  const { previewPoints = 0, openRevisionsSeries } = options;
  const cursors = createCursors(identitySecret);
  const drawingSlots = createDrawingSlots();
  const settings = { seriesTimeZone, publicUrl, previewPoints, openRevisionsSeries };
  // The secret encrypts cursors.
  const shaping = { vocabulary: vocabulary.text, frontPage: frontPage.edition };
  const edition = editionOf({ ...settings, identitySecret, ...shaping });
  const loaded = { vocabulary, frontPage, cursors, drawingSlots };
  return { ...loaded, ...{ clock, log, edition, bulk, asOf: null, present: null }, ...settings };
}

function openServer(
  name: ServerName,
  url: string,
  { log, slowStatementMs }: DataApiOptions,
  shared: Shared,
): DataServer {
  const applicationName = name === 'primary' ? 'almanac data-api' : 'almanac data-api replica';
  const forCalls = { failsWhenStalled: true, slowStatementMs };
  const database = openDatabase(url, log, { applicationName, ...forCalls });
  const longReads = openDatabase(url, log, {
    applicationName: `${applicationName} long reads`,
    connectionsMax: longReadConnections,
    ...forCalls,
  });
  const questions = openDatabase(url, log, {
    applicationName: `${applicationName} questions`,
    connectionsMax: 1,
    cutsAtClose: true,
  });
  const loads = createLoads(database, shared.edition);
  const seriesFacts = createSeriesFacts(database, shared.clock);
  const own = { database, longReads, seriesFacts, loads };
  const about = { service: 'data-api', server: name };
  return {
    ...{ database, probeConnection: questions, loads },
    routes: toRoutes(endpoints, { ...shared, ...own }),
    metrics: [
      ...database.metrics,
      ...longReads.metrics,
      ...serverMetrics(about, (text) => database.query(text), log),
    ],
    async close() {
      await questions.close();
      await longReads.close();
      await database.close();
    },
  };
}
