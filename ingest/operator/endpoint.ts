// Declares the endpoints of the publisher; all of them are for operators.
import type { Clock } from '../../kernel/clock.ts';
import type { Database } from '../../kernel/database.ts';
import { fail } from '../../kernel/errors.ts';
import type { Cursors } from '../../kernel/http/cursor.ts';
import { operatorAccountOf, operatorErrors } from '../../kernel/http/operator.ts';
import { endpointsFor, type Endpoint as ServiceEndpoint } from '../../kernel/http/service-endpoint.ts';
import type { ChildRunner } from '../publisher/child-process/run-in-child.ts';
import type { PublishTasks } from '../publisher/uploads/publish-table.ts';
import type { ReadTasks } from '../publisher/uploads/read-upload.ts';
import type { ReleaseClock } from '../publisher/releases/release-clock.ts';

/** The dependencies of the endpoints. */
export interface OperatorDeps {
  /** Separate from the connections that make releases. */
  database: Database;
  cursors: Cursors;
  /** The publisher's time zone, an IANA name. */
  seriesTimeZone: string;
  /** From 1 to 12, as of loads. */
  fiscalYearFirstMonth: number;
  /** For the day of a retraction. */
  clock: Clock;
  /** The clock of releases and of the expiry of uploads. */
  releaseClock: ReleaseClock;
  /** The maximum size of a file, in MB. */
  uploadMb: number;
  /** Reads files. */
  children: ChildRunner<ReadTasks & PublishTasks>;
}

/** Declares an endpoint. `requester` of a call is the id of the operator's account. */
export const endpoint = endpointsFor<OperatorDeps>()({
  operator: { of: operatorAccountOf, errors: operatorErrors },
});

export type Endpoint = ServiceEndpoint<OperatorDeps, 'operator'>;

/** The number in a path, such as that of a load. @throws Failure `not_found` if it is not a number. */
export function numberOf(text: string, what: string): number {
  return /^[1-9]\d{0,14}$/.test(text)
    ? Number(text)
    : fail('not_found', `There is no ${what} ${text.slice(0, 40)}.`);
}
