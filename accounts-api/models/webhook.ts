// The Sequelize model of a customer's webhook endpoint: one row of accounts.webhooks. Its secrets are encrypted.
import {
  DataTypes,
  Model,
  type CreationOptional,
  type InferAttributes,
  type InferCreationAttributes,
  type Sequelize,
} from 'sequelize';
import type { EventType } from '../../kernel/events/catalogue.ts';

export class Webhook extends Model<InferAttributes<Webhook>, InferCreationAttributes<Webhook>> {
  declare id: string;
  declare accountId: string;
  /** 1 to 10. */
  declare slot: number;
  declare url: string;
  declare description: string | null;
  declare events: EventType[];
  /** Ids of series, and prefixes ending in `*`; null: all. */
  declare series: string[] | null;
  /** In the format of `sealSecret`. */
  declare secret: string;
  declare previousSecret: CreationOptional<string | null>;
  /** Until then messages are signed with both secrets. */
  declare previousSecretUntil: CreationOptional<Date | null>;
  declare createdAt: Date;
  declare disabledAt: CreationOptional<Date | null>;
  declare disabledBecause: CreationOptional<'asked' | 'failing' | 'gone' | null>;
  /** The first failure since the last success. */
  declare failingSince: CreationOptional<Date | null>;
  declare lastFailedAt: CreationOptional<Date | null>;
  /** Nothing is sent before this time. */
  declare throttledUntil: CreationOptional<Date | null>;
}

/** Defines the model on one connection. */
export function webhookModel(sequelize: Sequelize): typeof Webhook {
  return class extends Webhook {}.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true },
      accountId: DataTypes.TEXT,
      slot: DataTypes.SMALLINT,
      url: DataTypes.TEXT,
      description: DataTypes.TEXT,
      events: DataTypes.ARRAY(DataTypes.TEXT),
      series: DataTypes.ARRAY(DataTypes.TEXT),
      secret: DataTypes.TEXT,
      previousSecret: DataTypes.TEXT,
      previousSecretUntil: DataTypes.DATE,
      createdAt: DataTypes.DATE,
      disabledAt: DataTypes.DATE,
      disabledBecause: DataTypes.TEXT,
      failingSince: DataTypes.DATE,
      lastFailedAt: DataTypes.DATE,
      throttledUntil: DataTypes.DATE,
    },
    { sequelize, modelName: 'webhook', tableName: 'webhooks' },
  );
}
