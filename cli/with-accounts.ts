// Gives commands access to the accounts of an installation, through the same functions that accounts-api serves.
import { connect, type Deps } from '../accounts-api/database.ts';
import { openJobs, type Jobs } from '../accounts-api/jobs.ts';
import { systemClock } from '../kernel/clock.ts';
import { createLog } from '../kernel/log/log.ts';
import { openRedis } from '../kernel/redis.ts';
import { loadPlans } from '../kernel/plans.ts';
import { withInstallation, type Environment, type Installation } from './installation.ts';

/** As in the services; mails are jobs for the running worker, or for the next one that starts. */
export interface CommandDeps extends Deps {
  jobs: Jobs;
  passwordLengthMin: number;
}

/** Runs work on the accounts of an open installation. */
export async function withAccountsOf<T>(
  installation: Installation,
  work: (deps: CommandDeps) => Promise<T>,
): Promise<T> {
  const { accountsDatabaseUrl, settings } = installation;
  const log = createLog('command', settings.logLevel);
  const redis = settings.redisUrl === undefined ? undefined : openRedis(settings.redisUrl, log);
  const db = connect(accountsDatabaseUrl, redis);
  const jobs = openJobs(db.sequelize, accountsDatabaseUrl, log);
  try {
    const plans = loadPlans(settings.plansFile);
    const { passwordLengthMin } = settings;
    return await work({ db, plans, clock: systemClock, jobs, passwordLengthMin });
  } finally {
    await jobs.close();
    await db.close();
    redis?.close();
  }
}

/** Opens the installation for the work, and leaves it as it was. */
export function withAccounts<T>(env: Environment, work: (deps: CommandDeps) => Promise<T>): Promise<T> {
  return withInstallation(env, (installation) => withAccountsOf(installation, work));
}
