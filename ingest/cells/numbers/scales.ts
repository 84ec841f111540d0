// Scales: words and numbers for the power of ten by which the numbers of a table are multiplied. The numbers stay as published.

/** A word, and its power of ten. */
export const scales: Readonly<Record<string, number>> = {
  unit: 0, units: 0, one: 0, ones: 0, none: 0, tens: 1, hundred: 2, hundreds: 2, thousand: 3, thousands: 3, tausend: 3, milliers: 3, miles: 3, migliaia: 3,
  'hundred thousand': 5, 'hundred thousands': 5, lakh: 5, lakhs: 5, million: 6, millions: 6, millionen: 6, millones: 6, milioni: 6, mio: 6, mln: 6, mn: 6,
  crore: 7, crores: 7, billion: 9, billions: 9, milliarden: 9, milliards: 9, mrd: 9, bn: 9, trillion: 12, trillions: 12,
}; // prettier-ignore

/** The power of ten that a cell states: `6`, `6: Millions`, `millions`; null if none. */
export function scaleIn(cell: string): number | null {
  const text = cell.trim().toLowerCase();
  const number = /^(-?\d{1,2})(?::.*)?$/.exec(text)?.[1];
  return number !== undefined ? Number(number) : (scales[text.replace(/\.$/, '')] ?? null);
}

const scaleWords = Object.keys(scales)
  .filter((word) => (scales[word] ?? 0) > 1)
  .toSorted((a, b) => b.length - a.length)
  .join('|');
/** Phrases which mean that all numbers are in the scale, and not that something else is so large. */
const stated = new RegExp(
  String.raw`(?:^|[\s(,;\[])(?:in|en|in den|value in|values in|amounts? in|figures in|rs\.? in|usd in|eur in)\s+(?:(?:us|pak|indian)\s+)?(?:[a-z$€£]{1,4}\.?\s+)?(${scaleWords})\b|^[\[(]?(${scaleWords})\s+(?:of\s+)?\S.{0,40}$|[\[(]\s*(?:[a-z$€£.]{0,6}\s*)?(${scaleWords})\s*[\])]|,\s*(${scaleWords})\s*$|^(?:[$€£¥]|[a-z]{2,3}\$?|rs\.?)\s*(${scaleWords})$`,
  'i',
);
const noughts = /(?:^|[\s(['’])['’]?(000(?:[\s,]?000)?)\s*(?:s\b|[\])]|$)/;

/** Lines and titles that state a scale, for docs/recognised.md. */
export const scaleExamples: readonly string[] = [
  'In millions of dollars', 'Value in thousands', 'Rs. in crore', 'billions of euros', 'Exports (million)', 'GDP, billions', 'USD millions', '(000)', "Sales ('000s)",
]; // prettier-ignore

/** The scale stated by the lines above a table, or its titles. Unsure if they state several. */
export function scaleAbove(
  texts: readonly string[],
): { exponent: number; text: string; isSure: boolean } | null {
  const found = texts.flatMap((text) => {
    if (text.length > 200) return [];
    const match = stated.exec(text.trim());
    const word = match
      ?.slice(1)
      .find((part) => part !== undefined)
      ?.toLowerCase();
    const zeros = noughts.exec(text.trim())?.[1]?.replaceAll(/\D/g, '').length;
    const exponent = word === undefined ? zeros : scales[word];
    return exponent === undefined ? [] : [{ exponent, text: text.trim() }];
  });
  const [first] = found;
  if (first === undefined) return null;
  return { ...first, isSure: found.every(({ exponent }) => exponent === first.exponent) };
}
