// The forms of dates: how a period is written, and the ambiguities for a reader.
import type { Cell, Frequency, Question } from './office-file.ts';
import { serialOf, type Period } from './periods.ts';
import type { Random } from './random.ts';
import { englishSpellings, monthNames } from './words/months.ts';
import { halfForms, quarterForms } from './words/quarters.ts';

export interface DateForm {
  name: string;
  write: (period: Period) => Cell;
  /** Weeks and fiscal years: any day of the week, or of the year that it ends in, will do. */
  within?: 'week' | 'year';
  /** Which day of a week is written. */
  weekday?: number;
  /** Added to the year of the truth: a fiscal year is that in which it ends. */
  yearsLater?: number;
  /** The ambiguities for a reader. */
  question?: Question;
  /** The form needs a title that names it. */
  title?: string;
}

const two = (number: number) => String(number).padStart(2, '0');
const yearOf = (date: string) => date.slice(0, 4);
const monthOf = (date: string) => Number(date.slice(5, 7));
const dayOf = (date: string) => Number(date.slice(8, 10));

type Day = (date: string) => string;
/** The forms that are certain only if a day is above 12, or the steps are regular. */
const days: Readonly<Record<string, Day>> = {
  'YYYY-MM-DD': (date) => date,
  'DD/MM/YYYY': (date) => `${date.slice(8)}/${date.slice(5, 7)}/${yearOf(date)}`,
  'D/M/YYYY': (date) => `${dayOf(date)}/${monthOf(date)}/${yearOf(date)}`,
  'MM/DD/YYYY': (date) => `${date.slice(5, 7)}/${date.slice(8)}/${yearOf(date)}`,
  'M/D/YYYY': (date) => `${monthOf(date)}/${dayOf(date)}/${yearOf(date)}`,
  'DD.MM.YYYY': (date) => `${date.slice(8)}.${date.slice(5, 7)}.${yearOf(date)}`,
  'DD-MM-YYYY': (date) => `${date.slice(8)}-${date.slice(5, 7)}-${yearOf(date)}`,
  'YYYY/MM/DD': (date) => date.replaceAll('-', '/'),
  YYYYMMDD: (date) => date.replaceAll('-', ''),
  'DD/MM/YY': (date) => `${date.slice(8)}/${date.slice(5, 7)}/${date.slice(2, 4)}`,
  'M/D/YY': (date) => `${monthOf(date)}/${dayOf(date)}/${date.slice(2, 4)}`,
  'date T00:00:00': (date) => `${date}T00:00:00`,
  'date T00:00:00.000Z': (date) => `${date}T00:00:00.000Z`,
  'date 00:00:00+00:00': (date) => `${date} 00:00:00+00:00`,
  'date 00:00:00': (date) => `${date} 00:00:00`,
  'DD/MM/YYYY 00:00': (date) => `${date.slice(8)}/${date.slice(5, 7)}/${yearOf(date)} 00:00`,
  'M/D/YYYY 12:00:00 AM': (date) => `${monthOf(date)}/${dayOf(date)}/${yearOf(date)} 12:00:00 AM`,
  'D MMM YYYY': (date) => `${dayOf(date)} ${english.short[monthOf(date) - 1]} ${yearOf(date)}`,
  'DD-MMM-YYYY': (date) => `${date.slice(8)}-${english.short[monthOf(date) - 1]}-${yearOf(date)}`,
  'DD MMM YY': (date) => `${date.slice(8)} ${english.short[monthOf(date) - 1]} ${date.slice(2, 4)}`,
  'DD-MMM-YY': (date) => `${date.slice(8)}-${english.short[monthOf(date) - 1]}-${date.slice(2, 4)}`,
  'MMMM DD, YYYY': (date) => `${english.long[monthOf(date) - 1]} ${date.slice(8)}, ${yearOf(date)}`,
  'DD/MMM/YYYY': (date) => `${date.slice(8)}/${english.short[monthOf(date) - 1]}/${yearOf(date)}`,
  YYYY年M月D日: (date) => `${yearOf(date)}年${monthOf(date)}月${dayOf(date)}日`,
};
const english = monthNames('en');
const serialFormats = ['dd/mm/yyyy', 'yyyy-mm-dd', 'd-mmm-yy', 'm/d/yy'];
const lacksCentury = /(?:\bYY$)/;
const isNumeric = /^(?:DD?|MM?)[/.-]/;

