// Finds the owners of keys by the hashes of the keys. PostgreSQL is asked each time, so a revocation or change is effective at once.
import { planOf } from '../../kernel/plans.ts';
import type { Deps } from '../database.ts';
import { selectCredentials } from './credentials.sql.ts';
import type { Credential } from '../../kernel/heartbeat/message.ts';

/** A credential as found, without the block of its account. */
export type FoundCredential = Omit<Credential, 'block'>;

/** In the order of the hashes; null: unknown, revoked, expired, or of a disabled account. */
export async function findCredentials(
  { db, plans, clock }: Deps,
  hashes: readonly string[],
): Promise<(FoundCredential | null)[]> {
  if (hashes.length === 0) return [];
  const now = clock.now();
  const rows = await selectCredentials(db, hashes, now);
  const found = new Map(
    rows.map(({ hash, plan, expires_at: expiresAt, ...row }) => {
      const expires_in_ms = expiresAt === null ? null : expiresAt.getTime() - now.getTime();
      return [hash, { ...row, plan: planOf(plans, plan).id, expires_in_ms }];
    }),
  );
  return hashes.map((hash) => found.get(hash) ?? null);
}
