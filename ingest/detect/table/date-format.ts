// Finds how a table writes its dates from their texts: every form that reads them is a candidate, and the one that reads most, with the
// most regular steps, wins. Where another one fits as well, the finding is a guess that shows both.
import { dayNumber } from '../../../kernel/dates.ts';
import { numberForms, orderForms, type PeriodKind } from '../../cells/dates/date-forms.ts';
import {
  dateTextReader,
  endsInR,
  type DateStyle,
  type ReadDate,
  type ReadDateText,
} from '../../cells/dates/dates-of-table.ts';
import { hasWordOfKind } from '../../cells/dates/date-column-titles.ts';
import { languages, monthNamed } from '../../cells/dates/month-names.ts';

export interface DatesFound {
  style: DateStyle;
  read: ReadDateText;
  isSure: boolean;
  evidence: string;
  /** The most frequent kind of its texts. */
  kind: PeriodKind;
  /** Texts that the form does not read. */
  unread: string[];
  /** Other readings, in words. */
  others: string[];
  /** Other forms that read the same texts differently, the likeliest first; if the texts leave some open, only those. */
  alternatives: DateStyle[];
}

interface Candidate {
  style: DateStyle;
  read: ReadDateText;
  spans: (ReadDate | null)[];
  count: number;
  /** Different spans among those that were read. */
  distinct: number;
  jumps: number;
}

/** Further evidence for the choice between forms. */
export interface DateHints {
  /** The title of the column, or '' for titles themselves. */
  title?: string;
  /** Numbers that are not plausible years may be dates: the title suggests it, or the column is the first. */
  allowsNumbers?: boolean;
  /** The texts are titles of columns. */
  isTitles?: boolean;
}

