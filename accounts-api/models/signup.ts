// The Sequelize model of a sign-up that waits for its mailed link: one row of accounts.signups. There may be others for the same address.
import {
  DataTypes,
  Model,
  type InferAttributes,
  type InferCreationAttributes,
  type Sequelize,
} from 'sequelize';

export class Signup extends Model<InferAttributes<Signup>, InferCreationAttributes<Signup>> {
  declare id: string;
  declare email: string;
  declare name: string | null;
  declare passwordHash: string;
  declare createdAt: Date;
  declare expiresAt: Date;
}

/** Defines the model on one connection. */
export function signupModel(sequelize: Sequelize): typeof Signup {
  return class extends Signup {}.init(
    {
      id: { type: DataTypes.TEXT, primaryKey: true },
      email: DataTypes.TEXT,
      name: DataTypes.TEXT,
      passwordHash: DataTypes.TEXT,
      createdAt: DataTypes.DATE,
      expiresAt: DataTypes.DATE,
    },
    { sequelize, modelName: 'signup', tableName: 'signups' },
  );
}
