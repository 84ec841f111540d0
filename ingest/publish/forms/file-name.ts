// What the name of a file says of its table.
import { splitEndings } from '../../files/file-kind.ts';
import { dateInText } from './date-in-text.ts';

/** The name of a file without its endings, and without a date in it; the date. */
export function namesIn(fileName: string): { stem: string; dateInName: string | null } {
  const { stem: bare } = splitEndings(fileName);
  const found = dateInText(bare);
  if (found === null) return { stem: bare, dateInName: null };
  const without = bare
    .replace(found.text, ' ')
    .replaceAll(/(?<![0-9a-z])(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}(?![0-9a-z])/g, ' ')
    .replaceAll(/[\s_.-]*\s[\s_.-]*/g, ' ')
    .replaceAll(/\b(?:as )?on\s*(?=\(|$)/gi, '')
    .trim();
  return { stem: without, dateInName: found.date };
}
