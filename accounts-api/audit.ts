// The audit: what was done to an account, by whom and when. Every change writes a row in its own transaction; GET
// /v1/account/audit lists them, the newest first.
import { Op, type Transaction } from 'sequelize';
import { z } from 'zod';
import type { Cursors } from '../kernel/http/cursor.ts';
import type { Handler } from '../kernel/http/server.ts';
import { integerParam, parseQuery } from '../kernel/http/params.ts';
import { requesterOf } from './requester.ts';
import type { Deps } from './database.ts';
import { sendList } from './envelope.ts';
import type { Action, Actor } from './models/audit-event.ts';

/** Writes the row of a change. @param change `subject` is the id of what was changed, by default the account's. */
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

const page = z.object({ limit: integerParam(1, 1000).default(100), cursor: z.string().optional() });

export function listAuditEvents(deps: Deps & { cursors: Cursors }): Handler {
  return async (request, response, call) => {
    const { accountId } = requesterOf(call);
    const { limit, cursor } = parseQuery(page, request.url);
    const pageQuery = JSON.stringify(['audit', accountId]);
    const before = cursor === undefined ? undefined : Number(deps.cursors.open(cursor, pageQuery)[0]);
    const events = await call.stage('sql', () =>
      deps.db.auditEvents.findAll({
        where: { accountId, ...(before === undefined ? {} : { eventNo: { [Op.lt]: before } }) },
        order: [['eventNo', 'DESC']],
        limit: limit + 1,
      }),
    );
    const shown = events.slice(0, limit);
    const records = shown.map((event) => ({
      at: event.at.toISOString(),
      action: event.action,
      actor: { kind: event.actorKind, id: event.actorId },
      subject: event.subject,
      detail: event.detail,
    }));
    const last = events.length > limit ? shown.at(-1) : undefined;
    sendList(response, records, last === undefined ? null : deps.cursors.seal([last.eventNo], pageQuery));
  };
}
