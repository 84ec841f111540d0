// The error of a failed load: wrong options, an unreadable file, or rows that the dataset does not allow.

/** A rejected cell: its position, its text, and the expected form. */
export interface Reject {
  /** The line of the file on which the row begins; the header is on line 1. */
  line: number;
  /** The column as named in the file, or the part of the row that is wrong. */
  column: string;
  value: string;
  expected: string;
}

/**
 * `usage`: the call itself is wrong (an unknown dataset, a mapping to a missing column); `invalid_file`: the file cannot be read (no
 * header, broken gzip, wrong encoding); `invalid_rows`: rows were rejected. In all three cases nothing was stored.
 */
export type IngestFailureCode = 'usage' | 'invalid_file' | 'invalid_rows';

/** Why the requested release time is invalid. Callers other than the command line map `by` to their own field. */
export interface DueFault {
  by: 'instant' | 'calendarId';
  /** Without a full stop. */
  reason: string;
}

export class IngestFailure extends Error {
  readonly code: IngestFailureCode;
  /** The first thousand rejected cells, in file order; the report file has all of them. */
  readonly rejects: readonly Reject[];
  /** The total number of rejected rows. */
  readonly rowsRejected: number;
  /** What to add to the command so that its columns can be used. */
  readonly fix: readonly string[];
  readonly due: DueFault | undefined;

  constructor(
    code: IngestFailureCode,
    message: string,
    options: {
      rejects?: readonly Reject[];
      rowsRejected?: number;
      cause?: unknown;
      fix?: readonly string[];
      due?: DueFault | undefined;
    } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'IngestFailure';
    this.code = code;
    this.rejects = options.rejects ?? [];
    this.rowsRejected = options.rowsRejected ?? 0;
    this.fix = options.fix ?? [];
    this.due = options.due;
  }
}

/** @throws IngestFailure always: the call is wrong. */
export function usageError(message: string): never {
  throw new IngestFailure('usage', message);
}
