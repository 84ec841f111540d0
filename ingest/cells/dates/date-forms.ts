// The meanings of date texts: one table of the date forms of tables. Each form gives a text one meaning; where two forms read a text
// differently, detect/table/date-format.ts chooses between them from the whole column, and the choice is stored in almanac.yml.
import { addDays, isDate, monthEnd, parsePeriod } from '../../../kernel/dates.ts';
import { foldLetters, monthNamed } from './month-names.ts';

export type PeriodKind = 'day' | 'week' | 'month' | 'quarter' | 'half' | 'year' | 'fiscal year' | 'years';

/** The days that a text covers, first and last. */
export interface DatedText {
  kind: PeriodKind;
  from: string;
  to: string;
}

type Read = (parts: readonly string[], language: string) => DatedText | null;

interface DateTextForm {
  /** Equivalent texts of the form, for docs/recognised.md. */
  examples: readonly string[];
  expression: RegExp;
  read: Read;
}

const year = String.raw`(\d{4})`;
const anyYear = String.raw`(\d{4}|\d{2})`;
/** A year with the word for it, such as `2024. gada` and `2024 m`. */
const namedYear = String.raw`(\d{4})(?:[\s./:,_'-]*(?:gada|g|m|metu|ev|r|roku|рік|года|год|г|р)(?![\p{L}]))?`;
/** Between the parts of a period. */
const gap = String.raw`[\s./:,_'-]*`;
const joint = String.raw`[\s./_-]*`;
/** The name of a month, which has two words in Irish. */
const word = String.raw`(\p{L}{3,}?(?: \p{L}{3,}?)?)`;
/** Between the first and the last month of a period. */
const rangeSign = String.raw`\s*(?:[-\u2010-\u2015/]|to|bis|a|au|al)\s*`;
const of = String.raw`(?:(?:de|del|of|van|d)\s+)?`;
const ordinal = String.raw`(?:st|nd|rd|th|er|e|eme|ere|o|a|ro|do|ο|º|ª)?\.?`;
/** Quarter, in the languages of statistical offices, folded; T is trimestre, K kvartal. */
const quarterLead =
  '(?:quarters?|quartal|quart|qtr|q|trimestres?|trimestru|trimestrul|trimester|trim|raithe|tr|t|kvartal|kvt|kv|k|kwartaal|kwartal|ctvrtleti|stvrtrok|cetrtletje|tromjesecje|tromesecje|negyedev|vuosineljannes|neljannes|vj|ketvirtis|ketv|ceturksnis|cet|ceyrek|c|kuartal|triwulan|τριμηνο|тримесечие|квартал|кв)';
/** Behind its number also kw, which before one is the German week. */
const quarterWord = `(?:${quarterLead}|kw)`;
const halfWord =
  '(?:halves|half|hy|h|semesters?|semestres?|semestr|sem|s|halbjahr|hj|halvar|halfjaar|polrocze|pololeti|polrok|felev|полугодие|yariyil|b)';
const weekWord =
  '(?:week|wk|w|woche|kw|kalenderwoche|semaine|semana|settimana|vecka|v|uge|uke|u|viikko|vk|tydzien|tyden|het|неделя|hafta|minggu)';
const roman = '(i|ii|iii|iv)';

const ordinals: Readonly<Record<string, number>> = {
  ...{ first: 1, second: 2, third: 3, fourth: 4, erstes: 1, zweites: 2, drittes: 3, viertes: 4, eerste: 1, tweede: 2, derde: 3, vierde: 4 },
  ...{ premier: 1, deuxieme: 2, troisieme: 3, quatrieme: 4, primer: 1, segundo: 2, tercer: 3, cuarto: 4, primo: 1, secondo: 2, terzo: 3, quarto: 4 },
  ...{ primeiro: 1, terceiro: 3 },
}; // prettier-ignore
const ordinalWord = `(${Object.keys(ordinals).join('|')})`;
const numbers = new Map(Object.entries({ ...ordinals, i: 1, ii: 2, iii: 3, iv: 4, 一: 1, 二: 2, 三: 3, 四: 4, α: 1, β: 2, γ: 3, δ: 4 })); // prettier-ignore
/** The number of a quarter or a half. */
const quarterNumber = (text: string): number => numbers.get(text) ?? Number(text);

