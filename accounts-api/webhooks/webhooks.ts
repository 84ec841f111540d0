// The webhook endpoints of an account: list, create, change, delete, rotate the secret. The secret is shown at its creation, and stored encrypted.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { listParams } from '../../kernel/http/list.ts';
import { missingFeatureText, planOf } from '../../kernel/plans.ts';
import { findAccount, lockAccountOfCaller } from '../models/find-account.ts';
import { audit } from '../audit.ts';
import type { Deps } from '../database.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { newId } from '../ids.ts';
import { idempotencyHeader, idempotencyKeyOf, idempotently } from '../keys/idempotency.ts';
import { lowestFreeSlot } from '../keys/keys.sql.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { inMemory, page } from '../../kernel/http/pages.ts';
import type { Account } from '../models/account.ts';
import type { Webhook } from '../models/webhook.ts';
import type { Requester } from '../requester.ts';
import {
  checkedUrl,
  newWebhook,
  webhookChange,
  webhookRecord,
  webhookSchema,
  webhooksMax,
  webhookWithSecret,
  type WebhookChange,
  type WebhookRecord,
} from './webhook-fields.ts';
import { originOf } from './sending/send.ts';
import { deleteWebhooksOf } from './webhooks.sql.ts';

/** How long messages are also signed with the previous secret. */
const overlapMs = 24 * 60 * 60_000;

export const webhookId = z.string().describe('An id of `/v1/webhooks`.');

export const listWebhooks = endpoint({
  summary: 'The webhook endpoints of the account.',
  requester: 'account',
  query: listParams({ fields: webhookSchema.keyof().options, sorts: ['created_at'], sort: 'created_at' }),
  rows: webhookSchema,
  handler: async ({ db, clock, cursors }, { requester: { accountId }, query, call }) => {
    const found = await call.stage('sql', () =>
      db.webhooks.findAll({
        where: { accountId },
        order: [
          ['createdAt', 'ASC'],
          ['id', 'ASC'],
        ],
      }),
    );
    const rows = found.map((webhook) => webhookRecord(webhook, clock.now()));
    const made = new Map(found.map(({ id, createdAt }) => [id, createdAt.getTime()]));
    return page(cursors, {
      query,
      of: ['webhooks', accountId],
      read: inMemory(rows, query.sort, ({ id }) => [made.get(id) ?? 0, id]),
      fileName: 'webhooks',
    });
  },
});

export const createWebhook = endpoint({
  summary: 'Creates a webhook endpoint; its secret is only in this answer.',
  description:
    'Needs a plan with webhooks. An account has at most ten. With an `Idempotency-Key`, a retry creates no second one and is answered without the secret.',
  requester: 'account',
  body: newWebhook,
  requestHeaders: idempotencyHeader,
  answers: { 201: webhookWithSecret },
  errors: ['invalid_request', 'plan_required', 'conflict', 'idempotency_in_progress', 'idempotency_mismatch'],
  headers: ['Idempotent-Replayed'],
  handler: async (deps, { requester, body, call, request }) => {
    const key = idempotencyKeyOf(request);
    const asked = { accountId: requester.accountId, route: 'POST /v1/webhooks', key, body };
    const { status, data, replayed } = await idempotently(deps, asked, async (remember) => {
      await requirePlanOf(deps, requester);
      const url = await checkedUrl(deps.webhooks.guard, body.url);
      return call.stage('sql', () =>
        deps.db.inLedgerTransaction(async (transaction) => {
          const { record, secret } = await makeWebhook(deps, transaction, requester, { ...body, url });
          await remember(transaction, { status: 201, data: record }); // without the secret, which a replay cannot show
          return { status: 201, data: { ...record, secret } };
        }),
      );
    });
    return one(data, { status, headers: replayed ? { 'idempotent-replayed': 'true' } : {} });
  },
});

/** Called before the URL is looked up; the plan is checked again when the endpoint is created. */
async function requirePlanOf(deps: ServiceDeps, { accountId }: Requester): Promise<void> {
  requireWebhooksPlan(deps, await findAccount(deps, accountId));
}

