// Counts for people to read: the noun agrees with its number.

/** `1 row`, `1128 rows`, `0 entries`. @param many the plural, if it is not `one` with an s. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${nounOf(count, one, many)}`;
}

/** `row` for 1, `rows` for any other count. @param many as for `counted`. */
export function nounOf(count: number, one: string, many = `${one}s`): string {
  return count === 1 ? one : many;
}
