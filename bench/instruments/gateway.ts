// A gateway with data-api and accounts-api behind it, all in this process, without Redis, for benches that call it as clients do.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { connect } from '../../accounts-api/database.ts';
import { start as startAccountsApi } from '../../accounts-api/main.ts';
import { createAccount, createKey } from '../../accounts-api/operator/operator.ts';
import { start as startDataApi } from '../../data-api/main.ts';
import { start as startGateway } from '../../gateway/main.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createLog } from '../../kernel/log/log.ts';
import { loadPlans } from '../../kernel/plans.ts';

const identitySecret = 'a secret of the bench, long enough';

/**
 * Starts the three services in this process, as `npm start` does; no limit is reached. @param directory for their files.
 * @param work receives the gateway's URL, and the key of each account.
 */
export async function withGateway(
  { directory, databaseUrl, accounts }: { directory: string; databaseUrl: string; accounts: number },
  work: (url: string, keys: readonly string[]) => Promise<void>,
): Promise<void> {
  const plansFile = path.join(directory, 'plans.yml');
  const plan =
    'id: free, name: Free, price_usd_month: 0, calls_month: null, calls_second: 100000, concurrency: 16';
  writeFileSync(plansFile, `plans:\n  - { ${plan}, features: [] }\n`);
  const plans = loadPlans(plansFile);
  const [log, clock] = [createLog('bench', 'error'), systemClock];
  const shared = { databaseUrl, identitySecret, host: '127.0.0.1', port: 0, log, clock };
  const signIn = {
    publicUrl: 'http://127.0.0.1',
    mailGoesOut: false,
    passwordLengthMin: 8,
    operatorSecondFactor: 'optional' as const,
    google: undefined,
  };
  const dataApi = await startDataApi({ ...shared, seriesTimeZone: 'UTC', publicUrl: 'http://localhost' });
  const accountsApi = await startAccountsApi({ ...shared, plans, signIn, redisUrl: undefined });
  const gateway = await startGateway({
    ...{ ...shared, plans, redisUrl: undefined, trustedProxyHops: 0, drainDelayMs: 0 },
    ...{ publicCallsPerSecond: 100_000, managementCallsPerSecond: 100_000 },
    dataApiUrls: [dataApi.url],
    accountsApiUrls: [accountsApi.url],
  });
  const db = connect(databaseUrl);
  try {
    const keys: string[] = [];
    for (let i = 0; i < accounts; i += 1) {
      const { id } = await createAccount(
        { db, plans, clock },
        { email: `bench${i}@example.org`, plan: 'free' },
      );
      keys.push((await createKey({ db, plans, clock }, id, 'bench')).key);
    }
    await work(gateway.url, keys);
  } finally {
    await db.close();
    await gateway.close();
    await accountsApi.close();
    await dataApi.close();
  }
}
