// API keys: list, create, revoke (change-key.ts and rotate-key.ts change them). The value is shown once, at creation; only its SHA-256 is stored. A
// revocation is answered when no gateway can use the key any more: each has acknowledged it, or its lease has ended (heartbeat/changes.ts).
import { instantText } from '../../kernel/clock.ts';
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { audit } from '../audit.ts';
import { hashApiKey, maskApiKey, mintApiKey } from '../../kernel/credentials/api-key.ts';
import { memberOf } from '../../kernel/entries.ts';
import { keyScopes } from '../../kernel/credentials/key-access.ts';
import { fail, refuseField } from '../../kernel/errors.ts';
import type { Reply } from '../../kernel/http/answer.ts';
import type { CursorContent } from '../../kernel/http/cursor.ts';
import { listParams } from '../../kernel/http/list.ts';
import type { ServiceCall } from '../../kernel/http/server.ts';
import type { Requester } from '../requester.ts';
import type { Deps } from '../database.ts';
import type { ServiceDeps } from '../deps.ts';
import { endpoint } from '../endpoint.ts';
import { emitEvents } from '../events.ts';
import { nameField } from '../fields.ts';
import { one } from '../../kernel/http/service-endpoint.ts';
import { page } from '../../kernel/http/pages.ts';
import { idempotencyHeader, idempotencyKeyOf, idempotently } from './idempotency.ts';
import { newId } from '../ids.ts';
import { accessFields, grantedAccess, type AccessWish } from './key-access.ts';
import {
  freeExpiredSlots,
  lowestFreeSlot,
  selectKeys,
  selectNthNewest,
  type KeyPosition,
} from './keys.sql.ts';
import { pinField, requirePin } from './pin.ts';
import type { ApiKey } from '../models/api-key.ts';
import { lockAccount, lockOwnAccount } from '../models/find-account.ts';

/** How many active keys an account may have; the table has as many slots. */
export const keysMax = 3;
const keysMadePerHourMax = 10;
const hourMs = 60 * 60_000;

/** The fields of a key that are always shown. */
export const keySchema = z.object({
  id: z.string(),
  name: z.string(),
  masked: z.string().describe('`pk_live_abcd…wxyz`'),
  status: z.enum(['active', 'expired', 'revoked']),
  created_at: z.iso.datetime(),
  last_used_at: z.iso.datetime().nullable(),
  expires_at: z.iso.datetime().nullable(),
  revoked_at: z.iso.datetime().nullable(),
  scopes: z
    .array(z.enum(keyScopes))
    .describe('What it may do: data endpoints, reading the account, changing it.'),
  addresses: z.array(z.string()).nullable().describe('From where it works; null: from everywhere.'),
  as_of: z.iso
    .date()
    .nullable()
    .describe(
      'The day that the key is pinned to: answers are as if nothing was published after it. Null: no such day.',
    ),
  old_value_ends_at: z.iso
    .datetime()
    .nullable()
    .describe('After a rotation: until when the old value also works.'),
});
export type KeyRecord = z.output<typeof keySchema>;

export const keysQuery = listParams({
  fields: keySchema.keyof().options,
  sorts: ['created_at'],
  sort: 'status',
});

export const keyId = z.string().describe('An id of `/v1/keys`.');

const newKey = z.strictObject({
  name: nameField,
  expires_at: z.iso
    .datetime({ offset: true, error: 'must be an instant, such as 2027-01-31T00:00:00Z' })
    .refine((text) => !(new Date(text).getUTCFullYear() > 9999), 'must be before the year 10000 (UTC)')
    .nullish()
    .describe('Null or absent: the key does not expire.')
    .transform((text) => (text === null || text === undefined ? null : new Date(text))),
  ...accessFields,
  as_of: pinField,
});

export const listKeys = endpoint({
  summary: 'The API keys of the account.',
  description: 'By `status`, active keys come first, then the newest.',
  requester: 'account',
  query: keysQuery,
  rows: keySchema,
  handler: (deps, { requester: { accountId }, query, call }) => keyPage(deps, accountId, query, call),
});

