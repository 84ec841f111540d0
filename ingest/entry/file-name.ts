// What the name of a file says about its table: a title, if it is informative, and a date.
import { parsePeriod } from '../../kernel/dates.ts';
import { splitEndings } from '../read/file-kind.ts';
import { IngestFailure } from '../failure.ts';
import type { TableDescription } from './entry-schema.ts';
import { dateInText } from '../cells/dates/date-in-line.ts';

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

/** Names that say nothing about the content of a file. */
const uninformativeName =
  /^(?:data|dataset|table|sheet|values|series|observations|download|export|daily|weekly|monthly|quarterly|quarter|annual|yearly|year)$/i;

/** Whether the name of a file, without its endings, says anything about its content. */
export const isInformative = (stem: string): boolean =>
  /\p{L}{2}/u.test(stem) && !uninformativeName.test(stem.trim());

/** The name of a file in words: `gdp-us__quarter` is `gdp us quarter`. */
export const wordsOf = (stem: string): string =>
  stem.replaceAll(/[_\s]+|(?<=\p{L})-+(?=[\p{L}\d])|(?<=\d)-+(?=\p{L})/gu, ' ').trim() || 'Table';

/**
 * The vintage of all rows; undefined: a column has it, or it is the day of the load. From a period in the name of the file it is the period's end, or
 * today if the period has not ended.
 */
export function vintageOf(
  { vintage }: Pick<TableDescription, 'vintage'>,
  fileName: string,
  today: string,
): string | undefined {
  if (vintage === undefined || typeof vintage === 'string') return vintage;
  if ('column' in vintage) return undefined;
  const { dateInName } = namesIn(fileName);
  const period = dateInName === null ? null : parsePeriod(dateInName);
  if (period === null)
    throw new IngestFailure(
      'usage',
      `almanac.yml, ${fileName}, vintage: the name of the file has no date. State it as vintage: 2024-01-31.`,
    );
  return period.from <= today && period.to > today ? today : period.to;
}
