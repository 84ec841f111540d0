// The Sequelize model of a follow: one row of accounts.follows.
import {
  DataTypes,
  Model,
  type CreationOptional,
  type InferAttributes,
  type InferCreationAttributes,
  type Sequelize,
} from 'sequelize';

export const followKinds = ['series', 'source', 'search'] as const;
export type FollowKind = (typeof followKinds)[number];
export const followModes = ['at_once', 'daily'] as const;
export type FollowMode = (typeof followModes)[number];

export class Follow extends Model<InferAttributes<Follow>, InferCreationAttributes<Follow>> {
  declare id: string;
  declare accountId: string;
  declare kind: FollowKind;
  /** The id of a series, the name of a source, or the words of a search. */
  declare subject: string;
  declare mode: FollowMode;
  declare createdAt: Date;
  /** The cursor of the last mailed update, or of the last one before the follow was created. */
  declare place: string;
  /** When the first update after `place` was published; set when that update is read. */
  declare changedAt: CreationOptional<Date | null>;
  declare mailedAt: CreationOptional<Date | null>;
}

/** Defines the model on one connection. */
export function followModel(sequelize: Sequelize): typeof Follow {
  return class extends Follow {}.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true },
      accountId: DataTypes.TEXT,
      kind: DataTypes.TEXT,
      subject: DataTypes.TEXT,
      mode: DataTypes.TEXT,
      createdAt: DataTypes.DATE,
      place: DataTypes.BIGINT,
      changedAt: DataTypes.DATE,
      mailedAt: DataTypes.DATE,
    },
    { sequelize, modelName: 'follow', tableName: 'follows' },
  );
}
