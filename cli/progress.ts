// A progress line on a terminal; nothing if the output is a file or a pipe.
import type { Output } from './command.ts';
import { nounOf } from '../kernel/text/counted.ts';

export interface Progress {
  show(rowsRead: number, bytesRead: number): void;
  clear(): void;
}

const barWidth = 30;
const eraseLine = '\r\x1b[K';

/**
 * @param bytesTotal the size of the file; undefined for standard input, for which only rows are shown.
 * @param out standard error, so that the command's output can be piped.
 */
export function createProgress(bytesTotal: number | undefined, out: Output): Progress {
  let shown = false;
  return {
    show(rowsRead, bytesRead) {
      if (out.isTTY !== true) return;
      shown = true;
      const rows = `${rowsRead.toLocaleString('en')} ${nounOf(rowsRead, 'row')}`;
      if (bytesTotal === undefined || bytesTotal === 0) {
        out.write(`${eraseLine}${rows}`);
        return;
      }
      const share = Math.min(1, bytesRead / bytesTotal);
      out.write(`${eraseLine}${barOf(share, barWidth)} ${Math.round(share * 100)} %  ${rows}`);
    },
    clear() {
      if (shown) out.write(eraseLine);
    },
  };
}

const barOf = (share: number, width: number) => '█'.repeat(Math.round(share * width)).padEnd(width, '·');

/** The progress of a run over many tables. */
export interface RunState {
  tablesDone: number;
  tables: number;
  pointsRead: number;
  bytesRead: number;
  bytesTotal: number;
}

export interface RunProgress {
  show(state: RunState): void;
  clear(): void;
}

const terminalColumns = 80;
const barWidthLeast = 5;
/** People cannot read faster, and a terminal over a network is slow. */
const showEveryMs = 100;
/** Before that, a rate is meaningless. */
const rateAfterMs = 1_000;

/**
 * One line for a run over many tables: its share of the bytes, tables, points, points a second, and the remaining time at that speed.
 * @param out standard error. @param nowMs a monotonic clock.
 */
export function createRunProgress(out: Output, nowMs = () => performance.now()): RunProgress {
  const startedAtMs = nowMs();
  let shownAt = Number.NEGATIVE_INFINITY;
  let isShown = false;
  return {
    show(state) {
      const now = nowMs();
      if (out.isTTY !== true || now - shownAt < showEveryMs) return;
      [shownAt, isShown] = [now, true];
      out.write(`${eraseLine}${runLine(state, now - startedAtMs, out.columns ?? terminalColumns)}`);
    },
    clear() {
      if (isShown) out.write(eraseLine);
      // Text after the line may stay until the next update: the line is shown again at once.
      [shownAt, isShown] = [Number.NEGATIVE_INFINITY, false];
    },
  };
}

/** A line that the terminal does not wrap: it could not be erased. */
function runLine(
  { tablesDone, tables, pointsRead, bytesRead, bytesTotal }: RunState,
  elapsedMs: number,
  columns: number,
): string {
  const share = bytesTotal === 0 ? 0 : Math.min(1, bytesRead / bytesTotal);
  const hasRate = elapsedMs >= rateAfterMs && share > 0;
  const text = [
    `${Math.floor(share * 100)} %`,
    `${tablesDone.toLocaleString('en')} of ${tables.toLocaleString('en')} ${nounOf(tables, 'table')}`,
    `${pointsRead.toLocaleString('en')} ${nounOf(pointsRead, 'point')}`,
    ...(hasRate
      ? [
          `${Math.round((pointsRead / elapsedMs) * 1000).toLocaleString('en')}/s`,
          `${duration((elapsedMs * (1 - share)) / share)} left`,
        ]
      : []),
  ].join('  ');
  const room = Math.min(barWidth, columns - text.length - 2);
  return room < barWidthLeast ? text.slice(0, columns - 1) : `${barOf(share, room)} ${text}`;
}

/** `1:05`, `2:00:00`. */
function duration(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  const two = (number: number) => String(number).padStart(2, '0');
  const minutes = Math.floor(seconds / 60);
  return minutes < 60
    ? `${minutes}:${two(seconds % 60)}`
    : `${Math.floor(minutes / 60)}:${two(minutes % 60)}:${two(seconds % 60)}`;
}
