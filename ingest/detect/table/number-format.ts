// Finds how a table writes its numbers from the cells of its columns of values: the decimal mark, the thousands separator, marks, flags,
// multiples, and the notation of negative numbers.
import { cellOf, type NumberCell } from '../../cells/cell-forms.ts';
import { groupedWhole, groupSigns, type NegativeForm } from '../../cells/numbers/number-formats.ts';

/** A finding: the value, the reason, and whether no other value is possible. */
export interface Finding<Value> {
  value: Value;
  evidence: string;
  isSure: boolean;
}

export interface NumbersFound {
  decimal: Finding<'.' | ','>;
  thousands: Finding<string> | null;
  /** Marks in place of a number that only mean missing. */
  missing: Finding<string[]> | null;
  /** Marks beside a number, or in its place, that are a status. */
  flags: Finding<Record<string, string | null>> | null;
  multiples: Finding<Record<string, string>> | null;
  negative: Finding<NegativeForm[]> | null;
  /** Words among the numbers that match no form, with their counts. */
  words: Map<string, number>;
}

/** A mark alone means missing in most files, and `less than a hundredth` or `see the note` in others. */
const loneSign = /^[*^@#$~†‡§/\\]{1,3}$/;
/** A number that programs write for a missing value: one below zero of three or more nines, or another of nines alone. */
const sentinel = /^(?:-9{3,}(?:[.,]9+|[.,]0+)?|-?9{1,3}[.,]9{1,2}|9{4,}(?:[.,]9+|[.,]0+)?)$/;
const farNines = /^-9{2}(?:9|[.,]9)/;
/** An error of a workbook's formula. #N/A is not among them: offices use it for missing values. */
const errorMark = /^#(?!n\/a$)[a-z]+(?:\/0)?[!?]$/i;

/** The facts of a table that show how it writes its numbers. */
export interface NumbersAbout {
  /** Of a text file. */
  delimiter?: string | undefined;
  /** The table has words of a language that writes decimals with a comma. */
  hasCommaLanguage?: boolean;
  /** A stored number of a sheet: its point is the decimal mark. */
  withPoint?: string | undefined;
}

/** @param texts the cells of columns of values. */
export function detectNumbers(texts: Iterable<string>, about: NumbersAbout = {}): NumbersFound {
  const numbers = new Map<string, number>();
  const sentinels: Tally = new Map();
  const [marks, bounds, words, signs, multiples, negative] = Array.from(
    { length: 6 },
    () => new Map<string, number>(),
  ) as [Tally, Tally, Tally, Tally, Tally, Tally];
  for (const text of texts) {
    const cell = cellOf(text);
    if (cell.kind === 'blank') continue;
    if (cell.kind === 'mark') countMark(text, marks, signs);
    else if (cell.kind === 'bound') count(bounds, text);
    else if (cell.kind === 'word') count(words, text);
    else if (sentinel.test(text)) count(sentinels, text);
    else {
      if (numbers.size < 50_000) count(numbers, cell.core);
      for (const sign of cell.signs) count(signs, sign);
      if (cell.multiple !== null) count(multiples, cell.multiple);
      if (cell.negative !== null) count(negative, cell.negative);
    }
  }
  const missing = withSentinels(missingFound(marks), sentinels, numbers);
  return {
    ...marksOf([...numbers.keys()], about),
    missing,
    flags: flagsFound(signs, bounds, marks, numbers.size),
    multiples: multiplesFound(multiples),
    negative: negativeFound(negative),
    words,
  };
}

type Tally = Map<string, number>;
const count = (tally: Tally, text: string) => tally.set(text, (tally.get(text) ?? 0) + 1);

function countMark(text: string, marks: Tally, signs: Tally): void {
  const [, own, flag] = /^([:.…–-]+)\s+([a-z]{1,3})$/i.exec(text) ?? [];
  if (own === undefined || flag === undefined) return void count(marks, text);
  count(marks, own);
  count(signs, flag);
}

/** Letters and words in brackets, or alone, are statuses; dots, dashes and colons only mean missing. */
const isStatusMark = (mark: string): boolean =>
  /^(?:[[({]\s?[a-z/*.]{1,6}\s?[\])}]|[a-z])$/i.test(mark) && !/na/i.test(mark);

/** A mark for which a person must decide whether it means missing; a word is one. */
export const isDoubtfulMark = (text: string): boolean =>
  loneSign.test(text) || errorMark.test(text) || isSentinel(text) || cellOf(text).kind === 'word';

/** A number such as -999, which most often means missing. */
export const isSentinel = (text: string): boolean => sentinel.test(text);

/** A sign beside a number that may be its unit. */
export const isDoubtfulSign = (sign: string): boolean => !isUnitSign(sign) && !isStatusSign(sign);

function missingFound(marks: Tally): NumbersFound['missing'] {
  const plain = [...marks].filter(([mark]) => !isStatusMark(mark));
  if (plain.length === 0) return null;
  const doubtful = plain.filter(([mark]) => loneSign.test(mark) || errorMark.test(mark));
  const counted = doubtful.map(([sign, times]) => `${sign} is alone in ${times} cells`).join(', ');
  const evidence = 'the texts among the numbers that mean missing';
  return {
    value: plain.map(([mark]) => mark),
    isSure: doubtful.length === 0,
    evidence: doubtful.length === 0 ? evidence : `${evidence}; ${counted}, and may mean something else`,
  };
}

/** -999, 9999 and their like mean missing where no other number is near: that is a guess. Otherwise they are numbers. */
function withSentinels(
  missing: NumbersFound['missing'],
  sentinels: Tally,
  numbers: Tally,
): NumbersFound['missing'] {
  const sizes = [...numbers.keys()].map((text) => Number(text.replace(',', '.'))).filter(Number.isFinite);
  const least = Math.min(...sizes);
  // A comma may divide groups of digits: that makes the largest number larger.
  const most = Math.max(
    ...[...numbers.keys()].map((text) => Math.abs(Number(text.replaceAll(',', '')))).filter(Number.isFinite),
  );
  const isFar = (text: string): boolean => {
    const size = Number(text.replace(',', '.'));
    if (farNines.test(text)) return size < 5 * Math.min(0, least);
    return sizes.length > 0 && Math.abs(size) > most * (size < 0 ? 10 : 100);
  };
  const far = [...sentinels].filter(([text]) => isFar(text));
  for (const [text, times] of sentinels) if (!far.some(([each]) => each === text)) numbers.set(text, times);
  if (far.length === 0) return missing;
  const counted = far.map(([text, times]) => `${text} (${times})`).join(', ');
  return {
    value: [...(missing?.value ?? []), ...far.map(([text]) => text)],
    isSure: false,
    evidence: `${missing === null ? '' : `${missing.evidence}; `}numbers far from all others, taken as missing: ${counted}`,
  };
}

/** Letters that offices mark single values by, alone or together; not units, as in `3 kg`. */
const isStatusSign = (sign: string): boolean =>
  !/[a-z]/i.test(sign) ||
  /^[[({]/.test(sign) ||
  (/^(?:[bcdefilnprsuvxz]{1,3}|[A-Z]|[a-z][)/])$/.test(sign) && !/^(?:cr|dz)$/.test(sign));
/** Signs of a unit or a currency: they are not a status of the value. */
const isUnitSign = (sign: string): boolean =>
  /^(?:%|‰|p\.?p\.?)$/i.test(sign) ||
  /\p{Sc}/u.test(sign) ||
  /^(?:Rs\.?|[A-Z]{3}|Kč|zł|Ft|kr\.?|lei|лв\.?|руб\.?)$/.test(sign);

/** @param numbersCount how many different numbers there are. */
function flagsFound(signs: Tally, bounds: Tally, marks: Tally, numbersCount: number): NumbersFound['flags'] {
  const statuses = [...marks].filter(([mark]) => isStatusMark(mark));
  if (signs.size + bounds.size + statuses.length === 0) return null;
  const status = (text: string) =>
    text
      .replaceAll(/[()[\]{}]|\/$/g, '')
      .trim()
      .slice(0, 16);
  const value: Record<string, string | null> = {
    ...Object.fromEntries([...signs.keys()].map((sign) => [sign, isUnitSign(sign) ? null : status(sign)])),
    ...Object.fromEntries([...bounds.keys()].map((text) => [text, text.slice(0, 16)])),
    ...Object.fromEntries(statuses.map(([mark]) => [mark, status(mark)])),
  };
  const evidence = [
    signs.size > 0 && `signs beside numbers: ${tallied(signs)}`,
    bounds.size > 0 && `bounds, which are not values: ${tallied(bounds)}`,
    statuses.length > 0 && `marks in the place of numbers: ${tallied(new Map(statuses))}`,
  ]
    .filter((part) => part !== false)
    .join('; ');
  const doubtful = [...signs.keys()].filter(isDoubtfulSign);
  const numbered = [...signs].filter(([sign]) => /^[([]\d+[)\]]$/.test(sign));
  // Footnotes recur, and are at few of the numbers.
  if (numbered.length > 2 && numbered.length * 2 > numbersCount)
    return {
      value,
      isSure: false,
      evidence: `${evidence}; numbers in brackets behind most numbers may be shares, errors or counts: they are loaded as statuses`,
    };
  if (doubtful.length === 0) return { value, isSure: true, evidence };
  return {
    value,
    isSure: false,
    evidence: `${evidence}; ${doubtful.join(', ')} may be a unit, or multiply the number`,
  };
}

const tallied = (tally: Tally): string =>
  [...tally]
    .slice(0, 8)
    .map(([text, times]) => `${text} (${times})`)
    .join(', ') + (tally.size > 8 ? ' …' : '');

export const factors: Readonly<Record<string, string>> = {
  k: '1000', thousand: '1000', m: '1000000', mn: '1000000', mln: '1000000', mio: '1000000', million: '1000000', b: '1000000000', bn: '1000000000',
  bln: '1000000000', mrd: '1000000000', mld: '1000000000', billion: '1000000000', t: '1000000000000', tn: '1000000000000', trn: '1000000000000',
  trillion: '1000000000000', lakh: '100000', lac: '100000', crore: '10000000', cr: '10000000',
}; // prettier-ignore

/** In a column with different multiples, or with some numbers that have one, they multiply the numbers. That is still a guess. */
function multiplesFound(multiples: Tally): NumbersFound['multiples'] {
  if (multiples.size === 0) return null;
  const value = Object.fromEntries(
    [...multiples.keys()].map((text) => [text, factors[text.toLowerCase().replace('.', '')] ?? '1']),
  );
  return {
    value,
    isSure: false,
    evidence: `signs that multiply: ${tallied(multiples)}; they may be flags or units`,
  };
}

function negativeFound(negative: Tally): NumbersFound['negative'] {
  if (negative.size === 0) return null;
  const value = [...negative.keys()] as NegativeForm[];
  const isSure = !value.includes('triangle');
  const mayRise = isSure
    ? ''
    : '; △5 and ▲5 are below zero, as in Japan: if ▲ marks a rise, list it under flags';
  return { value, isSure, evidence: `numbers below zero: ${tallied(negative)}${mayRise}` };
}

/** The decimal mark and separator of the numbers: each text is evidence for one reading of the point and the comma, or for both. */
function marksOf(
  texts: readonly string[],
  { delimiter, hasCommaLanguage = false, withPoint }: NumbersAbout,
): Pick<NumbersFound, 'decimal' | 'thousands'> {
  const point = { decimal: withPoint ?? texts.find(isDecimalBy('.')), group: texts.find(groupedBy('.')) };
  const comma = { decimal: texts.find(isDecimalBy(',')), group: texts.find(groupedBy(',')) };
  const other = [' ', "'", '_']
    .map((sign) => ({ sign, example: texts.find(groupedBy(sign)) }))
    .find(({ example }) => example !== undefined);
  const sure = <Value>(value: Value, evidence: string): Finding<Value> => ({ value, evidence, isSure: true });
  const grouping = (sign: '.' | ',', example: string, isSure: boolean): Finding<string> => ({
    value: sign,
    isSure,
    evidence: isSure
      ? `"${example}"`
      : `"${example}" is ${example.replaceAll(sign, '')} if ${sign} divides groups, and ${example.replace(',', '.')} if it is the decimal mark; no number shows which`,
  });
  const thousands = other === undefined ? null : sure(other.sign, `"${other.example ?? ''}"`);
  const footnoted = point.decimal === undefined ? footnotedGroup(texts, groupedBy(',')) : null;
  if (footnoted !== null)
    return {
      decimal: sure('.', 'no number contradicts it'),
      thousands: { value: ',', isSure: false, evidence: footnoted },
    };
  if (comma.decimal !== undefined && point.decimal === undefined)
    return {
      decimal: sure(',', `"${comma.decimal}"`),
      thousands: point.group === undefined ? thousands : grouping('.', point.group, true),
    };
  if (point.decimal !== undefined)
    return {
      decimal: sure('.', `"${point.decimal}"`),
      thousands: comma.group === undefined ? thousands : grouping(',', comma.group, true),
    };
  const isRepeated = (sign: string) =>
    texts.find((text) => text.indexOf(sign) !== text.lastIndexOf(sign) && groupedBy(sign)(text));
  const [repeatedPoint, repeatedComma] = [isRepeated('.'), isRepeated(',')];
  if (repeatedPoint !== undefined)
    return { decimal: sure(',', 'no number has decimals'), thousands: grouping('.', repeatedPoint, true) };
  // Where commas delimit cells, the point is the decimal mark, unless the words of the table are of a language with a decimal comma: files in such
  // languages are usually delimited by semicolons. A number of four digits without a point shows that points are not used for grouping.
  if (
    (delimiter !== ',' || hasCommaLanguage) &&
    point.group !== undefined &&
    !texts.some((text) => /\d{4}/.test(text))
  ) {
    const isSmall = texts.every((text) => !text.includes('.') || /^\D?\d\./.test(text));
    if (isSmall || delimiter !== ';')
      return { decimal: { ...grouping('.', point.group, false), value: '.' }, thousands: null };
    return {
      decimal: sure(',', 'semicolons divide the cells'),
      thousands: grouping('.', point.group, false),
    };
  }
  const decimal = sure('.' as const, 'no number contradicts it');
  if (comma.group === undefined) return { decimal, thousands };
  return { decimal, thousands: grouping(',', repeatedComma ?? comma.group, repeatedComma !== undefined) };
}

const footnotedText = /^\D?[1-9]\d{0,2}(?:,\d{3})*,\d{3}[1-9]$/;

/** Why commas may divide groups though some numbers have four digits behind the last one: most have three. */
function footnotedGroup(texts: readonly string[], isGrouped: (text: string) => boolean): string | null {
  const commas = texts.filter((text) => text.includes(','));
  const odd = commas.filter((text) => footnotedText.test(text));
  const [first] = odd;
  if (first === undefined || commas.filter(isGrouped).length < 2 * odd.length) return null;
  if (commas.some((text) => !isGrouped(text) && !footnotedText.test(text))) return null;
  return `most numbers have three digits behind the last comma, and "${first}" may be "${first.slice(0, -1)}" with the footnote ${first.slice(-1)}`;
}

/** Whether the sign can only be the decimal mark of the number: it occurs once, after any other sign, and not between 1 to 3 digits and exactly three. */
function isDecimalBy(sign: '.' | ','): (text: string) => boolean {
  const once = new RegExp(String.raw`^\D?(.*?)${RegExp.escape(sign)}(\d*)(?:[eE][+-]?\d+)?$`, 's');
  return (text) => {
    if (!text.includes(sign)) return false;
    const [, whole, decimals] = once.exec(text) ?? [];
    if (whole === undefined || decimals === undefined || whole.includes(sign)) return false;
    return !(/^[1-9]\d{0,2}$/.test(whole) && decimals.length === 3);
  };
}

/** Whether the sign can divide groups of digits in the number. */
function groupedBy(sign: string): (text: string) => boolean {
  const grouped = new RegExp(`^\\D?(?:${groupedWhole(groupSigns(sign))})(?:[.,]\\d*)?$`);
  const digits = /[1-9]/;
  // Most numbers have no such sign, and are known without the expression.
  return (text) =>
    (sign === ' ' || sign === "'" || text.includes(sign)) &&
    grouped.test(text) &&
    digits.test(text.charAt(0) === '0' ? '' : text);
}

/** Whether a column has numbers with the sign of percent and others without one: 1.5 % and 0.015 may be the same. */
export function isPartlyPercent(cells: readonly NumberCell[]): boolean {
  const percent = cells.filter(({ signs }) => signs.includes('%')).length;
  return percent > 0 && percent < cells.length;
}
