// Chooses the ticks of an axis: values at 1, 2, 2.5 or 5 times a power of ten, dates by month, quarter or years. Ticks are whole multiples
// of a decimal step, so that 0.3 is never 0.30000000000000004.
import { dayNumber, fromDayNumber } from '../../kernel/dates.ts';
import { entryAt } from '../../kernel/entries.ts';
import { monthsPerPeriod, type Frequency } from '../periods.ts';
import { axisNumber, dayName, monthName, widthOf } from './text.ts';

export interface ValueTick {
  value: number;
  label: string;
}

/** A tick at the beginning of a day, counted as `dayNumber` does. */
export interface DateTick {
  day: number;
  label: string;
}

/** The values that an axis shows, both inclusive. */
export interface Extent {
  low: number;
  high: number;
}

const ticksMax = 6;
/** The share of the range that is left free above and below the line. */
const air = 0.05;

/**
 * The range of a linear axis. It begins at zero if the values come near it, as counts and rates do; others fill the window.
 * @param base a value that must be shown, such as 100 of an index.
 */
export function linearExtent({ low, high }: Extent, base: number | null): Extent {
  const [least, most] = base === null ? [low, high] : [Math.min(low, base), Math.max(high, base)];
  const size = Math.max(Math.abs(least), Math.abs(most));
  const isFlat = most - least <= Math.max(size * 1e-9, 1e-100);
  if (isFlat) {
    const margin = size < 1e-100 ? 1 : size * air;
    return { low: least - margin, high: most + margin };
  }
  if (least >= 0 && least <= most / 3) return { low: 0, high: most * (1 + air) };
  if (most <= 0 && most >= least / 3) return { low: least * (1 + air), high: 0 };
  const margin = (most - least) * air;
  return { low: least - margin, high: most + margin };
}

/** The range of a logarithmic axis; `low` and `high` are positive. */
export function logExtent({ low, high }: Extent, base: number | null): Extent {
  const [least, most] = base === null ? [low, high] : [Math.min(low, base), Math.max(high, base)];
  const margin = (most / least) ** air;
  const widened = margin > 1.001 ? margin : 1.05;
  return { low: least / widened, high: most * widened };
}

/** Three to six ticks of a linear axis. @param unit decides how large numbers are written, as `axisNumber` does. */
export function linearTicks({ low, high }: Extent, unit = ''): ValueTick[] {
  const smallest = Math.floor(Math.log10((high - low) / ticksMax)) - 1;
  for (let exponent = smallest; ; exponent += 1) {
    for (const factor of [1, 2, 2.5, 5]) {
      const ticks = multiplesIn({ low, high }, factor, exponent, unit);
      if (ticks !== null) return ticks;
    }
  }
}

/** The multiples of a step in the range; null if there are too many. */
function multiplesIn(
  { low, high }: Extent,
  factor: number,
  exponent: number,
  unit: string,
): ValueTick[] | null {
  const scaled = (multiple: number): number =>
    exponent < 0 ? (multiple * factor) / 10 ** -exponent : multiple * factor * 10 ** exponent;
  const step = scaled(1);
  const first = Math.ceil(low / step - 1e-9);
  const last = Math.floor(high / step + 1e-9);
  if (last - first + 1 > ticksMax) return null;
  const decimals = (factor === 2.5 ? 1 : 0) - exponent;
  const size = Math.max(Math.abs(scaled(first)), Math.abs(scaled(last)));
  return Array.from({ length: last - first + 1 }, (_, i) => {
    const value = Math.min(high, Math.max(low, scaled(first + i))) + 0; // never -0
    return { value, label: axisNumber(value, { decimals, size, unit }) };
  });
}

/** The ticks of a logarithmic axis: 1, 2 and 5 of each power of ten, or fewer; those of a linear one if it spans too little. @param unit as of `linearTicks`. */
export function logTicks(extent: Extent, unit: string): ValueTick[] {
  const { low, high } = extent;
  const powerTick = ({ value, exponent }: { value: number; exponent: number }): ValueTick => ({
    value,
    label: axisNumber(value, { decimals: -exponent, size: value, unit }),
  });
  const [first, last] = [Math.floor(Math.log10(low)), Math.ceil(Math.log10(high))];
  const powers = Array.from({ length: last - first + 1 }, (_, i) => first + i);
  for (const factors of [[1, 2, 5], [1, 3], [1]]) {
    const found = powers
      .flatMap((exponent) => factors.map((factor) => ({ value: factor * 10 ** exponent, exponent })))
      .filter(({ value }) => value >= low && value <= high);
    if (factors.length === 3 && found.length < 3)
      return linearTicks(extent, unit).filter(({ value }) => value >= low && value > 0);
    if (found.length <= ticksMax) return found.map(powerTick);
  }
  const every = Math.ceil(powers.length / ticksMax);
  return powers
    .filter((exponent) => exponent % every === 0)
    .map((exponent) => ({ value: 10 ** exponent, exponent }))
    .filter(({ value }) => value >= low && value <= high)
    .map(powerTick);
}

