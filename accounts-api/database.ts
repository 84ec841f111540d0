// The connection of accounts-api: Sequelize, its pool and the models of schema `accounts`. Hides their set-up.
import { Sequelize } from 'sequelize';
import type { Clock } from '../kernel/clock.ts';
import type { Plans } from '../kernel/plans.ts';
import { accountModel, type Account } from './models/account.ts';
import { apiKeyModel, type ApiKey } from './models/api-key.ts';
import { auditEventModel, type AuditEvent } from './models/audit-event.ts';

export interface AccountsDatabase {
  /** For transactions, and for the statements of the `*.sql.ts` files. */
  readonly sequelize: Sequelize;
  readonly accounts: typeof Account;
  readonly keys: typeof ApiKey;
  readonly auditEvents: typeof AuditEvent;
  /** Waits for statements under way, then closes every connection. */
  close(): Promise<void>;
}

/** What the work of this room needs, whether a request or the operator asks for it. */
export interface Deps {
  readonly db: AccountsDatabase;
  readonly plans: Plans;
  readonly clock: Clock;
}

const connectionsMax = 10;
const acquireTimeoutMs = 10_000;
const statementTimeoutMs = 30_000;

/** Opens a pool. Nothing connects before the first statement. */
export function connect(databaseUrl: string): AccountsDatabase {
  const sequelize = new Sequelize(databaseUrl, {
    dialect: 'postgres',
    schema: 'accounts',
    define: { timestamps: false, underscored: true },
    pool: { max: connectionsMax, acquire: acquireTimeoutMs },
    dialectOptions: { application_name: 'almanac accounts-api', statement_timeout: statementTimeoutMs },
    logging: false, // Sequelize writes values into the statements it makes, key hashes among them
  });
  return {
    sequelize,
    accounts: accountModel(sequelize),
    keys: apiKeyModel(sequelize),
    auditEvents: auditEventModel(sequelize),
    close: () => sequelize.close(),
  };
}
