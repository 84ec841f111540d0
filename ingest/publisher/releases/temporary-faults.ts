// Distinguishes temporary faults of the database or this machine, after which a load is retried, from faults of the load.
import { IngestFailure } from '../../failure.ts';

/**
 * Classes of SQLSTATE of temporary faults: lost connections, conflicts with other transactions, lack of memory or disk, administrators, the
 * system.
 */
const temporaryClasses = ['08', '40', '53', '55', '57', '58'];

/** Whether a retry of the same load may succeed: the fault is not in the load. */
export function isTemporary(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof IngestFailure) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined)
    return /^(?:Connection terminated|timeout exceeded when trying)/.test(error.message); // errors of pg
  return temporaryClasses.includes(code.slice(0, 2)) || /^E[A-Z]{4,}$/.test(code); // network errors, such as ECONNRESET
}
