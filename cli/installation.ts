// The installation that a command works on: its database, migrated, and its secrets. PostgreSQL is the embedded one (joined if it runs,
// started otherwise) or that of DATABASE_URL.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import type { WebhookSettings } from '../accounts-api/webhooks/webhook-tools.ts';
import { fullDisk, isDiskFull } from '../embedded/disk.ts';
import { hasEmbeddedDatabase, startEmbeddedPostgres } from '../embedded/postgres.ts';
import { stopOnSignal } from '../embedded/stop-on-signal.ts';
import { readOrMakeSecret } from '../kernel/credentials/secret-file.ts';
import { openDatabase, type Database } from '../kernel/database.ts';
import { createLog } from '../kernel/log/log.ts';
import { openPlans, type PlansFile } from '../kernel/plans.ts';
import {
  SettingsError,
  plansFileOf,
  readSettings,
  type Needs,
  type Settings,
} from '../kernel/settings/settings.ts';
import { openServiceRoles, serviceUrl } from '../migrations/roles.ts';
import { migrate } from '../migrations/run.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Installation {
  settings: Settings;
  /** For the operator: migrations, loads. */
  databaseUrl: string;
  /** For data-api: in the embedded database a role that reads schema data and nothing else. */
  dataApiDatabaseUrl: string;
  /** For accounts-api, its worker and the commands for accounts: in the embedded database a role for schema accounts. */
  accountsDatabaseUrl: string;
  /** For the publisher: in the embedded database a role that writes schema data. */
  publisherDatabaseUrl: string;
  /** The migrations that were run when opening it. */
  migrated: readonly string[];
  identitySecret: string;
  /** The data directory of the embedded database; undefined for another database. */
  databaseDirectory: string | undefined;
  /** For a serving process: stops the embedded PostgreSQL. */
  stop(): Promise<void>;
  /** For a single command: stops the embedded PostgreSQL unless another process uses it. */
  release(): Promise<void>;
}

/**
 * The configuration of a serving process, read before anything is created, opened or migrated.
 * @param needs of a service that runs alone. @throws SettingsError with all faults of the settings and of the plans at once.
 */
export function readConfiguration(env: Environment, needs?: Needs): { settings: Settings; plans: PlansFile } {
  const faults: string[] = [];
  let plans: PlansFile | undefined;
  try {
    plans = openPlans(plansFileOf(env));
  } catch (error) {
    faults.push(`PLANS_FILE cannot be used: ${(error as Error).message}`);
  }
  try {
    const settings = readSettings(env, needs);
    if (plans !== undefined) return { settings, plans };
  } catch (error) {
    if (!(error instanceof SettingsError)) throw error;
    faults.unshift(...error.faults);
  }
  throw new SettingsError(faults);
}

export interface Opening {
  /** Whether opening may create the embedded database: the commands that start an installation may, all others work on one that is there. */
  create?: boolean;
  /** Called while the programs of the embedded database run, if they have to be waited for. */
  meanwhile?: () => void;
}

/**
 * Opens the database of the settings, and migrates it.
 * @throws Error that names the directory if there is no embedded database and none may be created; then nothing is created.
 */
export async function openInstallation(
  settings: Settings,
  { create = false, meanwhile }: Opening = {},
): Promise<Installation> {
  const { databaseUrl } = settings;
  if (databaseUrl === undefined) {
    if (!create && !hasEmbeddedDatabase(settings.dataDir)) throw new Error(noDatabase(settings.dataDir));
    return openEmbedded(settings, meanwhile);
  }
  const nothing = () => Promise.resolve();
  return {
    settings,
    databaseUrl,
    dataApiDatabaseUrl: databaseUrl,
    accountsDatabaseUrl: databaseUrl,
    publisherDatabaseUrl: databaseUrl,
    migrated: await migrate(databaseUrl),
    // Read on demand: a command that needs none writes no file.
    get identitySecret() {
      return settings.identitySecret ?? identitySecretIn(settings.dataDir);
    },
    databaseDirectory: undefined,
    stop: nothing,
    release: nothing,
  };
}

function noDatabase(dataDir: string): string {
  return (
    `There is no database in ${dataDir}. "almanac start" creates one there with the demo data, "almanac migrate" an empty one. ` +
    'If yours is elsewhere, set DATA_DIR to its directory, or DATABASE_URL.'
  );
}

async function openEmbedded(settings: Settings, meanwhile?: () => void): Promise<Installation> {
  const server = await startEmbeddedPostgres(settings.dataDir, {}, meanwhile);
  const { url, directory, launched, stop, release } = server;
  try {
    const migrated = await migrate(url);
    await openServiceRoles(url, launched || migrated.length > 0);
    return {
      settings,
      databaseUrl: url,
      dataApiDatabaseUrl: serviceUrl(url, 'almanac_data_api'),
      accountsDatabaseUrl: serviceUrl(url, 'almanac_accounts_api'),
      publisherDatabaseUrl: serviceUrl(url, 'almanac_publisher'),
      migrated,
      identitySecret: settings.identitySecret ?? identitySecretIn(settings.dataDir),
      databaseDirectory: directory,
      stop,
      release,
    };
  } catch (error) {
    await release();
    throw error;
  }
}

/** Runs a command's work on the installation, and restores its previous state: running or not. */
export async function withInstallation<T>(
  env: Environment,
  work: (installation: Installation) => Promise<T>,
  opening?: Opening,
): Promise<T> {
  const installation = await openInstallation(readSettings(env), opening);
  const { databaseDirectory, settings } = installation;
  const stopListening = databaseDirectory === undefined ? undefined : stopOnSignal(settings.dataDir);
  try {
    return await work(installation);
  } catch (error) {
    if (databaseDirectory === undefined || !isDiskFull(error)) throw error;
    throw new Error(fullDisk(databaseDirectory), { cause: error });
  } finally {
    await installation.release();
    stopListening?.();
  }
}

/** Opens a database for the work of a command, and closes it. */
export async function withDatabase<T>(
  url: string,
  {
    command,
    logLevel = 'silent',
    statementTimeoutMs,
  }: { command: string; logLevel?: string; statementTimeoutMs?: number },
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const applicationName = `almanac ${command}`;
  const database = openDatabase(url, createLog(command, logLevel), { applicationName, statementTimeoutMs });
  try {
    return await work(database);
  } finally {
    await database.close();
  }
}

/** Runs a command's work on the data of the installation, whose statements may take as long as they need. */
export function withData<T>(
  env: Environment,
  command: string,
  work: (database: Database, installation: Installation) => Promise<T>,
): Promise<T> {
  return withInstallation(env, (installation) => {
    const { databaseUrl, settings } = installation;
    const connection = { command, logLevel: settings.logLevel, statementTimeoutMs: 0 };
    return withDatabase(databaseUrl, connection, (database) => work(database, installation));
  });
}

/** Secrets of webhooks that were encrypted before WEBHOOK_SECRET_KEY was set can be decrypted after that. */
export function webhookSettings({ settings, identitySecret }: Installation): WebhookSettings {
  const { secretKey, previousSecretKey, allowCidrs, allowHttp } = settings.webhooks;
  const keys = [secretKey, previousSecretKey, identitySecret, settings.previousIdentitySecret];
  return { secretKeys: keys.filter((key) => key !== undefined), allowCidrs, allowHttp };
}

function identitySecretIn(dataDir: string): string {
  mkdirSync(dataDir, { recursive: true });
  return readOrMakeSecret(path.join(dataDir, 'identity.secret'), 32);
}
