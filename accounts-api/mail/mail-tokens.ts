// The secret in a mailed link: 32 random bytes, created when the e-mail is sent; only its SHA-256 is stored. Each kind of link has its own lifetime.
import { randomBytes } from 'node:crypto';
import { z } from 'zod';
import { sha256 } from '../../kernel/credentials/sha256.ts';
import { fail } from '../../kernel/errors.ts';
import type { Deps } from '../database.ts';
import { insertMailToken, type AccountLink, type Purpose, type SignUpLink } from './mail-tokens.sql.ts';

const minute = 60_000;
export const lifetimeMs: Record<Purpose, number> = {
  sign_up: 24 * 60 * minute,
  verify_email: 24 * 60 * minute,
  change_email: 24 * 60 * minute,
  reset_password: 60 * minute,
};

const tokenRule = 'must be the token of a mailed link';
export const tokenField = z.string({ error: tokenRule }).regex(/^[A-Za-z0-9_-]{43}$/, tokenRule);

/** Creates a link's token. @param credentialVersion of the account; the link becomes invalid when it rises. */
export async function mintMailToken(
  deps: Deps,
  about: (SignUpLink | AccountLink) & { credentialVersion: number | null },
): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  const createdAt = deps.clock.now();
  const expiresAt = new Date(createdAt.getTime() + lifetimeMs[about.purpose]);
  await insertMailToken(deps.db, { ...about, hash: hashMailToken(token), createdAt, expiresAt });
  return token;
}

export function hashMailToken(token: string): string {
  return sha256(token);
}

/** @throws Failure `gone`, the same for links that are unknown, used, expired or superseded. */
export function failGone(): never {
  return fail(
    'gone',
    'This link is no longer valid. It was used, has expired, or was replaced by a newer one.',
  );
}
