// Short ways to write the fields of a list; each takes the value in SQL.
import type { ListField } from './list.sql.ts';

export const text = (sql: string): ListField => ({ sql, kind: 'text' });
export const date = (sql: string): ListField => ({ sql, kind: 'date' });
export const number = (sql: string): ListField => ({ sql, kind: 'number' });
export const boolean = (sql: string): ListField => ({ sql, kind: 'boolean' });
export const json = (sql: string): ListField => ({ sql, kind: 'json' });

/** Makes `sort` take a field that is always filled. */
export const sorted = (field: ListField): ListField => ({ ...field, sort: 'filled' });
/** Makes `sort` take a field that may be null; nulls come last. */
export const sortedNullsLast = (field: ListField): ListField => ({ ...field, sort: 'nulls_last' });
