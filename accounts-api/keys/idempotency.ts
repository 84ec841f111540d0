// Idempotency-Key: a retried request gets the first answer and has no further effect. The answer is stored in the transaction that does the work, so
// a crash loses both or neither.
import type { Request } from 'express';
import type { Transaction } from 'sequelize';
import { z } from 'zod';
import { sha256 } from '../../kernel/credentials/sha256.ts';
import { fail } from '../../kernel/errors.ts';
import type { Deps } from '../database.ts';
import { findAccount } from '../models/find-account.ts';
import { claimKey, releaseKey, selectClaimedKey, storeAnswer, type Claim } from './idempotency.sql.ts';

export interface Answer {
  status: number;
  data: object;
}

/** Stores the answer for retries; call it last in the transaction of the work. */
export type Remember = (transaction: Transaction, answer: Answer) => Promise<void>;

const retentionMs = 24 * 60 * 60_000;
// Longer than any request runs: an older claim without an answer is from a process that died.
const leaseMs = 60_000;

/**
 * Runs the work once per key; without the header, it always runs. Failures are not stored, so a retry runs again.
 * @param asked.key from `idempotencyKeyOf`. @param asked.body as parsed, so that its formatting does not matter.
 * @throws Failure `idempotency_in_progress`, or `idempotency_mismatch` if the key was used with another body; `unauthorized` if the account was closed.
 */
export async function idempotently(
  deps: Deps,
  asked: { accountId: string; route: string; key: string | undefined; body: object },
  work: (remember: Remember) => Promise<Answer>,
): Promise<Answer & { replayed: boolean }> {
  if (asked.key === undefined) return { ...(await work(() => Promise.resolve())), replayed: false };

  const now = deps.clock.now();
  const claim: Claim = {
    accountId: asked.accountId,
    route: asked.route,
    keyHash: sha256(asked.key),
    requestHash: sha256(JSON.stringify(asked.body)),
    claimedAt: now,
  };
  const claimed = await claimKey(deps.db, claim, {
    claimedBefore: new Date(now.getTime() - retentionMs),
    runningSince: new Date(now.getTime() - leaseMs),
  });
  if (!claimed) return { ...(await replay(deps, claim)), replayed: true };
  try {
    const answer = await work(async (transaction, remembered) => {
      const stored = await storeAnswer(deps.db, transaction, claim, remembered);
      if (!stored) fail('conflict', 'A retry of this request is already running.');
    });
    return { ...answer, replayed: false };
  } catch (error) {
    await releaseKey(deps.db, claim);
    throw error;
  }
}

async function replay(deps: Deps, claim: Claim): Promise<Answer> {
  const stored = await selectClaimedKey(deps.db, claim);
  if (stored === null) await findAccount(deps, claim.accountId);
  if (stored !== null && stored.requestHash !== claim.requestHash) {
    fail('idempotency_mismatch', 'This Idempotency-Key was used with a different body. Use a new one.');
  }
  if (stored === null || stored.status === null || stored.answer === null) {
    fail('idempotency_in_progress', 'The first request with this Idempotency-Key is still running.', {
      headers: { 'retry-after': '1' },
    });
  }
  return { status: stored.status, data: stored.answer };
}

/** The declaration of the header, for an endpoint. */
export const idempotencyHeader = {
  'Idempotency-Key': z
    .string()
    .max(255)
    .optional()
    .describe('Chosen by the client: the same for a retry of the request.'),
};

/** The key in the header, if it was sent. The draft standard quotes it; most clients do not. @throws Failure `invalid_request`. */
export function idempotencyKeyOf(request: Request): string | undefined {
  const header = request.get('idempotency-key');
  if (header === undefined) return undefined;
  const key = header.replace(/^"(.*)"$/, '$1');
  if (key.length < 1 || key.length > 255) {
    fail('invalid_request', 'The header Idempotency-Key must have 1 to 255 characters.');
  }
  return key;
}
