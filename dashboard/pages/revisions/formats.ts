// Formats the texts and numbers of the page: values with the digits of the series, changes with their sign, periods, days.
import { decimalsOf, zerosBefore } from '../../../domain/chart/text.ts';
import type { RevisionTable } from '../../../domain/chart/revisions/table.ts';
import { changeText, numberText } from '../../text/numbers.ts';
import { periodText } from '../../text/times.ts';
import type { Entry } from './load-revisions.ts';

export interface Formats {
  value(value: number): string;
  /** With its sign. */
  change(change: number): string;
  /** A mean of changes, with a digit more. */
  mean(change: number): string;
  /** Without its sign. */
  size(change: number): string;
  period(date: string): string;
  /** The period of one row: month, quarter … */
  periodName: string;
  /** Empty if unknown. */
  unit: string;
  frequency: Entry['frequency'];
}

const periodNames: Readonly<Record<Entry['frequency'], string>> = {
  daily: 'day',
  weekly: 'week',
  monthly: 'month',
  quarterly: 'quarter',
  semiannual: 'half-year',
  annual: 'year',
  irregular: 'day',
};

/** More digits would not be useful, but behind the zeros of small numbers. */
const digitsMost = 4;

export function formatsOf({ frequency, unit, decimals }: Entry, table: RevisionTable): Formats {
  const values = [...someValues(table)];
  const own = decimals ?? decimalsOf(values);
  const most = digitsMost + zerosBefore(values.reduce((size, value) => Math.max(size, Math.abs(value)), 0));
  const digits = Math.min(most, own);
  const ofChange = Math.min(most + 1, Math.max(own, 1));
  return {
    value: (value) => numberText(value, digits),
    change: (change) => changeText(change, ofChange),
    mean: (change) => changeText(change, ofChange + 1),
    size: (change) => numberText(Math.abs(change), ofChange + 1),
    period: (date) => periodText(date, frequency),
    periodName: periodNames[frequency],
    unit: unit ?? '',
    frequency,
  };
}

/** The digits of the newest vintage are those of the series. */
function* someValues({ rows }: RevisionTable): Iterable<number> {
  for (const row of rows) {
    const value = row.at(-1);
    if (value !== null && value !== undefined) yield value;
  }
}
