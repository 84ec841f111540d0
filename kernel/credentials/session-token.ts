// The session token: `sess_`, 16 random base32 characters that name the session, a dot, 32 random bytes in base64url. The name may be shown and used
// for lookups. Of the secret part only the SHA-256 is ever stored or sent on.
import { randomBytes } from 'node:crypto';
import { randomBase32 } from './base32.ts';
import { sha256 } from './sha256.ts';

const shape = /^(sess_[a-z2-7]{16})\.([A-Za-z0-9_-]{43})$/;

export interface SessionName {
  /** `sess_…` */
  id: string;
  /** SHA-256 of the secret part, 64 hex digits. */
  secretHash: string;
}

/** Creates the token of a new session, which is shown once, and its parts to store. */
export function mintSessionToken(): SessionName & { token: string } {
  const id = `sess_${randomBase32(16)}`;
  const secret = randomBytes(32).toString('base64url');
  return { token: `${id}.${secret}`, id, secretHash: sha256(secret) };
}

/** Parses a token; null if it is malformed. */
export function parseSessionToken(token: string): SessionName | null {
  const match = shape.exec(token);
  if (match?.[1] === undefined || match[2] === undefined) return null;
  return { id: match[1], secretHash: sha256(match[2]) };
}