const numerals = ['', '一', '二', '三', '四', '五', '六', '七', '八', '九', '十', '十一', '十二'];
const numeral = (text: string): number => (/^\d/.test(text) ? Number(text) : numerals.indexOf(text));

/** Of two digits: 69 to 99 are 1969 to 1999, 00 to 68 are 2000 to 2068. */
const fullYear = (text: string): string =>
  text.length === 4 ? text : String(Number(text) + (Number(text) >= 69 ? 1900 : 2000));

function months(kind: PeriodKind, yearText: string, first: number, count: number): DatedText | null {
  const whole = Number(fullYear(yearText));
  if (whole < 1 || first < 1 || first + count > 13) return null;
  const two = (number: number) => String(number).padStart(2, '0');
  return {
    kind,
    from: `${String(whole).padStart(4, '0')}-${two(first)}-01`,
    to: monthEnd(whole, first + count - 1),
  };
}

const monthOf = (yearText: string, month: number | null) =>
  month === null ? null : months('month', yearText, month, 1);
const quarterOf = (yearText: string, text: string) => {
  const quarter = quarterNumber(text);
  return quarter < 1 || quarter > 4 ? null : months('quarter', yearText, quarter * 3 - 2, 3);
};
const halfOf = (yearText: string, text: string) => {
  const half = quarterNumber(text);
  return half === 1 || half === 2 ? months('half', yearText, half * 6 - 5, 6) : null;
};
/** A quarter, half or year by its first and last month. Other ranges, such as moving ones of three months, are not stored as periods. */
function rangeOf(yearText: string, first: number | null, last: number | null): DatedText | null {
  if (first === null || last === null) return null;
  const count = last - first + 1;
  const kind = ({ 3: 'quarter', 6: 'half', 12: 'year' } as const)[count];
  return kind === undefined || (first - 1) % count !== 0 ? null : months(kind, yearText, first, count);
}
/** The first and the last day of a week, or of a month, quarter, half or year. */
function daysOf(from: string, to: string): DatedText | null {
  if (!isDate(from) || !isDate(to)) return null;
  if (addDays(from, 6) === to) return { kind: 'week', from, to };
  const [year, month] = [from.slice(0, 4), Number(from.slice(5, 7))];
  const last = Number(to.slice(5, 7));
  const span = last === month ? monthOf(year, month) : rangeOf(year, month, last);
  return span?.from === from && span.to === to ? span : null;
}
const yearOf = (yearText: string) => months('year', yearText, 1, 12);

function dayOf(yearText: string, month: number | null, dayText: string): DatedText | null {
  const day = `${fullYear(yearText)}-${String(month ?? 0).padStart(2, '0')}-${dayText.padStart(2, '0')}`;
  return isDate(day) ? { kind: 'day', from: day, to: day } : null;
}

/** A week of ISO 8601, from Monday to Sunday. */
function weekOf(yearText: string, weekText: string): DatedText | null {
  const week = Number(weekText);
  const whole = fullYear(yearText);
  const fourth = `${whole}-01-04`;
  if (week < 1 || week > 53) return null;
  const weekday = (new Date(`${fourth}T00:00:00Z`).getUTCDay() + 6) % 7;
  const from = addDays(fourth, (week - 1) * 7 - weekday);
  // Week 53 exists only in years whose last Thursday is in it.
  return addDays(from, 3).slice(0, 4) === whole ? { kind: 'week', from, to: addDays(from, 6) } : null;
}

/** A year that begins in one calendar year and ends in the next; the span is that of the latter. */
function fiscalYearOf(first: string, second: string): DatedText | null {
  const last = String(Number(fullYear(first)) + 1);
  if (second !== last && second !== last.slice(-2)) return null;
  const span = yearOf(last);
  return span === null ? null : { ...span, kind: 'fiscal year' };
}

const form = (examples: string | readonly string[], expression: string, read: Read): DateTextForm => ({
  examples: [examples].flat(),
  expression: new RegExp(`^${expression}$`, 'u'),
  read,
});

