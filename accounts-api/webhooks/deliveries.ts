// The delivery log of a webhook endpoint: sent and pending messages, each attempt, sending one again, and the test event.
import { z } from 'zod';
import { instantText } from '../../kernel/clock.ts';
import { memberOf } from '../../kernel/entries.ts';
import { eventTypes } from '../../kernel/events/catalogue.ts';
import { fail } from '../../kernel/errors.ts';
import type { CursorContent } from '../../kernel/http/cursor.ts';
import { listParams } from '../../kernel/http/list.ts';
import { oneOfParam } from '../../kernel/http/params.ts';
import { findAccount } from '../models/find-account.ts';
import type { Deps } from '../database.ts';
import { endpoint } from '../endpoint.ts';
import { newId } from '../ids.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { page } from '../../kernel/http/pages.ts';
import type { Webhook } from '../models/webhook.ts';
import {
  deliveryStatuses,
  resendMessage,
  selectDeliveries,
  selectDelivery,
  type DeliveryPlace,
  type DeliveryRow,
} from './deliveries.sql.ts';
import { bodyOf } from './fan-out.ts';
import { insertMessages } from './fan-out.sql.ts';
import { errorClasses } from './sending/send.ts';
import { findWebhook, requireWebhooksPlan, webhookId } from './webhooks.ts';

/** The number of attempts shown per delivery. */
const attemptsShown = 50;

const instant = z.iso.datetime().nullable();
const error = z
  .enum(errorClasses)
  .nullable()
  .describe('Why there was no answer: no public address, no connection, …; null if there was one.');

const deliverySchema = z.object({
  id: z.string().describe('Sent as `webhook-id`; the same for each attempt.'),
  type: z.enum(eventTypes),
  event: z.string().describe('The id of the event; the same at every endpoint.'),
  status: z.enum(deliveryStatuses),
  created_at: z.iso.datetime(),
  attempts: z.int().describe('How many were begun.'),
  next_attempt_at: instant,
  last_attempt_at: instant,
  last_status: z.int().nullable().describe('The HTTP status of the last attempt.'),
  last_error: error,
});

const detailedSchema = deliverySchema.extend({
  body: z.string().describe('The body, exactly as it is signed and sent.'),
  log: z
    .array(
      z.object({
        at: z.iso.datetime(),
        latency_ms: z.int(),
        status: z.int().nullable(),
        error,
        response: z
          .string()
          .nullable()
          .describe('The beginning of the answer, as text: up to 1024 characters. It is not to be trusted.'),
      }),
    )
    .describe(`The attempts, the newest first; at most ${attemptsShown}.`),
});

const delivery = z.string().describe('An id of `/v1/webhooks/{id}/deliveries`.');

export const listDeliveries = endpoint({
  summary: 'Deliveries to a webhook endpoint in the last 30 days, including pending ones.',
  params: { id: webhookId },
  requester: 'account',
  query: {
    status: oneOfParam(deliveryStatuses).optional().describe('Only these.'),
    type: oneOfParam(eventTypes).optional().describe('Only events of this type.'),
    ...listParams({
      fields: deliverySchema.keyof().options,
      sorts: ['created_at'],
      sort: '-created_at',
    }),
  },
  rows: deliverySchema,
  errors: ['not_found'],
  handler: async ({ db, cursors }, { requester: { accountId }, params, query, call }) => {
    const { id } = await call.stage('sql', () => findWebhook({ db }, accountId, memberOf(params, 'id')));
    const { sort, status = null, type = null } = query;
    return page(cursors, {
      query,
      of: ['deliveries', id, status, type],
      fileName: 'deliveries',
      async read(place, limit) {
        const after = place === null ? null : placeOf(place);
        const rows = await call.stage('sql', () =>
          selectDeliveries(db, id, { sort, status, type, after, limit }),
        );
        return rows.map((row) => ({
          row: deliveryRecord(row),
          place: [row.created_at.toISOString(), row.id],
        }));
      },
    });
  },
});

