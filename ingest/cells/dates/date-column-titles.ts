// The meaning of column titles for the dates below them: one table of the words for dates, years, months and so on, in the languages of
// statistical offices.
import { foldLetters, monthNamed } from './month-names.ts';

export type TitleKind =
  'date' | 'day' | 'week' | 'month' | 'quarter' | 'half' | 'year' | 'period' | 'fiscal' | 'epoch';

/** The words of each kind, as titles have them. */
export const titleWords: Readonly<Record<TitleKind, string>> = {
  date: 'date dates datum fecha fechas data dato päivämäärä pvm kuupäev datums dátum дата ημερομηνία dáta datë tarih tanggal תאריך التاريخ تاريخ 日期 日付 날짜',
  day: 'day days tag jour jours día dia giorno dag päivä diena dzień den deň dan ден nap ziua ημέρα jum gün hari день 日 일',
  week: 'week weeks wk woche wochen kw semaine semana semanas settimana vecka uke uge viikko nädal nedēļa savaitė tydzień týden týždeň teden tjedan неделя седмица hét săptămâna εβδομάδα seachtain ġimgħa hafta minggu 周 週 주',
  month: 'month months mon mm monat monate mois mes meses mês mese mesi maand maanden månad månader måned måneder kuukausi kuu kuud mēnesis mėnuo miesiąc miesiące měsíc měsíce mesiac mesiace mesec meseci mjesec mjeseci месец месеци hónap hónapok luna lună luni μήνας μήνες mí míonna xahar xhur ay aylar bulan месяц месяцы місяць חודש الشهر شهر 月 月份 월',
  quarter: 'quarter quarters qtr q trimestre trimestres trimester trim trimestru trimestrul trimestri quartal quartale kvartal kvartaler kvartāls kwartaal kwartalen kwartał kvartál čtvrtletí štvrťrok četrtletje tromjesečje tromesečje negyedév neljännes vuosineljännes ceturksnis ketvirtis тримесечие тримесечје квартал τρίμηνο ráithe çeyrek kuartal kwartal triwulan רבעון الربع ربع 季度 季 四半期 분기',
  half: 'half halves halfyear semester semestre semestres semestru halbjahr halvår halfjaar półrocze pololetí polrok polletje polugodište полугодие félév εξάμηνο yarıyıl 半期 半年 반기',
  year: 'year years yr yrs jahr jahre année années an ans año años ano anos anno anni jaar jaren år vuosi vuodet aasta aastad gads gadi metai rok roky lata leto leta godina godine год годы година години év évek anul ani έτος έτη bliain bliana sena snin yıl yıllar tahun рік роки שנה السنة سنة 年 年份 年度 연도 년도 년',
  period: 'period periods periodo período periodos períodos periode période périodes perioden periodi periood laikotarpis okres období obdobie obdobje razdoblje период időszak perioada περίοδος tréimhse perjodu dönem time temps zeit zeitraum zeitpunkt tiempo tijd tid aika aeg laiks laikas czas čas vreme vrijeme время idő timp χρόνος żmien zaman waktu 期間 時点 期间 时间 年月 기간 시점',
  fiscal: 'fiscal financial fy',
  epoch: 'epoch unix timestamp ts',
}; // prettier-ignore

const wordsOf = (kind: TitleKind): ReadonlySet<string> =>
  new Set(titleWords[kind].split(' ').map(foldLetters));
const kinds = Object.keys(titleWords) as TitleKind[];
const wordsOfKind = new Map(kinds.map((kind) => [kind, wordsOf(kind)]));
const everyWord = new Set(kinds.flatMap((kind) => [...wordsOf(kind)]));
/** Words that may accompany them without changing the meaning. */
const neutralWord =
  /^(?:\d{1,2}|of|the|and|ref|reference|observation|obs|calendar|ended|ending|seconds|no|num|number|code|label)$/;

const wordsIn = (title: string): string[] =>
  foldLetters(title.replaceAll(/(?<=\p{Ll})(?=\p{Lu})/gu, ' '))
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word !== '');

const compoundWeek = /(?:weeks?|wochen?|semaine|semana|vecka|viikko)$/;

/** Whether a word of the title is of that kind. */
export const hasWordOfKind = (kind: TitleKind, title: string): boolean =>
  wordsIn(title).some(
    (word) => wordsOfKind.get(kind)?.has(word) === true || (kind === 'week' && compoundWeek.test(word)),
  );

