// Years that are stated only at their first month or quarter, or in a line above: `2019 Jan`, `Feb`, `Mar`.
import { readPlain } from './date-forms.ts';
import type { ReadDateText } from './dates-of-table.ts';
import { languages, monthNamed } from './month-names.ts';

const year = /(?<!\d)(?:1[5-9]|2[01])\d{2}(?!\d)/;
/** The text allowed around a year that is alone or precedes its month. */
const aroundYear = /^[\s.,:/_'年년-]+|[\s.,:/_'年년-]+$/g;

/** Whether the text may be a month, quarter or half of a year in any language. */
export function isPart(text: string): boolean {
  if (text.length > 30 || /^\d{3}/.test(text)) return false;
  const word = /\p{L}[\p{L}\p{Mn}.]*/u.exec(text)?.[0] ?? '';
  const isOneWord = word.length >= 3 && /^\P{L}*\p{L}[\p{L}\p{Mn}.]*\P{L}*$/u.test(text);
  if (isOneWord && languages.some((language) => monthNamed(word, language) !== null)) return true;
  return ['en', 'ga'].some((language) => readPlain(`2000 ${text}`, language) !== null); // the Irish names of two months consist of two words
}

/** The year of a text that is only a year, or a year with a month or quarter; null for any other text. */
export function yearOf(text: string): string | null {
  const found = year.exec(text)?.[0];
  if (found === undefined || text.length > 30) return null;
  const rest = text.replace(found, '').replaceAll(aroundYear, '');
  return rest === '' || isPart(rest) ? found : null;
}

export const isYearAlone = (text: string): boolean =>
  yearOf(text) !== null && text.replace(year, '').replaceAll(aroundYear, '') === '';

/** Adds to each text, in order, the year of the text above it or to its left. */
export class CarriedYears {
  readonly #read: ReadDateText | null;
  #year = '';
  #last = '';
  #step = 0;

  /** @param read if given, a text that breaks the order of the previous ones gets no year, as its year is unknown. */
  constructor(read: ReadDateText | null) {
    this.#read = read;
  }

  of(text: string): string {
    const own = yearOf(text);
    if (own !== null) {
      this.#year = own;
      this.#last = isYearAlone(text) ? '' : (this.#read?.(text)?.from ?? '');
      this.#step = 0;
      return text;
    }
    if (text === '' || this.#year === '' || year.test(text) || !isPart(text)) return text;
    const whole = `${this.#year} ${text}`;
    if (this.#read === null) return whole;
    const from = this.#read(whole)?.from ?? '';
    const step = this.#last === '' ? 0 : Math.sign(from.localeCompare(this.#last)) || Number.NaN;
    if (from === '' || Number.isNaN(step) || (this.#step !== 0 && step !== this.#step)) return text;
    this.#last = from;
    this.#step = step;
    return whole;
  }
}
