// Scales: words and numbers for the power of ten by which the numbers of a table are multiplied. The numbers stay as published.

/** A word, and its power of ten. */
export const scales: Readonly<Record<string, number>> = {
  unit: 0, units: 0, one: 0, ones: 0, none: 0, eins: 0, tens: 1, hundred: 2, hundreds: 2, thousand: 3, thousands: 3, tausend: 3, milliers: 3, miles: 3, migliaia: 3,
  'ten thousand': 4, 'ten thousands': 4, 'hundred million': 8, 'hundred millions': 8, 'hundred thousand': 5, 'hundred thousands': 5, lakh: 5, lakhs: 5, 'ten million': 7, 'ten millions': 7, million: 6, millions: 6, millionen: 6, millones: 6, milioni: 6, mio: 6, mln: 6, mn: 6,
  crore: 7, crores: 7, billion: 9, billions: 9, milliarden: 9, milliards: 9, mrd: 9, bn: 9, trillion: 12, trillions: 12,
  milhares: 3, duizend: 3, tys: 3, tis: 3, 'тысяч': 3, 'тысячах': 3, 'тыс': 3, 'тис': 3, ribu: 3, milhões: 6, miljoen: 6, miljoner: 6, millioner: 6, milionů: 6, milionów: 6, milyon: 6, juta: 6, 'млн': 6, 'миллионов': 6, 'миллионах': 6,
  'мільйонів': 6, miliardi: 9, miljard: 9, miljarder: 9, milliarder: 9, miliard: 9, mld: 9, milyar: 9, miliar: 9, bilhões: 9, tsd: 3, milj: 6, millió: 6, milliárd: 9, ezer: 3, tūkst: 3, mlrd: 9, milijuna: 6, milijardi: 9, milioane: 6, miliarde: 9, triliun: 12, εκατ: 6, δισ: 9, 'млрд': 9, 'миллиардов': 9, 'мільярдів': 9,
  mia: 9, mkr: 6, mnkr: 6, mdkr: 9, tkr: 3, tusental: 3, tuhat: 3, mii: 3, 'хил': 3, 'миллион': 6, 'миллиард': 9, 'χιλιάδες': 3, nghìn: 3, triệu: 6, tỷ: 9, 'ألف': 3, 'مليون': 6, 'مليار': 9, 'אלפי': 3, 'מיליוני': 6, 'מיליארדי': 9,
  千: 3, 万: 4, 萬: 4, 百万: 6, 百萬: 6, 亿: 8, 億: 8, 十亿: 9, 十億: 9, 兆: 12, 천: 3, 만: 4, 백만: 6, 억: 8, 십억: 9, 조: 12,
}; // prettier-ignore

/** `hundreds of thousands` as `hundred thousands`. */
const counts = /(?<!\p{L})(hundred|ten)s of (?=thousand|million)/giu;
const linked = String.raw`(?:\s+(?:of|de))?\s+`;
/** Scales of two words, as one alone would be wrong: `miles de millones`. */
const stacked: readonly (readonly [RegExp, string])[] = [
  [String.raw`(?:thousands?|miles|mil)${linked}(?:millions?|millones|milhões|milhoes)`, 'billion'],
  [String.raw`(?:thousands?|miles|mil)${linked}(?:billions?|milliards)|(?:millions?|millones)${linked}(?:millions?|millones)|lakhs?${linked}crores?|nghìn\s+tỷ`, 'trillion'],
].map(([words = '', scale = '']) => [new RegExp(String.raw`(?<!\p{L})(?:${words})(?!\p{L})`, 'iu'), scale]); // prettier-ignore

/** Letters beside the sign of a currency, as in `£m` and `Md€`. */
const letters: Readonly<Record<string, string>> = {
  ...{ k: 'thousand', m: 'million', mn: 'million', mio: 'million', mln: 'million' },
  ...{ b: 'billion', bn: 'billion', md: 'billion', mds: 'billion', mrd: 'billion' },
};
const wordOf = (letter: string): string => ` ${letters[letter.trim().toLowerCase()] ?? letter} `;