/** A page of the keys of an account, for its holder and for operators. */
export function keyPage(
  { db, clock, cursors }: ServiceDeps,
  accountId: string,
  query: z.output<z.ZodObject<typeof keysQuery>>,
  call: ServiceCall,
): Reply {
  const now = clock.now();
  const { sort } = query;
  return page(cursors, {
    query,
    of: ['keys', accountId],
    fileName: 'keys',
    async read(place, limit) {
      const after = place === null ? null : positionOf(place);
      const keys = await call.stage('sql', () => selectKeys(db, accountId, { now, sort, after, limit }));
      return keys.map((key) => ({
        row: keyRecord(key, now),
        place: [sort === 'status' && works(key, now) ? 1 : 0, key.createdAt.toISOString(), key.id],
      }));
    },
  });
}

export const createKey = endpoint({
  summary: 'Creates an API key; its value is only in this answer.',
  description: 'With an `Idempotency-Key`, a retry creates no second key and is answered without the value.',
  requester: 'account',
  body: newKey,
  requestHeaders: idempotencyHeader,
  answers: { 201: keySchema.extend({ key: z.string().optional().describe('The value.') }) },
  errors: [
    'invalid_request',
    'forbidden',
    'plan_required',
    'key_limit_reached',
    'rate_limited',
    'conflict',
    'idempotency_in_progress',
    'idempotency_mismatch',
  ],
  headers: ['Idempotent-Replayed'],
  handler: async (deps, { requester, body, call, request }) => {
    const key = idempotencyKeyOf(request);
    const asked = { accountId: requester.accountId, route: 'POST /v1/keys', key, body };
    const { status, data, replayed } = await call.stage('sql', () =>
      idempotently(deps, asked, (remember) =>
        deps.db.inLedgerTransaction(async (transaction) => {
          const { record, value } = await issueKey(deps, transaction, requester, {
            name: body.name,
            expiresAt: body.expires_at,
            access: { scopes: body.scopes, addresses: body.addresses },
            asOf: body.as_of,
          });
          await remember(transaction, { status: 201, data: record }); // without the value, which a replay cannot show
          return { status: 201, data: { ...record, key: value } };
        }),
      ),
    );
    return one(data, { status, headers: replayed ? { 'idempotent-replayed': 'true' } : {} });
  },
});

/** Repeated calls also answer 204: a retry after a lost answer must not look like a failure. */
export const deleteKey = endpoint({
  summary: 'Revokes an API key; the next call with it is refused.',
  params: { id: keyId },
  requester: 'account',
  answers: { 204: null },
  errors: ['not_found'],
  handler: async (deps, { requester, params, call }) => {
    await call.stage('sql', () => revokeKey(deps, requester, memberOf(params, 'id')));
    return { status: 204 };
  },
});

/** The key in the format of answers. */
export function keyRecord(key: ApiKey, now: Date): KeyRecord {
  return {
    id: key.id,
    name: key.name,
    masked: key.mask,
    status: key.revokedAt !== null ? 'revoked' : works(key, now) ? 'active' : 'expired',
    created_at: instantText(key.createdAt),
    last_used_at: key.lastUsedAt && instantText(key.lastUsedAt),
    expires_at: key.expiresAt && instantText(key.expiresAt),
    revoked_at: key.revokedAt && instantText(key.revokedAt),
    scopes: key.scopes,
    addresses: key.addresses,
    as_of: key.asOf,
    old_value_ends_at:
      key.previousUntil !== null && key.previousUntil > now && works(key, now)
        ? instantText(key.previousUntil)
        : null,
  };
}

/**
 * Creates a key, within a transaction. The lock on the account's row serializes the creation of its keys.
 * @returns the record, and the value, which must be shown once.
 * @param wish.asOf the day that the key is pinned to; it never changes.
 * @throws Failure `key_limit_reached` if the account has three active keys, `invalid_body` for an expiry in the past or a day in the future,
 * `plan_required` if the plan has no pinned keys, `rate_limited` for the eleventh key within an hour, `forbidden` if it would have more access than
 * the key that creates it.
 */