const cell = (text: string): Cell => ({ text });

/** Forms of days that differ only in the writing. */
function dayForms(choose: (period: Period) => string, suffix: string): DateForm[] {
  return Object.entries(days).map(([name, write]) => {
    // Days up to 12 alone are read either way; a year of two digits may be a day.
    const question = lacksCentury.test(name) ? ('dates' as const) : undefined;
    return {
      name: `${name}${suffix}`,
      write: (period) => cell(write(choose(period))),
      ...(question !== undefined && { question }),
      ...(suffix !== '' && isNumeric.test(name) && { question: 'dates' as const }),
    };
  });
}

function serialForm(choose: (period: Period) => string, format: string): DateForm {
  return {
    name: `date cell ${format}`,
    write: (period) => ({
      text: choose(period),
      number: serialOf(choose(period)),
      format,
    }),
  };
}

const epoch = (choose: (period: Period) => string): DateForm => ({
  name: 'epoch seconds',
  write: (period) => cell(String(Date.parse(choose(period)) / 1000)),
  title: 'epoch_seconds',
});

function monthForms(language: string, random: Random): DateForm[] {
  const names = monthNames(language);
  const spelling = random.pick([english.short, english.long, ...englishSpellings]);
  const form = (
    name: string,
    write: (year: number, month: number) => string,
    question?: Question,
  ): DateForm => ({
    name,
    write: ({ year, part }) => cell(write(year, part)),
    ...(question !== undefined && { question }),
  });
  const ownWords = [
    form(`month name ${language}`, (y, m) => `${names.long[m - 1]} ${y}`),
    form(`month abbreviation ${language}`, (y, m) => `${names.short[m - 1]} ${y}`),
    form(`year and month name ${language}`, (y, m) => `${y} ${names.long[m - 1]}`),
    form(`MMM-YY ${language}`, (y, m) => `${names.short[m - 1]}-${two(y % 100)}`),
  ];
  if (['ja', 'zh', 'tw', 'ko'].includes(language)) {
    const [year, month] = language === 'ko' ? ['년 ', '월'] : ['年', '月'];
    ownWords.splice(
      0,
      4,
      form(`YYYY${year}M${month}`, (y, m) => `${y}${year}${m}${month}`),
    );
  }
  return [
    ...ownWords,
    form('YYYY-MM', (y, m) => `${y}-${two(m)}`),
    form('YYYY/MM', (y, m) => `${y}/${two(m)}`),
    form('YYYY.MM', (y, m) => `${y}.${two(m)}`),
    form('MM/YYYY', (y, m) => `${two(m)}/${y}`),
    form('MM.YYYY', (y, m) => `${two(m)}.${y}`),
    form('M/YYYY', (y, m) => `${m}/${y}`),
    form('YYYYMM', (y, m) => `${y}${two(m)}`),
    form('YYYYM01', (y, m) => `${y}M${two(m)}`),
    form('YYYYM1', (y, m) => `${y}M${m}`),
    form('YYYY-M01', (y, m) => `${y}-M${two(m)}`),
    form('YYYYMM01', (y, m) => `${y}MM${two(m)}`),
    form('YYYYm1', (y, m) => `${y}m${m}`),
    form('MMM-YY', (y, m) => `${english.short[m - 1]}-${two(y % 100)}`),
    form('English month YYYY', (y, m) => `${spelling[m - 1]} ${y}`),
    form('YYYY English month', (y, m) => `${y} ${spelling[m - 1]}`),
    form('MMMYYYY', (y, m) => `${english.short[m - 1]?.toUpperCase()}${y}`),
    form('YYYY.M as a number', (y, m) => `${y}.${two(m)}`.replace(/0$/, ''), 'dates'),
    form('decimal year', (y, m) => (y + (m - 1) / 12).toFixed(3), 'dates'),
  ];
}