/** Unambiguous forms, read from folded text: lower case, no accents, and for names no dots. */
const plainForms: readonly DateTextForm[] = [
  form(['2024 Q1', '2024Q1', '2024-T1', '2024K1'], `${year}${gap}${quarterLead}[\\s.]*0?([1-4])`, ([y = '', q = '']) => quarterOf(y, q)),
  form(['Q1 2024', 'Q1-24', 'T1 2024', 'Qtr 1 2024'], `(?:${quarterLead}|r)${joint}0?([1-4])${gap}${anyYear}`, ([q = '', y = '']) => quarterOf(y, q)),
  form(['1Q24', '1. Quartal 2024', '1er trimestre de 2024', '1 кв. 2024'], `([1-4])${ordinal}${joint}${quarterWord}${gap}${of}${anyYear}`, ([q = '', y = '']) =>
    quarterOf(y, q),
  ),
  form(['2024 1. Quartal', '2024 1e kwartaal', '2024. gada 1. ceturksnis'], `${namedYear}${gap}([1-4])${ordinal}${joint}${quarterWord}`, ([y = '', q = '']) =>
    quarterOf(y, q),
  ),
  form(['First quarter 2024', 'erstes Quartal 2024'], `${ordinalWord} ${quarterWord}${gap}${of}${anyYear}`, ([q = '', y = '']) => quarterOf(y, q)),
  form(['March quarter 2024', 'Mar Qtr 24'], `${word} (?:quarter|qtr)${gap}${anyYear}`, ([m = '', y = ''], language) => {
    const last = monthNamed(m, language);
    return rangeOf(y, last === null ? null : last - 2, last);
  }),
  form('First half 2024', `${ordinalWord} ${halfWord}${gap}${of}${anyYear}`, ([h = '', y = '']) => halfOf(y, h)),
  form(['I/2024', 'I kwartał 2024'], `${roman}${joint}(?:${quarterWord}${joint})?${of}${anyYear}`, ([q = '', y = '']) =>
    quarterOf(y, q),
  ),
  form('Β΄ τρίμηνο 2024', `([αβγδ])['\\s\u0384\u00b4\u2019\u02b9]*τριμηνο${gap}${anyYear}`, ([q = '', y = '']) => quarterOf(y, q)),
  form(['Quarter IV 2024', 'Triwulan IV 2024'], `${quarterLead}[\\s.]+${roman}${gap}${anyYear}`, ([q = '', y = '']) => quarterOf(y, q)),
  form('2024 IV', `${namedYear}${gap}${roman}(?:${joint}${quarterWord})?`, ([y = '', q = '']) => quarterOf(y, q)),
  form('2024年第1季度', `${year}年?\\s*第?\\s*([1-4一二三四])\\s*(?:季度?|四半期)`, ([y = '', q = '']) => quarterOf(y, q)),
  form('2024년 1분기', `${year}년?\\s*([1-4])\\s*분기`, ([y = '', q = '']) => quarterOf(y, q)),
  form(['2024 H1', '2024-S1', '2024 Sem 1'], `${year}${gap}${halfWord}[\\s.]*0?([12])`, ([y = '', h = '']) => halfOf(y, h)),
  form(['H1 2024', 'S1/2024'], `${halfWord}${joint}0?([12])${gap}${anyYear}`, ([h = '', y = '']) => halfOf(y, h)),
  form(['1H24', '1. Halbjahr 2024', 'I półrocze 2024'], `([12]|i{1,2})${ordinal}${joint}${halfWord}${gap}${of}${anyYear}`, ([h = '', y = '']) => halfOf(y, h)),
  form('2024 1. Halbjahr', `${namedYear}${gap}([12]|i{1,2})${ordinal}${joint}${halfWord}`, ([y = '', h = '']) =>
    halfOf(y, h),
  ),
  form(['2024-W05', '2024W5'], `${year}${gap}${weekWord}${joint}(\\d{1,2})`, ([y = '', w = '']) => weekOf(y, w)),
  form(['Week 5 2024', 'KW 5 2024'], `${weekWord}${joint}(\\d{1,2})${gap}${year}`, ([w = '', y = '']) => weekOf(y, w)),
  form(['2024M1', '2024-M01', '2024MM01'], `${year}${joint}m{1,2}${joint}(\\d{1,2})`, ([y = '', m = '']) => monthOf(y, Number(m))),
  form(['M01 2024', 'MO012024'], `(?:m|mo(?=\\d\\d))(\\d{1,2})${gap}${year}`, ([m = '', y = '']) => monthOf(y, Number(m))),
  form(['2024年1月', '2024年一月'], `${year}年?\\s*(\\d{1,2}|[一二三四五六七八九十]{1,2})月(?:分|份)?`, ([y = '', m = '']) => monthOf(y, numeral(m))),
  form(['2024年1-3月'], `${year}年?\\s*(\\d{1,2})\\s*[-~〜～–]\\s*(\\d{1,2})月期?`, ([y = '', a = '', b = '']) =>
    rangeOf(y, Number(a), Number(b)),
  ),
  form('2024年1月5日', `${year}年\\s*(\\d{1,2})月\\s*(\\d{1,2})日`, ([y = '', m = '', d = '']) =>
    dayOf(y, Number(m), d),
  ),
  form('2024년 1월', `${year}년?\\s*(\\d{1,2})월`, ([y = '', m = '']) => monthOf(y, Number(m))),
  form('2024년 1월 5일', `${year}년\\s*(\\d{1,2})월\\s*(\\d{1,2})일`, ([y = '', m = '', d = '']) =>
    dayOf(y, Number(m), d),
  ),
  form('2024年', `${year}(?:年|년)`, ([y = '']) => yearOf(y)),
  form(['Year 2024', 'Jahr 2024', 'année 2024'], `(?:year|jahr|annee|ano|anno|jaar|ar|rok)\\s+${year}`, ([y = '']) => yearOf(y)),
  form(['CY2024', 'CY24'], `cy${joint}${anyYear}`, ([y = '']) => yearOf(y)),
  form('2024JJ00', `${year}jj00`, ([y = '']) => yearOf(y)),
  form("'24", `['\u2019](\\d{2})`, ([y = '']) => yearOf(y)),
  form(['FY2024', 'FY24'], `fy${joint}${anyYear}`, ([y = '']) => {
    const span = yearOf(y);
    return span === null ? null : { ...span, kind: 'fiscal year' };
  }),
  form(['FY2023-24', 'FY 2023/24', 'FY23/24'], `fy${joint}${anyYear}[\\s/-]+${anyYear}`, ([a = '', b = '']) => fiscalYearOf(a, b)),
  form(['2024-01-01/2024-01-07', '2024-01-01 to 2024-01-07'], `(\\d{4}-\\d{2}-\\d{2})(?:${rangeSign}|\\s+-\\s+)(\\d{4}-\\d{2}-\\d{2})`, ([a = '', b = '']) =>
    daysOf(a, b),
  ),
  form(['Jan-Mar 2024', 'January to March 2024'], `${word}${rangeSign}${word}${gap}${of}${anyYear}`, ([a = '', b = '', y = ''], language) =>
    rangeOf(y, monthNamed(a, language), monthNamed(b, language)),
  ),
  form('2024 Jan-Mar', `${year}${gap}${word}${rangeSign}${word}`, ([y = '', a = '', b = ''], language) =>
    rangeOf(y, monthNamed(a, language), monthNamed(b, language)),
  ),
  form(['Jan 2024', 'January 2024', 'Jan-24', 'janv. 2024', 'enero de 2024', 'Январь 2024'], `${word}${gap}${of}${anyYear}`, ([m = '', y = ''], language) =>
    monthOf(y, monthNamed(m, language)),
  ),
  form(['2024 Jan', '2024-January'], `${namedYear}${gap}${word}`, ([y = '', m = ''], language) => monthOf(y, monthNamed(m, language))),
  form(['5 Jan 2024', '05-JAN-24', '5. Januar 2024', '5 de enero de 2024'], `(\\d{1,2})${ordinal}${joint}${of}${word}${gap}${of}${anyYear}`, ([d = '', m = '', y = ''], language) =>
    dayOf(y, monthNamed(m, language), d),
  ),
  form(['January 5, 2024', 'Jan 5 2024'], `${word}${joint}(\\d{1,2})${ordinal}[\\s,./-]+${year}`, ([m = '', d = '', y = ''], language) =>
    dayOf(y, monthNamed(m, language), d),
  ),
  form('2024 Jan 5', `${namedYear}${gap}${word}${joint}(\\d{1,2})(?:\\s*d)?`, ([y = '', m = '', d = ''], language) =>
    dayOf(y, monthNamed(m, language), d),
  ),
]; // prettier-ignore