/** The lock on the account's row serializes the creation of its endpoints. */
async function makeWebhook(
  deps: ServiceDeps,
  transaction: Transaction,
  requester: Requester,
  wish: z.output<typeof newWebhook>,
): Promise<{ record: WebhookRecord; secret: string }> {
  const { accountId, actor } = requester;
  const account = await lockAccountOfCaller(deps, transaction, requester);
  requireWebhooksPlan(deps, account);
  const slot = await lowestFreeSlot(deps.db, transaction, { of: 'webhooks', accountId, max: webhooksMax });
  if (slot === null) {
    fail('conflict', `This account already has ${webhooksMax} webhooks. Delete one to create another.`);
  }
  const id = newId('wh');
  const { value, sealed } = deps.webhooks.secrets.mint(id);
  const now = deps.clock.now();
  const webhook = await deps.db.webhooks.create(
    { ...wish, id, accountId, slot, secret: sealed, createdAt: now },
    { transaction, returning: true },
  );
  const detail = { host: originOf(wish.url), events: wish.events, series: wish.series?.length ?? null };
  await audit(deps, transaction, { accountId, actor, action: 'webhook.created', subject: id, detail });
  return { record: webhookRecord(webhook, now), secret: value };
}

/** @throws Failure `plan_required`, which names the lowest plan that has webhooks. */
export function requireWebhooksPlan({ plans }: Pick<Deps, 'plans'>, account: Account): void {
  const plan = planOf(plans, account.plan);
  if (plan.features.includes('webhooks')) return;
  fail('plan_required', missingFeatureText(plans, 'webhooks', plan.name));
}

export const readWebhook = endpoint({
  summary: 'A webhook endpoint.',
  params: { id: webhookId },
  requester: 'account',
  answers: { 200: webhookSchema },
  errors: ['not_found'],
  handler: async (deps, { requester: { accountId }, params, call }) => {
    const webhook = await call.stage('sql', () => findWebhook(deps, accountId, memberOf(params, 'id')));
    return one(webhookRecord(webhook, deps.clock.now()));
  },
});

export const changeWebhook = endpoint({
  summary: 'Changes a webhook endpoint, disables or enables it.',
  description: 'Messages that are waiting go to the new URL.',
  params: { id: webhookId },
  requester: 'account',
  body: webhookChange,
  answers: { 200: webhookSchema },
  errors: ['not_found'],
  handler: async (deps, { requester, body, params, call }) => {
    const id = memberOf(params, 'id');
    await call.stage('sql', () => findWebhook(deps, requester.accountId, id)); // before anything is looked up for it
    const url = body.url === undefined ? undefined : await checkedUrl(deps.webhooks.guard, body.url);
    return call.stage('sql', () =>
      deps.db.inLedgerTransaction(async (transaction) => {
        await lockAccountOfCaller(deps, transaction, requester);
        const webhook = await findWebhook(deps, requester.accountId, id, transaction);
        await applyChange(deps, transaction, webhook, { requester, body: { ...body, url } });
        return one(webhookRecord(webhook, deps.clock.now()));
      }),
    );
  },
});

async function applyChange(
  deps: ServiceDeps,
  transaction: Transaction,
  webhook: Webhook,
  { requester: { accountId, actor }, body }: { requester: Requester; body: WebhookChange },
): Promise<void> {
  const { enabled, ...wish } = body;
  const given = Object.fromEntries(Object.entries(wish).filter(([, value]) => value !== undefined));
  await webhook.update({ ...given, ...stateAfter(webhook, enabled, deps.clock.now()) }, { transaction });
  const { url, series, ...rest } = wish;
  const detail = {
    ...rest,
    ...(url === undefined ? {} : { host: originOf(url) }),
    ...(series === undefined ? {} : { series: series?.length ?? null }), // the ids may be too many for an audit row
    ...(enabled === undefined ? {} : { enabled }),
  };
  await audit(deps, transaction, {
    accountId,
    actor,
    action: 'webhook.updated',
    subject: webhook.id,
    detail,
  });
}

