// Rotates a key: it gets a new value, and the old one keeps working until an instant that each gateway enforces itself.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { instantText } from '../../kernel/clock.ts';
import { hashApiKey, maskApiKey, mintApiKey } from '../../kernel/credentials/api-key.ts';
import { memberOf } from '../../kernel/entries.ts';
import { fail } from '../../kernel/errors.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { audit } from '../audit.ts';
import type { Deps } from '../database.ts';
import { endpoint } from '../endpoint.ts';
import type { ApiKey } from '../models/api-key.ts';
import type { Requester } from '../requester.ts';
import { grantedAccess } from './key-access.ts';
import { findKey, keyId, keyRecord, keySchema, type KeyRecord } from './keys.ts';

const hourMs = 60 * 60_000;
const overlapHoursMax = 7 * 24;
const overlapRule = `must be a whole number of hours from 0 to ${overlapHoursMax}`;

export const rotation = z.strictObject({
  overlap_hours: z
    .int(overlapRule)
    .min(0, overlapRule)
    .max(overlapHoursMax, overlapRule)
    .default(24)
    .describe('How long the old value also works. 0: it ends at once, with any older one.'),
});

export const rotateKey = endpoint({
  summary: 'Gives an API key a new value, which is only in this answer. The old value works for a while.',
  description:
    'The key stays the same: its id, name, scopes, day (`as_of`) and usage. 409 while an older value still works, unless `overlap_hours` is 0.',
  params: { id: keyId },
  requester: 'account',
  body: rotation,
  answers: { 200: keySchema.extend({ key: z.string().describe('The new value.') }) },
  errors: ['not_found', 'forbidden', 'conflict'],
  handler: async (deps, { requester, body, params, call }) => {
    const rotated = await call.stage('sql', () =>
      giveNewValue(deps, requester, memberOf(params, 'id'), body.overlap_hours),
    );
    return one(rotated);
  },
});

export const endOldValue = endpoint({
  summary: 'Ends the old value of a rotated API key; the next call with it is refused.',
  params: { id: keyId },
  requester: 'account',
  answers: { 204: null },
  errors: ['not_found'],
  handler: async (deps, { requester, params, call }) => {
    const id = memberOf(params, 'id');
    await call.stage('sql', () =>
      deps.db.inTransaction(async (transaction) => {
        const key = await findKey(deps, transaction, requester.accountId, id);
        const { previousMask: oldMask } = key;
        if (oldMask === null) return; // a retry must not look like a failure
        await noteRotation(deps, transaction, requester, { key, oldMask, action: 'key.old_value_ended' });
        await key.update({ previousHash: null, previousMask: null, previousUntil: null }, { transaction });
      }),
    );
    return { status: 204 };
  },
});

/**
 * Rotates a key of an account. @returns the record, and the value, which must be shown once.
 * @throws Failure `not_found`; `conflict` for a key that has ended, or whose older value still works; `forbidden` if the calling key has
 * less access.
 */
export async function giveNewValue(
  deps: Deps,
  requester: Requester,
  id: string,
  overlapHours: number,
): Promise<KeyRecord & { key: string }> {
  return deps.db.inTransaction(async (transaction) => {
    const key = await findKey(deps, transaction, requester.accountId, id);
    const now = deps.clock.now();
    requireRotatable(key, now, overlapHours);
    // The new value gives its owner all the access of the key.
    await grantedAccess(deps, transaction, requester, { before: key, wish: {}, isPinned: key.asOf !== null });
    const value = mintApiKey();
    const { mask: oldMask } = key;
    const overlaps = overlapHours > 0;
    await key.update(
      {
        hash: hashApiKey(value),
        mask: maskApiKey(value),
        previousHash: overlaps ? key.hash : null,
        previousMask: overlaps ? oldMask : null,
        previousUntil: overlaps ? new Date(now.getTime() + overlapHours * hourMs) : null,
      },
      { transaction },
    );
    await noteRotation(deps, transaction, requester, { key, oldMask, action: 'key.rotated' });
    return { ...keyRecord(key, now), key: value };
  });
}

function requireRotatable(key: ApiKey, now: Date, overlapHours: number): void {
  const { status, old_value_ends_at: until } = keyRecord(key, now);
  if (status !== 'active') fail('conflict', 'The key has already ended: create a new one.');
  if (until === null || overlapHours === 0) return;
  fail(
    'conflict',
    `An older value of this key works until ${until}. End it first, with DELETE /v1/keys/{id}/old-value, or rotate with "overlap_hours": 0 (--overlap-hours 0 of the command line), which ends all values at once.`,
  );
}

async function noteRotation(
  deps: Deps,
  transaction: Transaction,
  { accountId, actor }: Requester,
  { key, oldMask, action }: { key: ApiKey; oldMask: string; action: 'key.rotated' | 'key.old_value_ended' },
): Promise<void> {
  const { id, name, mask: masked, previousUntil } = key;
  const old = { old_value: oldMask, old_value_ends_at: previousUntil && instantText(previousUntil) };
  await audit(deps, transaction, { accountId, actor, action, subject: id, detail: { name, masked, ...old } });
}
