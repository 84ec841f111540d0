// The format of series ids; the table data.series checks the same.

export function isSeriesId(text: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/.test(text);
}
