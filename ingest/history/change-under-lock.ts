// Runs a change of published data that is not a load of a file, such as a retraction, in one transaction under the load lock.
import { onOneDay, type Clock } from '../../kernel/clock.ts';
import type { Transaction } from '../../kernel/database.ts';
import { fail } from '../../kernel/errors.ts';
import { waitForGatewayLeases } from '../load/load.ts';
import {
  retryAfterInterruption,
  underLoadLock,
  type Interruption,
  type LockOptions,
  type Transacting,
} from '../load/lock/give-way-to-release.ts';

const reasonLengthMax = 1_000;

export interface ChangeSettings extends LockOptions {
  reason?: string;
  /** As in a load. */
  seriesTimeZone: string;
  clock: Clock;
  noGateway?: boolean;
}

/**
 * After it resolves, every call that begins sees the change. A change that a release or the end of its day interrupts is repeated.
 * @param work receives the day by which the change is dated. @throws Failure `invalid_parameter` for the reason; what the work throws. Then nothing is
 * changed.
 */
export async function changeUnderLock<Result extends object>(
  database: Transacting,
  settings: ChangeSettings,
  work: (on: Transaction, today: string) => Promise<Result>,
): Promise<Result & { interruptions: readonly Interruption[] }> {
  const { dryRun = false, noGateway = false, reason } = settings;
  if (reason !== undefined && (reason.trim() === '' || reason.length > reasonLengthMax))
    fail('invalid_parameter', `A reason is a text of 1 to ${reasonLengthMax} characters.`);
  const changed = await retryAfterInterruption(database, settings, (interruptions, onWaiting) =>
    onOneDay(settings, (dated) =>
      underLoadLock(database, { dryRun, onWaiting }, async (on) => {
        const result = await work(on, dated.begin());
        if (!dryRun) dated.end();
        return { ...result, interruptions };
      }),
    ),
  );
  if (!dryRun && !noGateway) await waitForGatewayLeases();
  return changed;
}
