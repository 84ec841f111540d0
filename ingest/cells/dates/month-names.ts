// Names of months in the languages of statistical offices, from Node's language data (ICU): full names, cases, abbreviations, and prefixes
// of three letters or more that are unique in the language.

/** The recognised languages, by their BCP 47 tags. English first: where several read a text alike, the first is reported. */
export const languages = [
  'en', 'de', 'fr', 'es', 'it', 'nl', 'pt', 'sv', 'da', 'nb', 'nn', 'fi', 'pl', 'cs', 'sk', 'sl', 'hr', 'sr', 'sr-Latn', 'bs', 'mk', 'bg', 'ro',
  'hu', 'et', 'lv', 'lt', 'el', 'ga', 'mt', 'sq', 'is', 'ca', 'gl', 'eu', 'tr', 'az', 'ru', 'uk', 'be', 'kk', 'id', 'ms', 'sw', 'af',
] as const; // prettier-ignore

/** Spellings that offices use and ICU lacks, by language, with the number of the month. */
const furtherNames: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  de: { jänner: 1, jän: 1, feber: 2, mrz: 3, märz: 3 },
  es: { setiembre: 9, set: 9 },
  id: { pebruari: 2, agt: 8, ags: 8, nopember: 11, nop: 11 },
  ms: { ogos: 8, ogo: 8 },
  nl: { mrt: 3 },
  pt: { setembro: 9 },
};

const shortestPart = 3;

/** The text in lower case without accents and dots: `Févr.` is `fevr`. */
export function foldLetters(text: string): string {
  return text
    .normalize('NFKD')
    .replaceAll(/\p{Mn}+/gu, '')
    .toLowerCase()
    .replaceAll(/\p{Mn}+/gu, '')
    .normalize('NFC') // the syllables of Hangul
    .replaceAll('.', '')
    .replaceAll(/[ıłøđß]/g, (letter) => foldedLetters[letter] ?? letter);
}

const foldedLetters: Readonly<Record<string, string>> = { ı: 'i', ł: 'l', ø: 'o', đ: 'd', ß: 'ss' };

type Names = ReadonlyMap<string, number>;
const namesByLanguage = new Map<string, Names>();

/** Every text that names one month of the language, folded, with the number of the month. */
function namesOf(language: string): Names {
  const known = namesByLanguage.get(language);
  if (known !== undefined) return known;
  const whole = new Map<string, number>();
  const started = new Map<string, number | null>();
  for (let month = 1; month <= 12; month++)
    for (const name of writtenNames(language, month)) {
      whole.set(name, month);
      for (let length = shortestPart; length < name.length; length++) {
        const part = name.slice(0, length);
        const other = started.get(part);
        started.set(part, other === undefined || other === month ? month : null);
      }
    }
  const names = new Map(whole);
  for (const [part, month] of started) if (month !== null && !whole.has(part)) names.set(part, month);
  for (const [name, month] of Object.entries(furtherNames[language] ?? {}))
    names.set(foldLetters(name), month);
  namesByLanguage.set(language, names);
  return names;
}

/** The forms of one name: alone and beside a day (`leden`, `ledna`), in full and short. */
function writtenNames(language: string, month: number): string[] {
  const day = new Date(Date.UTC(2023, month - 1, 15));
  const styles: Intl.DateTimeFormatOptions[] = [
    { month: 'long' },
    { month: 'short' },
    { month: 'long', day: 'numeric' },
    { month: 'short', day: 'numeric', year: 'numeric' },
    { month: 'long', year: 'numeric' },
  ];
  const names = styles.map((style) => {
    const parts = new Intl.DateTimeFormat(`${language}-u-ca-gregory`, { ...style, timeZone: 'UTC' });
    return foldLetters(parts.formatToParts(day).find(({ type }) => type === 'month')?.value ?? '');
  });
  return [...new Set(names)].filter((name) => /\p{L}{2}/u.test(name));
}

/** The month, 1 to 12, that the word names in the language; null if it names none, or more than one. */
export function monthNamed(word: string, language: string): number | null {
  return namesOf(language).get(foldLetters(word)) ?? null;
}
