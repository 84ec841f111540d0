// Finds the column of the flags of points by its texts, where no title names it.
import { entryAt } from '../../../kernel/entries.ts';
import { isNumberText } from '../../cells/cell-forms.ts';
import { profileOf } from './column-profile.ts';
import { isStatedOnce } from './dimensions.ts';

/** The longest status of a point. */
export const longestFlag = 16;
const mostFlags = 8;

/**
 * The first column with a few short texts beside some of the values only. @param free the columns without a role. @param rows those with a value.
 * @param comments the titles of comments: their numbers are those of footnotes.
 */
export function flagColumn(
  free: Iterable<number>,
  titles: readonly string[],
  rows: readonly string[][],
  comments: RegExp,
): { at: number; example: string } | null {
  for (const at of free) {
    const { filled, distinct } = profileOf(rows, at);
    const isComment = comments.test(entryAt(titles, at));
    const texts = [...distinct.keys()];
    const isOfFlags =
      filled < Math.min(rows.length - 1, rows.length * 0.95) &&
      distinct.size <= mostFlags &&
      texts.every((text) => text.length <= longestFlag && (isComment || !isNumberText(text)));
    const [example] = texts;
    if (example !== undefined && isOfFlags && !isStatedOnce(rows, at)) return { at, example };
  }
  return null;
}
