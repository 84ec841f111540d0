// What a PostgreSQL server says about itself to any role, for /metrics and `almanac check`.

export interface ServerFigures {
  /** Of its clock, in seconds since 1970. */
  clock: number;
  /** How far behind the primary it is; null: it is one. */
  lag_seconds: number | null;
  /** Of the statement of this role that has been running for longest. */
  statement_seconds: number;
  /** Of the transaction of this role that has been open for longest. */
  transaction_seconds: number;
  /** Statements of this role that wait for a lock. */
  waiting_for_locks: number;
}

/**
 * A replica that has replayed all that it has received is current only while it is connected: a view that other roles see says
 * that a receiver runs, if not more. One that is not connected is as far behind as its last transaction is old.
 */
export const selectServerFigures = `
  select extract(epoch from clock_timestamp())::float8 as clock,
         case when not pg_is_in_recovery() then null
              when pg_last_wal_receive_lsn() = pg_last_wal_replay_lsn()
                   and exists (select from pg_stat_wal_receiver) then 0
              else greatest(extract(epoch from clock_timestamp() - pg_last_xact_replay_timestamp()), 0)::float8
         end as lag_seconds,
         statement_seconds, transaction_seconds, waiting_for_locks
  from (
    select coalesce(max(extract(epoch from clock_timestamp() - query_start)) filter (where state = 'active'), 0)::float8
             as statement_seconds,
           coalesce(max(extract(epoch from clock_timestamp() - xact_start)), 0)::float8 as transaction_seconds,
           count(*) filter (where wait_event_type = 'Lock')::int as waiting_for_locks
    from pg_stat_activity
    where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
  ) as activity`;
