// The statement that records a change by the command line or an operator, in the transaction of the change.
import type { Transaction } from '../../kernel/database.ts';

export interface AuditEvent {
  action:
    | 'load.retracted'
    | 'series.break_declared'
    | 'series.break_removed'
    | 'series.changed'
    | 'series.merged'
    | 'series.renamed'
    | 'series.deleted'
    | 'series.restored';
  /** The number of a load, or the id of a series. */
  subject: string;
  /** The load that made the change. */
  loadNo: number;
  reason: string | null;
  details: Readonly<Record<string, unknown>>;
}

/** Records the change with the connected program and role, and the operator's account for which they act. */
export async function insertAuditEvent(on: Transaction, event: AuditEvent): Promise<void> {
  await insertAuditEvents(on, event, [event]);
}

/** Records one event for each subject, in order, as `insertAuditEvent` does. */
export async function insertAuditEvents(
  on: Transaction,
  { action, loadNo, reason }: Pick<AuditEvent, 'action' | 'loadNo' | 'reason'>,
  changed: readonly Pick<AuditEvent, 'subject' | 'details'>[],
): Promise<void> {
  await on.query(
    `insert into data.audit_events (actor, action, subject, load_no, reason, details)
     select concat_ws(', ', nullif(current_setting('application_name'), ''), session_user,
       nullif(current_setting('almanac.account', true), '')), $1, c.subject, $3, $4, c.details
     from unnest($2::text[], $5::jsonb[]) with ordinality as c (subject, details, place) order by c.place`,
    [
      action,
      changed.map(({ subject }) => subject),
      loadNo,
      reason,
      changed.map(({ details }) => JSON.stringify(details)),
    ],
  );
}