/** Pixels between two labels of dates. */
const labelGap = 4;

/**
 * Ticks at the beginnings of periods: the shortest period whose labels have room, and that is no shorter than the periods of the points.
 * @param pixels the length of the axis. @param lines the frequencies of the lines.
 */
export function dateTicks(
  { low, high }: Extent,
  pixels: number,
  lines: readonly Frequency[],
): readonly DateTick[] {
  const days = Math.max(1, high - low);
  const roomFor = (period: number): number => (period / days) * pixels;
  const months = Math.min(...lines.map((frequency) => monthsPerPeriod[frequency] ?? 0));
  for (const step of months === 0 ? [1, 7] : []) {
    if (roomFor(step) >= 60) return withRoom(daysBy(step, { low, high }), roomFor(1));
  }
  if (months <= 1 && roomFor(30) >= 44) return withRoom(monthsBy(1, { low, high }), roomFor(1));
  if (months <= 6 && roomFor(91) >= 44 && days <= 3 * 366)
    return withRoom(monthsBy(3, { low, high }), roomFor(1));
  for (let magnitude = 1; ; magnitude *= 10) {
    for (const years of [1, 2, 5]) {
      const step = years * magnitude;
      if (roomFor(365 * step) >= widthOf('2000') + 14 || step > 10_000) return yearsBy(step, { low, high });
    }
  }
}

function daysBy(step: number, { low, high }: Extent): DateTick[] {
  const monday = -3; // 29 December 1969
  const first = step === 1 ? Math.ceil(low) : monday + Math.ceil((low - monday) / step) * step;
  return withYears(rangeOf(first, high, step).map((day) => ({ day, label: dayName(day) })));
}

function monthsBy(step: number, { low, high }: Extent): DateTick[] {
  const ticks: DateTick[] = [];
  for (let month = monthOf(low); ; month += 1) {
    if (month % step !== 0) continue;
    const day = firstDayOf(month);
    if (day > high) return withYears(ticks);
    if (day >= low)
      ticks.push({ day, label: `${monthName((month % 12) + 1, true)} ${Math.floor(month / 12)}` });
  }
}

/** Only the first tick and the first of each year name their year. */
function withYears(ticks: readonly DateTick[]): DateTick[] {
  return ticks.map(({ day, label }, i) => {
    const year = label.slice(label.lastIndexOf(' '));
    const isRepeated = i > 0 && entryAt(ticks, i - 1).label.endsWith(year);
    return { day, label: isRepeated ? label.slice(0, -year.length) : label };
  });
}

/** The first tick has no year where that of the next would touch it. */
function withRoom(ticks: readonly DateTick[], pixelsPerDay: number): readonly DateTick[] {
  const [first, second, ...others] = ticks;
  if (first === undefined || second === undefined) return ticks;
  const between = (second.day - first.day) * pixelsPerDay;
  if ((widthOf(first.label) + widthOf(second.label)) / 2 + labelGap <= between) return ticks;
  return [{ ...first, label: first.label.replace(/ \d+$/, '') }, second, ...others];
}

function yearsBy(step: number, { low, high }: Extent): DateTick[] {
  const ticks: DateTick[] = [];
  const firstYear = Math.floor(monthOf(low) / 12);
  for (let year = Math.max(1, Math.ceil(firstYear / step) * step); year <= 9999; year += step) {
    const day = firstDayOf(year * 12);
    if (day > high) break;
    if (day >= low) ticks.push({ day, label: String(year) });
  }
  return ticks;
}

/** Months since year 0. */
function monthOf(day: number): number {
  const date = fromDayNumber(Math.floor(day));
  return Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7)) - 1;
}

function firstDayOf(month: number): number {
  const year = String(Math.floor(month / 12)).padStart(4, '0');
  return dayNumber(`${year}-${String((month % 12) + 1).padStart(2, '0')}-01`);
}

function rangeOf(first: number, last: number, step: number): number[] {
  return Array.from(
    { length: Math.max(0, Math.floor((last - first) / step) + 1) },
    (_, i) => first + i * step,
  );
}
