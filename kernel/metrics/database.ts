// The metrics of a database: its connection pools, and what the server reports about itself.
import type { Log } from '../log/log.ts';
import { selectServerFigures, type ServerFigures } from './database.sql.ts';
import { askedFigures } from './figures.ts';
import { histogramSamples } from './histogram.ts';
import type { StatementWatch } from './statements.ts';
import type { Metric } from './text.ts';

/** A pool's current figures. */
export interface PoolFigures {
  /** Connections that are open. */
  size: number;
  idle: number;
  /** Statements that wait for a connection. */
  waiting: number;
}

/** A monitored pool. */
export interface WatchedPool {
  name: string;
  connectionsMax: number;
  figures: () => PoolFigures;
  statements: StatementWatch;
}

export function poolMetrics({ name, connectionsMax, figures, statements }: WatchedPool): Metric[] {
  const pool = name;
  return [
    {
      name: 'almanac_database_connections',
      help: 'Connections of a pool to PostgreSQL, by state.',
      read() {
        const { size, idle } = figures();
        return [
          { labels: { pool, state: 'busy' }, value: size - idle },
          { labels: { pool, state: 'idle' }, value: idle },
        ];
      },
    },
    {
      name: 'almanac_database_connections_max',
      help: 'The most connections that the pool opens.',
      read: () => [{ labels: { pool }, value: connectionsMax }],
    },
    {
      name: 'almanac_database_waiting',
      help: 'Statements that wait for a connection of the pool.',
      read: () => [{ labels: { pool }, value: figures().waiting }],
    },
    {
      name: 'almanac_database_statement_duration_seconds',
      help: 'Time of a statement, with the wait for a connection.',
      type: 'histogram',
      read: () => histogramSamples({ pool }, statements.time),
    },
    {
      name: 'almanac_database_statements_slow_total',
      help: 'Statements that took longer than SLOW_STATEMENT_MS.',
      type: 'counter',
      read: () => [{ labels: { pool }, value: statements.slow }],
    },
  ];
}

/** @param query runs the statement and returns its row. @param server the server's role for the service, such as `primary`. */
export function serverMetrics(
  { service, server }: { service: string; server: string },
  query: (text: string) => Promise<readonly ServerFigures[]>,
  log: Log,
): Metric[] {
  const labels = { service, server };
  const figures = askedFigures('the state of the database', () => readServer(query), log);
  const one = (name: string, help: string, valueOf: (row: DatedFigures) => number | null) =>
    figures.metric({ name, help }, (row) => {
      const value = valueOf(row);
      return value === null ? [] : [{ labels, value }];
    });
  return [
    figures.answered(
      {
        name: 'almanac_database_up',
        help: 'Whether the database answered this scrape within a second.',
      },
      labels,
    ),
    one(
      'almanac_database_clock_offset_seconds',
      'The clock of the database minus that of this machine.',
      ({ offset }) => offset,
    ),
    one(
      'almanac_database_replica_lag_seconds',
      'How far a replica is behind its primary; absent for a primary.',
      (row) => row.lag_seconds,
    ),
    one(
      'almanac_database_longest_statement_seconds',
      'The age of the longest-running statement of this role.',
      (row) => row.statement_seconds,
    ),
    one(
      'almanac_database_longest_transaction_seconds',
      'The age of the oldest open transaction of this role.',
      (row) => row.transaction_seconds,
    ),
    one(
      'almanac_database_waiting_for_locks',
      'Statements of this role that wait for a lock.',
      (row) => row.waiting_for_locks,
    ),
  ];
}

export type DatedFigures = ServerFigures & {
  /** The difference of the server's clock to ours, in seconds; uncertain by half of the round-trip time. */
  offset: number;
};

/** @throws Error if the database does not answer. */
export async function readServer(
  query: (text: string) => Promise<readonly ServerFigures[]>,
): Promise<DatedFigures> {
  const beforeMs = Date.now();
  const [row] = await query(selectServerFigures);
  if (row === undefined) throw new Error('the database answered without a row');
  return { ...row, offset: row.clock - (beforeMs + Date.now()) / 2_000 };
}
