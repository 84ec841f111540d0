// The content of a file: its series with their values, flags and gaps; and how they are written.
import { truthDate, type DateForm } from './date-forms.ts';
import { numberCell, type NumberForm } from './number-forms.ts';
import { textCell, type Cell, type Facts, type Frequency, type Point, type Series } from './office-file.ts';
import type { Period } from './periods.ts';
import type { Random } from './random.ts';
import type { Names } from './words/names.ts';

export interface Observation {
  /** Digits as published; null: missing. */
  value: string | null;
  /** After the number, or in a column next to it. */
  flag: string;
  /** In the place of the number. */
  mark: string;
}

/** One of a measure, in a region. */
export interface Subject {
  measure: string;
  region: string;
  observations: Observation[];
}

export interface Marks {
  name: string;
  /** Signs of missing values; the empty cell is always among them. */
  missing: readonly string[];
  /** Letters of flags. */
  flags: readonly string[];
  /** How a flag is attached to a number. */
  put: (number: string, flag: string) => string;
}

export interface Statistics {
  random: Random;
  language: string;
  names: Names;
  frequency: Frequency;
  periods: Period[];
  dates: DateForm;
  numbers: NumberForm;
  marks: Marks;
  inWorkbook: boolean;
  decimals: number;
  /** Of all values; undefined: not restricted. */
  level?: number;
}

const missingSets: readonly (readonly string[])[] = [
  ['..'],
  ['...'],
  [':'],
  ['-'],
  ['n/a'],
  ['NA'],
  ['N/A'],
  ['k.A.'],
  ['n.d.'],
  ['[c]', '[x]'],
  ['[low]'],
  ['<5'],
  ['no data'],
  ['(D)', '(S)', '(NA)'],
  ['x'],
  ['c'],
  ['.'],
  ['NaN'],
  ['#N/A'],
  ['…'],
  ['–'],
  ['null'],
  ['not available'],
];
const flagSets: readonly {
  flags: readonly string[];
  put: (number: string, flag: string) => string;
  name: string;
}[] = [
  { name: '12 p', flags: ['p'], put: (number, flag) => `${number} ${flag}` },
  { name: '12p', flags: ['p', 'r'], put: (number, flag) => number + flag },
  { name: '12 (p)', flags: ['p'], put: (number, flag) => `${number} (${flag})` },
  { name: '12 [p]', flags: ['p', 'r'], put: (number, flag) => `${number} [${flag}]` },
  { name: '12*', flags: ['*'], put: (number, flag) => number + flag },
  { name: '12 bp', flags: ['b', 'bp', 'e', 'p'], put: (number, flag) => `${number} ${flag}` },
  { name: '~12', flags: ['~'], put: (number, flag) => flag + number },
  { name: '12 e', flags: ['e'], put: (number, flag) => `${number} ${flag}` },
];

export function someMarks(random: Random): Marks {
  const missing = random.chance(0.35) ? random.pick(missingSets) : [''];
  const flagged = random.chance(0.2) ? random.pick(flagSets) : undefined;
  const names = [...(missing[0] === '' ? [] : missing), ...(flagged === undefined ? [] : [flagged.name])];
  return {
    name: names.join(' ') || 'none',
    missing,
    flags: flagged?.flags ?? [],
    put: flagged?.put ?? ((number) => number),
  };
}

export const noMarks: Marks = {
  name: 'none',
  missing: [''],
  flags: [],
  put: (number, flag) => number + flag,
};

/** A walk of values that repeats no value next to itself; some are flagged, some missing. */
function observationsOf(statistics: Statistics, level: number, isNegative: boolean): Observation[] {
  const { random, periods, marks, decimals } = statistics;
  const unit = 10 ** decimals;
  let walk = Math.round(level * unit);
  return periods.map((_, at) => {
    walk += random.whole(1, Math.max(2, Math.round(level * unit * 0.06))) * (random.chance(0.6) ? 1 : -1);
    if (!isNegative && walk <= 0) walk = Math.round(level * unit);
    const sign = isNegative && random.chance(0.3) ? -1 : 1;
    const isEdge = at === 0 || at === periods.length - 1;
    if (!isEdge && random.chance(marks.missing[0] === '' ? 0.015 : 0.07))
      return { value: null, flag: '', mark: random.pick(marks.missing) };
    const flag = marks.flags.length > 0 && random.chance(0.12) ? random.pick(marks.flags) : '';
    return { value: digitsOf(sign * walk, decimals), flag, mark: '' };
  });
}

function digitsOf(whole: number, decimals: number): string {
  const digits = String(Math.abs(whole)).padStart(decimals + 1, '0');
  const sign = whole < 0 ? '-' : '';
  if (decimals === 0) return sign + digits;
  return `${sign}${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}

/** Measures times regions, each with observations. */
export function subjectsOf(statistics: Statistics, measures: number, regions: number): Subject[] {
  const { random, names, level: given } = statistics;
  const isNegative = random.chance(0.25);
  const level = given ?? random.pick([3, 40, 250, 2_600, 48_000, 1_250_000]);
  const chosenRegions = random.shuffled(names.regions).slice(0, regions);
  return random
    .shuffled(names.measures)
    .slice(0, measures)
    .flatMap((measure) =>
      chosenRegions.map((region) => ({
        measure,
        region,
        observations: observationsOf(statistics, level * (1 + random.next()), isNegative),
      })),
    );
}

export function valueCell({ numbers, marks }: Statistics, { value, flag, mark }: Observation): Cell {
  if (value === null) return textCell(mark);
  const cell = numberCell(value, numbers);
  return flag === '' ? cell : textCell(marks.put(cell.text, flag));
}

/** The series as it must be served. */
export function seriesOf(
  { periods, dates, frequency }: Statistics,
  { observations }: Subject,
  labels: readonly (string | readonly string[])[],
  facts: Facts = {},
): Series {
  return {
    labels: labels.map((label) => (typeof label === 'string' ? [label] : label)),
    points: periods.map((period, at): Point => {
      const { value = null, flag = '' } = observations[at] ?? {};
      return { ...truthDate(period, dates), value, ...(flag !== '' && { isFlagged: true }) };
    }),
    facts: { frequency, ...facts },
  };
}
