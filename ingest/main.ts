// Starts the publisher: the process that makes loads under embargo visible at their instants, fetches scheduled sources, loads the files of
// the watched folder, writes the bulk files, and serves operators. Any number may run.
import { openDatabase } from '../kernel/database.ts';
import { checkedWithin } from '../kernel/deadline.ts';
import { readyWithinMs } from '../kernel/http/server.ts';
import type { Log } from '../kernel/log/log.ts';
import { serverMetrics } from '../kernel/metrics/database.ts';
import type { Metric } from '../kernel/metrics/text.ts';
import type { Tracing } from '../kernel/tracing/tracing.ts';
import { requireSchema, type Migration } from '../kernel/schema.sql.ts';
import { startOperatorServer, type OperatorServerOptions } from './operator/server.ts';
import { createChildRunner, type ReadLimits } from './publisher/child-process/run-in-child.ts';
import type { Tasks } from './publisher/child-process-tasks.ts';
import type { BulkSettings } from './bulk/write-bulk.ts';
import { startBulk } from './publisher/bulk/bulk-job.ts';
import { workInChild } from './publisher/inbox/load-in-child.ts';
import { startInbox } from './publisher/inbox/watch.ts';
import { dueMetrics } from './publisher/metrics.ts';
import { startPublishing } from './publisher/release-loop.ts';
import { databaseClock, type ReleaseClock } from './publisher/releases/release-clock.ts';
import {
  fetchDeps,
  loadInChild,
  startFetching,
  type SourceSettings,
} from './publisher/sources/fetch-due-sources.ts';

export interface PublisherOptions {
  /** The URL with the role almanac_publisher, or with that of the owner. */
  databaseUrl: string;
  /** The migrations that the database must have for this to be ready. Undefined: a reachable database is enough. */
  schema?: readonly Migration[] | undefined;
  /** Logs each statement that takes longer; 0, the default: none. */
  slowStatementMs?: number | undefined;
  /** Undefined: no sources are fetched. */
  sources?: SourceSettings | undefined;
  /** The absolute path of the watched folder, and the time zone that determines the day of its loads. Undefined: none is watched. */
  inbox?: { directory: string; seriesTimeZone: string } | undefined;
  /** The folder or bucket of the bulk files, and for how long replaced ones are kept. Undefined: none are written. */
  bulk?: BulkSettings | undefined;
  /** The limits of the processes that read files. */
  readLimits?: ReadLimits | undefined;
  /** They get only the variables of PostgreSQL's driver from it. */
  env?: Readonly<Record<string, string | undefined>> | undefined;
  log: Log;
  /** The clock of releases and sources; default: that of the database. */
  clock?: ReleaseClock;
  /** Serves the calls of operators. Undefined: it serves none. */
  operators?: OperatorServerOptions | undefined;
  /** Continues the traces of gateways; default: no tracing. */
  tracing?: Tracing | undefined;
}

export interface RunningPublisher {
  /** Where operators are served; undefined: nowhere. */
  url: string | undefined;
  metrics: readonly Metric[];
  /** Rejects while the database is unavailable, or its schema does not fit; in time for a probe. */
  ready(): Promise<void>;
  /** Rolls back what is being prepared, which another publisher or the next start makes, then resolves. */
  close(): Promise<void>;
}

/** @throws Error if the database does not respond, its schema does not fit, or the port is in use. */
export async function start(options: PublisherOptions): Promise<RunningPublisher> {
  const { databaseUrl, log, slowStatementMs, clock = databaseClock, schema = [], readLimits, env } = options;
  const applicationName = 'almanac publisher';
  const database = openDatabase(databaseUrl, log, {
    applicationName,
    // For a release and its file, the metrics, the heartbeat, records of sources and of the watched folder, and the timers of both. The
    // processes that read files have their own connections.
    connectionsMax: 8,
    slowStatementMs,
  });
  const fits = () => requireSchema((text) => database.query(text), schema);
  const ready = checkedWithin(readyWithinMs, fits);
  try {
    await fits();
  } catch (error) {
    await database.close();
    throw error;
  }
  const deps = { database, clock, log };
  const server =
    options.operators &&
    (await startOperatorServer(options.operators, {
      ...{ databaseUrl, slowStatementMs, releaseClock: clock, ready, log, readLimits, env },
      tracing: options.tracing,
    }).catch(async (error: unknown) => {
      await database.close();
      throw error;
    }));
  const publishing = startPublishing(deps);
  // Releases interrupt its loads, so their priority need not be as low as that of operators' calls: on a busy machine they would never end.
  const niceness = 5;
  const children = createChildRunner<Tasks>({
    databaseUrl,
    applicationName,
    log,
    limits: readLimits,
    env,
    niceness,
  });
  const ofInbox = options.inbox && { ...deps, ...options.inbox };
  const inbox = ofInbox && startInbox({ ...ofInbox, work: workInChild(ofInbox, children) });
  const sources = options.sources && fetchDeps(deps, options.sources, loadInChild(children));
  const fetching = sources && startFetching(sources);
  // Separate from the others: a file in the folder does not wait for them.
  const childForBulk = createChildRunner<Tasks>({
    databaseUrl,
    applicationName,
    log,
    limits: readLimits,
    env,
  });
  const bulk = options.bulk && (await startBulk({ ...deps, children: childForBulk }, options.bulk));
  return {
    url: server?.url,
    ready,
    metrics: [
      ...(server?.metrics ?? []),
      ...database.metrics,
      ...serverMetrics({ service: 'publisher', server: 'primary' }, (text) => database.query(text), log),
      ...dueMetrics(deps, { released: publishing.counts, fetched: fetching?.counts, inbox, bulk }),
    ],
    async close() {
      await server?.close();
      await Promise.all([publishing.close(), fetching?.close(), inbox?.close(), bulk?.close()]);
      await Promise.all([children.close(), childForBulk.close()]);
      await database.close();
    },
  };
}