function quarterlyForms(language: string, random: Random): DateForm[] {
  const roman = ['I', 'II', 'III', 'IV'];
  const own = random.pick(quarterForms[language] ?? quarterForms['en'] ?? []);
  const form = (
    name: string,
    write: (year: number, quarter: number) => string,
    question?: Question,
  ): DateForm => ({
    name,
    write: ({ year, part }) => cell(write(year, part)),
    ...(question !== undefined && { question }),
  });
  // Weeks in German, and a day of January.
  const isOpen: Question | undefined = /KW|\/4$/.test(own(2023, 1)) ? 'dates' : undefined;
  const mayBeMonths: Question = 'dates';
  return [
    form(`quarter in ${language}`, own, isOpen),
    form(`quarter in ${language}`, own, isOpen),
    form('YYYY-Q1', (y, q) => `${y}-Q${q}`),
    form('YYYYQ1', (y, q) => `${y}Q${q}`),
    form('Q1 YYYY', (y, q) => `Q${q} ${y}`),
    form('Q1/YYYY', (y, q) => `Q${q}/${y}`),
    form('YYYY Q1', (y, q) => `${y} Q${q}`),
    form('YYYY:Q1', (y, q) => `${y}:Q${q}`),
    form('1QYY', (y, q) => `${q}Q${two(y % 100)}`),
    form('Q1-YY', (y, q) => `Q${q}-${two(y % 100)}`),
    form('T1 YYYY', (y, q) => `T${q} ${y}`),
    form('YYYYK1', (y, q) => `${y}K${q}`),
    form('I/YYYY', (y, q) => `${roman[q - 1]}/${y}`),
    form('YYYY/01 to 04', (y, q) => `${y}/0${q}`, mayBeMonths),
    form('YYYY-01 to 04', (y, q) => `${y}-0${q}`, mayBeMonths),
    form('YYYY-1 to 4', (y, q) => `${y}-${q}`, mayBeMonths),
    form('YYYY.1 to 4', (y, q) => `${y}.${q}`, mayBeMonths),
    form('YYYY:1 to 4', (y, q) => `${y}:${q}`, mayBeMonths),
    form('Jan-Mar YYYY', (y, q) => `${english.short[q * 3 - 3]}-${english.short[q * 3 - 1]} ${y}`),
    form('MMM-YY of the last month', (y, q) => `${english.short[q * 3 - 1]}-${two(y % 100)}`),
  ];
}

function halfYearForms(language: string, random: Random): DateForm[] {
  const own = random.pick(halfForms[language] ?? halfForms['en'] ?? []);
  const form = (name: string, write: (year: number, half: number) => string): DateForm => ({
    name,
    write: ({ year, part }) => cell(write(year, part)),
  });
  return [
    form(`half-year in ${language}`, own),
    form('YYYY-S1', (y, h) => `${y}-S${h}`),
    form('YYYY-H1', (y, h) => `${y}-H${h}`),
    form('YYYYH1', (y, h) => `${y}H${h}`),
    form('YYYYS1', (y, h) => `${y}S${h}`),
    form('1HYY', (y, h) => `${h}H${two(y % 100)}`),
    form('H1 YYYY', (y, h) => `H${h} ${y}`),
  ];
}

function annualForms(): DateForm[] {
  const plain: DateForm = { name: 'YYYY', write: ({ year }) => ({ text: String(year), number: year }) };
  const fiscal = (name: string, write: (year: number) => string): DateForm => ({
    name,
    write: ({ year }) => cell(write(year)),
    within: 'year',
    yearsLater: 1,
    question: 'dates',
  });
  return [
    ...[plain, plain, plain, plain, plain],
    fiscal('fiscal YYYY-YY', (y) => `${y}-${two((y + 1) % 100)}`),
    fiscal('fiscal YYYY/YY', (y) => `${y}/${two((y + 1) % 100)}`),
    fiscal('fiscal YYYY/YYYY', (y) => `${y}/${y + 1}`),
    fiscal('FY YYYY-YY', (y) => `FY ${y}-${two((y + 1) % 100)}`),
    { ...fiscal('FYYYYY', (y) => `FY${y}`), yearsLater: 0 },
    { name: 'YYYY-12-31', write: ({ last }) => cell(last) },
    { name: 'YYYY年', write: ({ year }) => cell(`${year}年`) },
  ];
}

