// The connection of accounts-api: Sequelize, its pool and the models of schema `accounts`.
import pg from 'pg';
import {
  QueryTypes,
  Sequelize,
  type ModelStatic,
  type Options,
  type QueryOptions,
  type Transaction,
} from 'sequelize';
import type { Clock } from '../kernel/clock.ts';
import { answerMarginMs, statementTimeoutMs } from '../kernel/database.ts';
import { createDatabaseCircuit, type DatabaseCircuit } from '../kernel/database-circuit.ts';
import { createLog, type Log } from '../kernel/log/log.ts';
import { poolMetrics, type PoolFigures } from '../kernel/metrics/database.ts';
import { shapeOf, watchStatements, type StatementWatch } from '../kernel/metrics/statements.ts';
import type { Metric } from '../kernel/metrics/text.ts';
import type { Plans } from '../kernel/plans.ts';
import { createChanges, type Changes } from './heartbeat/changes.ts';
import { accounts, type Account } from './models/account.ts';
import { apiKeys, type ApiKey } from './models/api-key.ts';
import { auditEvents, type AuditEvent } from './models/audit-event.ts';
import { follows, type Follow } from './models/follow.ts';
import { sessions, type Session } from './models/session.ts';
import { signups, type Signup } from './models/signup.ts';
import { modelOf } from './models/table.ts';
import { webhooks, type Webhook } from './models/webhook.ts';

type StatementOptions = Pick<QueryOptions, 'bind' | 'transaction'>;

export interface AccountsDatabase {
  /** For the statements of the `*.sql.ts` files. */
  readonly sequelize: Sequelize;
  /** The rows of a statement. */
  read<Row extends object>(text: string, options?: StatementOptions): Promise<Row[]>;
  /** Its first row; null without rows. */
  readFirst<Row extends object>(text: string, options: StatementOptions): Promise<Row | null>;
  /** Whether it returns a row: for a statement that changes at most one, whether it did. */
  hasRow(text: string, options: StatementOptions): Promise<boolean>;
  /**
   * Runs work in a transaction, commits it, and resolves when its changes of credentials are active at every gateway. Every transaction that may
   * change a credential must use this: otherwise a request would be answered before its change is active.
   */
  inTransaction<T>(work: (transaction: Transaction) => PromiseLike<T>): Promise<T>;
  /**
   * Runs work in a transaction without waiting for gateways. Use it only for work that changes nothing cached by gateways, such as creating a key
   * (not cached yet), or creating or ending a session (never cached).
   */
  inLedgerTransaction<T>(work: (transaction: Transaction) => PromiseLike<T>): Promise<T>;
  /** Changes of accounts and keys that gateways must see. */
  readonly changes: Changes;
  readonly accounts: ModelStatic<Account>;
  readonly keys: ModelStatic<ApiKey>;
  readonly sessions: ModelStatic<Session>;
  readonly signups: ModelStatic<Signup>;
  readonly auditEvents: ModelStatic<AuditEvent>;
  readonly webhooks: ModelStatic<Webhook>;
  readonly follows: ModelStatic<Follow>;
  /** Metrics of the pool and its statements. */
  readonly metrics: readonly Metric[];
  /** Waits for running statements, then closes all connections. */
  close(): Promise<void>;
}

/** The dependencies of this service's work, for requests and for commands. */
export interface Deps {
  readonly db: AccountsDatabase;
  readonly plans: Plans;
  readonly clock: Clock;
}

const connectionsMax = 10;
const acquireTimeoutMs = 10_000;

export interface ConnectOptions {
  /** The name of the pool in /metrics and in the log; `accounts-api` by default. */
  pool?: string;
  log?: Log;
  /** Whether statements that wait for a stalled PostgreSQL fail, which is logged. */
  failsWhenStalled?: boolean;
  /** Drops a connection on which an answer takes longer, as it may be half-open. By default a little more than a statement may take. */
  answerWithinMs?: number;
  /** Logs each statement that takes longer; 0, the default, logs none. */
  slowStatementMs?: number | undefined;
}

