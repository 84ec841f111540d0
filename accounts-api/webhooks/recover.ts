// Resends what a webhook endpoint has missed: failed deliveries since an instant, or undelivered updates after a cursor of /v1/updates. The latter
// include updates without a delivery, from when the endpoint was disabled or subscribed to other series.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { instantText } from '../../kernel/clock.ts';
import { memberOf } from '../../kernel/entries.ts';
import { fail, refuseField } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { visibleAfterMs } from '../../kernel/http/validity.ts';
import { findAccount } from '../models/find-account.ts';
import type { Deps } from '../database.ts';
import { endpoint } from '../endpoint.ts';
import type { Webhook } from '../models/webhook.ts';
import { requireSending } from './deliveries.ts';
import { messagesOf } from './fan-out.ts';
import { insertMessages } from './fan-out.sql.ts';
import {
  resendFailedOf,
  resendFailedSince,
  selectKnownEvents,
  selectUpdatesAfter,
  type Missed,
} from './recover.sql.ts';
import { findWebhook, webhookId } from './webhooks.ts';

const recoverableMs = 30 * 24 * 60 * 60_000;
/** The maximum number of deliveries, or of examined updates, per call. */
const recoveredMax = 500;

const recovery = z.strictObject({
  since: z.iso
    .datetime({ offset: true, error: 'must be an instant, such as 2027-01-31T00:00:00Z' })
    .optional()
    .describe('At most 30 days ago.')
    .transform((text) => (text === undefined ? undefined : new Date(text))),
  cursor: z
    .string()
    .regex(/^\d{1,15}$/, 'must be a cursor of /v1/updates')
    .optional()
    .describe('Of `/v1/updates`: the updates after that one.'),
});

const recovered = z.object({
  recovered: z.int().describe('The number of deliveries sent again.'),
  has_more: z.boolean().describe('There are more: call again, with `cursor` if it is not null.'),
  cursor: z
    .string()
    .nullable()
    .describe('The last update that was examined; null for a call with `since`, which you repeat unchanged.'),
});
type Recovered = z.output<typeof recovered>;

export const recoverDeliveries = endpoint({
  summary:
    'Sends again the deliveries that failed since an instant, or the updates missed after a cursor of `/v1/updates`.',
  description: `Send \`since\` or \`cursor\`. The oldest come first, ${recoveredMax} at a time, with the same ids. Delivered and pending messages are not sent again, so a repeated call sends nothing twice.`,
  params: { id: webhookId },
  requester: 'account',
  body: recovery,
  answers: { 202: recovered },
  errors: ['not_found', 'plan_required', 'conflict', 'invalid_cursor', 'gone'],
  handler: async (deps, { requester: { accountId }, body: { since, cursor }, params, call }) => {
    const id = memberOf(params, 'id');
    const now = deps.clock.now();
    if ((since === undefined) === (cursor === undefined))
      refuseField('since', 'Send either "since" or "cursor".');
    if (since !== undefined && (since.getTime() < now.getTime() - recoverableMs || since > now))
      refuseField('since', '"since" must be in the last 30 days.');
    return call.stage('sql', () =>
      deps.db.inLedgerTransaction(async (transaction) => {
        const webhook = await findWebhook(deps, accountId, id, transaction);
        await requireSending(deps, webhook);
        const done =
          cursor === undefined
            ? await recoverSince(deps, transaction, webhook, since ?? now)
            : await recoverAfter(deps, transaction, webhook, cursor);
        return one(done, { status: 202 });
      }),
    );
  },
});

async function recoverSince(
  { db, clock }: Deps,
  transaction: Transaction,
  { id: webhookId }: Webhook,
  since: Date,
): Promise<Recovered> {
  const asked = { webhookId, since, now: clock.now(), limit: recoveredMax };
  const { resent, hasMore } = await resendFailedSince(db, transaction, asked);
  return { recovered: resent, has_more: hasMore, cursor: null };
}

/** Creates the missing messages, and sends them together with the failed ones, in the order of the updates. */
async function recoverAfter(
  deps: Deps,
  transaction: Transaction,
  webhook: Webhook,
  after: string,
): Promise<Recovered> {
  const { db, clock } = deps;
  const now = clock.now();
  const missed = await selectUpdatesAfter(db, transaction, after, recoveredMax);
  requirePlace(after, missed, now);
  const ids = missed.events.map(({ id }) => id);
  const known = await selectKnownEvents(db, transaction, webhook.id, ids);
  const account = await findAccount(deps, webhook.accountId);
  const made = messagesOf(
    missed.events.filter(({ id }) => !known.has(id)),
    [
      {
        ...{ id: webhook.id, account_id: webhook.accountId, events: webhook.events, series: webhook.series },
        ...{ hears_all: account.subscriptionState !== 'inactive', is_operator: false },
      },
    ],
  );
  if (made.messages.length > 0) await insertMessages(db, transaction, { ...made, at: now });
  const recovered = await resendFailedOf(db, transaction, {
    webhookId: webhook.id,
    events: ids,
    made: made.events.map(({ id }) => id),
    dueAt: new Date(now.getTime() + visibleAfterMs), // as for a new update, which may be among them
  });
  return { recovered, has_more: missed.hasMore, cursor: missed.cursor };
}

/** @throws Failure `gone` if updates after the cursor are older than 30 days or deleted; `invalid_cursor` if no update ever had the cursor. */
function requirePlace(cursor: string, missed: Missed, now: Date): void {
  const { oldest, newest, hasPlace, firstAt } = missed;
  const isBefore = oldest !== null && Number(cursor) < Number(oldest.cursor);
  if (cursor !== '0' && !hasPlace && !isBefore)
    fail('invalid_cursor', `No update has the cursor ${cursor}; the newest is ${newest}.`, {
      param: 'cursor',
    });
  const from = new Date(now.getTime() - recoverableMs);
  const isTooOld = firstAt !== null && firstAt < from;
  if (!isTooOld && (cursor === '0' || hasPlace)) return;
  fail(
    'gone',
    `Webhooks are sent the updates of the last 30 days, and some after cursor ${cursor} were published before ${instantText(from)}. Read them with GET /v1/updates?cursor=${cursor}.`,
    { param: 'cursor' },
  );
}
