// PATCH /v1/keys/{id} changes a key's name, scopes and addresses. Like a revocation, a restriction is active at every gateway before the call is
// answered.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { audit } from '../audit.ts';
import type { Deps } from '../database.ts';
import { endpoint } from '../endpoint.ts';
import { nameField } from '../fields.ts';
import type { ApiKey } from '../models/api-key.ts';
import type { Requester } from '../requester.ts';
import { accessFields, grantedAccess } from './key-access.ts';
import { findKey, keyId, keyRecord, keySchema } from './keys.ts';

const keyChange = z
  .strictObject({
    name: nameField.optional(),
    ...accessFields,
    as_of: z
      .never('cannot be changed: the day of a key stays as it was made. Make another key, with POST /v1/keys')
      .optional()
      .describe('Refused: the day that a key is pinned to never changes.'),
  })
  .refine((body) => Object.keys(body).length > 0, 'must have "name", "scopes" or "addresses"');
type KeyChange = z.output<typeof keyChange>;

export const changeKey = endpoint({
  summary:
    'Changes the name, the scopes or the allowed addresses of an API key. They apply from the next call on.',
  params: { id: keyId },
  requester: 'account',
  body: keyChange,
  answers: { 200: keySchema },
  errors: ['not_found', 'forbidden', 'conflict'],
  handler: async (deps, { requester, body, params, call }) => {
    const work = async (transaction: Transaction) => {
      const key = await findKey(deps, transaction, requester.accountId, memberOf(params, 'id'));
      await applyChange(deps, transaction, { requester, key, body });
      return one(keyRecord(key, deps.clock.now()));
    };
    const isName = body.scopes === undefined && body.addresses === undefined; // no gateway caches names
    return call.stage('sql', () =>
      isName ? deps.db.inLedgerTransaction(work) : deps.db.inTransaction(work),
    );
  },
});

async function applyChange(
  deps: Deps,
  transaction: Transaction,
  { requester, key, body }: { requester: Requester; key: ApiKey; body: KeyChange },
): Promise<void> {
  const { accountId, actor } = requester;
  const { id, name: before, mask: masked } = key;
  const { name = before } = body;
  const noted = { accountId, actor, subject: id };
  if (name !== before) {
    await key.update({ name }, { transaction });
    await audit(deps, transaction, { ...noted, action: 'key.renamed', detail: { before, name, masked } });
  }
  if (body.scopes === undefined && body.addresses === undefined) return;
  if (key.revokedAt !== null) fail('conflict', 'This key is revoked.');
  const was = { scopes: key.scopes, addresses: key.addresses };
  const access = await grantedAccess(deps, transaction, requester, {
    ...{ before: was, wish: body, isPinned: key.asOf !== null },
  });
  if (JSON.stringify(access) === JSON.stringify(was)) return;
  await key.update({ ...access }, { transaction });
  await audit(deps, transaction, {
    ...noted,
    action: 'key.access_changed',
    detail: { name, masked, before: was, ...access },
  });
}
