// Ids of accounts, keys and pending sign-ups: a prefix that says what it is, and 100 random bits that nobody can guess.
import { randomBytes } from 'node:crypto';

const base32 = 'abcdefghijklmnopqrstuvwxyz234567';
const length = 20;

/** A new id, such as `acct_…` or `key_…`. */
export function newId(prefix: 'acct' | 'key' | 'sup'): string {
  // 256 is 8 · 32, so the remainder is as uniform as the byte.
  return `${prefix}_${Array.from(randomBytes(length), (byte) => base32[byte % 32]).join('')}`;
}
