// The Sequelize model of an API key: one row of accounts.api_keys, without the key's value.
import {
  DataTypes,
  Model,
  type CreationOptional,
  type InferAttributes,
  type InferCreationAttributes,
  type Sequelize,
} from 'sequelize';
import type { KeyScope } from '../../kernel/credentials/key-access.ts';

export class ApiKey extends Model<InferAttributes<ApiKey>, InferCreationAttributes<ApiKey>> {
  declare id: string;
  declare accountId: string;
  declare name: string;
  /** SHA-256 of the value, 64 hex digits. */
  declare hash: string;
  /** `pk_live_abcd…wxyz` */
  declare mask: string;
  /** 1 to 3; null once the key is revoked, or was found expired. */
  declare slot: number | null;
  declare createdAt: Date;
  declare expiresAt: Date | null;
  declare lastUsedAt: CreationOptional<Date | null>;
  declare revokedAt: CreationOptional<Date | null>;
  /** The hash of the value before the last rotation; null: it has ended. */
  declare previousHash: CreationOptional<string | null>;
  declare previousMask: CreationOptional<string | null>;
  declare previousUntil: CreationOptional<Date | null>;
  declare scopes: CreationOptional<KeyScope[]>;
  /** Address ranges; null: every address. */
  declare addresses: CreationOptional<string[] | null>;
  /** The day that it is pinned to, `YYYY-MM-DD`; null: none. Never changed. */
  declare asOf: CreationOptional<string | null>;
}

/** Defines the model on one connection. */
export function apiKeyModel(sequelize: Sequelize): typeof ApiKey {
  return class extends ApiKey {}.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true },
      accountId: DataTypes.TEXT,
      name: DataTypes.TEXT,
      hash: DataTypes.TEXT,
      mask: DataTypes.TEXT,
      slot: DataTypes.SMALLINT,
      createdAt: DataTypes.DATE,
      expiresAt: DataTypes.DATE,
      lastUsedAt: DataTypes.DATE,
      revokedAt: DataTypes.DATE,
      previousHash: DataTypes.TEXT,
      previousMask: DataTypes.TEXT,
      previousUntil: DataTypes.DATE,
      scopes: DataTypes.ARRAY(DataTypes.TEXT),
      addresses: DataTypes.ARRAY(DataTypes.TEXT),
      asOf: DataTypes.DATEONLY,
    },
    { sequelize, modelName: 'apiKey', tableName: 'api_keys' },
  );
}
