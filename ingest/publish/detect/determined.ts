// Whether the cells of one column follow from those of others.

/** Whether rows with the same texts in the columns `by` always have the same text in `column`. */
export function isDetermined(rows: readonly string[][], by: readonly number[], column: number): boolean {
  const texts = new Map<string, string>();
  for (const row of rows) {
    const key = by.map((at) => (row[at] ?? '').trim()).join('\u001f');
    const text = (row[column] ?? '').trim();
    const other = texts.get(key);
    if (other === undefined) texts.set(key, text);
    else if (other !== text) return false;
  }
  return true;
}
