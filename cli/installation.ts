// The installation that a command works on: its database, migrated, and its secrets.
// Hides whether PostgreSQL is the embedded one (joined if it runs, started otherwise) or that of DATABASE_URL.
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { startEmbeddedPostgres } from '../embedded/postgres.ts';
import { openDatabase, type Database } from '../kernel/database.ts';
import { createLog } from '../kernel/log.ts';
import { readSettings, type Settings } from '../kernel/settings.ts';
import { migrate } from '../migrations/run.ts';

export type Environment = Readonly<Record<string, string | undefined>>;

export interface Installation {
  settings: Settings;
  databaseUrl: string;
  /** The migrations that were run when opening it. */
  migrated: readonly string[];
  identitySecret: string;
  /** Whether the database is the embedded one. */
  embedded: boolean;
  /** For a serving process: stops the embedded PostgreSQL. */
  stop(): Promise<void>;
  /** For a single command: stops the embedded PostgreSQL unless another process uses it. */
  release(): Promise<void>;
}

/** Opens the installation that the environment configures. @throws Error that says what is wrong with the settings. */
export async function openInstallation(env: Environment): Promise<Installation> {
  const settings = readSettings(env);
  const nothing = () => Promise.resolve();
  const postgres =
    settings.databaseUrl === undefined
      ? await startEmbeddedPostgres(settings.dataDir)
      : { url: settings.databaseUrl, stop: nothing, release: nothing };
  try {
    return {
      settings,
      databaseUrl: postgres.url,
      migrated: await migrate(postgres.url),
      identitySecret: settings.identitySecret ?? readOrMakeSecret(settings.dataDir),
      embedded: settings.databaseUrl === undefined,
      stop: postgres.stop,
      release: postgres.release,
    };
  } catch (error) {
    await postgres.release();
    throw error;
  }
}

/** Runs a command's work on the installation, and leaves it as it was: running or not. */
export async function withInstallation<T>(
  env: Environment,
  work: (installation: Installation) => Promise<T>,
): Promise<T> {
  const installation = await openInstallation(env);
  try {
    return await work(installation);
  } finally {
    await installation.release();
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

function readOrMakeSecret(dataDir: string): string {
  const file = path.join(dataDir, 'identity.secret');
  mkdirSync(dataDir, { recursive: true });
  if (!existsSync(file))
    writeFileSync(file, randomBytes(32).toString('base64url'), { mode: 0o600, flag: 'wx' });
  return readFileSync(file, 'utf8').trim();
}
