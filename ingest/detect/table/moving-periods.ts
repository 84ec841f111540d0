// Periods of several months that overlap, such as the quarters that the ONS publishes each month: Jan-Mar 2020, Feb-Apr 2020.
import { entryAt } from '../../../kernel/entries.ts';
import { languages, monthNamed } from '../../cells/dates/month-names.ts';
import { headRows, profiledRows } from './dates-across.ts';
import { distinctIn } from './layout.ts';
import { widthOf } from './header-lines.ts';

const sign = String.raw`\.?\s*(?:[-\u2010-\u2015/]|to|bis|a|au|al)\s*`;
const month = String.raw`(\p{L}{3,}?)`;
const behind = new RegExp(String.raw`^${month}(?:\s+(\d{4}))?${sign}${month}\.?[\s,]+(\d{4})$`, 'u');
const before = new RegExp(String.raw`^(\d{4})[\s:]+${month}${sign}${month}\.?$`, 'u');
const columnsMost = 20;
const periodsLeast = 3;

/** The number of its first month, counted from year 0, and the number of months covered; null if the text is not a range of months. */
export function monthsIn(text: string): { first: number; count: number } | null {
  const [, from = '', ownYear, to = '', lastYear = ''] = behind.exec(text) ?? [];
  const [, year = '', start = '', end = ''] = before.exec(text) ?? [];
  const words = from === '' ? [start, end] : [from, to];
  if (entryAt(words, 0) === '') return null;
  for (const language of languages) {
    const [first, last] = words.map((word) => monthNamed(word, language));
    if (first === null || first === undefined || last === null || last === undefined) continue;
    const count = ((last - first + 12) % 12) + 1;
    const until = Number(from === '' ? year : lastYear) * 12 + last;
    return { first: ownYear === undefined ? until - count + 1 : Number(ownYear) * 12 + first, count };
  }
  return null;
}

/** The lengths of a quarter, a half and a year, in months. */
const lengths: readonly number[] = [3, 6, 12];
const unusualLeast = 2;

/** Why a column or a line is refused because its periods overlap, or are neither quarters, halves nor years; null otherwise. */
export function movingPeriods(rows: readonly string[][]): string | null {
  const width = Math.min(columnsMost, widthOf(rows));
  const columns = Array.from({ length: width }, (_, at) => distinctIn(rows.slice(0, profiledRows), at));
  for (const texts of [...columns, ...rows.slice(0, headRows)]) {
    const periods = texts.flatMap((text) => {
      const found = monthsIn(text.trim());
      return found === null || found.count === 1 ? [] : [{ ...found, text: text.trim() }];
    });
    const unusual = periods.filter(({ count }) => !lengths.includes(count));
    const sorted = periods.toSorted((a, b) => a.first - b.first);
    const at = sorted.findIndex(
      ({ first, count }, place) => place > 0 && first < entryAt(sorted, place - 1).first + count,
    );
    if (at < 1 || periods.length < periodsLeast) {
      const [first] = unusual;
      if (first === undefined || unusual.length < unusualLeast) continue;
      return `"${first.text}" and others have ${first.count} months, and are neither months, quarters, halves nor years: date each by its last month, as in a monthly series, and state the length of the period in the name of the series`;
    }
    const [one, next] = [entryAt(sorted, at - 1).text, entryAt(sorted, at).text];
    return `"${one}" and "${next}" overlap: moving and cumulative periods are neither months nor quarters. Date each by its last month, as in a monthly series, and state the length of the period in the name of the series; or keep only the periods that do not overlap`;
  }
  return null;
}
