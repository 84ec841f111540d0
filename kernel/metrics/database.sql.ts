// The figures that a PostgreSQL server reports about itself to any role, for /metrics and `almanac check`.

export interface ServerFigures {
  /** The server's clock, in seconds since 1970. */
  clock: number;
  /** How far the replica is behind its primary; null for a primary. */
  lag_seconds: number | null;
  /** The age of the longest-running statement of this role. */
  statement_seconds: number;
  /** The age of the oldest open transaction of this role. */
  transaction_seconds: number;
  /** Statements of this role that wait for a lock. */
  waiting_for_locks: number;
}

/**
 * A replica that has replayed everything it received is current only while it is connected. A view that other roles can read shows at least whether a
 * receiver runs. The lag of a disconnected replica is the age of its last transaction.
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
