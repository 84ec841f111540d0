// Shorthand constructors for the columns of datasets.
import type { Column, ColumnType } from '../cells/cells.ts';

export const amountMax = 1e18;

export function column(name: string, type: ColumnType, meaning: string, more: Partial<Column> = {}): Column {
  return { name, type, required: false, meaning, ...more };
}

export function required(
  name: string,
  type: ColumnType,
  meaning: string,
  more: Partial<Column> = {},
): Column {
  return { name, type, required: true, meaning, ...more };
}

export const text = (name: string, lengthMax: number, meaning: string) =>
  column(name, 'text', meaning, { lengthMax });
export const word = (name: string, words: readonly string[], meaning: string) =>
  column(name, 'word', meaning, { words });
export const flag = (name: string, meaning: string) => column(name, 'boolean', meaning);
export const day = (name: string, meaning: string) => column(name, 'date', meaning);
export const amount = (name: string, meaning: string) =>
  column(name, 'number', meaning, { range: [0, amountMax] });
/** Percent points. */
export const rate = (name: string, meaning: string) =>
  column(name, 'number', meaning, { range: [-100, 1_000] });
