// The audit log of an account: what was done, by whom and when. Every change writes a row in its own transaction. GET /v1/account/audit lists the
// rows, newest first.
import { instantText } from '../kernel/clock.ts';
import { Op, type Transaction } from 'sequelize';
import { z } from 'zod';
import { listParams } from '../kernel/http/list.ts';
import { page } from '../kernel/http/pages.ts';
import type { Deps } from './database.ts';
import { endpoint } from './endpoint.ts';
import { actions, type Action, type Actor, type AuditEvent } from './models/audit-event.ts';

/** Writes the row of a change. @param change `subject` is the id of the changed object; the account's by default. */
export async function audit(
  deps: Deps,
  transaction: Transaction,
  change: {
    accountId: string;
    actor: Actor;
    action: Action;
    subject?: string;
    /** What changed, without any secret. */
    detail?: Record<string, unknown>;
  },
): Promise<void> {
  const { accountId, actor, action, subject = accountId, detail = {} } = change;
  await deps.db.auditEvents.create(
    { at: deps.clock.now(), accountId, ...actor, action, subject, detail },
    { transaction },
  );
}

const eventSchema = z.object({
  at: z.iso.datetime(),
  action: z.enum(actions),
  actor: z
    .object({
      kind: z.enum(['key', 'session', 'operator', 'visitor', 'system', 'stripe']),
      id: z
        .string()
        .nullable()
        .describe("Of the key or the session; of the operator's account, null for the command line."),
    })
    .describe(
      'Who did it. A `visitor` proved a password, a mailed link, a Google identity or a payment without a session; `system` is the service itself. `stripe`: it follows from the state of the subscription there.',
    ),
  subject: z.string().describe('The id of the changed object.'),
  detail: z.record(z.string(), z.unknown()).describe('What changed, without any secret.'),
});

export const listAuditEvents = endpoint({
  summary: 'The audit log of the account.',
  requester: 'account',
  query: listParams({ fields: eventSchema.keyof().options, sorts: ['at'], sort: '-at' }),
  rows: eventSchema,
  handler: ({ db, cursors }, { requester: { accountId }, query, call }) => {
    const [behind, direction] = query.sort === 'at' ? [Op.gt, 'ASC'] : [Op.lt, 'DESC'];
    return page(cursors, {
      query,
      of: ['audit', accountId],
      fileName: 'audit',
      async read(after, most) {
        const rest = after === null ? {} : { eventNo: { [behind]: Number(after[0]) } };
        const events = await call.stage('sql', () =>
          db.auditEvents.findAll({
            where: { accountId, ...rest },
            order: [['eventNo', direction]],
            limit: most,
          }),
        );
        return events.map((event) => ({ row: toRecord(event), place: [event.eventNo] }));
      },
    });
  },
});

function toRecord(event: AuditEvent): z.output<typeof eventSchema> {
  return {
    at: instantText(event.at),
    action: event.action,
    actor: { kind: event.actorKind, id: event.actorId },
    subject: event.subject,
    detail: event.detail,
  };
}
