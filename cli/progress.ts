// A progress line on a terminal; nothing where the output goes to a file or a pipe.

export interface Progress {
  show(rowsRead: number, bytesRead: number): void;
  clear(): void;
}

const barWidth = 30;

/** @param bytesTotal the size of the file; undefined for standard input, which shows rows only. */
export function createProgress(bytesTotal: number | undefined): Progress {
  const terminal = process.stderr.isTTY;
  let shown = false;
  return {
    show(rowsRead, bytesRead) {
      if (!terminal) return;
      shown = true;
      const rows = `${rowsRead.toLocaleString('en')} rows`;
      if (bytesTotal === undefined || bytesTotal === 0) {
        process.stderr.write(`\r\x1b[K${rows}`);
        return;
      }
      const share = Math.min(1, bytesRead / bytesTotal);
      const bar = '█'.repeat(Math.round(share * barWidth)).padEnd(barWidth, '·');
      process.stderr.write(`\r\x1b[K${bar} ${Math.round(share * 100)} %  ${rows}`);
    },
    clear() {
      if (shown) process.stderr.write('\r\x1b[K');
    },
  };
}
