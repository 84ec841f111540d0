// The statements that find changes of the data that accounts follow. The ids of the updates never leave PostgreSQL, so memory use does not grow with
// the size of a load.
import type { Transaction } from 'sequelize';
import type { AccountsDatabase } from '../database.ts';
import type { FollowMode } from '../models/follow.ts';

/** The types of updates that are mailed. */
const mailedTypes = [
  ...(['series.updated', 'series.revised', 'series.deleted', 'series.restored', 'series.renamed'] as const),
];
type MailedType = (typeof mailedTypes)[number];

/** SQL: the series of the updates after $1 up to $2, by each of their ids. $3: the types. */
const changedSql = `select position, type, data, at, named.id, series.series_no, source
  from events.updates cross join unnest(updates.series) as named (id)
  join events.series_ids as known on known.id = named.id join events.series on series.series_no = known.series_no
  where position > $1::bigint and position <= $2::bigint and type = any($3::text[])`;

/**
 * SQL: the rows of `changed` that match each follow in `follow`, with one join per kind. The words of a series are in `events.series_words`.
 * @param columns of `changed` and `follow`.
 */
const matchedSql = (
  columns: string,
) => `select ${columns} from follow join changed on follow.subject = changed.id
    where kind = 'series' and position > place
  union all select ${columns} from follow join changed on follow.subject = changed.source
    where kind = 'source' and position > place
  union all select ${columns}
    from (select *, events.search_query(subject) as query from follow where kind = 'search' offset 0) follow join changed on position > place
    join events.series_words as entry on entry.series_no = changed.series_no and entry.words @@ query`;

/** The position of the reader, locked; null while another worker has locked it. */
export async function lockReader(db: AccountsDatabase, transaction: Transaction): Promise<string | null> {
  const rows = await db.read<{ place: string }>(
    'select place::text from accounts.follow_reader for update skip locked',
    { transaction },
  );
  return rows[0]?.place ?? null;
}

/** The last of the next updates, at most `limit`, and their number; null if there are no newer updates. */
export async function selectNext(
  db: AccountsDatabase,
  transaction: Transaction,
  after: string,
  limit: number,
): Promise<{ until: string; count: number } | null> {
  const rows = await db.read<{ until: string | null; count: number }>(
    `select max(position)::text as until, count(*)::int as count
     from (select position from events.updates where position > $1::bigint order by position limit $2) next`,
    { bind: [after, limit], transaction },
  );
  const [row] = rows;
  return row?.until == null ? null : { until: row.until, count: row.count };
}

/** Marks the follows that some updates concern, each from its first change on, and moves the reader past the updates. */
export async function noteFound(
  db: AccountsDatabase,
  transaction: Transaction,
  { after, until }: { after: string; until: string },
): Promise<void> {
  await db.sequelize.query(
    `with follow as materialized (
       select id, kind, subject, place from accounts.follows where changed_at is null
     ), changed as materialized (
       ${changedSql} and exists (select from follow)
     ), found as materialized (
       select id, min(position) as first, min(at) as at from (${matchedSql('follow.id, position, at')}) matched group by id
     ), locked as materialized (
       select id from accounts.follows where id in (select id from found) order by id for no key update
     ), noted as (
       update accounts.follows as follow set changed_at = found.at, place = first - 1
       from found join locked using (id) where follow.id = found.id and changed_at is null
     )
     update accounts.follow_reader set place = $2::bigint`,
    { bind: [after, until, mailedTypes], transaction },
  );
}

/** A follow whose changes are due to be mailed. */
export interface DueFollow {
  id: string;
  account_id: string;
  mode: FollowMode;
  /** The last update that was mailed. */
  place: string;
  /** Whether its account may be sent e-mails. */
  is_reached: boolean;
}

/** SQL: whether an account is sent e-mails about changes. */
const isReached = `account.status = 'active' and account.email_signs_in and account.email_verified_at is not null
  and account.mail_refused_at is null`;

/**
 * Claims the follows whose changes are due, and moves them past `until`. All due follows of an account and a mode are claimed together.
 * @param due `at_once` follows are due if their first change was made by `changed` and nothing was mailed since `mailed`, `daily` follows if their
 * first change was made before `digest`.
 */
