// PostgreSQL for the services that use SQL: one pool, typed rows, transactions. A date is text `YYYY-MM-DD`, a numeric is text with its published
// digits, a bigint is a number.
import pg from 'pg';
import { createDatabaseCircuit, SteadyClient } from './database-circuit.ts';
import type { Log } from './log/log.ts';
import { poolMetrics } from './metrics/database.ts';
import { watchStatements, type StatementWatch } from './metrics/statements.ts';
import type { Metric } from './metrics/text.ts';

const dateOid = 1082;
const bigintOid = 20;

const types: pg.CustomTypesConfig = {
  getTypeParser(oid: number, format?: 'text' | 'binary') {
    if (oid === dateOid) return (text: string) => text;
    if (oid === bigintOid) return parseBigint;
    return pg.types.getTypeParser(oid, format === 'binary' ? 'binary' : 'text') as (text: string) => unknown;
  },
};

function parseBigint(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError(`bigint ${text} is too large for a number`);
  return value;
}

/** Runs statements, in the pool or in one transaction. A statement with a `name` is prepared once per connection. */
export interface Queryable {
  query<Row extends object>(text: string, values?: readonly unknown[], name?: string): Promise<Row[]>;
}

export interface Transaction extends Queryable {
  /** The underlying connection, for COPY and cursors. */
  readonly client: pg.PoolClient;
}

export interface Database extends Queryable {
  /** Runs `work` in one transaction: committed when it returns, rolled back when it throws. */
  transaction<T>(work: (transaction: Transaction) => Promise<T>): Promise<T>;
  /** Metrics of the pool and its statements. */
  readonly metrics: readonly Metric[];
  close(): Promise<void>;
}

export interface DatabaseOptions {
  /** The name of the connections in pg_stat_activity. */
  applicationName: string;
  /** Aborts a statement that takes longer. 0, for loads: no limit, and none for connecting either. */
  statementTimeoutMs?: number;
  /** Drops a connection on which an answer takes longer, as it may be half-open. By default a little more than a statement may take. */
  answerWithinMs?: number;
  /** The maximum number of open connections; 10 by default. */
  connectionsMax?: number;
  /** Fails statements that wait for a stalled PostgreSQL. For calls, where a 503 is better than a wait; not for loads, which can wait. */
  failsWhenStalled?: boolean;
  /** close() breaks running statements: for queries that a stalled server may never answer. */
  cutsAtClose?: boolean;
  /** Logs each statement that takes longer; 0, the default, logs none. */
  slowStatementMs?: number | undefined;
}

/** The limit for the statements of a call. */
export const statementTimeoutMs = 30_000;
/** The limit for getting a connection. It also ends if this process is busy for that long, although PostgreSQL has answered. */
const connectWithinMs = 10_000;
/** How much later than PostgreSQL the client ends a statement itself. */
export const answerMarginMs = 5_000;

/** Opens a pool. Nothing connects before the first statement. */
export function openDatabase(url: string, log: Log, options: DatabaseOptions): Database {
  const timeoutMs = options.statementTimeoutMs ?? statementTimeoutMs;
  const { answerWithinMs = timeoutMs + answerMarginMs, failsWhenStalled = false } = options;
  const circuit =
    timeoutMs === 0 ? undefined : createDatabaseCircuit(url, log, answerWithinMs, failsWhenStalled);
  const toCut = new Set<SteadyClient>();
  const Client = circuit?.Client ?? SteadyClient;
  class CutClient extends Client {
    constructor(config?: string | pg.ClientConfig) {
      super(config);
      toCut.add(this);
      this.once('end', () => toCut.delete(this));
    }
  }
  const { applicationName, connectionsMax = 10, slowStatementMs = 0 } = options;
  const pool = new pg.Pool({
    Client: options.cutsAtClose === true ? CutClient : Client,
    connectionString: url,
    application_name: applicationName,
    max: connectionsMax,
    connectionTimeoutMillis: timeoutMs === 0 ? 0 : connectWithinMs,
    statement_timeout: timeoutMs,
    // The planner overestimates lookups in many vintages and would JIT-compile them: 100 ms for a call of 2 ms. Without synchronized scans, a scan
    // with a limit begins at the first row, so the same search finds the same entries.
    options: '-c jit=off -c synchronize_seqscans=off',
    types,
  });
  // An idle connection that breaks (server restart) emits `error` here; the pool replaces it for the next statement.
  let isClosing = false;
  pool.on('error', (error) => {
    if (!isClosing) log.warn({ err: error }, 'an idle database connection broke');
  });

  const statements = watchStatements({ log, slowMs: slowStatementMs, waiting: () => pool.waitingCount });
  return {
    query: (text, values, name) => run(statements, pool, text, values, name),
    async transaction(work) {
      const client = await pool.connect();
      let broken: Error | undefined;
      // A connection that breaks between two statements emits `error` here; without a listener it would end the process.
      const onError = (error: Error) => void (broken = error);
      client.on('error', onError);
      try {
        await client.query('begin');
        const result = await work({
          client,
          query: (text, values, name) => run(statements, client, text, values, name),
        });
        await client.query('commit');
        return result;
      } catch (error) {
        await client.query('rollback').catch((rollbackError: Error) => {
          broken = rollbackError;
        });
        throw error;
      } finally {
        client.off('error', onError);
        client.release(broken);
      }
    },
    metrics: poolMetrics({
      ...{ name: applicationName.replace(/^almanac /, ''), connectionsMax, statements },
      figures: () => ({ size: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    }),
    async close() {
      isClosing = true;
      for (const client of toCut) client.cut();
      await pool.end();
      circuit?.close();
    },
  };
}

/**
 * Work within an open transaction: each `transaction` is a savepoint. One that throws is rolled back alone. Its locks and temporary tables last until
 * the whole transaction ends.
 */
export function inSavepoints(on: Transaction): Pick<Database, 'transaction'> {
  return {
    async transaction(work) {
      await on.query('savepoint part');
      try {
        const result = await work(on);
        await on.query('release savepoint part');
        return result;
      } catch (error) {
        await on.query('rollback to savepoint part');
        await on.query('release savepoint part');
        throw error;
      }
    },
  };
}

/** Thrown to roll back a dry run; carries its result. */
class DryRunEnds<Result> extends Error {
  readonly result: Result;

  constructor(result: Result) {
    super('the dry run is over');
    this.result = result;
  }
}

/** Runs the work in a transaction. @param isDryRun whether to roll it back afterwards. */
export function inTransaction<Result>(
  database: Pick<Database, 'transaction'>,
  isDryRun: boolean,
  work: (on: Transaction) => Promise<Result>,
): Promise<Result> {
  return database
    .transaction(async (on) => {
      const result = await work(on);
      if (isDryRun) throw new DryRunEnds(result);
      return result;
    })
    .catch((error: unknown) => {
      if (error instanceof DryRunEnds) return error.result as Result;
      throw error;
    });
}

async function run<Row extends object>(
  statements: StatementWatch,
  on: pg.Pool | pg.PoolClient,
  text: string,
  values: readonly unknown[] = [],
  name?: string,
): Promise<Row[]> {
  const statement = { text, values: [...values], ...(name === undefined ? {} : { name }) };
  const result = await statements.run(text, name, () => on.query<Row>(statement));
  return result.rows;
}
