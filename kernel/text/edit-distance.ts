// How far two names differ, for suggestions.
import { entryAt } from '../entries.ts';

/** The number of letters to add, drop, change, or swap with the next: Damerau–Levenshtein distance, computed by rows; both texts are short. */
export function editDistance(a: string, b: string): number {
  if (a.length > 64) return a.length;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, j) => j);
  for (let i = 1; i <= a.length; i += 1) {
    const row = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const change = a[i - 1] === b[j - 1] ? 0 : 1;
      const isSwap = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const swapped = isSwap ? entryAt(beforeLast, j - 2) + 1 : Infinity;
      row.push(
        Math.min(entryAt(last, j) + 1, entryAt(row, j - 1) + 1, entryAt(last, j - 1) + change, swapped),
      );
    }
    [beforeLast, last] = [last, row];
  }
  return entryAt(last, b.length);
}
