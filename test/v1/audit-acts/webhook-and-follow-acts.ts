// The audited actions on webhooks and follows: each way to perform them, and the expected row of the audit log.
import type { ExecutionContext } from 'ava';
import type { Action } from '../../../accounts-api/models/audit-event.ts';
import type { Client } from '../../services/accounts-service.ts';
import { until } from '../../run/until.ts';
import { createUnsubscribeTokens } from '../../../accounts-api/follows/unsubscribe-tokens.ts';
import { testWebhooks } from '../../webhooks/settings.ts';
import { newWebhook } from '../../webhooks/endpoints.ts';
import { startReceiver, startWebhookWorker } from '../../webhooks/receiver.ts';
import { service, type Expected, type Act, visitor, byKey, done } from './audited.ts';

export const webhookAndFollowActs = {
  'webhook.created': {
    async 'its holder, by key'() {
      const { client, webhook } = await newWebhookOf({ series: ['GDP', 'CPI*'] });
      const detail = { host: 'https://hooks.example.org', events: webhook.events, series: 2 };
      return ofWebhook(client, webhook, detail);
    },
  },
  'webhook.updated': {
    async 'its holder, by key: the URL may hold a secret, and its path is left out'(t) {
      const { client, webhook } = await newWebhookOf();
      const url = 'https://other.example.org/secret';
      const body = { url, series: ['GDP'], description: 'Ours', enabled: false };
      done(t, await service.as(client, `/v1/webhooks/${webhook.id}`, { method: 'PATCH', body }));
      const host = 'https://other.example.org';
      return ofWebhook(client, webhook, { host, series: 1, description: 'Ours', enabled: false });
    },
  },
  'webhook.deleted': {
    async 'its holder, by key'(t) {
      const { client, webhook } = await newWebhookOf();
      done(t, await service.as(client, `/v1/webhooks/${webhook.id}`, { method: 'DELETE' }));
      return ofWebhook(client, webhook, { host: 'https://hooks.example.org' });
    },
  },
  'webhook.secret_rotated': {
    async 'its holder, by key'(t) {
      const { client, webhook } = await newWebhookOf();
      done(t, await service.as(client, `/v1/webhooks/${webhook.id}/rotate-secret`, { method: 'POST' }));
      return ofWebhook(client, webhook, {});
    },
  },
  'webhook.disabled': {
    async 'the worker, after an answer 410'(t) {
      const receiver = await startReceiver(t);
      receiver.answer(410);
      const { client, webhook } = await newWebhookOf();
      await service.deps.db.webhooks.update({ url: receiver.url }, { where: { id: webhook.id } });
      done(t, await service.as(client, `/v1/webhooks/${webhook.id}/test`, { method: 'POST' }));
      const worker = await startWebhookWorker(service);
      t.teardown(() => worker.close());
      await until('it is disabled', async () => {
        const found = await service.deps.db.webhooks.findByPk(webhook.id);
        return found !== null && found.disabledAt !== null;
      });
      const actor = { kind: 'system', id: null } as const;
      const detail = { because: 'gone', host: new URL(receiver.url).origin };
      return { ...ofWebhook(client, webhook, detail), actor };
    },
  },
  'follow.created': {
    async 'its holder, by key'(t) {
      const { client, id } = await newFollowOf(t);
      return ofFollow(client, id, byKey(client), { ...followed, mode: 'at_once' });
    },
  },
  'follow.updated': {
    async 'its holder, by key'(t) {
      const { client, id } = await newFollowOf(t);
      done(t, await service.as(client, `/v1/follows/${id}`, { method: 'PATCH', body: { mode: 'daily' } }));
      return ofFollow(client, id, byKey(client), { ...followed, mode: 'daily' });
    },
  },
  'follow.deleted': {
    async 'its holder, by key'(t) {
      const { client, id } = await newFollowOf(t);
      done(t, await service.as(client, `/v1/follows/${id}`, { method: 'DELETE' }));
      return ofFollow(client, id, byKey(client), followed);
    },
    async 'the link of an e-mail, which ends all'(t) {
      const { client, id } = await newFollowOf(t);
      const token = createUnsubscribeTokens(testWebhooks.secretKeys).of(client.accountId as `acct_${string}`);
      done(t, await service.anonymously(`/v1/unsubscribe?token=${token}`, { method: 'POST' }));
      return ofFollow(client, id, visitor, followed);
    },
  },
} satisfies Partial<Record<Action, Record<string, Act>>>;

const followed = { kind: 'search', of: 'consumer prices' };

async function newFollowOf(t: ExecutionContext) {
  const client = await service.newClient();
  const { id } = done(t, await service.as(client, '/v1/follows', { body: followed }));
  return { client, id: String(id) };
}

function ofFollow(
  { accountId }: Client,
  subject: string,
  actor: Expected['actor'],
  detail: object,
): Expected {
  return { accountId, actor, subject, detail };
}

async function newWebhookOf(wish: Parameters<typeof newWebhook>[2] = {}) {
  const client = await service.newClient('pro');
  return { client, webhook: await newWebhook(service, client, wish) };
}

function ofWebhook(client: Client, { id }: { id: string }, detail: object): Expected {
  return { accountId: client.accountId, actor: byKey(client), subject: id, detail };
}
