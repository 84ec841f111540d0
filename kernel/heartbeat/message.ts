// The messages that gateways send to accounts-api in their heartbeat, and the answers. gateway/PROTOCOL.md explains them.
import { z } from 'zod';
import { dateParam } from '../http/params.ts';

/** The most accounts, and the most keys, in one message of a gateway: a service accepts bodies of 64 KB. */
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
  /** The route group: series, commodities, funds, amcs, securities, fixed-income, trade. */
  endpoint: z.string().min(1).max(64),
  /** 2 for 2xx, and so on. */
  status_class: z.int().min(1).max(5),
};

/** The rows of a batch, by the name of their list. */
export const batchRows = {
  /** Calls made with a key. */
  usage: z
    .strictObject({ ...place, calls: count, billed: count })
    .refine((row) => row.billed <= row.calls, 'must not bill more calls than there were'),
  /** Calls served without a block, under QUOTA_OUTAGE; they count even beyond the limit. */
  charges: z.strictObject({ account_id: id, month, calls: count }),
  /** Calls of a life's block that were served, and calls that it returns. */
  spent: z.strictObject({ life: z.uuid(), account_id: id, month, calls: count, returned: count }),
  /** A charged file, whose call is also in `usage`. One call counts per file, key and day; calls that other gateways charged for it are refunded. */
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
  /** Whether this life has not received an answer yet, so that it may be created. */
  begins: z.boolean(),
  /** The number of the last change that the gateway has applied. */
  seen: total,
  /** How long accounts-api may delay the answer while there is nothing to report, in ms. */
  wait_ms: z.int().min(0).max(1000),
  /** Lives that have reported everything and end. */
  ended: z.array(z.uuid()).max(100).readonly(),
  batch: batch.nullable(),
  /** Calls that blocks request. */
  wants: z
    .array(
      z.strictObject({
        account_id: id,
        month,
        /** The total granted to the block, as far as the gateway knows. */
        has: total,
        /** Calls needed now, beyond what the block has. */
        calls: count.min(1),
        /** How many to grant, including `calls`, within the gateway's share of half the rest of the month. */
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
  /** The gateway's month, for the blocks granted with keys. */
  month,
});

const grant = z.object({
  /** The total granted to the block of this life, account and month. */
  granted: z.int(),
  /** Calls of the month that are used or granted, without those granted to this block and not returned. */
  elsewhere: z.int(),
  /** The part of `elsewhere` that is granted to other lives and unused. */
  out: z.int(),
  /** The limit of the plan; null: unlimited. */
  limit: z.int().nullable(),
});

export const heartbeatAnswer = z.object({
  /** False: the life is closed, or never began. The batch and `ended` were still accepted. */
  is_open: z.boolean(),
  /** All changes up to this number are included in the answer. */
  upto: z.int(),
  /** How long the lease lasts, counted from when the message was sent; negative: it has ended. The next message may renew it. */
  lease_ms: z.int(),
  /** The accounts that changed after `seen`; null: any account may have changed. */
  changes: z.array(z.string()).nullable(),
  /** The number of lives with a lease, including this one. */
  gateways: z.int(),
  /** In the order of `wants`. */
  grants: z.array(grant),
  /**
   * Blocks of this life whose undrawn calls must be returned, with the total granted to each, as an earlier answer with part of the grant may have
   * been lost.
   */
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
        /** Counted from the reading, so that the gateway's clock does not matter; null: never. */
        expires_in_ms: z.int().nullable(),
        /** What the key may do. */
        scopes: z.array(z.string()),
        /** The address ranges from which it works; null: every address. */
        addresses: z.array(z.string()).nullable(),
        /** The day that the key is pinned to: answers hold only what was published by then. Null: the key is not pinned. */
        as_of: z.iso.date().nullable(),
        /** Null: the subscription is unpaid, so no call is served; or the gateway's month is not the current one. */
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