/** Enabling resets the failures, so that five more days of failures must pass before it is disabled again. */
function stateAfter(webhook: Webhook, enabled: boolean | undefined, now: Date) {
  if (enabled === true) {
    const healthy = { failingSince: null, lastFailedAt: null, throttledUntil: null };
    return { disabledAt: null, disabledBecause: null, ...healthy };
  }
  if (enabled === false && webhook.disabledAt === null) {
    return { disabledAt: now, disabledBecause: 'asked' as const };
  }
  return {};
}

const deletion = {
  summary: 'Deletes a webhook endpoint with its deliveries; pending messages are not sent.',
  requester: 'account',
  answers: { 204: null },
  errors: ['not_found'],
} as const;

export const deleteWebhook = endpoint({
  ...deletion,
  params: { id: webhookId },
  handler: async (deps, { requester, params, call }) => {
    await call.stage('sql', () => endWebhook(deps, requester, memberOf(params, 'id')));
    return { status: 204 };
  },
});

/** The same with a query parameter, as the contract requires. */
export const deleteWebhookById = endpoint({
  ...deletion,
  query: { id: webhookId },
  handler: async (deps, { requester, query: { id }, call }) => {
    await call.stage('sql', () => endWebhook(deps, requester, id));
    return { status: 204 };
  },
});

async function endWebhook(deps: ServiceDeps, requester: Requester, id: string): Promise<void> {
  await deps.db.inLedgerTransaction(async (transaction) => {
    const webhook = await findWebhook(deps, requester.accountId, id, transaction);
    await webhook.destroy({ transaction });
    await auditDeleted(deps, transaction, requester, webhook);
  });
}

/** Deletes all endpoints of an account, with their pending messages. */
export async function endWebhooksOf(
  deps: Deps,
  transaction: Transaction,
  requester: Requester,
): Promise<void> {
  for (const webhook of await deleteWebhooksOf(deps.db, transaction, requester.accountId)) {
    await auditDeleted(deps, transaction, requester, webhook);
  }
}

async function auditDeleted(
  deps: Deps,
  transaction: Transaction,
  { accountId, actor }: Requester,
  { id, url }: Pick<Webhook, 'id' | 'url'>,
): Promise<void> {
  const detail = { host: originOf(url) };
  await audit(deps, transaction, { accountId, actor, action: 'webhook.deleted', subject: id, detail });
}

export const rotateSecret = endpoint({
  summary: 'Gives a webhook endpoint a new secret, which is only in this answer.',
  description:
    'For 24 hours messages are also signed with the previous secret. Rotating again within that time ends the oldest at once.',
  params: { id: webhookId },
  requester: 'account',
  answers: { 200: webhookWithSecret },
  errors: ['not_found'],
  handler: async (deps, { requester, params, call }) => {
    const { accountId, actor } = requester;
    const id = memberOf(params, 'id');
    return call.stage('sql', () =>
      deps.db.inLedgerTransaction(async (transaction) => {
        await lockAccountOfCaller(deps, transaction, requester);
        const webhook = await findWebhook(deps, accountId, id, transaction);
        const now = deps.clock.now();
        const { value, sealed } = deps.webhooks.secrets.mint(id);
        const previousSecretUntil = new Date(now.getTime() + overlapMs);
        await webhook.update(
          { secret: sealed, previousSecret: webhook.secret, previousSecretUntil },
          { transaction },
        );
        await audit(deps, transaction, { accountId, actor, action: 'webhook.secret_rotated', subject: id });
        return one({ ...webhookRecord(webhook, now), secret: value });
      }),
    );
  },
});

/**
 * An endpoint of the account. @param transaction if given, the endpoint is locked until its end.
 * @throws Failure `not_found`, also for one of another account.
 */
export async function findWebhook(
  { db }: Pick<Deps, 'db'>,
  accountId: string,
  id: string,
  transaction?: Transaction,
): Promise<Webhook> {
  const locked = transaction === undefined ? {} : { transaction, lock: transaction.LOCK.UPDATE };
  const webhook = await db.webhooks.findOne({ where: { id, accountId }, ...locked });
  return webhook ?? fail('not_found', 'The account has no webhook with this id.');
}
