// The Sequelize model of a session: one row of accounts.sessions. An ended session has no row.
import {
  DataTypes,
  Model,
  type InferAttributes,
  type InferCreationAttributes,
  type Sequelize,
} from 'sequelize';

export class Session extends Model<InferAttributes<Session>, InferCreationAttributes<Session>> {
  declare id: string;
  declare accountId: string;
  /** SHA-256 of the token's second half, 64 hex digits. */
  declare secretHash: string;
  declare createdAt: Date;
  /** Accurate to five minutes, like `idleExpiresAt`. */
  declare lastSeenAt: Date;
  declare idleExpiresAt: Date;
  declare absoluteExpiresAt: Date;
  /** When all factors of the account last proved the identity: a password or Google, plus a code if there is a second factor. */
  declare authTime: Date;
  /** Whether it was opened by a passkey, or by a code besides the first factor. */
  declare twoFactors: boolean;
  declare ip: string;
  declare userAgent: string;
}

/** Defines the model on one connection. */
export function sessionModel(sequelize: Sequelize): typeof Session {
  return class extends Session {}.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true },
      accountId: DataTypes.TEXT,
      secretHash: DataTypes.TEXT,
      createdAt: DataTypes.DATE,
      lastSeenAt: DataTypes.DATE,
      idleExpiresAt: DataTypes.DATE,
      absoluteExpiresAt: DataTypes.DATE,
      authTime: DataTypes.DATE,
      twoFactors: DataTypes.BOOLEAN,
      ip: DataTypes.TEXT,
      userAgent: DataTypes.TEXT,
    },
    { sequelize, modelName: 'session', tableName: 'sessions' },
  );
}
