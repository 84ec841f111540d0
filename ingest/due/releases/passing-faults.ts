// Tells faults of the database or of this machine, after which the same load is tried again, from faults of the load.
import { IngestFailure } from '../../failure.ts';

/**
 * Classes of SQLSTATE of faults that may pass: lost connections, conflicts with other transactions, lack of memory or disk,
 * administrators, the system.
 */
const passing = ['08', '40', '53', '55', '57', '58'];

/** Whether the same load may succeed if it is tried again: the fault is not in the load. */
export function mayPass(error: unknown): boolean {
  if (!(error instanceof Error) || error instanceof IngestFailure) return false;
  const { code } = error as NodeJS.ErrnoException;
  if (code === undefined)
    return /^(?:Connection terminated|timeout exceeded when trying)/.test(error.message); // of pg
  return passing.includes(code.slice(0, 2)) || /^E[A-Z]{4,}$/.test(code); // of the network, such as ECONNRESET
}
