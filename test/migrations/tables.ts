// The form of the cases for the constraints of a table: a minimal valid row, and for each constraint
// rows that only it refuses and rows at the limit that it accepts. constraints.test.ts runs them on a real database.

/** Values by column, as PostgreSQL reads them; null is null. */
export type Row = Readonly<Record<string, string | null>>;

/** One constraint or unique index. The rows that it refuses and accepts are stated as changes of the table's row. */
export interface Case {
  constraint: string;
  /** Exists already when the rows are tried. */
  existing?: Row;
  /** A statement that runs in between. */
  meanwhile?: string;
  refused: readonly Row[];
  accepted: readonly Row[];
}

/** A foreign key. */
export interface Reference {
  constraint: string;
  /** Columns that give the row a value that the other table lacks. */
  refused: Row;
  /** Columns that make the row refer to `parent`, if the table's row does not. */
  accepted?: Row;
  /** Deletes the row that it refers to. */
  deleteParent: string;
  /** The effect on the row, or on the deletion. */
  outcome: 'the row goes too' | 'it is refused';
}

export interface TableCases {
  /** With its schema. */
  table: string;
  /** Statements that create the rows that it refers to. */
  before?: readonly string[];
  /** Just the columns that must be given. */
  row: Row;
  /** Columns that may be null, one of them required by a check. */
  needs?: Row;
  /** The other values of a row with only those columns given: JSON by column; `now()` and `current_date` mean the value of that expression. */
  defaults?: Readonly<Record<string, unknown>>;
  /** The columns that a sequence or a trigger fills. */
  filled?: readonly string[];
  /** Columns whose default depends on the connection, and that may be null. */
  connectionDefaults?: readonly string[];
  /** The columns that are generated from others, and their values in the row. */
  generated?: Readonly<Record<string, unknown>>;
  /** The tables that refuse null, where a trigger writes a row of another table first. */
  nullsRefusedBy?: readonly string[];
  cases: readonly Case[];
  references?: readonly Reference[];
}

/** The constraints of the given table, by the names that PostgreSQL makes for those without one. */
export function checksOf(table: string) {
  const name = (column: string) => `${table}_${column}_check`;
  const each = (
    columns: readonly string[],
    refused: (string | null)[],
    accepted: (string | null)[],
  ): Case[] =>
    columns.map((column) => ({
      constraint: name(column),
      refused: refused.map((value) => ({ [column]: value })),
      accepted: accepted.map((value) => ({ [column]: value })),
    }));
  return {
    /** Text of 1 to so many characters. */
    text: (most: number, ...columns: string[]) =>
      each(columns, ['', 'é'.repeat(most + 1)], ['é', 'é'.repeat(most)]),
    /** Text of at most so many characters. */
    textUpTo: (most: number, ...columns: string[]) =>
      each(columns, ['é'.repeat(most + 1)], ['', 'é'.repeat(most)]),
    /** Text of exactly so many characters. */
    textOf: (length: number, ...columns: string[]) =>
      each(columns, ['é'.repeat(length - 1), 'é'.repeat(length + 1)], ['é'.repeat(length)]),
    /** A whole number of a range. */
    whole: (least: number, most: number, ...columns: string[]) =>
      each(columns, [String(least - 1), String(most + 1)], [String(least), String(most)]),
    /** A whole number from so much on. */
    wholeFrom: (least: number, ...columns: string[]) =>
      each(columns, [String(least - 1)], [String(least), String(least + 1)]),
    /** A number of a range. */
    between: (least: number, most: number, ...columns: string[]) =>
      each(
        columns,
        [String(least - 1e-6), String(most + 1e-6), '-Infinity', 'Infinity', 'NaN'],
        [String(least), String(most)],
      ),
    /** A number from zero on that is one. */
    notNegative: (...columns: string[]) => each(columns, ['-0.000001', 'Infinity', 'NaN'], ['0', '1e30']),
    /** A number above zero that is one. */
    positive: (...columns: string[]) =>
      each(columns, ['0', '-0.000001', 'Infinity', 'NaN'], ['0.000001', '1e30']),
    /** A number that is one. */
    finite: (...columns: string[]) => each(columns, ['Infinity', '-Infinity', 'NaN'], ['-1e30', '0', '1e30']),
    oneOf: (column: string, ...words: string[]) =>
      each([column], ['other', '', ` ${words[0]}`, String(words[0]).toUpperCase()], words),
    pattern: (columns: string | readonly string[], accepted: string[], refused: string[]) =>
      each(typeof columns === 'string' ? [columns] : columns, refused, accepted),
    /** A check that has a name of its own or covers several columns. */
    check: (suffix: string, refused: Row[], accepted: Row[]): Case[] => [
      { constraint: `${table}_${suffix}`, refused, accepted },
    ],
  };
}

/**
 * A key: a second row is refused if all its key columns have the same values, and accepted if one differs.
 * @param other values for all columns of all keys, each different from those of `row`.
 */
export function key(constraint: string, columns: readonly string[], row: Row, other: Row): Case {
  const same = (names: readonly string[]) =>
    Object.fromEntries(names.map((column) => [column, row[column] ?? null]));
  return {
    constraint,
    existing: row,
    refused: [{ ...other, ...same(columns) }],
    accepted: columns.map((left) => ({ ...other, ...same(columns.filter((column) => column !== left)) })),
  };
}

/** Rows that others refer to by `series_no` 1 and 2. */
export const twoSeries = [
  `insert into data.series (series_no, series_id, name, unit, frequency, source) overriding system value
   values (1, 'A', 'A', 'Index', 'monthly', 'Tests'), (2, 'B', 'B', 'Index', 'monthly', 'Tests')`,
];

/** Rows that others refer to by `load_no` 1 and 2. */
export const twoLoads = [
  `insert into data.loads (load_no, dataset, source_name, vintage, complete) overriding system value
   values (1, 'observations', '-', '2024-01-31', false), (2, 'observations', '-', '2024-01-31', false)`,
];

export const hex = (digit: string) => digit.repeat(64);

/** Texts that are ids of lower-case words, and texts that are not, where the id may have 80 characters. */
export const slugs = {
  accepted: ['a', 'a-b-9', 'a'.repeat(80)],
  refused: ['', 'A', 'a--b', '-a', 'a-', 'a_b', 'a'.repeat(81)],
};
export const currencies = { accepted: ['USD'], refused: ['usd', 'US', 'USDX', 'U1D', ' USD'] };
export const isins = {
  accepted: ['US0378331005', 'PK12AB34CD56'],
  refused: ['us0378331005', 'US037833100', 'US03783310055', 'U10378331005', 'US037833100X', 'US03783310a5'],
};
export const fromMonthStart = { accepted: ['2026-11-01'], refused: ['2026-11-02', '2026-11-30'] };
