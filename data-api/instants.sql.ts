// Formats an instant in SQL: ISO 8601, UTC, to the second.

/** @param instant a timestamptz in SQL. */
export const utc = (instant: string): string =>
  `to_char(${instant} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')`;
