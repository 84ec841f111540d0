// API keys: list, make, revoke. The value leaves in one answer, at creation; its SHA-256 is all that is kept.
// Revocation is immediate: without Redis credentials are looked up in PostgreSQL (quota/internal.ts) on every call; with it the
// credential cache follows every change before that is answered.
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { audit } from '../audit.ts';
import { hashApiKey, maskApiKey, mintApiKey } from '../../kernel/credentials/api-key.ts';
import type { CursorContent, Cursors } from '../../kernel/http/cursor.ts';
import { fail } from '../../kernel/errors.ts';
import type { Handler } from '../../kernel/http/server.ts';
import { integerParam, parseBody, parseQuery } from '../../kernel/http/params.ts';
import { requesterOf, type Requester } from '../requester.ts';
import type { Deps } from '../database.ts';
import { sendList, sendOne } from '../envelope.ts';
import { nameField, noParameters } from '../fields.ts';
import { idempotently } from './idempotency.ts';
import { newId } from '../ids.ts';
import {
  freeExpiredSlots,
  lowestFreeSlot,
  selectKeys,
  selectNthNewest,
  type KeyPosition,
} from './keys.sql.ts';
import type { ApiKey } from '../models/api-key.ts';

/** How many active keys an account may hold; the table has as many slots. */
export const keysMax = 3;
const keysMadePerHourMax = 10;
const hourMs = 60 * 60_000;

const page = z.object({ limit: integerParam(1, 1000).default(100), cursor: z.string().optional() });
const newKey = z.strictObject({
  name: nameField,
  expires_at: z.iso
    .datetime({ offset: true, error: 'must be an instant, such as 2027-01-31T00:00:00Z' })
    .nullish()
    .transform((text) => (text === null || text === undefined ? null : new Date(text))),
});

/** GET /v1/keys: those that work first. */
export function listKeys(deps: Deps & { cursors: Cursors }): Handler {
  return async (request, response, call) => {
    const { accountId } = requesterOf(call);
    const { limit, cursor } = parseQuery(page, request.url);
    const now = deps.clock.now();
    const pageQuery = JSON.stringify(['keys', accountId]);
    const after = cursor === undefined ? null : positionOf(deps.cursors.open(cursor, pageQuery));
    const keys = await call.stage('sql', () =>
      selectKeys(deps.db, accountId, { now, after, limit: limit + 1 }),
    );
    const shown = keys.slice(0, limit);
    const last = keys.length > limit ? shown.at(-1) : undefined;
    const records = shown.map((key) => keyRecord(key, now));
    const end = last && [works(last, now) ? 1 : 0, last.createdAt.toISOString(), last.id];
    sendList(response, records, end === undefined ? null : deps.cursors.seal(end, pageQuery));
  };
}

/** POST /v1/keys {name, expires_at?} → 201, with the value as `key`: the only time it is seen. */
export function createKey(deps: Deps): Handler {
  return async (request, response, call) => {
    const caller = requesterOf(call);
    parseQuery(noParameters, request.url);
    const body = parseBody(newKey, request.body);
    const key = request.get('idempotency-key');
    const asked = { accountId: caller.accountId, route: 'POST /v1/keys', key, body };
    const answer = await call.stage('sql', () =>
      idempotently(deps, asked, (remember) =>
        deps.db.inTransaction(async (transaction) => {
          const { record, value } = await issueKey(deps, transaction, caller, {
            name: body.name,
            expiresAt: body.expires_at,
          });
          await remember(transaction, { status: 201, data: record }); // without the value: a replay cannot show it
          return { status: 201, data: { ...record, key: value } };
        }),
      ),
    );
    if (answer.replayed) response.set('idempotent-replayed', 'true');
    sendOne(response, answer.status, answer.data);
  };
}

/** DELETE /v1/keys/{id} → 204. Again: 204 too, for a retry whose first answer was lost must not look like a failure. */
export function deleteKey(deps: Deps): Handler {
  return async (request, response, call) => {
    const caller = requesterOf(call);
    parseQuery(noParameters, request.url);
    const id = String(request.params['id']);
    await call.stage('sql', () => revokeKey(deps, caller, id));
    response.set('cache-control', 'no-store').status(204).end();
  };
}

/** What is shown of a key, again and again. */
export interface KeyRecord {
  id: string;
  name: string;
  /** `pk_live_abcd…wxyz` */
  masked: string;
  status: 'active' | 'expired' | 'revoked';
  /** ISO instants. */
  created_at: string;
  last_used_at: string | null;
  expires_at: string | null;
  revoked_at: string | null;
}

