// The API key: `pk_live_`, 36 random base62 characters, 6 base62 characters of their CRC32. Only the SHA-256 of a key is ever stored.
import { randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { sha256 } from './sha256.ts';

const prefix = 'pk_live_';
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const bodyLength = 36; // 36 · log2(62) = 214 bits
const shape = /^pk_live_[0-9A-Za-z]{42}$/;

/** Makes a new key value. It is shown once; store `hashApiKey` of it. */
export function mintApiKey(): string {
  let body = '';
  while (body.length < bodyLength) {
    for (const byte of randomBytes(bodyLength)) {
      // Rejection sampling: 248 = 4 · 62 is the largest multiple of 62 in a byte, so every character is equally likely.
      if (byte < 248 && body.length < bodyLength) body += alphabet[byte % 62];
    }
  }
  return prefix + body + checksum(body);
}

/** Whether the text begins like a key. */
export function looksLikeApiKey(text: string): boolean {
  return text.startsWith(prefix);
}

/** Whether the text has the format of a key and a valid checksum, so that random text is refused before any lookup. */
export function isWellFormedApiKey(text: string): boolean {
  if (!shape.test(text)) return false;
  const body = text.slice(prefix.length, prefix.length + bodyLength);
  return text.slice(prefix.length + bodyLength) === checksum(body);
}

/** SHA-256 of the whole key, 64 hex digits; used for storage and lookup. */
export function hashApiKey(key: string): string {
  return sha256(key);
}

/** The key as displayed after its creation: `pk_live_abcd…wxyz`. */
export function maskApiKey(key: string): string {
  return `${key.slice(0, prefix.length + 4)}…${key.slice(-4)}`;
}

function checksum(body: string): string {
  let rest = crc32(body);
  let text = '';
  for (let i = 0; i < 6; i += 1) {
    text = alphabet[rest % 62] + text;
    rest = Math.floor(rest / 62);
  }
  return text;
}