export async function issueKey(
  deps: Deps,
  transaction: Transaction,
  requester: Requester,
  wish: { name: string; expiresAt: Date | null; access?: AccessWish; asOf?: string | null },
): Promise<{ record: KeyRecord; value: string }> {
  const { accountId, actor } = requester;
  const { asOf = null } = wish;
  const now = deps.clock.now();
  if (wish.expiresAt !== null && wish.expiresAt <= now)
    refuseField('expires_at', '"expires_at" must be in the future.');
  const account = await lockOwnAccount(deps, transaction, accountId);
  if (asOf !== null) requirePin(deps, account, asOf);

  await freeExpiredSlots(deps.db, transaction, accountId, now);
  const slot = await lowestFreeSlot(deps.db, transaction, { of: 'api_keys', accountId, max: keysMax });
  if (slot === null) {
    fail(
      'key_limit_reached',
      `This account already has ${keysMax} active keys. Revoke one to create another.`,
    );
  }
  if (actor.actorKind !== 'operator') await requireMakingSlowly(deps, transaction, accountId, now);
  const access = await grantedAccess(deps, transaction, requester, {
    ...{ before: null, wish: wish.access ?? {}, isPinned: asOf !== null },
  });
  const value = mintApiKey();
  const key = await deps.db.keys.create(
    {
      id: newId('key'),
      accountId,
      name: wish.name,
      hash: hashApiKey(value),
      mask: maskApiKey(value),
      slot,
      createdAt: now,
      expiresAt: wish.expiresAt,
      asOf,
      ...access,
    },
    { transaction },
  );
  const detail = {
    name: key.name,
    masked: key.mask,
    expires_at: key.expiresAt && instantText(key.expiresAt),
  };
  await audit(deps, transaction, {
    ...{ accountId, actor, action: 'key.created', subject: key.id },
    detail: { ...detail, ...access, ...(asOf !== null && { as_of: asOf }) },
  });
  await emitEvents(deps, transaction, {
    type: 'key.created',
    accountId,
    data: { key: key.id, ...detail },
  });
  return { record: keyRecord(key, now), value };
}

/**
 * Revokes a key at once; an ended key stays unchanged.
 * @throws Failure `not_found` if the account has no such key.
 */
export async function revokeKey(deps: Deps, caller: Requester, id: string): Promise<KeyRecord> {
  const now = deps.clock.now();
  return deps.db.inTransaction(async (transaction) => {
    const key = await findKey(deps, transaction, caller.accountId, id);
    if (key.revokedAt === null) {
      await key.update({ revokedAt: deps.clock.now(), slot: null }, { transaction });
      await reportRevokedKey(deps, transaction, caller, key);
    }
    return keyRecord(key, now);
  });
}

/** A key of the account, locked after its account. @throws Failure `not_found`, also for one of another account. */
export async function findKey(
  deps: Deps,
  transaction: Transaction,
  accountId: string,
  id: string,
): Promise<ApiKey> {
  await lockAccount(deps, transaction, accountId);
  const lock = transaction.LOCK.NO_KEY_UPDATE;
  const key = await deps.db.keys.findOne({ where: { id, accountId }, transaction, lock });
  return key ?? fail('not_found', 'The account has no key with this id.');
}

/** Writes the audit row and the event of a key that the transaction has revoked. */
export async function reportRevokedKey(
  deps: Deps,
  transaction: Transaction,
  { accountId, actor }: Requester,
  { id, name, mask: masked }: Pick<ApiKey, 'id' | 'name' | 'mask'>,
): Promise<void> {
  const detail = { name, masked };
  await audit(deps, transaction, { accountId, actor, action: 'key.revoked', subject: id, detail });
  await emitEvents(deps, transaction, { type: 'key.revoked', accountId, data: { key: id, ...detail } });
}

/** @throws Failure `rate_limited` after ten keys within an hour: a loop that creates and revokes keys is a mistake. */
async function requireMakingSlowly(
  deps: Deps,
  transaction: Transaction,
  accountId: string,
  now: Date,
): Promise<void> {
  const tenth = await selectNthNewest(deps.db, transaction, accountId, keysMadePerHourMax);
  const waitMs = tenth === null ? 0 : tenth.getTime() + hourMs - now.getTime();
  if (waitMs <= 0) return;
  fail('rate_limited', `An account may create ${keysMadePerHourMax} keys an hour. Try again later.`, {
    headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
  });
}

function works(key: ApiKey, now: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}

/** Parses a cursor into the position at the end of the previous page. */
function positionOf([active, createdAt, id]: CursorContent): KeyPosition {
  return { active: active === 1, createdAt: new Date(String(createdAt)), id: String(id) };
}
