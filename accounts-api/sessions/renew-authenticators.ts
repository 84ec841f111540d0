// Re-encrypts the secrets of authenticator apps after the installation's key was replaced, as the worker does for webhook secrets.
import type { Log } from '../../kernel/log/log.ts';
import type { Deps } from '../database.ts';
import type { Secrets } from '../secrets.ts';
import { selectOutdatedAuthenticators, storeSealed } from './second-factor.sql.ts';

const batchMax = 100;

/** The binding of an account's encrypted secret. */
export function sealedFor(accountId: string): string {
  return `totp ${accountId}`;
}

/** Re-encrypts secrets that were encrypted with a previous key. A secret that cannot be decrypted stays unchanged and is logged. */
export async function renewAuthenticators(
  { db, log }: Pick<Deps, 'db'> & { log: Log },
  secrets: Secrets,
): Promise<void> {
  for (let after = ''; ;) {
    const last = await db.inLedgerTransaction(async (transaction) => {
      const batch = { keyId: secrets.keyId, after, limit: batchMax };
      const rows = await selectOutdatedAuthenticators(db, transaction, batch);
      for (const { account_id: accountId, secret: sealed } of rows) {
        if (!secrets.knows(sealed)) {
          const what = 'the secret of a second factor cannot be decrypted; set WEBHOOK_SECRET_KEY_PREVIOUS';
          log.error({ account_id: accountId }, what);
          continue;
        }
        const secret = secrets.renew(sealedFor(accountId), sealed);
        await storeSealed(db, transaction, { accountId, secret });
      }
      return rows.length === batchMax ? rows.at(-1)?.account_id : undefined;
    });
    if (last === undefined) return;
    after = last;
  }
}