export async function claimDue(
  db: AccountsDatabase,
  transaction: Transaction,
  due: { changed: Date; mailed: Date; digest: Date; until: string; now: Date; limit: number },
): Promise<DueFollow[]> {
  const claimed = await db.read<DueFollow>(
    `with due as (
       select account_id, mode from accounts.follows where changed_at is not null
       group by account_id, mode
       having case mode when 'daily' then min(changed_at) < $3 else min(changed_at) <= $1 and not exists (
         select from accounts.follows as other
         where other.account_id = follows.account_id and other.mode = 'at_once' and other.mailed_at > $2) end
       order by min(changed_at) limit $4
     )
     select follow.id, follow.account_id, follow.mode, follow.place::text, ${isReached} as is_reached
     from due join accounts.follows as follow using (account_id, mode) join accounts.accounts as account on account.id = account_id
     where changed_at is not null order by follow.id for no key update of follow`,
    { bind: [due.changed, due.mailed, due.digest, due.limit], transaction },
  );
  await db.sequelize.query(
    `update accounts.follows as follow set place = $2::bigint, changed_at = null,
       mailed_at = case when is_reached then $3 else mailed_at end
     from json_to_recordset($1::json) as taken (id text, is_reached boolean) where follow.id = taken.id`,
    { bind: [JSON.stringify(claimed), due.until, due.now], transaction },
  );
  return claimed;
}

/** A series that changed. */
export interface ChangedSeries {
  id: string;
  name: string;
  frequency: string;
  /** The date of its last point, `YYYY-MM-DD`. */
  lastDate: string | null;
  isDeleted: boolean;
  types: MailedType[];
  /** Its previous id, if it was renamed. */
  was: string | null;
  /** Points that are new · that had another value · that no longer exist. */
  added: number;
  revised: number;
  removed: number;
  /** The number of all changed series. */
  total: number;
}

/** How many updates before a follow's position are searched for the last load before it: at most those of one file. */
const updatesOfFile = 1000;

/**
 * The series that changed for some follows of an account after their positions, sorted by name.
 * @param of.series the ids, if all follows are of series: then only these are searched. @param of.until the last update. @param of.limit of series.
 */
export function selectChanges(
  db: AccountsDatabase,
  of: {
    follows: readonly { id: string; place: string }[];
    series: readonly string[] | null;
    until: string;
    limit: number;
  },
): Promise<ChangedSeries[]> {
  const first = of.follows.map(({ place }) => BigInt(place)).reduce((a, b) => (a < b ? a : b));
  return db.read<ChangedSeries>(
    `with changed as materialized (
       ${changedSql} and ($6::text[] is null or named.id = any($6))
     ), follow as materialized (
       select id, kind, subject, given.place, (select max((data ->> 'load')::bigint) from (
           select data from events.updates where position <= given.place order by position desc limit ${updatesOfFile}) before) as last_load
       from json_to_recordset($4::json) as given (id text, place bigint) join accounts.follows using (id)
     ), matched as (
       ${matchedSql("changed.series_no, type, (data ->> 'load')::bigint as load_no, data ->> 'from' as was, last_load")}
     ), series as materialized (
       select series_no, series.id, name, frequency, last_date, is_deleted, array_agg(distinct type) as types, max(was) as was,
              coalesce(min(last_load), min(load_no) - 1) as last_load, max(load_no) as load_no, count(*) over ()::int as total
       from matched join events.series using (series_no)
       group by series_no, series.id, name, frequency, last_date, is_deleted
       order by name, series.id limit $5
     ), points as (
       select series_no, count(*) filter (where stated and not had)::int as added,
              count(*) filter (where stated and had)::int as revised, count(*) filter (where had and not has)::int as removed
       from (
         select series_no, bool_or(superseded_load_no is null and point.load_no > last_load) as stated,
                bool_or(superseded_load_no is null) as has,
                bool_or(point.load_no <= last_load and (superseded_load_no is null or superseded_load_no > last_load)) as had
         from series join events.points as point using (series_no) group by series_no, line_no, date) point
       group by series_no
     )
     select series.id, name, frequency, last_date::text as "lastDate", is_deleted as "isDeleted", types, was,
            coalesce(added, 0) as added, coalesce(revised, 0) as revised, coalesce(removed, 0) as removed, total
     from series left join points using (series_no) order by name, series.id`,
    {
      bind: [String(first), of.until, mailedTypes, JSON.stringify(of.follows), of.limit, of.series],
    },
  );
}
