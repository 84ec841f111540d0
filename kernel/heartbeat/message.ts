// The heartbeat's message and answer, which a gateway and accounts-api exchange. gateway/PROTOCOL.md explains them.
import { z } from 'zod';
import { dateParam } from '../http/params.ts';

/** The most accounts, and the most keys, that a gateway asks about in one message: a service accepts bodies of 64 KB. */
export const itemsMax = 250;

const listMax = 500;
const rowsMax = 10_000;

const id = z.string().min(1).max(64);
const count = z.int().min(0).max(1_000_000_000);
const total = z.int().min(0);
const month = dateParam.refine((day) => day.endsWith('-01'), 'must be the first day of a month');

const place = {
  account_id: id,
  key_id: id,
  day: dateParam,
  /** The group: series, commodities, funds, amcs, securities, fixed-income, trade. */
  endpoint: z.string().min(1).max(64),
  /** 2 for 2xx, and so on. */
  status_class: z.int().min(1).max(5),
};

/** The rows of a batch, by the list that has them. */
export const batchRows = {
  /** Calls of a key. */
  usage: z
    .strictObject({ ...place, calls: count, billed: count })
    .refine((row) => row.billed <= row.calls, 'must not bill more calls than there were'),
  /** Calls served without a block, under QUOTA_OUTAGE: they are used, even beyond the limit. */
  charges: z.strictObject({ account_id: id, month, calls: count }),
  /** Calls of a life's block that were served, and calls that it gives back. */
  spent: z.strictObject({ life: z.uuid(), account_id: id, month, calls: count, returned: count }),
  /**
   * A file that was charged, with one call that `usage` has. One call counts for a file, key and day: those that other gateways charged are
   * given back.
   */
  files: z.strictObject({ ...place, /** Its path. */ file: z.string().min(1).max(500) }),
  /** The last use of a key. */
  last_used: z.strictObject({ key_id: id, at: z.iso.datetime() }),
};

const batch = z.strictObject({
  batch_id: z.uuid(),
  usage: z.array(batchRows.usage).max(rowsMax),
  charges: z.array(batchRows.charges).max(rowsMax),
  spent: z.array(batchRows.spent).max(rowsMax),
  files: z.array(batchRows.files).max(rowsMax),
  last_used: z.array(batchRows.last_used).max(rowsMax),
});

/** Sent by a life, which is one process of a gateway. */
export const heartbeatMessage = z.strictObject({
  life: z.uuid(),
  /** No answer has reached this life yet: it may be created. */
  begins: z.boolean(),
  /** The number of the last change that is in force at the gateway. */
  seen: total,
  /** How long the answer may be held while there is nothing to report, in ms. */
  wait_ms: z.int().min(0).max(1000),
  /** Lives that have reported everything. */
  ended: z.array(z.uuid()).max(100).readonly(),
  batch: batch.nullable(),
  /** Calls that blocks need. */
  wants: z
    .array(
      z.strictObject({
        account_id: id,
        month,
        /** The total granted to the block as far as the gateway knows. */
        has: total,
        /** Calls needed now beyond what the block holds. */
        calls: count.min(1),
        /** How many may be granted at once, including `calls`, while most of the month is left. */
        ahead: count,
      }),
    )
    .max(listMax)
    .refine(
      (wants) => new Set(wants.map((want) => want.account_id)).size === wants.length,
      'must name an account once',
    )
    .readonly(),
  /** SHA-256 of keys that the gateway does not know, in hex. */
  keys: z
    .array(z.string().regex(/^[0-9a-f]{64}$/, 'must be the SHA-256 of a key, in hex'))
    .max(listMax)
    .readonly(),
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
  /** False: the life is closed, or never began. The batch and `ended` were accepted all the same. */
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
  /** Blocks of this life whose undrawn calls are to be given back, with the total granted to each: the answer that granted some may have been lost. */
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
        /** The day that the key is pinned to: answers hold only what was published by then; null: none. */
        as_of: z.iso.date().nullable(),
        /** Null: unpaid, so that no call is served. */
        block: grant.nullable(),
      })
      .nullable(),
  ),
});

export type HeartbeatMessage = z.output<typeof heartbeatMessage>;
export type HeartbeatAnswer = z.output<typeof heartbeatAnswer>;
export type Batch = z.output<typeof batch>;
export type UsageRow = Batch['usage'][number];
export type ChargedFile = Batch['files'][number];
export type Want = HeartbeatMessage['wants'][number];
export type Grant = z.output<typeof grant>;
export type Credential = NonNullable<HeartbeatAnswer['credentials'][number]>;
