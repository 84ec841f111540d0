// The accounts of an installation, for commands that work on them: the same functions that accounts-api serves.
import { connect, type Deps } from '../accounts-api/database.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log.ts';
import { openRedis } from '../kernel/redis.ts';
import { loadPlans } from '../kernel/plans.ts';
import { withInstallation, type Installation } from './installation.ts';

/** Runs work on the accounts of an installation that is open already. */
export async function withAccountsOf<T>(
  installation: Installation,
  work: (deps: Deps) => Promise<T>,
): Promise<T> {
  const { databaseUrl, settings } = installation;
  const redis =
    settings.redisUrl === undefined
      ? undefined
      : openRedis(settings.redisUrl, createLog('command', settings.logLevel));
  const db = connect(databaseUrl, redis);
  try {
    return await work({ db, plans: loadPlans(settings.plansFile), clock: systemClock });
  } finally {
    await db.close();
    redis?.close();
  }
}

/** Opens the installation for the work, and leaves it as it was found. */
export function withAccounts<T>(work: (deps: Deps) => Promise<T>): Promise<T> {
  return withInstallation((installation) => withAccountsOf(installation, work));
}