/** Opens a pool. Nothing connects before the first statement. */
export function connect(databaseUrl: string, options: ConnectOptions = {}): AccountsDatabase {
  const {
    pool = 'accounts-api',
    log = createLog(pool, 'silent'),
    failsWhenStalled = false,
    slowStatementMs = 0,
    answerWithinMs = statementTimeoutMs + answerMarginMs,
  } = options;
  const circuit = createDatabaseCircuit(databaseUrl, log, answerWithinMs, failsWhenStalled);
  const users = new PoolUsers(circuit);
  const statements = watchStatements({ log, slowMs: slowStatementMs, waiting: () => users.waiting });
  const sequelize: Sequelize = new TimedSequelize(statements, users, databaseUrl, {
    dialect: 'postgres',
    dialectModule: Object.create(pg, { Client: { value: circuit.Client } }) as object,
    schema: 'accounts',
    define: { timestamps: false, underscored: true },
    pool: { max: connectionsMax, acquire: acquireTimeoutMs },
    dialectOptions: { application_name: 'almanac accounts-api', statement_timeout: statementTimeoutMs },
    logging: false, // Sequelize writes values into its statements, including key hashes
  });
  const inNewTransaction = <T>(work: (transaction: Transaction) => PromiseLike<T>): Promise<T> =>
    users.count(() => sequelize.transaction(work));
  const changes = createChanges(sequelize, databaseUrl);
  const read: AccountsDatabase['read'] = (text, options) =>
    sequelize.query(text, { ...options, type: QueryTypes.SELECT });
  return {
    sequelize,
    read,
    readFirst: async <Row extends object>(text: string, options: StatementOptions) =>
      (await read<Row>(text, options))[0] ?? null,
    hasRow: async (text, options) => (await read(text, options)).length > 0,
    metrics: poolMetrics({ name: pool, connectionsMax, figures: () => users.figures(), statements }),
    changes,
    async inTransaction(work) {
      const result = await inNewTransaction(work);
      await changes.awaitCacheInvalidation();
      return result;
    },
    inLedgerTransaction: inNewTransaction,
    accounts: modelOf(sequelize, accounts),
    keys: modelOf(sequelize, apiKeys),
    sessions: modelOf(sequelize, sessions),
    signups: modelOf(sequelize, signups),
    auditEvents: modelOf(sequelize, auditEvents),
    webhooks: modelOf(sequelize, webhooks),
    follows: modelOf(sequelize, follows),
    async close() {
      changes.close();
      await sequelize.close();
      circuit.close();
    },
  };
}

/**
 * Counts the users of the pool. Sequelize has no figures for it: each statement outside a transaction, and each transaction, uses a connection of its
 * own; those without one yet wait for it.
 */
class PoolUsers {
  readonly #circuit: DatabaseCircuit;
  #users = 0;

  constructor(circuit: DatabaseCircuit) {
    this.#circuit = circuit;
  }

  async count<T>(work: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await work();
    } finally {
      this.#users -= 1;
    }
  }

  get waiting(): number {
    const { open, connecting } = this.#circuit.count();
    return Math.max(0, this.#users - (open - connecting));
  }

  figures(): PoolFigures {
    const { open, idle } = this.#circuit.count();
    return { size: open, idle, waiting: this.waiting };
  }
}

/** Times each statement, including those of the models, which also run through `query`. */
class TimedSequelize extends Sequelize {
  readonly #statements: StatementWatch;
  readonly #users: PoolUsers;

  constructor(statements: StatementWatch, users: PoolUsers, url: string, options: Options) {
    super(url, options);
    this.#statements = statements;
    this.#users = users;
  }

  // It has many forms, which are passed through unchanged; Sequelize's types define what they return.
  override query(text: string | { query: string; values: unknown[] }, options?: QueryOptions): never {
    const run = () => super.query(text, options).catch(failWithoutValues);
    const words = typeof text === 'string' ? text : text.query;
    const isOfTransaction = options?.transaction !== undefined && options.transaction !== null;
    return this.#statements.run(words, undefined, () =>
      isOfTransaction ? run() : this.#users.count(run),
    ) as never;
  }
}

/** The fields in which errors of Sequelize and pg have values: of the statement, of the refused row, of the model. */
const valueFields = ['parameters', 'detail', 'fields', 'errors'];

/** Removes the values from the error of a statement, as errors are logged. @throws the error, with the shape of the statement. */
function failWithoutValues(thrown: unknown): never {
  const [error, ofDriver] = [thrown, (thrown as { parent?: unknown } | null)?.parent];
  for (const each of [error, ofDriver]) {
    if (!(each instanceof Error)) continue;
    for (const field of valueFields) Reflect.deleteProperty(each, field);
    if ('sql' in each) each.sql = shapeOf(String(each.sql));
  }
  throw thrown;
}
