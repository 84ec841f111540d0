// A progress line on a terminal; nothing if the output is a file or a pipe.
import type { Output } from './command.ts';

export interface Progress {
  show(rowsRead: number, bytesRead: number): void;
  clear(): void;
}

const barWidth = 30;

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
      const rows = `${rowsRead.toLocaleString('en')} rows`;
      if (bytesTotal === undefined || bytesTotal === 0) {
        out.write(`\r\x1b[K${rows}`);
        return;
      }
      const share = Math.min(1, bytesRead / bytesTotal);
      const bar = '█'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '·');
      out.write(`\r\x1b[K${bar} ${Math.round(share * 100)} %  ${rows}`);
    },
    clear() {
      if (shown) out.write('\r\x1b[K');
    },
  };
}
