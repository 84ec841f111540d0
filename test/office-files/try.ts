// Publishes a file, compares it with its truth, and judges: right, asked, refused or wrong.
import type { Database } from '../../kernel/database.ts';
import { compare } from './compare.ts';
import type { OfficeFile, Question } from './office-file.ts';
import { published, today, type Ran } from './publishing.ts';

/** The best first. */
export const verdicts = [
  'right',
  'right, asked',
  'asked',
  'refused',
  'WRONG facts',
  'WRONG, asked',
  'WRONG',
] as const;
export type Verdict = (typeof verdicts)[number];

export const isWrong = (verdict: Verdict): boolean => verdict.startsWith('WRONG');

export interface Tried {
  verdict: Verdict;
  /** The faults, or why the file was refused. */
  why: string;
  ran: Ran;
}

/** The guessed keys of an entry that ask about an open question of the file. A question about anything else excuses nothing. */
const keysOf: Readonly<Record<Question, RegExp>> = {
  dates: /^date|frequency|fiscal/,
  numbers: /decimal|thousands|multiply|missing|flags|values|unit/,
  sums: /leave_out|only|ignore|first|date|values/,
  vintage: /vintage|dimensions|date|repeated/,
  encoding: /encoding/,
};

export async function tryFile(database: Database, file: OfficeFile): Promise<Tried> {
  return judged(file, await published(database, file));
}

export function judged({ series, questions }: Pick<OfficeFile, 'series' | 'questions'>, ran: Ran): Tried {
  const { stored, guessed, reasons } = ran;
  const asks = guessed.length > 0 || (reasons.length > 0 && stored.length > 0);
  const isOpen = questions.some((question) => guessed.some((key) => keysOf[question].test(key)));
  const isAsked = asks ? `${guessed.join(', ')} ${reasons.join(' ')}`.trim() : '';
  if (stored.length === 0)
    return reasons.join('').trim() === ''
      ? { verdict: 'WRONG', why: 'nothing is stored, and no reason is given', ran }
      : { verdict: 'refused', why: reasons.join(' | '), ran };
  const { values, facts } = compare(series, stored);
  values.push(...vintageFaults(questions, ran));
  if (values.length > 0) {
    const why = `${values.join(' | ')}${isAsked === '' ? '' : ` [guessed: ${isAsked}]`}`;
    if (!asks) return { verdict: 'WRONG', why, ran };
    return { verdict: isOpen ? 'asked' : 'WRONG, asked', why, ran };
  }
  if (facts.length > 0) return { verdict: isOpen ? 'asked' : 'WRONG facts', why: facts.join(' | '), ran };
  return { verdict: asks ? 'right, asked' : 'right', why: isAsked, ran };
}

/** The date in a file's name, or in a line above its table, is not the publication date of its rows: they have dates. */
function vintageFaults(questions: readonly Question[], { stored }: Ran): string[] {
  if (questions.includes('vintage')) return [];
  const other = stored.flatMap(({ points }) => points).find(({ published_on }) => published_on !== today);
  return other === undefined
    ? []
    : [`the vintage is ${other.published_on}, which no column of the file states`];
}
