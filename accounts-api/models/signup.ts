// A sign-up that waits for the click in its mail: one row of accounts.signups. Others for the same address stay beside it.
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
