// Choices about number formats: decimal marks, marks in place of numbers, marks beside them.
import { cellOf } from '../cells/cell-forms.ts';
import { numberReader } from '../cells/numbers/number-formats.ts';
import { isDoubtfulMark, isDoubtfulSign, isSentinel } from '../detect/table/number-format.ts';
import { changed, type Choice, type EntryChange, type EntryValue } from '../entry/resolve-guesses.ts';
import { choiceBetween, type Guessed } from './choice-between.ts';

/** A point or a comma before three digits is the decimal mark, or divides groups. Example: "45.512". */
export function decimalChoice(guessed: Guessed): Choice | null {
  const { entry } = guessed;
  const sign = entry.thousands ?? (entry.decimal === ',' ? '.' : entry.decimal);
  if (sign !== '.' && sign !== ',') return null;
  const other: EntryChange =
    entry.thousands === undefined
      ? { decimal: sign === '.' ? ',' : null, thousands: sign }
      : { decimal: sign === '.' ? null : sign, thousands: null };
  const [now, then] = [numberReader(entry), numberReader(changed(entry, other))];
  for (const { text, title } of cellsOf(guessed)) {
    const [own, rival] = [now(text)?.value, then(text)?.value];
    if (!text.includes(sign) || own === undefined || rival === undefined || own === rival) continue;
    return choiceBetween(
      entry,
      entry.thousands === undefined ? 'decimal' : 'thousands',
      `"${text}" in ${title} is`,
      [
        [`${own ?? 'missing'}: ${formOf(sign, entry.thousands !== undefined)}`, null],
        [`${rival ?? 'missing'}: ${formOf(sign, entry.thousands === undefined)}`, other],
      ],
    );
  }
  return null;
}

const formOf = (sign: string, isGroup: boolean) =>
  `the ${sign === '.' ? 'point' : 'comma'} ${isGroup ? 'divides groups of digits' : 'is the decimal mark'}`;

/** Marks in place of numbers that may mean more than missing, and words. */
export function missingChoice(guessed: Guessed): Choice | null {
  const { entry } = guessed;
  const all = entry.missing ?? [];
  const doubtful = all.filter(isDoubtfulMark);
  const shown = exampleOf(guessed, (text) => doubtful.includes(text));
  if (doubtful.length === 0 || shown === null) return null;
  const rest = all.filter((text) => !doubtful.includes(text));
  const missing = rest.length === 0 ? null : rest;
  const flags: EntryValue = {
    ...entry.flags,
    ...Object.fromEntries(doubtful.map((text) => [text, text.slice(0, 16)])),
  };
  if (doubtful.every(isSentinel))
    return choiceBetween(entry, 'missing', `${quoted(doubtful)}, as in ${shown}, means`, [
      ['missing', null],
      ['the number that it is', { missing }],
    ]);
  return choiceBetween(entry, 'missing', `${quoted(doubtful)} alone in a cell, as in ${shown}, means`, [
    ['missing', null],
    ['missing, and it is the status of the point', { missing, flags }],
    ['neither: the load stops at it', { missing }],
  ]);
}

/** Marks beside numbers that may be a unit. */
export function flagsChoice(guessed: Guessed): Choice | null {
  const { entry } = guessed;
  const all = entry.flags ?? {};
  const doubtful = Object.keys(all).filter((sign) => all[sign] !== null && isDoubtfulSign(sign));
  const shown = exampleOf(guessed, (text) => {
    const cell = cellOf(text);
    return cell.kind === 'number' && cell.signs.some((sign) => doubtful.includes(sign));
  });
  if (shown === null) return null;
  const units: EntryValue = { ...all, ...Object.fromEntries(doubtful.map((sign) => [sign, null])) };
  return choiceBetween(entry, 'flags', `${quoted(doubtful)} beside a number, as in ${shown}, is`, [
    ['the status of the point', null],
    ['a unit: it is taken off', { flags: units }],
  ]);
}

/** Marks after numbers that may multiply them. */
export function multiplesChoice(guessed: Guessed): Choice | null {
  const { entry } = guessed;
  const signs = Object.keys(entry.multiples ?? {});
  const shown = exampleOf(guessed, (text) => {
    const cell = cellOf(text);
    return cell.kind === 'number' && cell.multiple !== null;
  });
  if (shown === null) return null;
  const flagged = (status: (sign: string) => string | null): EntryChange => ({
    multiples: null,
    flags: { ...entry.flags, ...Object.fromEntries(signs.map((sign) => [sign, status(sign)])) },
  });
  return choiceBetween(entry, 'multiples', `${quoted(signs)} after a number, as in ${shown}`, [
    [`multiplies it: ${signs.map((sign) => `${sign} is ${entry.multiples?.[sign] ?? ''}`).join(', ')}`, null],
    ['is the status of the point', flagged((sign) => sign)],
    ['is a unit: it is taken off', flagged(() => null)],
  ]);
}

const quoted = (texts: readonly string[]) => texts.map((text) => `"${text}"`).join(', ');

/** The first cell of the kind, with its position. */
function exampleOf(guessed: Guessed, isIt: (text: string) => boolean): string | null {
  for (const { text, title, line } of cellsOf(guessed))
    if (isIt(text)) return `"${text}" in ${title}, line ${line}`;
  return null;
}

/** The cells of the columns of values that are not empty. */
function* cellsOf({ plan, rows, lines }: Guessed): Generator<{ text: string; title: string; line: number }> {
  for (const [at, row] of rows.entries())
    for (const value of plan.values) {
      const text = (row[value.at] ?? '').trim();
      if (text !== '') yield { text, title: value.title, line: lines[at] ?? 0 };
    }
}
