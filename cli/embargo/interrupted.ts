// The messages of a command that a release under embargo has interrupted.
import {
  interruptionText,
  type Interruption,
  type LockOptions,
} from '../../ingest/load/lock/give-way-to-release.ts';
import type { Terminal } from '../command.ts';

/** At once: it may be some time until the release is made. @param what is interrupted: `load`, `retraction`, `change`. */
export const reportInterruption =
  ({ stderr }: Terminal, what: string): NonNullable<LockOptions['onInterrupted']> =>
  ({ releaseNo }) =>
    void stderr.write(
      `A due release under embargo (${releaseNo}) interrupted this ${what}, which restarts after the release; see "almanac releases list".\n`,
    );

/** At the end. */
export function printInterruptions(
  { stderr }: Terminal,
  { interruptions }: { interruptions: readonly Interruption[] },
): void {
  for (const interruption of interruptions) stderr.write(`note: ${interruptionText(interruption)}\n`);
}
