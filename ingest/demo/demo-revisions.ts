// The demo series that is revised as real statistics are: two years of monthly vintages, each with corrections of the months before. The
// model: a first print that is too low on average, a second and third, and a benchmark revision every February.
import { addDays, addMonths } from '../../kernel/dates.ts';
import { periodEnd } from '../../domain/periods.ts';
import { random, type DemoFile } from './demo-file.ts';

export const revisedSeries = 'DEMO.PAYROLLS';
const firstMonth = '2019-01-31';
const vintageCount = 24;
/** How much of the error of a first print remains one and two months later. */
const errorLeft = [1, 0.45, 0.15];

/** One file of all vintages. @param lastMonth the newest month of the last one. */
export function revisedFile(lastMonth: string): DemoFile {
  return {
    dataset: 'observations',
    *lines() {
      yield 'series_id,date,value,vintage';
      const levels = levelsUntil(lastMonth);
      for (let ago = vintageCount - 1; ago >= 0; ago -= 1) {
        const newest = periodEnd(addMonths(lastMonth, -ago), 'monthly');
        const vintage = addDays(newest, 9 + Math.floor(5 * random(`${newest} release`)()));
        for (const [month, level] of levels) {
          if (month > newest) break;
          const value = level + estimateError(month, newest) - notYetBenchmarked(month, vintage);
          yield `${revisedSeries},${month},${value.toFixed(1)},${vintage}`;
        }
      }
    },
  };
}

/** Month → thousands of employees, as finally known. */
function levelsUntil(lastMonth: string): Map<string, number> {
  const draw = random('payrolls');
  const levels = new Map<string, number>();
  let level = 9_200;
  for (let month = firstMonth; month <= lastMonth; month = periodEnd(addMonths(month, 1), 'monthly')) {
    level *= 1 + 0.0011 + 0.0022 * (draw() - 0.5);
    levels.set(month, level);
  }
  return levels;
}

/** A first print misses some of those who were hired: it is 6 thousand too low on average. */
function estimateError(month: string, newest: string): number {
  const draw = random(`${month} first print`);
  return (-6 + 36 * (draw() - 0.5)) * (errorLeft[monthsBetween(month, newest)] ?? 0);
}

/**
 * Every February a census corrects the count of the year before. Until then January lacks 1/12 of the correction, and December and later months all
 * of it.
 */
function notYetBenchmarked(month: string, vintage: string): number {
  let missing = 0;
  for (let year = Number(month.slice(0, 4)); `${year + 1}-02-01` > vintage; year -= 1) {
    const correction = 2 + 36 * (random(`${year} benchmark`)() - 0.5);
    missing += (correction * Math.min(12, monthsBetween(`${year - 1}-12-31`, month))) / 12;
  }
  return missing;
}

function monthsBetween(from: string, to: string): number {
  const count = (date: string): number => Number(date.slice(0, 4)) * 12 + Number(date.slice(5, 7));
  return count(to) - count(from);
}
