// Ids of accounts, keys, pending sign-ups, checkouts, webhooks, their messages and events, follows, passkeys: a prefix for the kind, and 100 random bits.
import { randomBase32 } from '../kernel/credentials/base32.ts';

/** A new id, such as `acct_…` or `key_…`. */
export function newId(prefix: 'acct' | 'key' | 'sup' | 'chk' | 'wh' | 'msg' | 'evt' | 'flw' | 'psk'): string {
  return `${prefix}_${randomBase32(20)}`;
}