function weeklyForms(): DateForm[] {
  const form = (
    name: string,
    write: (year: number, week: number) => string,
    question?: Question,
  ): DateForm => ({
    name,
    write: ({ year, part }) => cell(write(year, part)),
    within: 'week',
    ...(question !== undefined && { question }),
  });
  return [
    form('YYYY-W01', (y, w) => `${y}-W${two(w)}`),
    form('YYYYW01', (y, w) => `${y}W${two(w)}`),
    form('YYYY Week 1', (y, w) => `${y} Week ${w}`, 'dates'),
    form('KW 01/YYYY', (y, w) => `KW ${two(w)}/${y}`, 'dates'),
  ];
}

/** Longer languages' dates: `4 janvier 2023`, `4. Januar 2023`. */
function longDays(language: string): DateForm[] {
  if (['ja', 'zh', 'tw', 'ko', 'hu', 'lt', 'lv'].includes(language)) return [];
  const dot = ['de', 'da', 'nb', 'fi', 'et', 'cs', 'sk', 'sl', 'hr'].includes(language) ? '.' : '';
  const { inDates } = monthNames(language);
  return [
    {
      name: `long date ${language}`,
      write: ({ last }) => cell(`${dayOf(last)}${dot} ${inDates[monthOf(last) - 1]} ${yearOf(last)}`),
    },
  ];
}

const first = ({ first }: Period) => first;
const last = ({ last }: Period) => last;
/** Friday, of a week. */
const friday = (period: Period) =>
  new Date(Date.parse(period.first) + 4 * 86_400_000).toISOString().slice(0, 10);

/** All forms of the frequency that the language and the format of the file may have. */
export function dateForms(
  frequency: Frequency,
  language: string,
  inWorkbook: boolean,
  random: Random,
): DateForm[] {
  if (frequency === 'daily')
    return [
      ...dayForms(last, ''),
      ...longDays(language),
      epoch(last),
      ...(inWorkbook ? serialFormats.map((format) => serialForm(last, format)) : []),
    ];
  if (frequency === 'weekly')
    return [
      ...weeklyForms(),
      ...random
        .shuffled(dayForms(friday, ''))
        .slice(0, 6)
        .map((form) => ({ ...form, weekday: 4 })),
      ...(inWorkbook ? [{ ...serialForm(friday, 'dd/mm/yyyy'), weekday: 4 }] : []),
    ];
  if (frequency === 'annual') return annualForms();
  const own = { monthly: monthForms, quarterly: quarterlyForms, semiannual: halfYearForms }[frequency];
  const ofFirst = random.shuffled(dayForms(first, ', the first')).slice(0, 4);
  const ofLast = random.shuffled(dayForms(last, ', the last')).slice(0, 3);
  const typed = inWorkbook
    ? [serialForm(first, random.pick(['mmm-yy', 'mmm yyyy', 'dd/mm/yyyy'])), serialForm(last, 'yyyy-mm-dd')]
    : [];
  return [...own(language, random), ...ofFirst, ...ofLast, ...typed, ...typed, ...typed];
}

/** The date under which the point of the period is served. */
export function truthDate(period: Period, form: DateForm): { date: string; within?: 'week' | 'year' } {
  if (form.weekday !== undefined) return { date: friday(period) };
  if (form.yearsLater !== undefined)
    return { date: `${period.year + form.yearsLater}-12-31`, within: 'year' };
  return { date: period.last, ...(form.within && { within: form.within }) };
}
