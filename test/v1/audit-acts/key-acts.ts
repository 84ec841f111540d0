// The audited actions on API keys: each way to perform them, and the expected row of the audit log.
import type { ExecutionContext } from 'ava';
import type { Action } from '../../../accounts-api/models/audit-event.ts';
import { createKey, revokeKey, rotateKey } from '../../../accounts-api/operator/operator.ts';
import {
  service,
  newHolder,
  headers,
  type Expected,
  type Act,
  operator,
  byOperator,
  bySession,
  byKey,
  done,
} from './audited.ts';

/** The expected row about a key. */
const ofKey = (
  { accountId }: { accountId: string },
  actor: Expected['actor'],
  key: { id: unknown; name: unknown; masked: unknown },
  detail: object = {},
) => ({
  accountId,
  actor,
  subject: String(key.id),
  detail: { name: key.name, masked: key.masked, ...detail },
});

async function rotatedKey(t: ExecutionContext) {
  const holder = await newHolder();
  const old = done(t, await service.signedIn(holder, '/v1/keys', { body: { name: 'k' }, headers }));
  const target = `/v1/keys/${String(old['id'])}/rotate`;
  const rotated = done(t, await service.signedIn(holder, target, { body: { overlap_hours: 1 }, headers }));
  return { holder, old, rotated };
}

/** The default access of a key. */
const unbound = { scopes: ['data', 'read', 'manage'], addresses: null };

const keyIn = (data: Record<string, unknown>) => ({
  id: data['id'],
  name: data['name'],
  masked: data['masked'],
});

export const keyActs = {
  'key.created': {
    async 'its holder, by session'(t) {
      const holder = await newHolder();
      const body = { name: 'laptop', expires_at: '2027-01-31T00:00:00Z' };
      const key = keyIn(done(t, await service.signedIn(holder, '/v1/keys', { body, headers })));
      return ofKey(holder, bySession(holder), key, { expires_at: '2027-01-31T00:00:00Z', ...unbound });
    },
    async 'its holder, by another key'(t) {
      const client = await service.newClient();
      const key = keyIn(done(t, await service.as(client, '/v1/keys', { body: { name: 'next' } })));
      return ofKey(client, byKey(client), key, { expires_at: null, ...unbound });
    },
    async 'the operator'() {
      const holder = await newHolder();
      const key = await createKey(service.deps, holder.accountId, 'from the console');
      return ofKey(holder, operator, key, { expires_at: null, ...unbound });
    },
  },
  'key.renamed': {
    async 'its holder, by session'(t) {
      const holder = await newHolder();
      const made = done(t, await service.signedIn(holder, '/v1/keys', { body: { name: 'k' }, headers }));
      const target = `/v1/keys/${String(made['id'])}`;
      const body = { name: 'Production' };
      const renamed = done(t, await service.signedIn(holder, target, { method: 'PATCH', body, headers }));
      return ofKey(holder, bySession(holder), keyIn(renamed), { before: 'k' });
    },
  },
  'key.access_changed': {
    async 'its holder, by session'(t) {
      const holder = await newHolder();
      const made = done(t, await service.signedIn(holder, '/v1/keys', { body: { name: 'k' }, headers }));
      const target = `/v1/keys/${String(made['id'])}`;
      const body = { scopes: ['data'], addresses: ['203.0.113.7'] };
      const changed = done(t, await service.signedIn(holder, target, { method: 'PATCH', body, headers }));
      const before = { scopes: ['data', 'read', 'manage'], addresses: null };
      return ofKey(holder, bySession(holder), keyIn(changed), { before, ...body });
    },
  },
  'key.rotated': {
    async 'its holder, by session'(t) {
      const { holder, old, rotated } = await rotatedKey(t);
      const detail = { old_value: old['masked'], old_value_ends_at: rotated['old_value_ends_at'] };
      return ofKey(holder, bySession(holder), keyIn(rotated), detail);
    },
    async 'the operator'() {
      const client = await service.newClient();
      const before = await service.deps.db.keys.findByPk(client.keyId);
      const { old_value_ends_at, ...rotated } = await rotateKey(service.deps, client.keyId, 0);
      return ofKey(client, operator, rotated, { old_value: before?.mask, old_value_ends_at });
    },
  },
  'key.old_value_ended': {
    async 'its holder, by session'(t) {
      const { holder, old, rotated } = await rotatedKey(t);
      const target = `/v1/keys/${String(old['id'])}/old-value`;
      done(t, await service.signedIn(holder, target, { method: 'DELETE', headers }));
      const detail = { old_value: old['masked'], old_value_ends_at: rotated['old_value_ends_at'] };
      return ofKey(holder, bySession(holder), keyIn(rotated), detail);
    },
  },
  'key.revoked': {
    async 'its holder, by session'(t) {
      const holder = await newHolder();
      const made = done(t, await service.signedIn(holder, '/v1/keys', { body: { name: 'k' }, headers }));
      const target = `/v1/keys/${String(made['id'])}`;
      done(t, await service.signedIn(holder, target, { method: 'DELETE', headers }));
      return ofKey(holder, bySession(holder), keyIn(made));
    },
    async 'its holder, by the key itself'(t) {
      const client = await service.newClient();
      const key = (await service.deps.db.keys.findByPk(client.keyId))?.toJSON();
      done(t, await service.as(client, `/v1/keys/${client.keyId}`, { method: 'DELETE' }));
      return ofKey(client, byKey(client), { id: client.keyId, name: key?.name, masked: key?.mask });
    },
    async 'the operator'() {
      const client = await service.newClient();
      return ofKey(client, operator, await revokeKey(service.deps, client.key));
    },
    async 'an operator in the dashboard'(t) {
      const [client, colleague] = [await service.newClient(), await newHolder()];
      const key = (await service.deps.db.keys.findByPk(client.keyId))?.toJSON();
      const path = `/v1/operator/accounts/${client.accountId}/keys/${client.keyId}`;
      done(t, await service.asOperator(colleague, path, { method: 'DELETE' }));
      return ofKey(client, byOperator(colleague), { id: client.keyId, name: key?.name, masked: key?.mask });
    },
  },
} satisfies Partial<Record<Action, Record<string, Act>>>;