const isoKinds: readonly [example: string, expression: RegExp, kind: PeriodKind][] = [
  ['2024-01-05', /^\d{4}-\d{2}-\d{2}$/, 'day'],
  ['2024-01', /^\d{4}-\d{2}$/, 'month'],
  ['2024-Q1', /^\d{4}-Q\d$/, 'quarter'],
  ['2024-H1', /^\d{4}-H\d$/, 'half'],
  ['2024', /^\d{4}$/, 'year'],
];

function readIso(text: string): DatedText | null {
  const range = parsePeriod(text);
  const kind = isoKinds.find(([, expression]) => expression.test(text))?.[2];
  return range === null || kind === undefined ? null : { kind, ...range };
}

/**
 * A day with a time of midnight or noon in any usual form, and with a zone, is that day. A zone never moves it: offices write the local
 * day. A run of blanks is tried from its beginning only, or the time would grow with the square of its length.
 */
const dayTime =
  /(?<![T\s])[T\s]+(?:0?0:00(?::00(?:\.0+)?)?|12:00(?::00(?:\.0+)?)?(?:\s*[AP]\.?M\.?)?)\s*(?:Z|UTC|GMT|[+-]\d{2}:?\d{2})?$/i;
export const withoutMidnight = (text: string): string => text.replace(dayTime, '');

