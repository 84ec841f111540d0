// The Sequelize model of an account: one row of accounts.accounts.
import {
  DataTypes,
  Model,
  type CreationOptional,
  type InferAttributes,
  type InferCreationAttributes,
  type Sequelize,
} from 'sequelize';

// `declare` everywhere: a real class field would hide the accessor that Sequelize defines on the prototype.
export class Account extends Model<InferAttributes<Account>, InferCreationAttributes<Account>> {
  declare id: string;
  declare email: string;
  /** False: the account was created by a payment without a session. Nobody has proved the e-mail address, which may also be another account's. */
  declare emailSignsIn: CreationOptional<boolean>;
  declare name: string | null;
  /** A plan id as stored; `planOf` returns the current plan. */
  declare plan: string;
  /** The plan that applies again when the subscription ends. Unused while there is no subscription. */
  declare planSetAside: CreationOptional<string | null>;
  declare status: CreationOptional<'active' | 'disabled'>;
  /** `inactive`: calls with a key are refused with 402. */
  declare subscriptionState: CreationOptional<'none' | 'active' | 'inactive'>;
  declare createdAt: Date;
  /** argon2id; null if the holder signs in with Google, or has not set a password yet. */
  declare passwordHash: CreationOptional<string | null>;
  /** When the holder proved the mailbox, or the operator confirmed it. */
  declare emailVerifiedAt: CreationOptional<Date | null>;
  /** Rises with every change of password or e-mail address, which invalidates mailed links. */
  declare credentialVersion: CreationOptional<number>;
  /** Whether the holder wants e-mails about the month's usage and about expiring keys. */
  declare mailsUsage: CreationOptional<boolean>;
  declare mailsKeyExpiry: CreationOptional<boolean>;
  /** When an e-mail to the e-mail address was last refused for good; null once one was accepted. */
  declare mailRefusedAt: CreationOptional<Date | null>;
  /** `operator`: may manage all accounts. Set by the command line only. */
  declare role: CreationOptional<'operator' | null>;
}

/** Defines the model on one connection: several services may run in one process, each with its own connection. */
export function accountModel(sequelize: Sequelize): typeof Account {
  return class extends Account {}.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true },
      email: DataTypes.TEXT,
      emailSignsIn: DataTypes.BOOLEAN,
      name: DataTypes.TEXT,
      plan: DataTypes.TEXT,
      planSetAside: DataTypes.TEXT,
      status: DataTypes.TEXT,
      subscriptionState: DataTypes.TEXT,
      createdAt: DataTypes.DATE,
      passwordHash: DataTypes.TEXT,
      emailVerifiedAt: DataTypes.DATE,
      credentialVersion: DataTypes.INTEGER,
      mailsUsage: DataTypes.BOOLEAN,
      mailsKeyExpiry: DataTypes.BOOLEAN,
      mailRefusedAt: DataTypes.DATE,
      role: DataTypes.TEXT,
    },
    { sequelize, modelName: 'account', tableName: 'accounts' },
  );
}
