// almanac migrate: migrates the database to the newest schema, and creates the roles of the services.
import { partitionObservations, partitionsBounds } from '../../migrations/partitions.ts';
import { renewServiceRoles, type RolesReport } from '../../migrations/roles.ts';
import { waitForMigrations } from '../../migrations/wait.ts';
import { readSettings } from '../../kernel/settings/settings.ts';
import { examples, jsonFlag, printJson, UsageError, type DeclareCommand, type Terminal } from '../command.ts';
import { withInstallation, type Installation } from '../installation.ts';

const waitMs = 600_000;

export const migrate: DeclareCommand = (command, terminal) => {
  command
    .description(
      `In a database of your own (DATABASE_URL, of its owner) it makes the roles almanac_data_api, almanac_accounts_api and almanac_publisher, unless they are there, gives them their rights, and the passwords DATA_API_DATABASE_PASSWORD, ACCOUNTS_API_DATABASE_PASSWORD and PUBLISHER_DATABASE_PASSWORD if those are set. Exit code 1 if a password is set and cannot be given.`,
    )
    .option(
      '--wait',
      'change nothing, and end when another process has brought the database to this version; exit code 1 after ten minutes. The role of a service is enough',
    )
    .option(
      '--partitions <number>',
      'also split the observations into this many partitions, once; see docs/scaling.md',
      partitionsOf,
    )
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac migrate', 'almanac migrate --wait'))
    .action(({ wait, partitions, json }) => {
      if (wait !== true) return bringUp(terminal, { partitions, asJson: json === true });
      if (partitions !== undefined) throw new UsageError('--wait changes nothing: leave out --partitions.');
      return waitForOthers(terminal, json === true);
    });
};

function partitionsOf(text: string): number {
  const { min, max } = partitionsBounds;
  const count = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0;
  if (count < min || count > max)
    throw new UsageError(`--partitions takes a whole number from ${min} to ${max}, not "${text}".`);
  return count;
}

async function bringUp(
  terminal: Terminal,
  { partitions, asJson }: { partitions: number | undefined; asJson: boolean },
): Promise<void> {
  await withInstallation(
    terminal.env,
    async (installation) => {
      const { migrated, databaseDirectory, databaseUrl } = installation;
      if (partitions !== undefined) await partitionObservations(databaseUrl, partitions);
      // Those of the embedded database were created when it was opened.
      const roles = databaseDirectory === undefined ? await renewRoles(installation) : undefined;
      if (asJson) return printJson(terminal, { migrated, partitions, ...toJson(roles) });
      terminal.stdout.write(migrated.length === 0 ? 'up to date\n' : `ran ${migrated.join(', ')}\n`);
      if (partitions !== undefined)
        terminal.stdout.write(`split the observations into ${partitions} partitions\n`);
      if (roles !== undefined) print(terminal, roles);
    },
    { create: true },
  );
}

async function waitForOthers(terminal: Terminal, asJson: boolean): Promise<void> {
  const { databaseUrl = '' } = readSettings(terminal.env, {
    service: 'migrate --wait',
    settings: ['DATABASE_URL'],
  });
  const print = (reason: string) => void terminal.stderr.write(`waiting: ${reason}\n`);
  await waitForMigrations(databaseUrl, { withinMs: waitMs, print });
  if (asJson) return printJson(terminal, { migrated: [] });
  terminal.stdout.write('up to date\n');
}

/** @throws Error if a password is configured and cannot be set: the operator relies on it. */
async function renewRoles({ databaseUrl, settings }: Installation): Promise<RolesReport> {
  const { dataApi, accountsApi, publisher } = settings.databasePasswords;
  const report = await renewServiceRoles(databaseUrl, {
    almanac_data_api: dataApi,
    almanac_accounts_api: accountsApi,
    almanac_publisher: publisher,
  });
  const isNeeded = [dataApi, accountsApi, publisher].some((password) => password !== undefined);
  if (report.obstacle !== undefined && isNeeded)
    throw new Error(`The schema is up to date, but not the roles of the services: ${report.obstacle}`);
  return report;
}

function toJson(report: RolesReport | undefined): object {
  if (report === undefined) return {};
  const { renewed, passwordsSet, withoutPassword, obstacle } = report;
  return {
    roles: { renewed, passwords_set: passwordsSet, without_password: withoutPassword, obstacle },
  };
}

/** The changes, and the remaining steps. */
function print({ stdout }: Terminal, { passwordsSet, withoutPassword, obstacle }: RolesReport): void {
  if (obstacle !== undefined) {
    stdout.write(`The roles of the services are as they were: ${obstacle}\n`);
    return;
  }
  if (passwordsSet.length > 0) stdout.write(`set the password of ${passwordsSet.join(', ')}\n`);
  if (withoutPassword.length > 0)
    stdout.write(
      `${withoutPassword.join(', ')} cannot log in without a password: set DATA_API_DATABASE_PASSWORD, ACCOUNTS_API_DATABASE_PASSWORD and PUBLISHER_DATABASE_PASSWORD\n`,
    );
}
