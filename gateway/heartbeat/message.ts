// The message of the heartbeat and its answer, as they are sent. accounts-api/heartbeat/message.ts has the other end.
import { z } from 'zod';

/** Calls wanted for an account's month. */
export interface Want {
  account_id: string;
  /** `YYYY-MM-01`, UTC. */
  month: string;
  /** The total granted to the block as far as the gateway knows. */
  has: number;
  /** Calls needed now beyond what the block holds; at least 1. */
  calls: number;
  /** How many may be granted at once, including `calls`, while most of the month is left. */
  ahead: number;
}

export interface Message {
  life: string;
  /** No answer has come to this life yet. */
  begins: boolean;
  /** The last change in force at the gateway. */
  seen: number;
  /** How long the answer may be held while there is nothing to say. */
  wait_ms: number;
  /** Lives that have reported everything. */
  ended: readonly string[];
  /** See journal-batch.ts. */
  batch: object | null;
  wants: readonly Want[];
  /** SHA-256 of keys, in hex. */
  keys: readonly string[];
  /** The gateway's month, for the blocks that come with keys. */
  month: string;
}

/** The most accounts, and the most keys, of a message: a service takes bodies of 64 KB. */
export const itemsMax = 250;

const grant = z.object({
  granted: z.int(),
  elsewhere: z.int(),
  out: z.int(),
  limit: z.int().nullable(),
});

const credential = z.object({
  account_id: z.string(),
  key_id: z.string(),
  plan: z.string(),
  active: z.boolean(),
  /** From the answer on; null: never. */
  expires_in_ms: z.int().nullable(),
  scopes: z.array(z.string()),
  addresses: z.array(z.string()).nullable(),
  block: grant.nullable(),
});

export const answerSchema = z.object({
  is_open: z.boolean(),
  upto: z.int(),
  lease_ms: z.int(),
  changes: z.array(z.string()).nullable(),
  gateways: z.int(),
  grants: z.array(grant),
  /** With the total granted to each block. */
  recalled: z.array(z.object({ account_id: z.string(), month: z.string(), granted: z.int() })),
  credentials: z.array(credential.nullable()),
});
export type Answer = z.output<typeof answerSchema>;
