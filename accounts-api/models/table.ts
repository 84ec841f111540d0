// Declares the tables of the Sequelize models. Each column is declared once; the type of a row follows from its columns.
import {
  DataTypes,
  type DataType,
  type Model,
  type ModelStatic,
  type Optional,
  type Sequelize,
} from 'sequelize';

/** A column. `HasDefault`: a new row may omit its value; it may always omit null. */
interface Column<Value, HasDefault extends boolean = false> {
  readonly type: DataType;
  readonly primaryKey?: boolean;
  readonly autoIncrement?: boolean;
  /** Exists in types only. */
  readonly is?: { value: Value; hasDefault: HasDefault };
}

/** By name, in camel case. */
type Columns = Readonly<Record<string, Column<unknown, boolean>>>;
type Values<Of extends Columns> = {
  -readonly [Name in keyof Of]: Of[Name] extends Column<infer Value, boolean> ? Value : never;
};
type Omittable<Of extends Columns> = {
  [Name in keyof Of]: Of[Name] extends Column<unknown> ? never : Name;
}[keyof Of];

interface Table<Of extends Columns> {
  readonly tableName: string;
  readonly modelName: string;
  readonly columns: Of;
}

/** A row of a table, with the methods of Sequelize. */
export type RowOf<Of> =
  Of extends Table<infer All extends Columns>
    ? Model<Values<All>, Optional<Values<All>, Omittable<All>>> & Values<All>
    : never;

export const table = <Of extends Columns>(tableName: string, modelName: string, columns: Of): Table<Of> => ({
  ...{ tableName, modelName, columns },
});

/** Defines the model on one connection: several services may run in one process, each with its own connection. */
export function modelOf<Of extends Columns>(
  sequelize: Sequelize,
  { tableName, modelName, columns }: Table<Of>,
): ModelStatic<RowOf<Table<Of>> & Model> {
  // Sequelize writes the name of the column into its definition.
  const own = Object.entries(columns).map(([name, column]) => [name, { ...column }] as const);
  return sequelize.define(modelName, Object.fromEntries(own), { tableName });
}

export const text = <Value extends string = string>(): Column<Value> => ({ type: DataTypes.TEXT });
export const texts = <Value extends string = string>(): Column<Value[]> => ({
  type: DataTypes.ARRAY(DataTypes.TEXT),
});
export const day: Column<string> = { type: DataTypes.DATEONLY };
export const instant: Column<Date> = { type: DataTypes.DATE };
export const boolean: Column<boolean> = { type: DataTypes.BOOLEAN };
export const smallInteger: Column<number> = { type: DataTypes.SMALLINT };
export const integer: Column<number> = { type: DataTypes.INTEGER };
/** A text: a number of JavaScript cannot have all its values. */
export const bigInteger: Column<string> = { type: DataTypes.BIGINT };
export const json: Column<Record<string, unknown>> = { type: DataTypes.JSONB };
export const key: Column<string> = { type: DataTypes.TEXT, primaryKey: true };
export const numbered: Column<string, true> = {
  type: DataTypes.BIGINT,
  primaryKey: true,
  autoIncrement: true,
};

export const nullable = <Value>({ type }: Column<Value>): Column<Value | null> => ({ type });
export const withDefault = <Value>({ type }: Column<Value>): Column<Value, true> => ({ type });