/** The text with words for letters, and for words that have another meaning elsewhere: `mil pessoas` are thousands, and `mil. Kč` millions. */
const spelledOut = (text: string): string =>
  text
    .replace(/(?<=\p{Sc}|\b(?:EUR|USD|GBP) )\s?(?:k|m|bn?)(?![\p{L}\p{N}/])/iu, wordOf)
    .replace(/(?<![\p{L}\d])(?:k|m|md|mds|mrd|mio|mn|mln|bn)\.?\s?(?=€)/iu, wordOf)
    .replace(/(?<=^|[[(,]\s*)mil\.(?=\s?\p{L})/iu, 'million')
    .replace(/(?<=^|[[(,]\s*)(?:mil(?= \p{L}+s\b)|bin(?= (?:tl|ton|kişi|adet)\b))/iu, 'thousand')
    .replace(/(?<=^|[[(,]\s*)x\s+(?=[1\p{L}])/iu, '')
    .replace(
      /(?<![\p{L}\d.,]|\d\s)['’]?000s?(?=\s+(?:millions?|mn|mio|crores?|lakhs?|billions?|bn)(?!\p{L}))/iu,
      'thousand',
    )
    .replace(/^1[.,\s]?000(?= (?!and |or |to )\p{L}+\.?$)/iu, 'thousand')
    .replaceAll(/ {2,}/g, ' ')
    .trim();

/** `100 million` as `hundred million`, and `(1,000 persons)` as `(thousand persons)`: the number of a statement of scale. */
const inWords = (text: string): string =>
  stacked
    .reduce((words, [pair, scale]) => words.replace(pair, scale), spelledOut(text).replaceAll(counts, '$1 '))
    .replace(/\b(100?)(?= (?:thousand|million)s?\b)/i, (number) => (number === '10' ? 'ten' : 'hundred'))
    .replace(/(?<=(?:[[(,]|\bin)\s*)1(?:[.,'’\s]?000){1,2}(?![\d.,'’]?\d|\s*=)/i, (number) =>
      number.replaceAll(/\D/g, '') === '1000' ? 'thousand' : 'million',
    );

/** The power of ten that a cell states: `6`, `6: Millions`, `millions`; null if none. */
export function scaleIn(cell: string): number | null {
  const text = inWords(cell.trim().toLowerCase());
  const number = /^(-?\d{1,2})(?::.*)?$/.exec(text)?.[1];
  if (number !== undefined) return Number(number);
  const factor = /^1(0{2,})$/.exec(text)?.[1];
  if (factor !== undefined) return factor.length;
  const named = text.replace(/\.$/, '');
  return Object.hasOwn(scales, named) ? (scales[named] ?? null) : null;
}

const scaleWords = Object.keys(scales)
  .filter((word) => (scales[word] ?? 0) > 1)
  .toSorted((a, b) => b.length - a.length);
const eastAsian = `(${scaleWords.filter((word) => /[\p{sc=Han}\p{sc=Hangul}]/u.test(word)).join('|')})`;
/** Behind another scale: `thousand crore`, `1,000 million`. Shorter ones are also other words there, as in `million miles`. */
const largeWords = scaleWords.filter((word) => (scales[word] ?? 0) > 4);
const word = String.raw`(${scaleWords.join('|')})(?![\p{L}\d])\.?(?:\s+(?:of\s+|de\s+)?(${largeWords.join('|')})(?![\p{L}\d])\.?)?`;
/** The beginning of the counted thing, after a scale. */
const counted = String.raw`\s+(?:of\s+|de\s+)?`;
/** A word before a scale may be a currency; but `per thousand` is a rate, and `ten thousand` is another scale. */
const notPer = String.raw`(?!(?:per|pro|par|por|je|na|pr|each|ten)\b)`;
/** Phrases which mean that all numbers are in the scale, and not that something else is so large. */
const stated = new RegExp(
  [
    String.raw`(?:^|[\s(,;\[])(?:in|en|em|w|v|i|dalam|в|in den|value in|values in|amounts? in|figures in|rs\.? in|usd in|eur in)\s+(?:(?:us|pak|indian|sterling)\s+)?(?:${notPer}[a-z\p{Sc}]{1,4}\.?\s+)?${word}`,
    String.raw`^[\[(]?${word}${counted}\S.{0,40}$`,
    String.raw`[\[(](?:${notPer}[a-z]{0,3}[\p{Sc}.]{0,3}\s*)?${word}(?:${counted}[^\])]{1,60})?\s*[\])]`,
    String.raw`[\[(]\s*(?:${notPer}[a-z\p{Sc}.]{0,6}\s*)?${word}\s*[\])]`,
    String.raw`,\s*(?:(?:\p{Sc}|${notPer}[a-z]{3})\s+)?${word}(?:\s+\p{L}.{0,40}|\s*[\])]?)$`,
    String.raw`\b(?:units?|einheit|unité|unidad)\s*:\s*(?:${notPer}[a-z\p{Sc}]{1,3}\.?\s+)?${word}(?:${counted}\S.{0,40})?$`,
    String.raw`(?:单位|單位|単位|단위)\s*[:：]?\s*${eastAsian}`,
    String.raw`(?:^|[(（])(?:新[台臺]幣|人民[币幣])?${eastAsian}(?:[元円圓人件吨원명톤]|美元|米?ドル|トン|달러)?(?:$|[)）])`,
    String.raw`^(?:(?:\p{Sc}|${notPer}[a-z]{1,5}[.$]{0,2})\s*)?${word}$`,
    String.raw`(?:^|[\s,])[A-Z]{0,3}\p{Sc}\s*${word}(?:\s*[,;(].{0,60})?$`,
  ].join('|'),
  'iu',
);
/** A distance in English, and a thousand in Spanish. */
const bareMiles = /(?<!\ben )\bmiles\b(?!\s+de\b)/i;
const noughts =
  /(?:^|(?<!\d)[\s(['’\p{Sc}])['’]?(000(?:[\s,]?000)?)\s*(?:s\b|[\])]|$)|(?:['’(]|^)(000)\s+\p{L}/u;

/** Lines and titles that state a scale, for docs/recognised.md. */
export const scaleExamples: readonly string[] = [
  'In millions of dollars', 'Value in thousands', 'Rs. in crore', 'billions of euros', 'Exports (million)', 'GDP, billions', 'USD millions', '(000)', "Sales ('000s)",
  '[Billions of dollars] Seasonally adjusted at annual rates', 'Real GDP (Millions of chained 2017 dollars)', 'Umsatz (Mio. EUR)',
  'GDP (current US$, millions)', 'Table 5: Exports, millions of dollars', 'Thousands',
  '(unit: 100 million yuan)', 'Labour force (1,000 persons)', 'Current prices, EUR million', 'Валовой внутренний продукт, миллионов рублей', 'Exportações (milhões de euros)', '単位：百万円', '국내총생산 (십억원)', 'Miles de millones de pesos', 'Unit: Rs. million', 'GDP, milliárd Ft', 'BKT, milj. euroa', '£m', 'PIB (Md€)', 'Mil pessoas', 'Invoer (x 1 000 euro)',
]; // prettier-ignore

/** The scale stated by the lines above a table, or its titles. Unsure if they state several, or if it may be a distance. */
export function scaleAbove(
  texts: readonly string[],
): { exponent: number; text: string; isSure: boolean } | null {
  const found = texts.flatMap((text) => {
    if (text.length > 200) return [];
    const match = stated.exec(inWords(text.trim()));
    const words = match?.slice(1).filter((part) => part !== undefined) ?? [];
    const [, zeros, zerosOf] = noughts.exec(text.trim()) ?? [];
    const exponent =
      words.length === 0
        ? (zeros ?? zerosOf)?.replaceAll(/\D/g, '').length
        : words.reduce((sum, each) => sum + (scales[each.toLowerCase()] ?? 0), 0);
    const isDistance = words[0]?.toLowerCase() === 'miles' && bareMiles.test(text);
    return exponent === undefined ? [] : [{ exponent, text: text.trim(), isDistance }];
  });
  const [first] = found;
  if (first === undefined) return null;
  return {
    ...{ exponent: first.exponent, text: first.text },
    isSure: found.every(({ exponent, isDistance }) => exponent === first.exponent && !isDistance),
  };
}
