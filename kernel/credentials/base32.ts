// Random text for ids: lower-case base32, 5 bits per character, which people can read out to each other.
import { randomBytes } from 'node:crypto';

const digits = 'abcdefghijklmnopqrstuvwxyz234567';

export function randomBase32(length: number): string {
  // 256 is a multiple of 32, so the remainder is uniform.
  return Array.from(randomBytes(length), (byte) => digits[byte % 32]).join('');
}
