// The connection of accounts-api: Sequelize, its pool and the models of schema `accounts`. Hides their setup.
import pg from 'pg';
import { QueryTypes, Sequelize, type Transaction } from 'sequelize';
import type { Clock } from '../kernel/clock.ts';
import { answerMarginMs, statementTimeoutMs } from '../kernel/database.ts';
import { createDatabaseCircuit } from '../kernel/database-circuit.ts';
import { createLog, type Log } from '../kernel/log/log.ts';
import { poolMetrics } from '../kernel/metrics/database.ts';
import { watchStatements } from '../kernel/metrics/statements.ts';
import type { Metric } from '../kernel/metrics/text.ts';
import type { Plans } from '../kernel/plans.ts';
import type { RedisLink } from '../kernel/redis.ts';
import { createCredentialCacheWriter, type CredentialCacheWriter } from './keys/credential-cache.ts';
import { accountModel, type Account } from './models/account.ts';
import { apiKeyModel, type ApiKey } from './models/api-key.ts';
import { auditEventModel, type AuditEvent } from './models/audit-event.ts';
import { sessionModel, type Session } from './models/session.ts';
import { signupModel, type Signup } from './models/signup.ts';
import { webhookModel, type Webhook } from './models/webhook.ts';

export interface AccountsDatabase {
  /** For the statements of the `*.sql.ts` files. */
  readonly sequelize: Sequelize;
  /** The rows of a statement without parameters. */
  read<Row extends object>(text: string): Promise<Row[]>;
  /**
   * Runs work in a transaction, commits it, and resolves when its changes of credentials are in force at every gateway.
   * The only way to begin a transaction that may change one: otherwise a request would be answered before its change is in force.
   */
  inTransaction<T>(work: (transaction: Transaction) => PromiseLike<T>): Promise<T>;
  /**
   * Runs work in a transaction that does not wait for credential changes of others. Use it only for work that changes no cached credential,
   * such as making a key (not cached yet), or making or ending a session (never cached).
   */
  inLedgerTransaction<T>(work: (transaction: Transaction) => PromiseLike<T>): Promise<T>;
  readonly credentialCache: CredentialCacheWriter;
  readonly accounts: typeof Account;
  readonly keys: typeof ApiKey;
  readonly sessions: typeof Session;
  readonly signups: typeof Signup;
  readonly auditEvents: typeof AuditEvent;
  readonly webhooks: typeof Webhook;
  /** Of the pool and its statements. */
  readonly metrics: readonly Metric[];
  /** Waits for statements under way, then closes all connections. */
  close(): Promise<void>;
}

/** The dependencies of this service's work, for requests and for the operator. */
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
  /** What waits for a stalled PostgreSQL fails, and the log says so. */
  failsWhenStalled?: boolean;
  /** Gives up a connection on which an answer takes longer: it may be half-open. A little more than a statement may take by default. */
  answerWithinMs?: number;
  /** Logs each statement that takes longer; 0, the default: none. */
  slowStatementMs?: number | undefined;
}

/** Opens a pool. Nothing connects before the first statement. @param redis where gateways read credentials, if known. */
export function connect(
  databaseUrl: string,
  redis?: RedisLink,
  options: ConnectOptions = {},
): AccountsDatabase {
  const {
    pool = 'accounts-api',
    log = createLog(pool, 'silent'),
    failsWhenStalled = false,
    slowStatementMs = 0,
    answerWithinMs = statementTimeoutMs + answerMarginMs,
  } = options;
  const circuit = createDatabaseCircuit(databaseUrl, log, answerWithinMs, failsWhenStalled);
  const sequelize = new Sequelize(databaseUrl, {
    dialect: 'postgres',
    dialectModule: Object.create(pg, { Client: { value: circuit.Client } }) as object,
    schema: 'accounts',
    define: { timestamps: false, underscored: true },
    pool: { max: connectionsMax, acquire: acquireTimeoutMs },
    dialectOptions: { application_name: 'almanac accounts-api', statement_timeout: statementTimeoutMs },
    logging: false, // Sequelize writes values into its statements, including key hashes
  });
  const metrics = watchQueries(sequelize, { pool, log, slowStatementMs });
  const credentialCache = createCredentialCacheWriter(sequelize, redis);
  return {
    sequelize,
    read: (text) => sequelize.query(text, { type: QueryTypes.SELECT }),
    metrics,
    credentialCache,
    async inTransaction(work) {
      const result = await sequelize.transaction(work);
      await credentialCache.settle();
      return result;
    },
    inLedgerTransaction: (work) => sequelize.transaction(work),
    accounts: accountModel(sequelize),
    keys: apiKeyModel(sequelize),
    sessions: sessionModel(sequelize),
    signups: signupModel(sequelize),
    auditEvents: auditEventModel(sequelize),
    webhooks: webhookModel(sequelize),
    async close() {
      await sequelize.close();
      circuit.close();
    },
  };
}

/** Sequelize's pool, of which it types nothing. */
interface SequelizePool {
  size: number;
  available: number;
  waiting: number;
}

/** Has each statement timed, those of the models too: all go through `query`. @returns the metrics of the pool. */
function watchQueries(
  sequelize: Sequelize,
  { pool: name, log, slowStatementMs }: { pool: string; log: Log; slowStatementMs: number },
): Metric[] {
  const { pool } = (sequelize as unknown as { connectionManager: { pool: SequelizePool } }).connectionManager;
  const statements = watchStatements({ log, slowMs: slowStatementMs, waiting: () => pool.waiting });
  const { query } = sequelize;
  type Words = [text: string | { query: string }, ...more: unknown[]];
  Object.assign(sequelize, {
    query(...words: Words) {
      const [text] = words;
      const run = () => Reflect.apply(query, sequelize, words) as Promise<unknown>;
      return statements.run(typeof text === 'string' ? text : text.query, undefined, run);
    },
  });
  const figures = () => ({ size: pool.size, idle: pool.available, waiting: pool.waiting });
  return poolMetrics({ name, connectionsMax, figures, statements });
}
