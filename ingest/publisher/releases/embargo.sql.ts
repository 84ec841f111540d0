// The statements on schema embargo: releases, the pieces of their files, and the history of their changes.
import type { Queryable, Transaction } from '../../../kernel/database.ts';
import { entryAt } from '../../../kernel/entries.ts';

export type ReleaseState = 'pending' | 'released' | 'failed' | 'cancelled';

/** A release that is to be made. */
export interface DueRelease {
  releaseNo: number;
  dataset: string;
  sourceName: string;
  /** The stored options; see stored-options.ts. */
  options: unknown;
  /** How long before the instant the load begins. */
  leadMs: number;
  at: Date;
}

/** A release as operators see it. */
export interface Release {
  releaseNo: number;
  state: ReleaseState;
  /** When it is, or was, due; null if it is held, or was cancelled while held. */
  at: Date | null;
  /** Why the calendar gives it no instant; null if it is not held. */
  held: string | null;
  /** The calendar entry that it follows. */
  calendarId: string | null;
  dataset: string;
  sourceName: string;
  options: unknown;
  leadMs: number;
  fileBytes: number;
  fileSha256: string;
  /** The report of the check. */
  checked: Record<string, unknown>;
  createdAt: Date;
  endedAt: Date | null;
  /** What was loaded, or why it failed. */
  outcome: Record<string, unknown> | null;
}

export interface HistoryEntry {
  at: Date;
  event: 'accepted' | 'hastened' | 'cancelled' | 'released' | 'failed';
  /** The database role, the client's address and program, and the operator's account. */
  actor: string;
  detail: string | null;
}

// The calendar entry's reason for giving no instant, or null.
const heldBy = (release: string, entry: string) => `case
  when ${release}.calendar_id is null then null
  when ${entry}.release_id is null then 'the calendar has no such entry'
  when ${entry}.status in ('cancelled', 'delayed') then ${entry}.status || ' in the calendar'
  when not coalesce(${entry}.time_confirmed, (${entry}.release_at at time zone ${entry}.time_zone)::time <> '00:00')
    then 'the calendar states a day and no time'
end`;

// Releases with their present instants. The calendar is read each time: if its entry moves, the release moves.
const scheduled = `
  select r.*, h.held,
    case when r.due_at is not null then r.due_at when r.calendar_id is null then r.release_at when h.held is null then c.release_at end as at
  from embargo.releases r left join data.releases c on c.release_id = r.calendar_id
  cross join lateral (select ${heldBy('r', 'c')} as held) h`;

/** The pending releases that have an instant, in the order in which they are made. */
export function selectDue(on: Queryable): Promise<DueRelease[]> {
  return on.query<DueRelease>(
    `select release_no as "releaseNo", dataset, source_name as "sourceName", options, lead_ms as "leadMs", at
     from (${scheduled} where r.state = 'pending') s where at is not null order by at, release_no`,
  );
}

/** @param releaseNo undefined: all releases that have not ended, and the newest hundred of the others. */
export function selectReleases(on: Queryable, releaseNo?: number): Promise<Release[]> {
  return on.query<Release>(
    `select release_no as "releaseNo", state, at, case when state = 'pending' then held end as held, calendar_id as "calendarId",
       dataset, source_name as "sourceName", options, lead_ms as "leadMs", file_bytes as "fileBytes", file_sha256 as "fileSha256",
       checked, created_at as "createdAt", ended_at as "endedAt", outcome
     from (${scheduled}) s
     where case when $1::bigint is not null then release_no = $1
       else state in ('pending', 'failed') or release_no in (
         select release_no from embargo.releases where state in ('released', 'cancelled') order by release_no desc limit 100) end
     order by release_no`,
    [releaseNo ?? null],
  );
}

export function selectHistory(on: Queryable, releaseNo: number): Promise<HistoryEntry[]> {
  return on.query<HistoryEntry>(
    'select at, event, actor, detail from embargo.history where release_no = $1 order by entry_no',
    [releaseNo],
  );
}

