// Writes log lines to standard output or standard error, in batches. If lines cannot be written (a full disk, a closed terminal, a stalled reader),
// they are dropped and a later line reports how many; the process neither stops nor fills its memory.
import { write, writeSync } from 'node:fs';

const gatherBytes = 64 * 1024;
const gatherMs = 100;
/** The bytes of one UTF-16 code unit in UTF-8, at most. */
const bytesOfUnitMax = 3;
/** While a reader stalls, lines beyond this limit are dropped. */
const waitingBytesMax = 8 * 1024 * 1024;
const busyMs = 10;
/** How long a process that ends waits for a busy reader. */
const busyAtEndMs = 1_000;
const newline = Buffer.from('\n');

/** The functions of node:fs that are used. */
export interface Files {
  write(
    fd: number,
    bytes: Buffer,
    done: (error: NodeJS.ErrnoException | null, written: number) => void,
  ): void;
  writeSync(fd: number, bytes: Buffer): number;
}

/**
 * Writes lines in batches instead of one by one. Lines are stored as bytes: the garbage collector would copy strings with each collection of the
 * young generation. Waiting lines are written when the process ends by itself, by an error or by a signal that it handles. pino's own destination
 * measures its whole buffer again with each line, 9 % of a gateway's time (2026-11-20). It also ends the process when a write fails, and then retries
 * for ever (sonic-boom 4.2.1, `flushBufferSync`).
 */
export class LogOutput {
  #bytes = Buffer.allocUnsafeSlow(gatherBytes);
  #used = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Gathered lines, oldest first. */
  readonly #waiting: Buffer[] = [];
  #waitingBytes = 0;
  #isWriting = false;
  /** Whether the first of `#waiting` is the rest of a partial write. */
  #isRest = false;
  /** Whether only part of a line was written: the next line then begins after a line end. */
  #isTorn = false;
  #lostLines = 0;
  /** Whether the reader has gone. */
  #isClosed = false;
  /** Whether the process is about to end: it would not wait for anything that begins now. */
  #isEnding = false;
  readonly descriptor: number;
  readonly #files: Files;

  constructor(descriptor: number, files: Files = { write, writeSync }) {
    this.descriptor = descriptor;
    this.#files = files;
    process.on('exit', () => this.writeNow());
  }

  write(line: string): void {
    const bytesMax = bytesOfUnitMax * line.length;
    if (bytesMax > gatherBytes - this.#used) this.#flush();
    if (bytesMax > gatherBytes) this.#add(Buffer.from(line));
    else {
      this.#used += this.#bytes.write(line, this.#used);
      this.#timer ??= setTimeout(() => this.#flush(), gatherMs);
    }
  }

  /** Writes all waiting lines, or stops at the first error: the process is about to end. */
  writeNow(): void {
    this.#isEnding = true;
    this.#flush();
    const giveUpAtMs = performance.now() + busyAtEndMs;
    const rest = this.#isWriting ? this.#waiting.slice(1) : this.#waiting; // the first is already being written
    for (let bytes of rest) {
      while (bytes.length > 0) {
        try {
          bytes = bytes.subarray(this.#files.writeSync(this.descriptor, bytes));
        } catch (error) {
          if (!isBusy(error as NodeJS.ErrnoException) || performance.now() > giveUpAtMs) return;
          sleep(busyMs);
        }
      }
    }
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#used === 0) return;
    const bytes = this.#bytes.subarray(0, this.#used);
    this.#bytes = Buffer.allocUnsafeSlow(gatherBytes);
    this.#used = 0;
    this.#add(bytes);
  }

  #add(bytes: Buffer): void {
    if (this.#isClosed) return;
    if (this.#waitingBytes + bytes.length > waitingBytesMax) {
      this.#lostLines += linesIn(bytes);
      return;
    }
    this.#waiting.push(bytes);
    this.#waitingBytes += bytes.length;
    this.#writeNext();
  }

  #writeNext(): void {
    const [next] = this.#waiting;
    if (this.#isWriting || this.#isEnding || next === undefined) return;
    const bytes = this.#isTorn ? Buffer.concat([newline, next]) : next;
    this.#waitingBytes += bytes.length - next.length;
    this.#isTorn = false;
    this.#isWriting = true;
    this.#files.write(this.descriptor, bytes, (error, written) => {
      this.#isWriting = false;
      if (isBusy(error)) {
        setTimeout(() => this.#writeNext(), busyMs);
        return;
      }
      if (error === null) this.#written(bytes, written);
      else this.#failed(bytes, error);
      this.#writeNext();
    });
  }

  #written(bytes: Buffer, written: number): void {
    this.#waitingBytes -= written;
    this.#isRest = written < bytes.length;
    if (this.#isRest) {
      this.#waiting[0] = bytes.subarray(written);
      return;
    }
    this.#waiting.shift();
    if (this.#lostLines === 0) return;
    const lost = { level: 50, time: new Date(), lines: this.#lostLines, msg: 'log lines were lost' };
    this.#lostLines = 0;
    this.#add(Buffer.from(`${JSON.stringify(lost)}\n`));
  }

  /** Continues with the next lines: they may be written, and must not wait in memory. */
  #failed(bytes: Buffer, { code }: NodeJS.ErrnoException): void {
    this.#waiting.shift();
    this.#waitingBytes -= bytes.length;
    this.#lostLines += linesIn(bytes);
    this.#isTorn = this.#isRest;
    this.#isRest = false;
    if (code !== 'EPIPE') return;
    this.#isClosed = true;
    this.#waiting.length = 0;
  }
}

const isBusy = (error: NodeJS.ErrnoException | null): boolean =>
  error?.code === 'EAGAIN' || error?.code === 'EBUSY';

function linesIn(bytes: Buffer): number {
  let lines = 0;
  for (const byte of bytes) if (byte === 10) lines += 1;
  return lines;
}

function sleep(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