/** The key as it is shown. */
export function keyRecord(key: ApiKey, now: Date): KeyRecord {
  return {
    id: key.id,
    name: key.name,
    masked: key.mask,
    status: key.revokedAt !== null ? 'revoked' : works(key, now) ? 'active' : 'expired',
    created_at: key.createdAt.toISOString(),
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    expires_at: key.expiresAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}

/**
 * Makes a key in a transaction that is under way. Those who make keys of one account take turns by the lock on its row.
 * @returns the record, and the value, which is to be shown once.
 * @throws Failure `key_limit_reached` where the account holds three active keys, `invalid_body` for an expiry that is past,
 * `rate_limited` for the eleventh within an hour.
 */
export async function issueKey(
  deps: Deps,
  transaction: Transaction,
  { accountId, actor }: Requester,
  wish: { name: string; expiresAt: Date | null },
): Promise<{ record: KeyRecord; value: string }> {
  const now = deps.clock.now();
  if (wish.expiresAt !== null && wish.expiresAt <= now) {
    fail('invalid_body', '"expires_at": must be in the future.', { param: 'expires_at' });
  }
  // Not FOR UPDATE: that would make calls wait whose rows only refer to the account.
  const lock = transaction.LOCK.NO_KEY_UPDATE;
  const account = await deps.db.accounts.findByPk(accountId, { transaction, lock });
  if (account === null) fail('unauthorized', 'The account of this credential no longer exists.');

  await freeExpiredSlots(deps.db, transaction, accountId, now);
  const slot = await lowestFreeSlot(deps.db, transaction, accountId, keysMax);
  if (slot === null) {
    fail('key_limit_reached', `An account may hold ${keysMax} active keys: revoke one to make another.`);
  }
  if (actor.actorKind !== 'operator') await requireMakingSlowly(deps, transaction, accountId, now);
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
      lastUsedAt: null,
      revokedAt: null,
    },
    { transaction },
  );
  const detail = { name: key.name, masked: key.mask, expires_at: key.expiresAt?.toISOString() ?? null };
  await audit(deps, transaction, { accountId, actor, action: 'key.created', subject: key.id, detail });
  return { record: keyRecord(key, now), value };
}

/**
 * Ends a key at once; one that has ended already stays as it is.
 * @throws Failure `not_found` where the account has no such key.
 */
export async function revokeKey(deps: Deps, caller: Requester, keyId: string): Promise<KeyRecord> {
  const now = deps.clock.now();
  return deps.db.inTransaction(async (transaction) => {
    const lock = transaction.LOCK.NO_KEY_UPDATE;
    const key = await deps.db.keys.findOne({
      where: { id: keyId, accountId: caller.accountId },
      transaction,
      lock,
    });
    if (key === null) fail('not_found', 'The account has no key of that id.');
    if (key.revokedAt === null) await endKeyWithin(deps, transaction, caller, key);
    return keyRecord(key, now);
  });
}

/** Ends a key that is held by a transaction which is under way. */
export async function endKeyWithin(
  deps: Deps,
  transaction: Transaction,
  { accountId, actor }: Requester,
  key: ApiKey,
): Promise<void> {
  const now = deps.clock.now();
  await key.update({ revokedAt: now, slot: null }, { transaction });
  const detail = { name: key.name, masked: key.mask };
  await audit(deps, transaction, { accountId, actor, action: 'key.revoked', subject: key.id, detail });
}

/** @throws Failure `rate_limited` where ten keys were made within the hour: a loop that makes and revokes is a mistake. */
async function requireMakingSlowly(
  deps: Deps,
  transaction: Transaction,
  accountId: string,
  now: Date,
): Promise<void> {
  const tenth = await selectNthNewest(deps.db, transaction, accountId, keysMadePerHourMax);
  const waitMs = tenth === null ? 0 : tenth.getTime() + hourMs - now.getTime();
  if (waitMs <= 0) return;
  fail('rate_limited', `An account may make ${keysMadePerHourMax} keys an hour.`, {
    headers: { 'retry-after': String(Math.ceil(waitMs / 1000)) },
  });
}

function works(key: ApiKey, now: Date): boolean {
  return key.revokedAt === null && (key.expiresAt === null || key.expiresAt > now);
}

/** Where the page before ended, as its cursor says. */
function positionOf([active, createdAt, id]: CursorContent): KeyPosition {
  return { active: active === 1, createdAt: new Date(String(createdAt)), id: String(id) };
}
