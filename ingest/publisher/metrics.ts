// The metrics of the publisher's work, for /metrics: releases, sources, the watched folder and the bulk files.
import type { Queryable } from '../../kernel/database.ts';
import type { Log } from '../../kernel/log/log.ts';
import { askedFigures, type Figures } from '../../kernel/metrics/figures.ts';
import type { Metric } from '../../kernel/metrics/text.ts';
import { readLoadedAfter } from '../bulk/bulk.sql.ts';
import type { BulkJob } from './bulk/bulk-job.ts';
import type { Inbox } from './inbox/watch.ts';
import { countReleases } from './releases/embargo.sql.ts';
import type { ReleaseDeps } from './releases/make-releases.ts';
import { failuresToReport } from './sources/fetch-source.ts';
import { countSources } from './sources/sources.sql.ts';

const helps = {
  almanac_releases: 'Pending releases under embargo, by state.',
  almanac_releases_late_seconds: 'Seconds by which the most overdue pending release is late; 0 if none is.',
  almanac_releases_made_total: 'Releases of this process, by result.',
  almanac_sources: `Sources that are fetched by schedule, by state; failing: the last ${failuresToReport} fetches or more have failed.`,
  almanac_sources_overdue_seconds:
    'Seconds by which the most overdue source that is not being fetched is late; 0 if none is.',
  almanac_sources_fetched_total: 'Fetches of this process, by result.',
  almanac_inbox_up: '1 if INBOX_DIR and the database can be read, else 0.',
  almanac_inbox_waiting: 'Files of INBOX_DIR that are neither loaded nor rejected yet.',
  almanac_inbox_waiting_seconds: 'Seconds for which the oldest waiting file has waited.',
  almanac_inbox_rejected: 'Files in the subfolder rejected of INBOX_DIR.',
  almanac_inbox_files_total: 'Files of INBOX_DIR that this process has processed, by result.',
  almanac_bulk_up: '1 if the store of the bulk files and the database can be read, else 0.',
  almanac_bulk_manifest_age_seconds: 'Seconds since the manifest of the bulk files was written.',
  almanac_bulk_behind_seconds:
    'Seconds since the oldest load that is not in the bulk files; 0 if all are in them.',
  almanac_bulk_writes_total: 'Writes of the bulk files by this process, by result.',
  almanac_bulk_write_seconds: 'Duration of the last write by this process that wrote files, in seconds.',
};
type Name = keyof typeof helps;
type Counts = Readonly<Record<string, number>>;

/** The jobs of this process, and their results since it started; undefined if it does not run the job. */
export interface Doing {
  released: Counts;
  fetched: Counts | undefined;
  inbox: Inbox | undefined;
  bulk: BulkJob | undefined;
}

export function dueMetrics(
  { database, clock, log }: ReleaseDeps,
  { released, fetched, inbox, bulk }: Doing,
): Metric[] {
  const now = () => clock.now(database);
  const releases = askedFigures('the releases', async () => countReleases(database, await now()), log);
  return [
    states(releases, 'almanac_releases', ['pending', 'held', 'failed']),
    gauge(releases, 'almanac_releases_late_seconds', 'lateSeconds'),
    counter('almanac_releases_made_total', released),
    ...(fetched === undefined
      ? []
      : sourceMetrics(() => now().then((at) => countSources(database, at, failuresToReport)), fetched, log)),
    ...(inbox === undefined ? [] : inboxMetrics(inbox, log)),
    ...(bulk === undefined ? [] : bulkMetrics(database, bulk, { now, log })),
  ];
}

function sourceMetrics(ask: () => ReturnType<typeof countSources>, fetched: Counts, log: Log): Metric[] {
  const sources = askedFigures('the sources', ask, log);
  return [
    states(sources, 'almanac_sources', ['fresh', 'failing']),
    gauge(sources, 'almanac_sources_overdue_seconds', 'overdueSeconds'),
    counter('almanac_sources_fetched_total', fetched),
  ];
}

function inboxMetrics(inbox: Inbox, log: Log): Metric[] {
  const folder = askedFigures('the folder INBOX_DIR', () => inbox.figures(), log);
  return [
    folder.answered({ name: 'almanac_inbox_up', help: helps.almanac_inbox_up }, {}),
    gauge(folder, 'almanac_inbox_waiting', 'waiting'),
    gauge(folder, 'almanac_inbox_waiting_seconds', 'oldestSeconds'),
    gauge(folder, 'almanac_inbox_rejected', 'rejected'),
    counter('almanac_inbox_files_total', inbox.counts),
  ];
}

function bulkMetrics(
  database: Queryable,
  { store, figures }: BulkJob,
  { now, log }: { now: () => Promise<Date>; log: Log },
): Metric[] {
  const files = askedFigures(
    'the bulk files',
    async () => {
      const [manifest, at] = [await store.readManifest(), await now()];
      const behindSince = await readLoadedAfter(database, manifest?.load ?? 0);
      const secondsSince = (instant: Date) => Math.max(0, (at.getTime() - instant.getTime()) / 1_000);
      return {
        ageSeconds: manifest && secondsSince(new Date(manifest.created_at)),
        behindSeconds: behindSince === null ? 0 : secondsSince(behindSince),
      };
    },
    log,
  );
  const sample = (value: number | undefined) => (value === undefined ? [] : [{ value }]);
  const about = (name: Name) => ({ name, help: helps[name] });
  return [
    files.answered(about('almanac_bulk_up'), {}),
    files.metric(about('almanac_bulk_manifest_age_seconds'), (read) => sample(read.ageSeconds)),
    files.metric(about('almanac_bulk_behind_seconds'), (read) => sample(read.behindSeconds)),
    counter('almanac_bulk_writes_total', figures.outcomes),
    { ...about('almanac_bulk_write_seconds'), read: () => sample(figures.lastWriteSeconds) },
  ];
}

type Asked<Key extends string> = Figures<Readonly<Record<Key, number>>>;

function states<Key extends string>(figures: Asked<Key>, name: Name, keys: readonly Key[]): Metric {
  const samples = (read: Readonly<Record<Key, number>>) =>
    keys.map((state) => ({ labels: { state }, value: read[state] }));
  return figures.metric({ name, help: helps[name] }, samples);
}

function gauge<Key extends string>(figures: Asked<Key>, name: Name, key: Key): Metric {
  return figures.metric({ name, help: helps[name] }, (read) => [{ value: read[key] }]);
}

function counter(name: Name, counts: Counts): Metric {
  const outcomes = () =>
    Object.entries(counts).map(([outcome, value]) => ({
      labels: { outcome: outcome.replace(' ', '_') },
      value,
    }));
  return { name, help: helps[name], type: 'counter', read: outcomes };
}