export const readDelivery = endpoint({
  summary: 'A delivery, with its body and each attempt.',
  params: { id: webhookId, delivery },
  requester: 'account',
  answers: { 200: detailedSchema },
  errors: ['not_found'],
  handler: async (deps, { requester: { accountId }, params, call }) => {
    const webhook = await call.stage('sql', () => findWebhook(deps, accountId, memberOf(params, 'id')));
    return one(await call.stage('sql', () => findDelivery(deps, webhook, memberOf(params, 'delivery'))));
  },
});

export const redeliver = endpoint({
  summary: 'Sends a delivery again, at once and with the same id, whatever its state.',
  params: { id: webhookId, delivery },
  requester: 'account',
  answers: { 202: detailedSchema },
  errors: ['not_found', 'plan_required', 'conflict'],
  handler: async (deps, { requester: { accountId }, params, call }) => {
    const [id, message] = [memberOf(params, 'id'), memberOf(params, 'delivery')];
    const webhook = await call.stage('sql', () =>
      deps.db.inLedgerTransaction(async (transaction) => {
        const found = await findWebhook(deps, accountId, id, transaction);
        await requireSending(deps, found);
        const asked = { webhookId: id, id: message, now: deps.clock.now() };
        if (!(await resendMessage(deps.db, transaction, asked))) failDelivery();
        return found;
      }),
    );
    return one(await call.stage('sql', () => findDelivery(deps, webhook, message)), { status: 202 });
  },
});

export const testWebhook = endpoint({
  summary: 'Sends the event `webhook.test` to a webhook endpoint, whatever event types it has chosen.',
  params: { id: webhookId },
  requester: 'account',
  answers: { 202: detailedSchema },
  errors: ['not_found', 'plan_required', 'conflict'],
  handler: async (deps, { requester: { accountId }, params, call }) => {
    const id = memberOf(params, 'id');
    const message = newId('msg');
    const at = deps.clock.now();
    const event = { id: newId('evt'), type: 'webhook.test' as const, at };
    const webhook = await call.stage('sql', () =>
      deps.db.inLedgerTransaction(async (transaction) => {
        const found = await findWebhook(deps, accountId, id, transaction);
        await requireSending(deps, found);
        await insertMessages(deps.db, transaction, {
          at,
          events: [{ ...event, body: bodyOf(event, { webhook: id }) }],
          messages: [
            { id: message, webhookId: id, eventId: event.id, type: event.type, body: null, afterMs: 0 },
          ],
        });
        return found;
      }),
    );
    return one(await call.stage('sql', () => findDelivery(deps, webhook, message)), { status: 202 });
  },
});

/** @throws Failure `plan_required`, or `conflict` for a disabled endpoint, as nothing would be sent. */
export async function requireSending(deps: Deps, webhook: Webhook): Promise<void> {
  requireWebhooksPlan(deps, await findAccount(deps, webhook.accountId));
  if (webhook.disabledAt === null) return;
  fail('conflict', 'This webhook is disabled. Enable it first: PATCH /v1/webhooks/{id} {"enabled":true}.');
}

/** @throws Failure `not_found` */
async function findDelivery(
  { db }: Pick<Deps, 'db'>,
  webhook: Webhook,
  id: string,
): Promise<z.output<typeof detailedSchema>> {
  const found = (await selectDelivery(db, webhook.id, id, attemptsShown)) ?? failDelivery();
  return {
    ...deliveryRecord(found.delivery),
    body: found.delivery.body,
    log: found.attempts.map((attempt) => ({
      ...attempt,
      at: instantText(attempt.at),
      error: readError(attempt.error),
    })),
  };
}

function failDelivery(): never {
  fail('not_found', 'The webhook has no delivery with this id.');
}

function deliveryRecord(row: DeliveryRow): z.output<typeof deliverySchema> {
  return {
    id: row.id,
    type: row.type,
    event: row.event,
    status: row.status,
    created_at: instantText(row.created_at),
    attempts: row.attempts,
    next_attempt_at: row.next_attempt_at && instantText(row.next_attempt_at),
    last_attempt_at: row.last_attempt_at && instantText(row.last_attempt_at),
    last_status: row.last_status,
    last_error: readError(row.last_error),
  };
}

function readError(text: string | null) {
  return text === null ? null : z.enum(errorClasses).parse(text);
}

function placeOf([createdAt, id]: CursorContent): DeliveryPlace {
  return { createdAt: new Date(String(createdAt)), id: String(id) };
}
