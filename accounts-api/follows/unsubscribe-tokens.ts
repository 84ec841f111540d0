// The tokens of the unsubscribe links in e-mails: each ends one follow, or all follows of an account, and allows nothing else. A token is valid as long
// as the installation keeps its secret. Tokens are signed, so none is stored.
import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { entryAt } from '../../kernel/entries.ts';

/** The follow that a token ends, or the account whose follows it ends. */
export type Ended = `flw_${string}` | `acct_${string}`;

export interface UnsubscribeTokens {
  of(ended: Ended): string;
  /** Opens a token; null if this installation has not signed it. */
  read(token: string): Ended | null;
}

const form = /^((?:flw|acct)_[a-z2-7]{20})\.([A-Za-z0-9_-]{43})$/;

/** @param secrets the keys are derived from these: the first signs, all are accepted. At least one. */
export function createUnsubscribeTokens(secrets: readonly string[]): UnsubscribeTokens {
  const keys = secrets.map((secret) =>
    Buffer.from(hkdfSync('sha256', secret, '', 'almanac unsubscribe', 32)),
  );
  const signatureOf = (ended: string, key: Buffer) => createHmac('sha256', key).update(ended).digest();
  return {
    of: (ended) => `${ended}.${signatureOf(ended, entryAt(keys, 0)).toString('base64url')}`,
    read(token) {
      const [, ended = '', signature = ''] = form.exec(token) ?? [];
      const sent = Buffer.from(signature, 'base64url');
      const isGood = keys.some((key) => {
        const right = signatureOf(ended, key);
        return sent.length === right.length && timingSafeEqual(sent, right);
      });
      return isGood ? (ended as Ended) : null;
    },
  };
}
