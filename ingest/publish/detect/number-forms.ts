// How a table writes its numbers, found from their texts: the decimal mark, the sign between thousands, marks of missing values, flags.

/** A finding: what it is, why, and whether nothing else is possible. */
export interface Finding<Value> {
  value: Value;
  evidence: string;
  isSure: boolean;
}

export interface NumberForms {
  decimal: Finding<'.' | ','>;
  thousands: Finding<'.' | ',' | "'" | '_' | ' '> | null;
  missing: Finding<string[]> | null;
  /** Signs after a number → the status that each means; null: none. */
  flags: Finding<Record<string, string | null>> | null;
}

/** A sign alone means missing in most files, and `less than a hundredth` or `see the note` in others. */
const loneSign = /^[*^@#$~†‡§]{1,2}$/;
/** A formula of a workbook that has gone wrong. That of #N/A says on purpose that there is no value. */
const errorMark = /^#(?!n\/a$)[a-z]+(?:\/0)?[!?]$/i;
/** Texts that mean missing wherever they stand in a column of numbers. */
const missingMark =
  /^(?:n\.?\s?a\.?n?|n\/a|#(?:n\/a|div\/0!|value!|ref!|name\?|num!|null!)|nan|null|none|nil|nd|n\.d\.|not available|missing|-+|–+|—+|\.+|…|:+|[*^@#$~†‡§]{1,2}|\?|x|\(na\)|\(d\))$/i;
const digits = String.raw`\d[\d.,'_ \u00a0\u202f]*`;
const numberText = new RegExp(String.raw`^[+\u2212-]?(?:${digits}|[.,]\d+)(?:[eE][+-]?\d{1,3})?$`);
/** A number, or a mark of a missing one, and a short sign after it, with or without a space. */
const flagged = /^(.*?\d|[:.…–-]+|\.\.)[\s\u00a0]*(%|\(?[a-z]{1,3}\)?|[*†‡§#^]{1,2})$/i;

/** Whether the text may be a number of some form, with a flag or without. */
export function looksNumeric(text: string): boolean {
  if (numberText.test(text)) return true;
  const [, number, flag = ''] = flagged.exec(text) ?? [];
  return number !== undefined && numberText.test(number) && !(/^[eE]$/.test(flag) && /\d[eE]$/.test(text));
}

export function isMissingMark(text: string): boolean {
  return missingMark.test(text);
}

/** @param texts the cells of columns of values, none empty. @param delimiter of a CSV file. */
export function detectNumbers(texts: Iterable<string>, delimiter = ','): NumberForms {
  const missing = new Map<string, number>();
  const count = (mark: string) => missing.set(mark, (missing.get(mark) ?? 0) + 1);
  const flags = new Map<string, number>();
  const plain: string[] = [];
  for (const text of texts) {
    if (numberText.test(text)) plain.push(text);
    else if (missingMark.test(text)) count(text);
    else {
      const [, number = '', flag = ''] = flagged.exec(text) ?? [];
      if (flag === '' || !(numberText.test(number) || missingMark.test(number))) continue;
      flags.set(flag, (flags.get(flag) ?? 0) + 1);
      if (numberText.test(number)) plain.push(number);
      else count(number);
    }
  }
  return {
    ...marksOf(plain, delimiter),
    missing: missingFound(missing),
    flags: flagsFound(flags),
  };
}

function missingFound(marks: ReadonlyMap<string, number>): NumberForms['missing'] {
  if (marks.size === 0) return null;
  const signs = [...marks].filter(([mark]) => loneSign.test(mark) || errorMark.test(mark));
  const counted = signs.map(([sign, count]) => `${sign} stands alone ${count} times`).join(', ');
  const evidence = 'the texts among the numbers that mean missing';
  return {
    value: [...marks.keys()],
    isSure: signs.length === 0,
    evidence: signs.length === 0 ? evidence : `${evidence}; ${counted}, and may mean something else`,
  };
}

function flagsFound(flags: ReadonlyMap<string, number>): NumberForms['flags'] {
  if (flags.size === 0) return null;
  const value = Object.fromEntries(
    [...flags.keys()].map((flag) => [flag, flag === '%' ? null : flag.replaceAll(/[()]/g, '')]),
  );
  const counted = [...flags].map(([flag, count]) => `${flag} after ${count}`).join(', ');
  const evidence = `signs after numbers: ${counted}`;
  const doubtful = [...flags.keys()].filter((flag) => !isStatus(flag));
  if (doubtful.length === 0) return { value, isSure: true, evidence };
  return {
    value,
    isSure: false,
    evidence: `${evidence}; ${doubtful.join(', ')} may be a unit, or multiply the number`,
  };
}

/** Letters that statistics offices mark single values by, alone or together; not multiples such as `1.5 M`, `3k` and `2 bn`, and not units. */
const isStatus = (flag: string): boolean =>
  !/[a-z]/i.test(flag) ||
  /^\(.*\)$/.test(flag) ||
  (/^(?:[bcdefilnprsuvxz]{1,3}|[A-Z])$/.test(flag) && !/^(?:bn|cr|dz|[KMBT])$/.test(flag));

/** Which marks the numbers have: each text is evidence for one reading of the point and the comma, or for both. */
function marksOf(texts: readonly string[], delimiter: string): Pick<NumberForms, 'decimal' | 'thousands'> {
  const point = { decimal: exampleOf(texts, isDecimalBy('.')), group: exampleOf(texts, groupedBy('.')) };
  const comma = { decimal: exampleOf(texts, isDecimalBy(',')), group: exampleOf(texts, groupedBy(',')) };
  const other = ([' ', "'", '_'] as const)
    .map((sign) => ({ sign, example: exampleOf(texts, groupedBy(sign)) }))
    .find(({ example }) => example !== undefined);
  const grouping = (sign: '.' | ',', example: string, isSure: boolean) => ({
    value: sign,
    isSure,
    evidence: isSure ? `"${example}"` : `"${example}" could also have three decimals; no number says which`,
  });
  const found = (value: '.' | ',', evidence: string) => ({ value, evidence, isSure: true });
  const thousands =
    other === undefined ? null : { value: other.sign, isSure: true, evidence: `"${other.example ?? ''}"` };
  if (comma.decimal !== undefined && point.decimal === undefined)
    return {
      decimal: found(',', `"${comma.decimal}"`),
      thousands: point.group === undefined ? thousands : grouping('.', point.group, true),
    };
  if (point.decimal !== undefined)
    return {
      decimal: found('.', `"${point.decimal}"`),
      thousands: comma.group === undefined ? thousands : grouping(',', comma.group, true),
    };
  // No number has a mark that can only be decimal: 1,234 is grouped far more often than it has three decimals; 1.234 is not.
  const isRepeated = (example: string, sign: string) => example.indexOf(sign) !== example.lastIndexOf(sign);
  const [byPoint, byComma] = [groupedBy('.'), groupedBy(',')];
  const repeatedPoint = exampleOf(texts, (text) => isRepeated(text, '.') && byPoint(text));
  if (repeatedPoint !== undefined)
    return { decimal: found(',', 'no number has decimals'), thousands: grouping('.', repeatedPoint, true) };
  const repeatedComma = exampleOf(texts, (text) => isRepeated(text, ',') && byComma(text));
  // Semicolons divide cells where the comma is the decimal mark. A number of four digits without a point says that points do not group.
  if (delimiter === ';' && point.group !== undefined && !texts.some((text) => /\d{4}/.test(text)))
    return {
      decimal: found(',', 'semicolons divide the cells'),
      thousands: grouping('.', point.group, false),
    };
  const decimal = found('.', 'no number says otherwise');
  if (comma.group === undefined) return { decimal, thousands };
  return { decimal, thousands: grouping(',', repeatedComma ?? comma.group, repeatedComma !== undefined) };
}

function exampleOf(texts: readonly string[], is: (text: string) => boolean): string | undefined {
  return texts.find(is);
}

/** Whether the sign can only be the decimal mark of the number: it stands once, last, and not before exactly three digits after 1 to 3. */
function isDecimalBy(sign: '.' | ','): (text: string) => boolean {
  const mark = RegExp.escape(sign);
  const once = new RegExp(String.raw`^[+\u2212-]?([\d.,'_ \u00a0\u202f]*)${mark}(\d*)(?:[eE][+-]?\d+)?$`);
  return (text) => {
    if (!text.includes(sign)) return false;
    const [, whole, decimals] = once.exec(text) ?? [];
    if (whole === undefined || decimals === undefined || whole.includes(sign)) return false;
    const couldGroup = /^[1-9]\d{0,2}$/.test(whole) && decimals.length === 3;
    return !couldGroup;
  };
}

/** Whether the sign can divide groups of three digits in the number. */
function groupedBy(sign: '.' | ',' | ' ' | "'" | '_'): (text: string) => boolean {
  const group = sign === ' ' ? String.raw`[ \u00a0\u202f]` : RegExp.escape(sign);
  const grouped = new RegExp(String.raw`^[+\u2212-]?[1-9]\d{0,2}(?:${group}\d{3})+(?:[.,]\d*)?$`);
  // Most numbers have no such sign, and are known without the expression.
  return (text) => (sign === ' ' || text.includes(sign)) && grouped.test(text);
}

/** How a flag is taken off a cell. */
export interface FlagReader {
  /** The number, and the status that the sign after it means; null: the cell has no flag. */
  (text: string): { number: string; status: string } | null;
}

/** @param flags signs → statuses. A cell that has none of the signs after something is left as it is. */
export function flagReader(flags: Readonly<Record<string, string | null>>): FlagReader {
  const signs = Object.keys(flags).sort((a, b) => b.length - a.length);
  if (signs.length === 0) return () => null;
  const expression = new RegExp(
    String.raw`^(.*\S)??[\s\u00a0]*(${signs.map((sign) => RegExp.escape(sign)).join('|')})$`,
    's',
  );
  const hasSign = new RegExp(`(?:${signs.map((sign) => RegExp.escape(sign)).join('|')})$`);
  return (text) => {
    if (!hasSign.test(text)) return null;
    const [, number, sign = ''] = expression.exec(text) ?? [];
    if (number === undefined || !/\d$|^[:.…–-]+$/.test(number)) return null;
    return { number, status: flags[sign] ?? '' };
  };
}
