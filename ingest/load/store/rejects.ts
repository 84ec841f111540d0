// Collects rejected rows: the first thousand in memory, and all of them in a CSV report if one is requested.
import { closeSync, openSync, writeSync } from 'node:fs';
import { stringify } from 'csv-stringify/sync';
import { harmless } from '../../../kernel/formula.ts';
import { IngestFailure, type Reject } from '../../failure.ts';
import { counted, nounOf } from '../../../kernel/text/counted.ts';

const retainedMax = 1_000;
const shownInMessage = 20;
const valueLengthMax = 200;

export class Rejects {
  readonly #retained: Reject[] = [];
  readonly #reportFile: string | undefined;
  #report: number | undefined;
  #count = 0;

  /** @param reportFile created when the first row is rejected; an existing file is replaced. */
  constructor(reportFile?: string) {
    this.#reportFile = reportFile;
  }

  get count(): number {
    return this.#count;
  }

  get first(): Reject[] {
    return this.#retained.slice(0, shownInMessage);
  }

  add(line: number, column: string, value: string, expected: string): void {
    this.#count++;
    const shown = value.length > valueLengthMax ? `${value.slice(0, valueLengthMax)}…` : value;
    const reject = { line, column, value: shown, expected };
    if (this.#retained.length < retainedMax) this.#retained.push(reject);
    if (this.#reportFile === undefined) return;
    if (this.#report === undefined) {
      this.#report = opened(this.#reportFile);
      writeSync(this.#report, 'line,column,value,expected\n');
    }
    const texts = [column, shown, expected].map(harmless); // the author of the file chooses them
    writeSync(this.#report, stringify([[line, ...texts]], { quoted_match: /[\r\n]/ }));
  }

  /** @throws IngestFailure if a row was rejected. */
  throwIfAny(): void {
    if (this.#count === 0) return;
    const lines = this.first.map(
      (reject) => `  line ${reject.line}, ${reject.column}: "${reject.value}", expected ${reject.expected}`,
    );
    const more = this.#count - lines.length;
    if (more > 0)
      lines.push(
        this.#reportFile === undefined ? `  and ${more} more` : `  and ${more} more, in ${this.#reportFile}`,
      );
    const rows = `${counted(this.#count, 'row')} ${nounOf(this.#count, 'is', 'are')}`;
    throw new IngestFailure('invalid_rows', `${rows} not valid; nothing was stored.\n${lines.join('\n')}`, {
      rejects: this.#retained,
      rowsRejected: this.#count,
    });
  }

  close(): void {
    if (this.#report !== undefined) closeSync(this.#report);
    this.#report = undefined;
  }
}

function opened(file: string): number {
  try {
    return openSync(file, 'w');
  } catch (error) {
    throw new IngestFailure('usage', `The report ${file} cannot be written: --report names another file.`, {
      cause: error,
    });
  }
}