/** The instant of a calendar entry, or why it has none. */
export async function selectCalendarEntry(
  on: Queryable,
  calendarId: string,
): Promise<{ at: Date | null; held: string | null }> {
  const rows = await on.query<{ at: Date | null; held: string | null }>(
    `select c.release_at as at, ${heldBy('asked', 'c')} as held
     from (select $1::text as calendar_id) asked left join data.releases c on c.release_id = asked.calendar_id`,
    [calendarId],
  );
  return entryAt(rows, 0);
}

/** The properties of a release before its file is read. */
export interface NewRelease {
  /** Null: given by the calendar. */
  at: Date | null;
  calendarId: string | null;
  dataset: string;
  sourceName: string;
  options: object;
  createdAt: Date;
}

const untilChecked = { bytes: 0, sha256: '0'.repeat(64) };

/** @returns its number. `acceptRelease` must follow in the same transaction. */
export async function insertRelease(on: Transaction, release: NewRelease): Promise<number> {
  const rows = await on.query<{ release_no: number }>(
    `insert into embargo.releases (release_at, calendar_id, dataset, source_name, options, created_at, lead_ms, file_bytes, file_sha256, checked)
     values ($1, $2, $3, $4, $5, $6, 0, $7, $8, '{}') returning release_no`,
    [
      ...[release.at, release.calendarId, release.dataset, release.sourceName],
      ...[JSON.stringify(release.options), release.createdAt, untilChecked.bytes, untilChecked.sha256],
    ],
  );
  return entryAt(rows, 0).release_no;
}

/** The owner of the pieces of a file: a release or an upload. */
export type Stored = { releaseNo: number } | { uploadId: string };

const piecesOf = (of: Stored): readonly [table: string, column: string, key: number | string] =>
  'releaseNo' in of
    ? ['embargo.pieces', 'release_no', of.releaseNo]
    : ['embargo.upload_pieces', 'upload_id', of.uploadId];

export async function insertPiece(on: Queryable, of: Stored, position: number, bytes: Buffer): Promise<void> {
  const [table, column, key] = piecesOf(of);
  await on.query(`insert into ${table} (${column}, position, bytes) values ($1, $2, $3)`, [
    key,
    position,
    bytes,
  ]);
}

/** The pieces of a file, in order, one in memory at a time. */
export async function* readPieces(on: Queryable, of: Stored): AsyncGenerator<Buffer> {
  const [table, column, key] = piecesOf(of);
  for (let position = 0; ; position += 1) {
    const [piece] = await on.query<{ bytes: Buffer }>(
      `select bytes from ${table} where ${column} = $1 and position = $2`,
      [key, position],
    );
    if (piece === undefined) return;
    yield piece.bytes;
  }
}

/** Marks the release as checked, so that it may be made. */
export async function acceptRelease(
  on: Transaction,
  releaseNo: number,
  accepted: { fileBytes: number; fileSha256: string; checked: object; leadMs: number; at: Date },
): Promise<void> {
  await on.query(
    'update embargo.releases set file_bytes = $2, file_sha256 = $3, checked = $4, lead_ms = $5 where release_no = $1',
    [
      ...[releaseNo, accepted.fileBytes, accepted.fileSha256],
      ...[JSON.stringify(accepted.checked), accepted.leadMs],
    ],
  );
  await addHistory(on, releaseNo, accepted.at, 'accepted');
}

/**
 * Marks a pending release as made, or as failed: then its file stays, so that it can be retried.
 * @param ended.dueAt the instant at which a release that is made was due; null for one that failed.
 * @returns false if it is no longer pending: it was cancelled or made meanwhile.
 */
export async function endRelease(
  on: Transaction,
  releaseNo: number,
  ended: { dueAt: Date | null; at: Date; outcome: object },
): Promise<boolean> {
  const state = ended.dueAt === null ? 'failed' : 'released';
  const rows = await on.query(
    `update embargo.releases set state = $2, due_at = $3, ended_at = $4, outcome = $5
     where release_no = $1 and state = 'pending' returning release_no`,
    [releaseNo, state, ended.dueAt, ended.at, JSON.stringify(ended.outcome)],
  );
  if (rows.length > 0) await addHistory(on, releaseNo, ended.at, state);
  return rows.length > 0;
}

