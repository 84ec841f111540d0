// The statement that records who changed what by the command line or as an operator, in the transaction of the change.
import type { Transaction } from '../../../kernel/database.ts';

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
  /** The load of the change. */
  loadNo: number;
  reason: string | null;
  details: Readonly<Record<string, unknown>>;
}

/** Records the change as that of the program and the role that are connected, and of the operator's account that they act for. */
export async function insertAuditEvent(on: Transaction, event: AuditEvent): Promise<void> {
  await on.query(
    `insert into data.audit_events (actor, action, subject, load_no, reason, details)
     values (concat_ws(', ', nullif(current_setting('application_name'), ''), session_user,
       nullif(current_setting('almanac.account', true), '')), $1, $2, $3, $4, $5)`,
    [event.action, event.subject, event.loadNo, event.reason, JSON.stringify(event.details)],
  );
}