/** Names of days of the week, folded, before a date: the date alone counts. */
const weekday =
  /^(?:mon|tue|tues|wed|thu|thur|thurs|fri|sat|sun|(?:mon|tues|wednes|thurs|fri|satur|sun)day|mo|di|mi|do|fr|sa|so|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch|sonnabend|lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|lunes|martes|miercoles|jueves|viernes|sabado|domingo|(?:segunda|terca|quarta|quinta|sexta)(?:-feira)?|lunedi|martedi|mercoledi|giovedi|venerdi|domenica|(?:maan|dins|woens|donder|vrij|zater|zon)dag|(?:man|tirs|ons|tors|fre|lor)dag|sondag|lordag)\s*,?\s+(?=[\p{L}\d])/u;
/** Words before the last day of a period, or before a day: the date alone counts. */
const endOf = /^(?:end(?:[\s-]+of)?|as[\s-]+(?:at|of|on))[\s.-]+(?=[\p{L}\d])/iu;
/** The word for year behind a whole date, as in `5 января 2024 г.` */
const yearBehind = /(?<=\d{4})\s*(?:года|год|г|року|р|roku|r)$/u;
/** A year with a point, as a number that a program wrote, or with the word for year behind it. */
const yearAlone = /^(\d{4})(?:\.0*|\s*(?:года|год|г|року|рік|р|rok|r)\.?)$/iu;
const yearExamples = ['2024.0', '2024.', '2024 г.', '2024 год'];
const dayExamples = [
  'Friday, 5 January 2024',
  'Fri, 05 Jan 2024',
  '5 января 2024 г.',
  'As at 5 January 2024',
];
const endExamples = ['End-Jun 2024', 'End of June 2024'];
const timeExamples = ['2024-01-05 00:00:00', '2024-01-05T00:00:00Z', '2024-01-05 12:00:00 AM +02:00'];

/** Years that begin in one calendar year and end in the next. A text that could be a month, such as 2010/11, is not one of them. */
const fiscalYears: readonly [example: string, expression: RegExp][] = [
  ['2023/24', /^(\d{4})\/(?!0[1-9]|1[0-2])(\d{2})$/],
  ['2023/2024', /^(\d{4})\s*[/\u2013-]\s*(\d{4})$/],
  ['2023 to 2024', /^(\d{4}) to (\d{4})$/],
  ['2023-24', /^(\d{4})-(\d{2})$/],
];

/** The meaning of the text in the unambiguous forms; null if no form reads it. */
export function readPlain(text: string, language: string): DatedText | null {
  const day = withoutMidnight(text).replace(endOf, '');
  const iso = readIso(day);
  if (iso !== null) return iso;
  const [, alone] = yearAlone.exec(day) ?? [];
  if (alone !== undefined) return yearOf(alone);
  for (const [, expression] of fiscalYears) {
    const [, first, second] = expression.exec(day) ?? [];
    if (first !== undefined && second !== undefined) return fiscalYearOf(first, second);
  }
  if (!/\d/.test(day) || day.length > 40) return null;
  const plain = foldLetters(day).replaceAll(/\s+/g, ' ').trim();
  // In German KW is the calendar week, in Dutch the quarter.
  const dutch = language === 'nl' ? plain.replace(/(?<!\p{L})kw(?!\p{L})/u, 'kwartaal') : plain;
  const folded = dutch.replace(weekday, '').replace(yearBehind, '');
  for (const { expression, read } of plainForms) {
    const [, ...parts] = expression.exec(folded) ?? [];
    const found = parts.length === 0 ? null : read(parts, language);
    if (found !== null) return found;
  }
  return null;
}