/** Years that seldom begin in January, in words of folded letters. */
const otherYears =
  /\b(?:fin|fiscal|financial|budget|academic|school|marketing|crop|harvest|water|hydrological|tax|accounting|agricultural|farm)[ _-]?years?\b|\bannees? (?:scolaire|universitaire|agricole|budgetaire)|\b(?:ano|anno) (?:escolar|lectivo|letivo|agricola|scolastico|accademico)|(?:geschafts|wirtschafts|schul|haushalts|ernte|studien)jahre?\b/;
const seasons = /^(?:seasons?|saison|campagne|campana|temporada|zafra|ejercicio)$/;
const yearWords = /\b(?:years?|yr|ye|y\/e|months)\b/;
const yearToMonth =
  /\b(?:(?:years?|yr|months)(?:[ -]end(?:ed|ing|s)?| to)|ye|y\/e) (?:\d{1,2}(?:st|th)? )?(?:of )?(\p{L}{3,})/u;

const englishMonth = (folded: string): number | null => monthNamed(folded, 'en');

/**
 * Whether a title of years, or a line above them, says that they are fiscal years; null if not.
 * @returns the month in which they end, null if none is named.
 */
export function fiscalYearsIn(text: string, isTitle: boolean): { month: number | null } | null {
  const folded = foldLetters(text.trim());
  const words =
    isTitle && yearWords.test(folded) ? folded.split(/[^\p{L}]+/u) : [yearToMonth.exec(folded)?.[1] ?? ''];
  const month = words.map(englishMonth).find((each) => each !== null) ?? null;
  const isNamed =
    otherYears.test(folded) || (isTitle && (seasons.test(folded) || hasWordOfKind('fiscal', text)));
  return isNamed || (month !== null && month !== 12) ? { month } : null;
}

/** Calendars whose years are not those of the common era, by their names, and by their abbreviations in the title of a column. */
const otherCalendars =
  /\b(?:ethiopian|hijri|coptic|saka|bikram|vikram|nepali|bengali|bangla|jalali|hebrew) (?:fiscal |solar )?(?:calendar|years?|sambat|samvat|era)\b/i;
const abbreviatedCalendars = /(?<!\p{L})(?:EFY|E\.? ?C\.?|B\.? ?S\.?|A\.? ?H\.?|S\.? ?H\.?)(?!\p{L})/u;

/** The words of a title of dates, or of a line above them, that name another calendar; null if none. */
export const otherCalendarIn = (text: string, isTitle: boolean): string | null =>
  (otherCalendars.exec(text) ?? (isTitle ? abbreviatedCalendars.exec(text) : null))?.[0] ?? null;

/** Whether the word alone means that a column has dates. */
export const isDateWord = (word: string): boolean => everyWord.has(foldLetters(word));

const englishWords = new Set(
  'date dates day days week weeks wk month months mon mm quarter quarters qtr q half halves halfyear semester year years yr yrs period periods fiscal financial fy'.split(
    ' ',
  ),
);
const eastAsian = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}]/u;

/** Whether the title is a word for dates in a language that usually writes decimals with a comma: not English or an East Asian language. */
export const isTitleOfCommaLanguage = (title: string): boolean => {
  const words = wordsIn(title).filter((word) => everyWord.has(word));
  return words.length > 0 && !eastAsian.test(title) && !words.some((word) => englishWords.has(word));
};

/** Whether the title means that its column has dates, and nothing else. */
export function isDateTitle(title: string): boolean {
  if (title === '' || title.length > 60) return false;
  if (/^y{4}[\s_/-]?(?:mm?|q|ww?)(?:[\s_/-]?dd?)?$/i.test(title)) return true;
  const words = wordsIn(title);
  // In English a date is named by what it is the date of; `data` alone is a date in other languages.
  if (words.some((word) => /^dates?$/.test(word)) || (words.length === 1 && /^\w*date$/.test(words[0] ?? '')))
    return true;
  // A date of several words, such as FY 1995-96, is none of these, and neither is "no data".
  const named = words.filter((word) => everyWord.has(word) && (word !== 'data' || words.length === 1));
  return named.length > 0 && words.every((word) => named.includes(word) || neutralWord.test(word));
}
