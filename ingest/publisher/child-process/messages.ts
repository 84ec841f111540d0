// The messages between the publisher and a child process that reads files, including errors.
import { Failure, errorTable, type ErrorCode } from '../../../kernel/errors.ts';
import { IngestFailure, type DueFault, type IngestFailureCode, type Reject } from '../../failure.ts';

/** A task for the process, which runs one at a time. */
export interface Order {
  task: string;
  given: unknown;
  databaseUrl: string;
  /** The program's name in pg_stat_activity and the record of loads. */
  applicationName: string;
  /** The account for which its transactions act; null for none. */
  accountId: string | null;
  /** Disables logging: standard output carries the results of a command. */
  isQuiet: boolean;
  /** The priority of the process: lower than a publisher's, whose releases are due at their instants, or that of a waiting command. */
  niceness: number;
}

/** Sent instead of a task: the process exits. */
export const endOfTasks = 'end';

/** The end of a task. */
export type TaskEnd = { answer: unknown } | { failed: SentFailure };
/** From the process: a heartbeat between steps, an event of the task, or its end. */
export type Sent = { beat: true } | { event: unknown } | TaskEnd;

export type SentFailure =
  | {
      kind: 'ingest';
      code: IngestFailureCode;
      message: string;
      rejects: readonly Reject[];
      rowsRejected: number;
      due: DueFault | undefined;
    }
  | { kind: 'failure'; code: ErrorCode; message: string; headers: Record<string, string> }
  | { kind: 'fault'; message: string; stack: string | undefined; code: string | undefined };

export function toSent(error: unknown): SentFailure {
  if (error instanceof IngestFailure) {
    const { code, message, rejects, rowsRejected, due } = error;
    return { kind: 'ingest', code, message, rejects, rowsRejected, due };
  }
  if (error instanceof Failure)
    return { kind: 'failure', code: error.code, message: error.message, headers: error.headers };
  const { message, stack } = error instanceof Error ? error : new Error(String(error));
  const code = error instanceof Error && 'code' in error ? String(error.code) : undefined;
  return { kind: 'fault', message, stack, code };
}

export function fromSent(sent: SentFailure): Error {
  if (sent.kind === 'ingest') return new IngestFailure(sent.code, sent.message, sent);
  if (sent.kind === 'failure' && Object.hasOwn(errorTable, sent.code))
    return new Failure(sent.code, sent.message, { headers: sent.headers });
  const error = new Error(sent.message);
  if (sent.kind === 'fault') Object.assign(error, { stack: sent.stack, code: sent.code });
  return error;
}