/** Numbers in an order: the letters are those of `--date-format`. */
const orders: Readonly<Record<string, readonly [example: string, read: Read]>> = {
  'D/M/YYYY': ['05/01/2024', ([d = '', m = '', y = '']) => dayOf(y, Number(m), d)],
  'M/D/YYYY': ['01/05/2024', ([m = '', d = '', y = '']) => dayOf(y, Number(m), d)],
  'YYYY/M/D': ['2024.01.05', ([y = '', m = '', d = '']) => dayOf(y, Number(m), d)],
  'D/M/YY': ['5.1.24', ([d = '', m = '', y = '']) => dayOf(y, Number(m), d)],
  'M/D/YY': ['1/5/24', ([m = '', d = '', y = '']) => dayOf(y, Number(m), d)],
  'YY/M/D': ['24-01-05', ([y = '', m = '', d = '']) => dayOf(y, Number(m), d)],
  'YYYY/M': ['2024/01', ([y = '', m = '']) => monthOf(y, Number(m))],
  'YYYY/Q': ['2024/01', ([y = '', q = '']) => quarterOf(y, q.replace(/^0/, ''))],
  'YYYY/H': ['2024/01', ([y = '', h = '']) => halfOf(y, h.replace(/^0/, ''))],
  'YYYY/W': ['2024/05', ([y = '', w = '']) => weekOf(y, w)],
  'YYYY/YY': ['2011-12', ([a = '', b = '']) => fiscalYearOf(a, b)],
  'M/YYYY': ['01/2024', ([m = '', y = '']) => monthOf(y, Number(m))],
  'Q/YYYY': ['1/2024', ([q = '', y = '']) => quarterOf(y, q.replace(/^0/, ''))],
  'YYYY–YYYY': [
    '2021–2023',
    ([a = '', b = '']) =>
      Number(b) > Number(a) && Number(b) - Number(a) < 30
        ? { kind: 'years', from: `${a}-01-01`, to: `${b}-12-31` }
        : null,
  ],
};

const pieceOf: Readonly<Record<string, string>> = {
  YYYY: String.raw`(\d{4})`,
  YY: String.raw`(\d{2})`,
  D: String.raw`(\d{1,2})`,
  M: String.raw`(\d{1,2})`,
  Q: '(0?[1-4])',
  H: '(0?[12])',
  W: String.raw`(\d{1,2})`,
};

/** A form that almanac.yml names in `format` of a date. */
interface NamedForm {
  format: string;
  /** A text of the form, for docs/recognised.md. */
  example: string;
  read: (text: string) => DatedText | null;
}

/** The separator between the first two numbers, and between the others: a date has one separator, and `2023 2/4` is a quarter. */
const signBetween = String.raw`\s?([/.:–-]|\s)\s?`;
const sameSign = String.raw`\s?\2\s?`;

/** The purely numeric forms; `/` represents any separator, the same throughout a text. */
const ordersOfNumbers: readonly NamedForm[] = Object.entries(orders).map(([format, [example, read]]) => {
  const pieces = format.split(/[/–]/).map((part) => pieceOf[part] ?? '');
  const [first = '', ...others] = pieces;
  const rest = others.map((piece, at) => (at === 0 ? signBetween : sameSign) + piece).join('');
  const expression = new RegExp(`^${first}${rest}\\.?$`, 'u');
  const isDays = format.includes('D');
  return {
    format,
    example,
    read: (text) => {
      const [, head, , ...parts] = expression.exec(isDays ? withoutMidnight(text) : text) ?? [];
      return head === undefined ? null : read([head, ...parts], 'en');
    },
  };
});

const romanMonths = ['i', 'ii', 'iii', 'iv', 'v', 'vi', 'vii', 'viii', 'ix', 'x', 'xi', 'xii'];
/** Months as in Poland: `I 2024` is January. */
function romanMonth(text: string): DatedText | null {
  const [, before = '', y = '', behind = ''] =
    /^([ivx]{1,4})?[\s./-]*(\d{4})[\s./-]*([ivx]{1,4})?$/i.exec(text) ?? [];
  const month = romanMonths.indexOf(`${before}${behind}`.toLowerCase()) + 1;
  return before !== '' && behind !== '' ? null : monthOf(y, month);
}