/** Cancels a pending or failed release, and deletes its file. @returns false if it is in another state. */
export async function cancelOne(on: Transaction, releaseNo: number, at: Date): Promise<boolean> {
  const rows = await on.query(
    `update embargo.releases set state = 'cancelled', ended_at = $2, outcome = null
     where release_no = $1 and state in ('pending', 'failed') returning release_no`,
    [releaseNo, at],
  );
  if (rows.length === 0) return false;
  await on.query('delete from embargo.pieces where release_no = $1', [releaseNo]);
  await addHistory(on, releaseNo, at, 'cancelled');
  return true;
}

/** Gives a pending or failed release its own due instant. @returns false if it is in another state. */
export async function makeDue(on: Transaction, releaseNo: number, at: Date): Promise<boolean> {
  const rows = await on.query<{ before: string | null }>(
    `update embargo.releases r set state = 'pending', release_at = $2, calendar_id = null, ended_at = null, outcome = null
     from (${scheduled} where r.release_no = $1) s
     where r.release_no = $1 and r.state in ('pending', 'failed')
     returning coalesce(s.calendar_id || ' in the calendar', to_char(s.release_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')) as before`,
    [releaseNo, at],
  );
  const [row] = rows;
  if (row === undefined) return false;
  await addHistory(on, releaseNo, at, 'hastened', `was due ${row.before}`);
  return true;
}

async function addHistory(
  on: Transaction,
  releaseNo: number,
  at: Date,
  event: HistoryEntry['event'],
  detail: string | null = null,
): Promise<void> {
  await on.query(
    `insert into embargo.history (release_no, at, event, actor, detail)
     values ($1, $2, $3, concat_ws(' ', session_user, 'from', coalesce(host(inet_client_addr()), 'this machine'), 'by',
       nullif(current_setting('application_name'), ''), 'for ' || nullif(current_setting('almanac.account', true), '')), $4)`,
    [releaseNo, at, event, detail],
  );
}

/** Deletes the files of releases that were made. */
export async function deleteFilesOfReleased(on: Queryable): Promise<void> {
  await on.query(
    `delete from embargo.pieces p using embargo.releases r where r.release_no = p.release_no and r.state = 'released'`,
  );
}

export interface ReleaseCounts {
  pending: number;
  held: number;
  failed: number;
  /** By how long the most overdue pending release is late; 0 if none is. */
  lateSeconds: number;
  /** The instant of the next release; null if there is none. */
  nextAt: Date | null;
}

export async function countReleases(on: Queryable, now: Date): Promise<ReleaseCounts> {
  const rows = await on.query<ReleaseCounts>(
    `select count(*) filter (where state = 'pending' and held is null)::int as pending,
       count(*) filter (where state = 'pending' and held is not null)::int as held,
       count(*) filter (where state = 'failed')::int as failed,
       coalesce(greatest(extract(epoch from $1 - min(at) filter (where state = 'pending')), 0), 0)::float8 as "lateSeconds",
       min(at) filter (where state = 'pending') as "nextAt"
     from (${scheduled} where r.state in ('pending', 'failed')) s`,
    [now],
  );
  return entryAt(rows, 0);
}

/** Records that a publisher is running, and deletes those not seen for a day. */
export async function recordHeartbeat(on: Queryable, instance: string): Promise<void> {
  await on.query(
    `with gone as (delete from embargo.publishers where seen_at < clock_timestamp() - interval '1 day' and instance <> $1)
     insert into embargo.publishers (instance, seen_at) values ($1, clock_timestamp())
     on conflict (instance) do update set seen_at = excluded.seen_at`,
    [instance],
  );
}

/** Records that a publisher has stopped normally. */
export async function removePublisher(on: Queryable, instance: string): Promise<void> {
  await on.query('delete from embargo.publishers where instance = $1', [instance]);
}

/** How long ago a publisher was last seen; null if none ever was, or the last one stopped normally. */
export async function secondsSinceSeen(on: Queryable): Promise<number | null> {
  const rows = await on.query<{ seconds: number | null }>(
    `select extract(epoch from clock_timestamp() - max(seen_at))::float8 as seconds from embargo.publishers`,
  );
  return entryAt(rows, 0).seconds;
}
