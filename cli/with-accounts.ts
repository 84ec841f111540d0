// Gives commands access to the accounts of an installation, through the same functions that accounts-api serves.
import pg from 'pg';
import { DatabaseError } from 'sequelize';
import { connect, type Deps } from '../accounts-api/database.ts';
import { openJobs, type Jobs } from '../accounts-api/jobs/jobs.ts';
import { createLog } from '../kernel/log/log.ts';
import { loadPlans } from '../kernel/plans.ts';
import { openServiceClock } from '../kernel/time/database-clock.ts';
import { actingUrl } from '../migrations/roles.ts';
import { withInstallation, type Environment, type Installation } from './installation.ts';

/** As in the services; e-mails are jobs for the running worker, or for the next one that starts. */
export interface CommandDeps extends Deps {
  jobs: Jobs;
  passwordLengthMin: number;
}

const role = 'almanac_accounts_api';

/**
 * Runs work on the accounts of an open installation, as the role of accounts-api if the owner of the database may assume it: the job
 * tables then belong to that role, whether a service or a command creates them first.
 */
export async function withAccountsOf<T>(
  { accountsDatabaseUrl: url, databaseUrl: ownerUrl, settings }: Installation,
  work: (deps: CommandDeps) => Promise<T>,
): Promise<T> {
  const accountsDatabaseUrl = url === ownerUrl ? await actingUrl(url, role) : url;
  const log = createLog('command', settings.logLevel);
  const db = connect(accountsDatabaseUrl);
  const ownClock = await openServiceClock(undefined, db.read, log);
  const jobs = openJobs(db.sequelize, accountsDatabaseUrl, log);
  try {
    const plans = loadPlans(settings.plansFile);
    const { passwordLengthMin } = settings;
    return await work({ db, plans, clock: ownClock.clock, jobs, passwordLengthMin });
  } catch (error) {
    const { username } = new URL(ownerUrl);
    const isItself = accountsDatabaseUrl !== ownerUrl || username === role;
    if (isItself || !isForbidden(error)) throw error;
    throw new Error(
      `PostgreSQL refuses it to the role of DATABASE_URL, which may not act as ${role}. Have an administrator of the server run ` +
        `grant ${role} to ${username}; or use the DATABASE_URL of accounts-api.`,
      { cause: error },
    );
  } finally {
    await jobs.close();
    await ownClock.close();
    await db.close();
  }
}

/** Whether PostgreSQL has refused a statement: as pg throws it, or Sequelize. */
function isForbidden(error: unknown): boolean {
  const thrown = error instanceof DatabaseError ? error.original : error;
  return thrown instanceof pg.DatabaseError && thrown.code === '42501';
}

/** Opens the installation for the work, and restores its previous state. */
export function withAccounts<T>(env: Environment, work: (deps: CommandDeps) => Promise<T>): Promise<T> {
  return withInstallation(env, (installation) => withAccountsOf(installation, work));
}