/** The forms of a year and a part of it, or a day, which almanac.yml names. */
export const orderForms: readonly NamedForm[] = [
  ...ordersOfNumbers,
  { format: 'Roman month', example: 'XII 2024', read: romanMonth },
];

/** Days since 30 December 1899 (or 1 January 1904), as Excel counts them. */
function serialDay(text: string, epoch: string): DatedText | null {
  if (!/^\d{4,5}(?:\.0+)?$/.test(text)) return null;
  const day = addDays(epoch, Math.floor(Number(text)));
  return day >= '1925' && day < '2079' ? { kind: 'day', from: day, to: day } : null;
}

function epochDay(text: string, perSecond: number): DatedText | null {
  if (!/^-?\d{8,14}$/.test(text)) return null;
  const seconds = Number(text) / perSecond;
  if (!Number.isInteger(seconds) || seconds % 86_400 !== 0) return null;
  const day = addDays('1970-01-01', seconds / 86_400);
  return { kind: 'day', from: day, to: day };
}

/** 2023.25 is April 2023, 2023.0833 its February: the fraction is the part of the year before the month. */
function decimalYear(text: string): DatedText | null {
  const [, y = '', decimals = '0'] = /^(\d{4})(?:\.(\d{1,6}))?$/.exec(text) ?? [];
  const before = Number(`0.${decimals}`) * 12;
  const month = Math.round(before);
  return y !== '' && Math.abs(before - month) < 0.12 && month < 12 ? monthOf(y, month + 1) : null;
}

/** 2023.25 is the second quarter of 2023. */
function decimalQuarter(text: string): DatedText | null {
  const [, y = '', quarter = ''] = /^(\d{4})(?:\.(0|25|5|75)0*)?$/.exec(text) ?? [];
  return y === ''
    ? null
    : quarterOf(y, String(['0', '25', '5', '75'].indexOf(quarter === '' ? '0' : quarter) + 1));
}

/** A month as decimals of a year that lost their last zero: 2020.1 is October, 2020.01 January. */
const monthDecimals = (text: string): DatedText | null => {
  const [, y = '', m = ''] = /^(\d{4})\.(\d{1,2})$/.exec(text) ?? [];
  return y === '' ? null : monthOf(y, Number(m.padEnd(2, '0')));
};

/** The forms of single numbers, which almanac.yml names. */
export const numberForms: readonly NamedForm[] = [
  { format: 'YYYYMMDD', example: '20240105', read: (text) => (/^\d{8}$/.test(text) ? dayOf(text.slice(0, 4), Number(text.slice(4, 6)), text.slice(6)) : null) },
  { format: 'YYYYMM', example: '202401', read: (text) => (/^\d{6}$/.test(text) ? monthOf(text.slice(0, 4), Number(text.slice(4))) : null) },
  { format: 'YYYYQ', example: '20241', read: (text) => (/^\d{4}[1-4]$/.test(text) ? quarterOf(text.slice(0, 4), text.slice(4)) : null) },
  { format: 'YYYY.MM', example: '2024.1', read: monthDecimals },
  { format: 'Buddhist year', example: '2567', read: (text) => (/^2[45]\d\d$/.test(text) ? yearOf(String(Number(text) - 543)) : null) },
  { format: 'decimal quarter', example: '2024.25', read: decimalQuarter },
  { format: 'decimal year', example: '2024.083', read: decimalYear },
  { format: 'Excel serial', example: '45296', read: (text) => serialDay(text, '1899-12-30') },
  { format: 'epoch seconds', example: '1704412800', read: (text) => epochDay(text, 1) },
  { format: 'epoch milliseconds', example: '1704412800000', read: (text) => epochDay(text, 1000) },
]; // prettier-ignore

/** Texts of the unambiguous forms: those in one list mean the same. */
export const plainExamples: readonly (readonly string[])[] = [
  ...isoKinds.map(([example]) => [example]),
  yearExamples,
  timeExamples,
  dayExamples,
  endExamples,
  ...plainForms.map(({ examples }) => examples),
  fiscalYears.map(([example]) => example),
];
