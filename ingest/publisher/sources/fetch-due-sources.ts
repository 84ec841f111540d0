// The publisher's job for sources: fetches those that are due, several at once, until it is stopped. Several publishers may run: each
// source is leased by one of them.
import type { Database } from '../../../kernel/database.ts';
import type { Log } from '../../../kernel/log/log.ts';
import { createAddressGuard, type AddressRules } from '../../../kernel/outbound/address-guard.ts';
import { repeat } from '../../../kernel/time/repeat.ts';
import type { ReleaseClock } from '../releases/release-clock.ts';
import { run, type Running } from '../periodic-job/periodic-job.ts';
import type { ChildRunner } from '../child-process/run-in-child.ts';
import type { SourceTasks } from './load-fetched.ts';
import { fetchSource, type FetchDeps, type FetchResult } from './fetch-source.ts';
import { leaseSources, renewLeases, type LeasedSource } from './sources.sql.ts';

/** The rules for fetching sources, from the settings. */
export interface SourceSettings extends AddressRules {
  seriesTimeZone: string;
  fiscalYearFirstMonth?: number | undefined;
}

export interface Fetching extends Running {
  /** The fetches of this process since it started. */
  readonly counts: Readonly<Record<'loaded' | 'unchanged' | 'failed', number>>;
}

const lookEveryMs = 1_000;
/** The lease of a process that has died expires after this time. */
const leaseMs = 60_000;
const renewEveryMs = 15_000;
/** The concurrent fetches of one process: a slow server occupies one until its time is over. */
const fetchesMax = 32;

export function fetchDeps(
  on: { database: Database; clock: ReleaseClock; log: Log },
  { allowCidrs, allowHttp, seriesTimeZone, fiscalYearFirstMonth }: SourceSettings,
  load: FetchDeps['load'],
): FetchDeps {
  const guard = createAddressGuard({ allowCidrs, allowHttp });
  return { ...on, guard, seriesTimeZone, fiscalYearFirstMonth, load };
}

/** Loads in a child process, one source after another. */
export const loadInChild =
  (children: ChildRunner<SourceTasks>): FetchDeps['load'] =>
  (fetched, signal) =>
    children.run('load-source', fetched, { signal });

export function startFetching(deps: FetchDeps): Fetching {
  const { log } = deps;
  const counts = { loaded: 0, unchanged: 0, failed: 0 };
  const inFlight = new Set<Promise<void>>();
  const leases = createLeases(deps);

  async function fetchOne(source: LeasedSource, signal: AbortSignal): Promise<void> {
    try {
      const result = await leases.withLease(source, () => fetchSource(deps, source, signal));
      if (result !== 'lost') counts[result] += 1;
    } catch (error) {
      log.error({ err: error, source: source.name }, 'A source could not be fetched; will retry');
    }
  }

  async function look(signal: AbortSignal): Promise<boolean> {
    for (const source of await leases.acquire(fetchesMax - inFlight.size)) {
      const fetched = fetchOne(source, signal).finally(() => inFlight.delete(fetched));
      inFlight.add(fetched);
    }
    return false;
  }

  const fault = 'Due sources could not be read from the database; will retry';
  const working = run({ everyMs: lookEveryMs, event: 'sources_fault', fault, look }, deps);
  return {
    counts,
    async close() {
      await working.close();
      await Promise.all(inFlight);
      await leases.close();
    },
  };
}

/**
 * Fetches the due sources, or one source whether due or not, and resolves when all fetches have ended. @returns the outcome of each, by
 * name.
 */
export async function fetchDue(
  deps: FetchDeps,
  signal: AbortSignal,
  name?: string,
): Promise<Map<string, FetchResult>> {
  const leases = createLeases(deps);
  try {
    const sources = await leases.acquire(fetchesMax, name);
    const results = await Promise.all(
      sources.map((source) => leases.withLease(source, () => fetchSource(deps, source, signal))),
    );
    return new Map(sources.map((source, at) => [source.name, results[at] ?? 'lost']));
  } finally {
    await leases.close();
  }
}

/** The leases of this process, which it renews while their sources are being fetched. */
function createLeases({ database, clock, log }: Pick<FetchDeps, 'database' | 'clock' | 'log'>) {
  const activeLeases = new Set<string>();
  const untilFrom = (now: Date) => new Date(now.getTime() + leaseMs);
  async function renew(): Promise<void> {
    if (activeLeases.size > 0)
      await renewLeases(database, [...activeLeases], untilFrom(await clock.now(database)));
  }
  const renewing = repeat(renew, {
    everyMs: renewEveryMs,
    onError: (error) => log.warn({ err: error }, 'leases of sources could not be renewed; will retry'),
  });
  return {
    async acquire(limit: number, name?: string): Promise<LeasedSource[]> {
      if (limit <= 0) return [];
      const now = await clock.now(database);
      return leaseSources(database, { now, until: untilFrom(now), limit, name });
    },
    async withLease<T>({ lease }: LeasedSource, work: () => Promise<T>): Promise<T> {
      activeLeases.add(lease);
      try {
        return await work();
      } finally {
        activeLeases.delete(lease);
      }
    },
    close: renewing.close,
  };
}
