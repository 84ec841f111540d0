// The heartbeat's message and answer, as gateways and accounts-api exchange them.
import { z } from 'zod';
import { dateParam } from '../../kernel/http/params.ts';

const batchMax = 500;
const settleMax = 10_000;

const id = z.string().min(1).max(64);
const count = z.int().min(0).max(1_000_000_000);
const total = z.int().min(0);
const month = dateParam.refine((day) => day.endsWith('-01'), 'must be the first day of a month');

const usageEntry = z
  .strictObject({
    account_id: id,
    key_id: id,
    day: dateParam,
    endpoint: z.string().min(1).max(64),
    status_class: z.int().min(1).max(5),
    calls: count,
    billed: count,
  })
  .refine((entry) => entry.billed <= entry.calls, 'must not bill more calls than there were');

const batch = z.strictObject({
  batch_id: z.uuid(),
  usage: z.array(usageEntry).max(settleMax),
  // Served without a block: used now, even beyond the limit.
  charges: z.array(z.strictObject({ account_id: id, month, calls: count })).max(settleMax),
  // Of the block of a life: calls that were served, and calls that are given back.
  spent: z
    .array(z.strictObject({ life: z.uuid(), account_id: id, month, calls: count, returned: count }))
    .max(settleMax),
  // Files that were charged, each with one call that `usage` has: one of them for a key and a day counts, the calls of others are given back.
  files: z
    .array(
      z.strictObject({
        account_id: id,
        key_id: id,
        day: dateParam,
        endpoint: z.string().min(1).max(64),
        status_class: z.int().min(1).max(5),
        file: z.string().min(1).max(500),
      }),
    )
    .max(settleMax)
    .default([]),
  last_used: z.array(z.strictObject({ key_id: id, at: z.iso.datetime() })).max(settleMax),
});

/** Of the life, one process of a gateway. What a field means that repeats a term of state.ts is said there. */
export const heartbeatMessage = z.strictObject({
  life: z.uuid(),
  /** No answer has reached this life yet: it may be created. */
  begins: z.boolean(),
  /** The number of the last change that is in force at the gateway. */
  seen: total,
  /** How long the answer may be held while there is nothing to report, in ms. */
  wait_ms: z.int().min(0).max(1000),
  /** Lives that have reported everything. */
  ended: z.array(z.uuid()).max(100),
  batch: batch.nullable(),
  wants: z
    .array(z.strictObject({ account_id: id, month, has: total, calls: count.min(1), ahead: count }))
    .max(batchMax)
    .refine(
      (wants) => new Set(wants.map((want) => want.account_id)).size === wants.length,
      'must name an account once',
    ),
  keys: z.array(z.string().regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of a key, in hex')).max(batchMax),
  /** The gateway's month, for the blocks that come with keys. */
  month,
});

const grant = z.object({
  /** In all, to the block of this life, account and month. */
  granted: z.int(),
  /** Used and out of the month, without what this block was granted and has not returned. */
  elsewhere: z.int(),
  /** How much of `elsewhere` is out with other lives. */
  out: z.int(),
  /** Of the plan; null: unlimited. */
  limit: z.int().nullable(),
});

export const heartbeatAnswer = z.object({
  /** False: the life is closed, or never began. The batch and `ended` were taken all the same. */
  is_open: z.boolean(),
  /** All changes up to this number are in the answer. */
  upto: z.int(),
  /** How long the lease lasts, counted from when the message was sent; negative: it has ended. The next message may get one. */
  lease_ms: z.int(),
  /** The accounts that changed after `seen`; null: any account may have changed. */
  changes: z.array(z.string()).nullable(),
  /** Lives with a lease, this one included. */
  gateways: z.int(),
  /** In the order of `wants`. */
  grants: z.array(grant),
  /** Blocks of this life: give back what is not drawn. */
  /** With the total granted to each block: an answer that granted some of it may have been lost. */
  recalled: z.array(z.object({ account_id: z.string(), month: z.string(), granted: z.int() })),
  /** In the order of `keys`; null: unknown, revoked, expired, or of a disabled account. */
  credentials: z.array(
    z
      .object({
        account_id: z.string(),
        key_id: z.string(),
        plan: z.string(),
        /** False while the subscription is unpaid. */
        active: z.boolean(),
        /** From the reading, so that the gateway's clock does not matter; null: never. */
        expires_in_ms: z.int().nullable(),
        /** What the key may do. */
        scopes: z.array(z.string()),
        /** Ranges of addresses from which it works; null: all. */
        addresses: z.array(z.string()).nullable(),
        /** Null: unpaid, so that no call is served. */
        block: grant.nullable(),
      })
      .nullable(),
  ),
});

export type HeartbeatMessage = z.output<typeof heartbeatMessage>;
export type HeartbeatAnswer = z.output<typeof heartbeatAnswer>;
export type Batch = z.output<typeof batch>;
export type UsageEntry = z.output<typeof usageEntry>;
export type Want = HeartbeatMessage['wants'][number];
export type Grant = z.output<typeof grant>;
export type Credential = NonNullable<HeartbeatAnswer['credentials'][number]>;
