// The challenges that passkeys sign: 32 random bytes, for one use within five minutes. Only their SHA-256 is stored. One to add a passkey is of the
// session that asked for it, and ends with it and with the credentials of the account.
import { randomBytes } from 'node:crypto';
import type { Transaction } from 'sequelize';
import { sha256 } from '../../../kernel/credentials/sha256.ts';
import { fail } from '../../../kernel/errors.ts';
import type { Deps } from '../../database.ts';
import { insertChallenge, takeChallenge, type Adder } from '../../sessions/passkeys.sql.ts';

/** How long a challenge can be used, and how long the browser waits for the holder. */
export const challengeLastsMs = 5 * 60_000;

/** Makes a challenge. @param adder null: to sign in. */
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
 * Uses up the challenge that a passkey has signed, whatever comes of it.
 * @returns the challenge. @throws Failure `gone`, the same for one that is unknown, used, expired or of somebody else.
 */
export async function spendChallenge(
  { db, clock }: Deps,
  challenge: string,
  adder: Adder | null,
): Promise<string> {
  if (await takeChallenge(db, { hash: sha256(challenge), adder, now: clock.now() })) return challenge;
  return fail('gone', 'This request for a passkey was already used or took too long. Begin again.');
}
