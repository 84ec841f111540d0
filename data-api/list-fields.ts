// Shorthand constructors for the fields of a list; each takes the SQL expression of its value.
import { z } from 'zod';
import type { ListField } from './list.sql.ts';

export const text = (sql: string): ListField => ({ sql, kind: 'text' });
export const date = (sql: string): ListField => ({ sql, kind: 'date' });
export const number = (sql: string): ListField => ({ sql, kind: 'number' });
export const boolean = (sql: string): ListField => ({ sql, kind: 'boolean' });
/** An array or an object. */
export const json = (sql: string, schema: z.ZodType): ListField => ({ sql, kind: 'json', schema });
/** One of the given words. */
export const word = (sql: string, words: readonly string[]): ListField => ({
  sql,
  kind: 'text',
  schema: z.enum(words),
});
/** An instant in UTC. @param sql its text, see instants.sql.ts. */
export const instant = (sql: string): ListField => ({ sql, kind: 'text', schema: z.iso.datetime() });

/** A field that is never null. */
export const filled = (field: ListField): ListField => ({ ...field, isFilled: true });
/** Makes the list sortable by the field. */
export const sorted = (field: ListField): ListField => ({ ...field, isSorted: true });
/** Gives the field bounds without making the list sortable by it. */
export const bounded = (field: ListField): ListField => ({ ...field, isBounded: true });
