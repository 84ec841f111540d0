// Reads the dates of one table by its entry: in the form that the entry names, or in any unambiguous form.
import type { Frequency } from '../../../domain/periods.ts';
import { dateReader } from './date-patterns.ts';
import { numberForms, orderForms, readPlain, type DatedText, type PeriodKind } from './date-forms.ts';

export interface DateStyle {
  /** One of the named forms, or a pattern as for --date-format; default: the unambiguous forms. */
  format?: string | undefined;
  /** The language of month names; default: English. */
  language?: string | undefined;
  /** Marks behind a date → the status of its points, such as `p` in 2023p; null: none. */
  marks?: Readonly<Record<string, string | null>> | undefined;
}

export interface ReadDate extends DatedText {
  /** '' without a mark. */
  status: string;
}

export type ReadDateText = (text: string) => ReadDate | null;

/** @throws IngestFailure if the format is neither a named one nor a pattern. */
export function dateTextReader({ format, language = 'en', marks = {} }: DateStyle): ReadDateText {
  const read = readerOf(format, language);
  const signs = Object.keys(marks).toSorted((a, b) => b.length - a.length);
  return (text) => {
    const found = read(text);
    const sign = signs.find((each) => text.endsWith(each));
    if (found !== null && !(/^r$/i.test(sign ?? '') && endsInR.test(text))) return { ...found, status: '' };
    if (sign === undefined) return null;
    const marked = read(text.slice(0, -sign.length).trim());
    return marked === null ? null : { ...marked, status: marks[sign] ?? '' };
  };
}

/** `2023r` is a year in Polish, and a revised one beside others without the letter. */
export const endsInR = /\d\s*r$/i;

function readerOf(format: string | undefined, language: string): (text: string) => DatedText | null {
  if (format === undefined) return (text) => readPlain(text, language);
  const named = [...orderForms, ...numberForms].find((form) => form.format === format);
  if (named !== undefined) return named.read;
  const read = dateReader(format);
  return (text) => {
    const range = read(text);
    if (range === null) return null;
    return {
      kind: range.isFiscalYear === true ? 'fiscal year' : kindOf(range),
      from: range.from,
      to: range.to,
    };
  };
}

function kindOf({ from, to }: { from: string; to: string }): PeriodKind {
  const months =
    (Number(to.slice(0, 4)) - Number(from.slice(0, 4))) * 12 +
    Number(to.slice(5, 7)) -
    Number(from.slice(5, 7)) +
    1;
  if (from === to) return 'day';
  return ({ 1: 'month', 3: 'quarter', 6: 'half', 12: 'year' } as const)[months] ?? 'years';
}

/** The frequency of points with dates of this kind. */
export const frequencyOfKind: Readonly<Record<PeriodKind, Frequency>> = {
  ...{ day: 'daily', week: 'weekly', month: 'monthly', quarter: 'quarterly', half: 'semiannual' },
  ...{ year: 'annual', 'fiscal year': 'annual', years: 'annual' },
};

/** The text of a date whose year is in the row or in the title of the column, and its month or quarter in the other one: the year first. */
export function dateOfBoth(row: string, title: string): string {
  if (row === '' || title === '') return `${row}${title}`;
  return isWholeYear(title) ? `${title} ${row}` : `${row} ${title}`;
}

export const isWholeYear = (text: string): boolean =>
  /^\d{4}(?!\d)/.test(text) && readPlain(text, 'en')?.kind === 'year';

/** The text from which the loader parses the day or period. */
export function loadedText({ kind, from, to }: DatedText): string {
  const year = from.slice(0, 4);
  const month = Number(from.slice(5, 7));
  const texts: Record<PeriodKind, string> = {
    day: from,
    week: to,
    month: from.slice(0, 7),
    quarter: `${year}-Q${Math.ceil(month / 3)}`,
    half: `${year}-H${month > 6 ? 2 : 1}`,
    year,
    'fiscal year': `${Number(year) - 1}/${year.slice(2)}`,
    years: to.slice(0, 4),
  };
  return texts[kind];
}
