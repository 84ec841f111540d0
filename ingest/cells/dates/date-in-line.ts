// Finds the first date in a longer text: a line above a table, the name of a file.
import { dateReader } from './date-patterns.ts';

const isPlausible = (date: string): boolean => {
  const span = dateReader()(date);
  return span !== null && span.from >= '1500' && span.to < '2200';
};

const monthNames = 'jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec';
const namedMonth = `(${monthNames})[a-z]*`;
/** Days and months with one meaning, anywhere in a text. */
const dayInText: readonly [expression: RegExp, order: readonly number[]][] = [
  [/(?<!\d)(\d{4})[-_.](\d{2})[-_.](\d{2})(?!\d)/, [1, 2, 3]],
  [
    new RegExp(
      String.raw`(?<!\d)(\d{1,2})(?:st|nd|rd|th)?[\s._/-]*${namedMonth}[\s.,_/-]*(\d{4})(?!\d)`,
      'i',
    ),
    [3, 2, 1],
  ],
  [
    new RegExp(String.raw`\b${namedMonth}[\s._-]*(\d{1,2})(?:st|nd|rd|th)?[\s,._-]+(\d{4})(?!\d)`, 'i'),
    [3, 1, 2],
  ],
  [/(?<!\d)(\d{4})(\d{2})(\d{2})(?!\d)/, [1, 2, 3]],
  [/(?<!\d)(\d{2})[/.-](\d{2})[/.-](\d{4})(?!\d)/, [3, 2, 1]],
  [/(?<!\d)(\d{4})[-_](\d{2})(?![\d-])/, [1, 2]],
  [new RegExp(String.raw`(?<!\d[\s._/-]*)\b${namedMonth}[\s._-]*(\d{4})(?!\d)`, 'i'), [2, 1]],
];

/**
 * The first date in a text, such as a title line or the name of a file: `as on 31-JULY-2014`, `2020-05.csv`. In dates with slashes or dots
 * the day comes first. @returns the date as written, and as YYYY-MM-DD or YYYY-MM; null for a text without a date.
 */
export function dateInText(text: string): { text: string; date: string } | null {
  for (const [expression, order] of dayInText) {
    const match = expression.exec(text);
    if (match === null) continue;
    const [year = '', month = '', day] = order.map((group) => match[group]);
    const number = /^\d/.test(month)
      ? month
      : String(monthNames.split('|').indexOf(month.slice(0, 3).toLowerCase()) + 1).padStart(2, '0');
    const date = [year, number, ...(day === undefined ? [] : [day.padStart(2, '0')])].join('-');
    if (isPlausible(date)) return { text: match[0], date };
  }
  return null;
}

const datePhrase =
  /\bas (?:on|of|at)\b|\bfor the (?:month|quarter|period|year|day)\b|\bend(?:ed|ing)\b|\bdated?\b/i;
const titleLengthMax = 100;

/** The date of a table from the lines above it: one after `as on` or a similar phrase, else the first in a short line. */
export function dateAbove(texts: readonly string[]): { text: string; date: string } | null {
  const dated = texts.filter((text) => datePhrase.test(text));
  const short = texts.filter((text) => text.length <= titleLengthMax);
  for (const text of [...dated, ...short]) {
    const found = dateInText(text);
    if (found !== null) return found;
  }
  return null;
}
