// The challenges that passkeys sign: 32 random bytes, valid once, for five minutes. Only the SHA-256 is stored. A challenge to add a passkey belongs
// to the session that requested it; it ends with the session, and when the account's credentials change.
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'sequelize';
import { sha256 } from '../../../kernel/credentials/sha256.ts';
import { fail } from '../../../kernel/errors.ts';
import type { Deps } from '../../database.ts';
import { insertChallenge, consumeChallenge, type Adder } from '../../sessions/passkeys.sql.ts';

/** How long a challenge is valid, and how long the browser waits for the user. */
export const challengeLastsMs = 5 * 60_000;

/** Creates a challenge. @param adder null: to sign in. */
export async function mintChallenge(
  { db, clock }: Deps,
  transaction: Transaction | null,
  adder: Adder | null,
): Promise<{ challenge: string; expiresAt: Date }> {
  const challenge = randomBytes(32).toString('base64url');
  const expiresAt = new Date(clock.now().getTime() + challengeLastsMs);
  await insertChallenge(db, transaction, { hash: sha256(challenge), adder, expiresAt });
  return { challenge, expiresAt };
}

/**
 * Consumes the challenge that a passkey has signed, whether or not the signature is valid.
 * @returns the challenge. @throws Failure `gone`, the same for a challenge that is unknown, used, expired or another user's.
 */
export async function spendChallenge(
  { db, clock }: Deps,
  challenge: string,
  adder: Adder | null,
): Promise<string> {
  if (await consumeChallenge(db, { hash: sha256(challenge), adder, now: clock.now() })) return challenge;
  return fail('gone', 'This request for a passkey was already used or took too long. Begin again.');
}