const markText =
  /(?:(?<=[\d年月日季度期년월일])|(?<!\s)\s+|(?<=[)\]]))(\(?\[?(?:p|r|e|f|b|s|c|ne|[abpr]e|[fst]re|[fs]ae|est|prov|prel|rev|fc|estimates?|estimated|provisional|preliminary|revised|forecast|projections?)\.?\]?\)?|[*†‡#]{1,3}|[⁰¹²³⁴⁵⁶⁷⁸⁹]+|\(\d{1,2}\)|\d\)|[pref]\/|\d\/(?:[\s,]*\d\/)*)$/i;
/** Texts with marks behind their dates, for docs/recognised.md. */
export const markedExamples: readonly string[] = [
  '2023p', '2023 (p)', '2023 est.', '2023 [r]', 'Q1 2024 prov', '2023 preliminary', '2023 revised', '2023 forecast', '2023 e', '2023*', '2023¹', '2023 (1)', '2023年p', '2023 1/', '2023 p/', '2023 (FRE)',
]; // prettier-ignore
/**
 * The form in which most of the texts are dates.
 * @param texts distinct, in the order of the file. @returns null if no form reads at least half of them.
 */
export function detectDates(texts: readonly string[], hints: DateHints = {}): DatesFound | null {
  if (texts.length === 0) return null;
  const candidates = candidatesFor(texts, hints).filter(
    ({ count }) => count * 2 >= texts.length && count > 0,
  );
  const most = Math.max(0, ...candidates.map(({ count }) => count));
  const fitting = candidates
    .filter(({ count }) => count === most)
    .toSorted(
      (a, b) => b.distinct - a.distinct || rank(a, texts, hints) - rank(b, texts, hints) || a.jumps - b.jumps,
    );
  const [best] = fitting;
  if (best === undefined) return null;
  const rivals = fitting.filter((other) => other !== best && !isAlike(other, best));
  return found(best, rivals, texts, hints);
}

function candidatesFor(texts: readonly string[], hints: DateHints): Candidate[] {
  const styles: DateStyle[] = languagesOf(texts).map((language) => (language === 'en' ? {} : { language }));
  if (texts.some((text) => weekOrQuarter.test(text))) styles.push({ language: 'nl' });
  for (const { format } of orderForms) styles.push({ format });
  if (hints.allowsNumbers === true)
    for (const { format } of numberForms) if (isFitting(format, hints)) styles.push({ format });
  const few = texts.slice(0, 24);
  return styles.flatMap((style) => {
    const plain = dateTextReader(style);
    if (style.format?.startsWith('decimal') === true && texts.every(isWholeYear)) return [];
    if (
      few.filter((text) => (plain(text) ?? plain(text.replace(markText, ''))) !== null).length * 3 <
      few.length
    )
      return [];
    const marks = marksFor(texts, plain);
    const full = marks === null ? style : { ...style, marks };
    const read = marks === null ? plain : dateTextReader(full);
    const known = new Map(texts.map((text) => [text, plausible(read(text))]));
    const spans = texts.map((text) => known.get(text) ?? null);
    const done = spans.filter((span) => span !== null);
    return [
      {
        style: full,
        // The steps that follow ask for the same dates again and again: reading one takes a microsecond, and looking it up a tenth.
        read: (text: string) => {
          const span = known.get(text);
          return span === undefined ? plausible(read(text)) : span;
        },
        spans,
        count: done.length,
        distinct: new Set(done.map(({ from, to }) => `${from} ${to}`)).size,
        jumps: jumps(done),
      },
    ];
  });
}

const isWholeYear = (text: string): boolean => /^\d{4}(?:\.0+)?$/.test(text.replace(markText, ''));

/** Years that tables of observations have; 5 or 99990101 is a number. */
const plausible = (span: ReadDate | null): ReadDate | null =>
  span !== null && span.from >= '1500' && span.to < '2200' ? span : null;

const isFitting = (format: string, { title = '', isTitles = false }: DateHints): boolean =>
  isTitles
    ? format.startsWith('YYYYMM') || format === 'YYYY.MM' || format.startsWith('decimal')
    : format === 'Excel serial'
      ? hasWordOfKind('date', title) || hasWordOfKind('day', title) || /(?:date|^time)$/i.test(title.trim())
      : true;

/** `1950s` are ten years. */
const decade = /\d{3}0['’]?s$/;

/** The signs behind dates that would be read without them; null: none. */
function marksFor(texts: readonly string[], read: ReadDateText): Record<string, string | null> | null {
  const marks: Record<string, string | null> = {};
  const isPolish = texts.every((text) => endsInR.test(text));
  for (const text of texts) {
    if (read(text) !== null && (isPolish || !endsInR.test(text))) continue;
    const sign = markText.exec(text)?.[1];
    if (sign === undefined || decade.test(text) || read(text.replace(markText, '')) === null) continue;
    marks[sign] = /[a-z]/i.test(sign) ? statusOf(sign) : null;
  }
  return Object.keys(marks).length === 0 ? null : marks;
}

const statusOf = (sign: string): string => {
  const letters = sign.replaceAll(/[^a-z]/gi, '').toLowerCase();
  return letters.startsWith('est')
    ? 'e'
    : letters.startsWith('pr')
      ? 'p'
      : letters.startsWith('rev')
        ? 'r'
        : letters.startsWith('fc') || letters.startsWith('forecast')
          ? 'f'
          : letters.slice(0, 16);
};

/** The languages that name a month in most of the texts; English for texts without words. */
function languagesOf(texts: readonly string[]): string[] {
  const words = new Set<string>();
  for (const text of texts.slice(0, 2_000))
    for (const [each] of text.matchAll(/\p{L}[\p{L}\p{Mn}]{2,}/gu)) words.add(each);
  if (words.size === 0 || words.size > 200) return ['en'];
  const counts = languages.map(
    (language) => [...words].filter((each) => monthNamed(each, language) !== null).length,
  );
  const most = Math.max(...counts);
  return most === 0 ? ['en'] : languages.filter((_, at) => counts[at] === most);
}

const isAlike = (one: Candidate, other: Candidate): boolean =>
  one.spans.every((span, at) => {
    const against = other.spans[at];
    return span === null ? against === null : against?.from === span.from && against.to === span.to;
  });

/** Texts such as 2015/01, whose second number may count months, quarters, halves or the next year. */
const divided = /^\d{4}\s?[/.:\s–-]\s?(\d{1,2})$/;

/** I to IV are quarters, or months. */
const romanMonth = 'Roman month';

/** KW is the week in German and the quarter in Dutch. */
const weekOrQuarter = /(?<!\p{L})kw(?!\p{L})/iu;

/** Whether texts with KW are quarters: by the title, or because the numbers of several years end at four. */
function areKwQuarters(texts: readonly string[], title: string): boolean {
  if (hasWordOfKind('quarter', title) || hasWordOfKind('week', title)) return hasWordOfKind('quarter', title);
  const numbers = texts.map((text) => Number(/kw\D{0,3}(\d{1,2})(?!\d)/i.exec(text)?.[1] ?? 'NaN'));
  return Math.max(...numbers) === 4 && new Set(texts.map((text) => /\d{4}/.exec(text)?.[0])).size > 1;
}

/** The lower the likelier, where two forms read the same texts. */
function rank({ style }: Candidate, texts: readonly string[], { title = '' }: DateHints): number {
  const { format } = style;
  if (format === undefined && texts.some((text) => weekOrQuarter.test(text)))
    return (style.language === 'nl') === areKwQuarters(texts, title) ? -2 : 2;
  if (format === romanMonth) return hasWordOfKind('month', title) ? -3 : 1;
  if (format === 'Q/YYYY' && (hasWordOfKind('month', title) || texts.every((text) => text.startsWith('0'))))
    return 1;
  const numbers = texts.map((text) => Number(divided.exec(text.replace(markText, ''))?.[1] ?? 'NaN'));
  if (numbers.some(Number.isNaN))
    return format === undefined || format === 'YYYY/YY' ? -1 : format === 'YYYY/W' ? 1 : 0;
  const most = Math.max(...numbers);
  const years = new Set(texts.map((text) => text.slice(0, 4))).size;
  const isPlain = format === undefined || format === 'YYYY/M';
  if (hasWordOfKind('week', title) && format === 'YYYY/W') return -4;
  // A number loses its last zero: where 2020.09 is September, 2020.1 is October.
  if (format === 'YYYY.MM')
    return texts.some((text) => text.endsWith('.1')) && texts.some((text) => /\.0\d$/.test(text)) ? -2 : 3;
  // Months of a year are rarely the number of the year that follows, and never of each.
  if (format === 'YYYY/YY') return texts.length > 1 || hasWordOfKind('fiscal', title) ? -3 : 0.5;
  if (format === 'YYYY/Q' && most <= 4 && !hasWordOfKind('month', title))
    return hasWordOfKind('quarter', title) || (years > 1 && most > 2) ? -2 : 2;
  if (format === 'YYYY/H' && most <= 2 && !hasWordOfKind('month', title))
    return years > 1 || hasWordOfKind('half', title) ? -2.5 : 2;
  if (isPlain) return -1;
  return format === 'YYYY/W' && most > 12 ? 0 : 3;
}

function found(
  best: Candidate,
  rivals: readonly Candidate[],
  texts: readonly string[],
  hints: DateHints,
): DatesFound {
  const done = best.spans.filter((span) => span !== null);
  const kinds = Map.groupBy(done, ({ kind }) => kind);
  const [kind = 'day'] = [...kinds].toSorted((a, b) => b[1].length - a[1].length).map(([each]) => each);
  const unread = texts.filter((_, at) => best.spans[at] === null);
  const example = texts.find((_, at) => best.spans[at] !== null) ?? '';
  const open = rivals.filter((rival) => isOpen(best, rival, texts, hints));
  const isBuddhist = best.style.format === 'Buddhist year';
  const doubt = otherPeriods(best, texts, hints);
  const asRead = isBuddhist ? `, read as ${best.read(example)?.from.slice(0, 4) ?? ''}` : '';
  const evidence = `${done.length} of ${texts.length} texts are dates (${formOf(best.style)}): "${example}"${asRead}`;
  const others = [
    ...(doubt === null ? [] : [doubt]),
    ...open.slice(0, 3).map((rival) => contrast(best, rival, texts)),
  ];
  return {
    style: best.style,
    read: best.read,
    isSure: others.length === 0 && !isBuddhist,
    evidence:
      others.length > 0
        ? `${evidence}; ${others.join('; ')}`
        : rivals.length > 0
          ? `${evidence}; no other form gives regular steps`
          : evidence,
    kind,
    unread,
    others,
    alternatives: differing(open.length > 0 ? open : rivals).map(({ style }) => style),
  };
}

/** Periods that no form reads: quarters such as 202104 in place of months, and years such as 2010-12 in place of weeks. */
function otherPeriods(
  { style }: Candidate,
  texts: readonly string[],
  { title = '' }: DateHints,
): string | null {
  const plain = texts.map((text) => text.replace(markText, ''));
  const [example = ''] = plain;
  if (new Set(plain.map((text) => text.slice(0, 4))).size < 2) return null;
  const isOfParts = style.format === 'YYYYMM' && plain.every((text) => /0[1-4]$/.test(text));
  if (isOfParts && !hasWordOfKind('month', title) && !/mm$/i.test(title))
    return `no text has a month after ${plain.toSorted((a, b) => Number(b.slice(4)) - Number(a.slice(4)))[0]?.slice(4) ?? ''}, and "${example}" could be a quarter or half-year: write it as 2024-Q1 or 2024-H1`;
  const lengths = new Set(plain.map((text) => Number(text.slice(-2)) - Number(text.slice(2, 4))));
  const isOfYears =
    style.format === 'YYYY/W' && lengths.size === 1 && !lengths.has(0) && !hasWordOfKind('week', title);
  return isOfYears ? `"${example}" could be several years: write it as 2021–2023` : null;
}

const alternativesMax = 4;

/** One of those that read all texts alike. */
function differing(rivals: readonly Candidate[]): Candidate[] {
  return rivals
    .filter((rival, at) => !rivals.slice(0, at).some((other) => isAlike(rival, other)))
    .slice(0, alternativesMax);
}

const formOf = ({ format, language }: DateStyle): string =>
  format ??
  (language === undefined ? 'ISO 8601, or a form of one meaning' : `months in the language ${language}`);

/** A text that both read, and its meaning in each. */
function contrast(best: Candidate, rival: Candidate, texts: readonly string[]): string {
  const at = texts.findIndex((_, each) => {
    const [a, b] = [best.spans[each], rival.spans[each]];
    return (
      a !== null && a !== undefined && b !== null && b !== undefined && (a.from !== b.from || a.to !== b.to)
    );
  });
  const shown = (span: ReadDate | null | undefined) =>
    span === null || span === undefined
      ? ''
      : span.from === span.to
        ? span.from
        : `${span.from} to ${span.to}`;
  return `"${texts[at] ?? ''}" is read as ${shown(best.spans[at])}, and could be ${shown(rival.spans[at])} (${formOf(rival.style)})`;
}

/** Whether the texts leave open which of the two forms it is. */
function isOpen(
  best: Candidate,
  rival: Candidate,
  texts: readonly string[],
  { title = '' }: DateHints,
): boolean {
  const [format, other] = [best.style.format, rival.style.format];
  if (rival.distinct < best.distinct) return false;
  if (format === romanMonth) return !hasWordOfKind('month', title);
  if (other === romanMonth && (title === '' || hasWordOfKind('quarter', title))) return false;
  if (format === undefined && other === undefined && texts.some((text) => weekOrQuarter.test(text)))
    return !hasWordOfKind('quarter', title) && !hasWordOfKind('week', title);
  if (other === 'YYYY/W' || other === 'YYYY/H' || other === 'YYYY/Q') {
    // A year that has only begun, written as ISO 8601 writes months.
    if (
      format === undefined &&
      texts.every((text) => text.slice(0, 4) === texts[0]?.slice(0, 4) && !text.endsWith('4'))
    )
      return false;
    // Months that end before May may be quarters.
    const numbers = texts.map((text) => Number(divided.exec(text.replace(markText, ''))?.[1] ?? 'NaN'));
    return (
      other === 'YYYY/Q' &&
      !numbers.some(Number.isNaN) &&
      Math.max(...numbers) > 2 &&
      !hasWordOfKind('month', title) &&
      (format === undefined || format === 'YYYY/M')
    );
  }
  // Months would be at other parts of the year than the beginnings of quarters.
  if (format === 'decimal quarter' && best.distinct > 2) return false;
  if (format === 'YYYY/Q' && hasWordOfKind('quarter', title)) return false;
  if (format === 'YYYY/H' && hasWordOfKind('half', title)) return false;
  if (format === 'YYYY/YY' && (texts.length > 2 || hasWordOfKind('fiscal', title))) return false;
  if (format === 'YYYY/Q' || format === 'YYYY/H' || format === 'YYYY/YY')
    return other === undefined || other === 'YYYY/M';
  return rival.jumps <= best.jumps * 1.5;
}

/** How irregular the steps from date to date are, in the order of the file: 1 if all are equal, else more. */
function jumps(spans: readonly ReadDate[]): number {
  const steps = spans.slice(1).map(({ from }, at) => dayNumber(from) - dayNumber(spans[at]?.from ?? from));
  const mean = steps.reduce((sum, step) => sum + Math.abs(step), 0) / steps.length;
  const squares = steps.reduce((sum, step) => sum + step ** 2, 0) / steps.length;
  return steps.length === 0 || mean === 0 ? 1 : squares / mean ** 2;
}
