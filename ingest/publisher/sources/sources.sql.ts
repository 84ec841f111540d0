// The statements on sources with a schedule: registered sources, due ones, and the outcome of each fetch.
import type { Queryable, Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';

/** A source as operators see it. */
export interface Source {
  name: string;
  /** The publication of almanac.yml. */
  publication: string;
  /** May contain a token. */
  url: string;
  /** The sheet; '' unless it is a workbook. */
  sheet: string;
  /** The entry of almanac.yml. */
  entry: object;
  schedule: string;
  registeredAt: Date;
  /** When it is fetched next. */
  fetchAt: Date;
  /** The end of the lease of the process that is fetching it; null if none is. */
  leasedUntil: Date | null;
  fetchedAt: Date | null;
  changedAt: Date | null;
  /** The number of consecutive failures. */
  failures: number;
  failingSince: Date | null;
  /** The last fetch: `result` is `loaded`, `unchanged` or `failed`; with what was loaded, or why it failed. */
  outcome: Record<string, unknown> | null;
}

const columns = `name, publication, url, sheet, entry, schedule, registered_at as "registeredAt", fetch_at as "fetchAt",
  leased_until as "leasedUntil", fetched_at as "fetchedAt", changed_at as "changedAt", failures, failing_since as "failingSince", outcome`;

/** The sources of that name or publication, or all; by name. */
export function selectSources(
  on: Queryable,
  { name, publication }: { name?: string; publication?: string } = {},
): Promise<Source[]> {
  return on.query<Source>(
    `select ${columns} from embargo.sources
     where ($1::text is null or name = $1) and ($2::text is null or publication = $2) order by name`,
    [name ?? null, publication ?? null],
  );
}

/** One publication is registered at a time, so that two sources never get the same name. */
export async function lockRegistration(on: Transaction): Promise<void> {
  await on.query('lock table embargo.sources in share row exclusive mode');
}

/** The names among these that sources of any publication use. */
export async function findSourceNames(on: Queryable): Promise<Set<string>> {
  const rows = await on.query<{ name: string }>('select name from embargo.sources');
  return new Set(rows.map(({ name }) => name));
}

export interface NewSource {
  name: string;
  publication: string;
  url: string;
  sheet: string;
  entry: object;
  schedule: string;
  at: Date;
  fetchAt: Date;
}

export async function insertSource(on: Transaction, source: NewSource): Promise<void> {
  await on.query(
    `insert into embargo.sources (name, publication, url, sheet, entry, schedule, registered_at, fetch_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      ...[source.name, source.publication, source.url, source.sheet, JSON.stringify(source.entry)],
      ...[source.schedule, source.at, source.fetchAt],
    ],
  );
}

/** Gives a source another entry or schedule. A fetch that is running then has no effect. */
export async function updateSource(
  on: Transaction,
  { name, entry, schedule, fetchAt }: Pick<NewSource, 'name' | 'entry' | 'schedule' | 'fetchAt'>,
): Promise<void> {
  await on.query(
    `update embargo.sources set entry = $2, schedule = $3, fetch_at = $4, lease = null, leased_until = null, ended_sha256 = null where name = $1`,
    [name, JSON.stringify(entry), schedule, fetchAt],
  );
}

/** @returns false if it does not exist. */
export async function deleteSource(on: Queryable, name: string): Promise<boolean> {
  const rows = await on.query('delete from embargo.sources where name = $1 returning name', [name]);
  return rows.length > 0;
}

/** A source that this process has leased. */
export interface LeasedSource extends Source {
  lease: string;
  /** The validators of the loaded content, if the server sent any; else null. */
  etag: string | null;
  lastModified: string | null;
  /** The hash of the content to which these two belong. */
  validatedSha256: string | null;
  /** The hash of content that crashed the process that read it; null: no content did, or it is to be read again. */
  endedSha256: string | null;
  /** The previous process ended without a result, for example because it ran out of memory. */
  wasLeft: boolean;
}

/**
 * Leases due sources, the most overdue first. An expired lease does not count: its process is gone.
 * @param wish.name lease this source, even if it is not due, was abandoned, or its file crashed a process.
 */
export function leaseSources(
  on: Queryable,
  wish: { now: Date; until: Date; limit: number; name?: string | undefined },
): Promise<LeasedSource[]> {
  return on.query<LeasedSource>(
    `update embargo.sources s set lease = gen_random_uuid(), leased_until = $2
     from (
       select name as found, lease is not null and $4::text is null as was_left from embargo.sources
       where case when $4::text is null then fetch_at <= $1 else name = $4 end and (lease is null or leased_until <= $1)
       order by fetch_at, name limit $3 for update skip locked) due
     where name = found
     returning ${columns}, lease, was_left as "wasLeft", case when $4::text is null then ended_sha256 end as "endedSha256", etag, last_modified as "lastModified", content_sha256 as "validatedSha256"`,
    [wish.now, wish.until, wish.limit, wish.name ?? null],
  );
}

export async function renewLeases(on: Queryable, leases: readonly string[], until: Date): Promise<void> {
  await on.query('update embargo.sources set leased_until = $2 where lease = any($1::uuid[])', [
    leases,
    until,
  ]);
}

/** Ends a lease without a result. @param fetchAt when the source is due; undefined: unchanged. */
export async function endLease(on: Queryable, lease: string, fetchAt?: Date): Promise<void> {
  await on.query(
    `update embargo.sources set lease = null, leased_until = null, fetch_at = coalesce($2, fetch_at) where lease = $1`,
    [lease, fetchAt ?? null],
  );
}

/** The validators that a server sent with content. */
export interface Validators {
  sha256: string;
  etag: string | null;
  lastModified: string | null;
}

/**
 * Records a fetch that succeeded and ends the lease. @param validators undefined: unchanged.
 * @returns false if another process has the lease, or the source was changed or removed: then nothing is recorded.
 */
export async function recordSuccess(
  on: Queryable,
  lease: string,
  done: { at: Date; fetchAt: Date; hasChanged: boolean; outcome: object; validators: Validators | undefined },
): Promise<boolean> {
  const { at, fetchAt, hasChanged, outcome, validators } = done;
  const rows = await on.query(
    `update embargo.sources set lease = null, leased_until = null, failures = 0, failing_since = null, ended_sha256 = null,
       fetched_at = $2, fetch_at = $3, changed_at = case when $4 then $2 else changed_at end, outcome = $5,
       content_sha256 = case when $6 then $7 else content_sha256 end, etag = case when $6 then $8 else etag end,
       last_modified = case when $6 then $9 else last_modified end
     where lease = $1 returning name`,
    [
      ...[lease, at, fetchAt, hasChanged, JSON.stringify(outcome), validators !== undefined],
      ...[validators?.sha256 ?? null, validators?.etag ?? null, validators?.lastModified ?? null],
    ],
  );
  return rows.length > 0;
}

/**
 * Records a failed fetch and ends the lease. @param endedSha256 the hash of content not to be read again. @returns false as
 * `recordSuccess` does.
 */
export async function recordFailure(
  on: Queryable,
  lease: string,
  {
    at,
    fetchAt,
    outcome,
    endedSha256,
  }: { at: Date; fetchAt: Date; outcome: object; endedSha256: string | null },
): Promise<boolean> {
  const rows = await on.query(
    `update embargo.sources set lease = null, leased_until = null, failures = failures + 1,
       failing_since = coalesce(failing_since, $2), fetched_at = $2, fetch_at = $3, outcome = $4, ended_sha256 = $5
     where lease = $1 returning name`,
    [lease, at, fetchAt, JSON.stringify(outcome), endedSha256],
  );
  return rows.length > 0;
}

export interface SourceCounts {
  /** Sources with fewer consecutive failures than operators are notified of. */
  fresh: number;
  /** The other sources. */
  failing: number;
  /** By how long the most overdue source that is not being fetched is late; 0 if none is. */
  overdueSeconds: number;
}

/** @param failuresToReport operators are notified from this many consecutive failures on. */
export async function countSources(
  on: Queryable,
  now: Date,
  failuresToReport: number,
): Promise<SourceCounts> {
  const rows = await on.query<SourceCounts>(
    `select count(*) filter (where failures < $2)::int as fresh, count(*) filter (where failures >= $2)::int as failing,
       coalesce(greatest(extract(epoch from $1 - min(fetch_at) filter (where lease is null or leased_until <= $1)), 0), 0)::float8
         as "overdueSeconds"
     from embargo.sources`,
    [now, failuresToReport],
  );
  return entryAt(rows, 0);
}
