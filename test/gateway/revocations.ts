// Revokes many keys at once while they are in use, and looks them up after the revocation was answered.
import { setTimeout as pause } from 'node:timers/promises';
import { newId } from '../../accounts-api/ids.ts';
import { hashApiKey, maskApiKey, mintApiKey } from '../../kernel/credentials/api-key.ts';
import type { AccountsService } from '../services/accounts-service.ts';
import { until } from '../run/until.ts';
import type { GatewayLife } from './lives.ts';

/** The fault while the keys are revoked. */
export interface Trouble {
  begin(): Promise<unknown>;
  end(): Promise<unknown>;
}

export interface Victim {
  accountId: string;
  keyId: string;
  hash: string;
}

/** Creates accounts with one key each by two statements, as creating them one by one takes longer than revoking them. */
export async function makeVictims(service: AccountsService, count: number): Promise<Victim[]> {
  const victims = Array.from({ length: count }, () => {
    const key = mintApiKey();
    return { accountId: newId('acct'), keyId: newId('key'), hash: hashApiKey(key), mask: maskApiKey(key) };
  });
  const bind = [JSON.stringify(victims), service.clock.now()];
  const given = 'from json_to_recordset($1::json) as v("accountId" text, "keyId" text, hash text, mask text)';
  await service.deps.db.sequelize.query(
    `insert into accounts.accounts (id, email, plan, created_at)
     select "accountId", "accountId" || '@example.org', 'free', $2 ${given}`,
    { bind },
  );
  await service.deps.db.sequelize.query(
    `insert into accounts.api_keys (id, account_id, name, hash, mask, slot, created_at)
     select "keyId", "accountId", 'trial', hash, mask, 1, $2 ${given}`,
    { bind },
  );
  return victims;
}

/** Revokes by `DELETE /v1/keys/{id}`, with retries. */
export async function revoke(service: AccountsService, { accountId, keyId }: Victim): Promise<void> {
  await until('the key is revoked', async () => {
    const answer = await service.as({ accountId, keyId }, `/v1/keys/${keyId}`, { method: 'DELETE' });
    if (answer.status !== 204 && answer.status !== 503) {
      throw new Error(`DELETE was answered ${answer.status}`);
    }
    return answer.status === 204;
  });
}

/** The gateways that are called continuously, and those that have cached the keys and are called again only after a revocation is answered. */
export interface Users {
  busy: readonly GatewayLife[];
  idle: readonly GatewayLife[];
}

/** Revokes keys that gateways have cached. @returns how many lookups began afterwards, and how many of them found the key. */
export async function tryOut(
  { service, busy, idle }: Users & { service: AccountsService },
  victims: readonly Victim[],
  trouble: Trouble,
): Promise<{ after: number; found: number }> {
  const revokedAtMs = new Map<Victim, number>();
  const tally = { after: 0, found: 0, before: 0 };
  const use = { isRunning: true };
  async function look(life: GatewayLife, victim: Victim): Promise<void> {
    const startedAtMs = performance.now();
    const opens = await life.opensFor(victim.hash);
    if (startedAtMs <= (revokedAtMs.get(victim) ?? Infinity)) {
      if (opens) tally.before += 1;
      return;
    }
    tally.after += 1;
    if (opens) tally.found += 1;
  }
  for (const life of idle)
    await until('it holds all keys', async () => {
      const opens = await Promise.all(victims.map(({ hash }) => life.opensFor(hash)));
      return !opens.includes(false);
    });
  const users = busy.map(async (life, i) => {
    for (let round = i * 7; use.isRunning; round += 5) {
      const some = Array.from({ length: 5 }, (_, j) => victims[(round + j) % victims.length] as Victim);
      await Promise.all(some.map((victim) => look(life, victim)));
      await pause(10); // leaves the machine time for other work, including the revocations
    }
  });
  await until('the keys are in use', () => tally.before >= victims.length * 4);
  await trouble.begin();
  await Promise.all(
    victims.map(async (victim) => {
      await revoke(service, victim);
      revokedAtMs.set(victim, performance.now());
      await Promise.all([...busy, ...idle].map((life) => look(life, victim)));
    }),
  );
  await trouble.end();
  for (let again = 0; again < 2; again += 1)
    await Promise.all(victims.flatMap((victim) => [...busy, ...idle].map((life) => look(life, victim))));
  use.isRunning = false;
  await Promise.all(users);
  return tally;
}
