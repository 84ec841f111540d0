// Everything that an installation writes: its output, PostgreSQL's own log, its tables, the outbox of e-mails.
import { appendFileSync, existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import pg from 'pg';
import type { Installation } from '../services/instance.ts';
import { readMail, type ReceivedMail } from '../services/sign-in.ts';
import { untilThere } from '../run/until.ts';

const logDirectory = 'log';

/** The directory of its PostgreSQL: in DATA_DIR, or the one that DATA_DIR refers to. */
function clusterOf({ dataDir }: Installation): string {
  const location = path.join(dataDir, 'postgres.location');
  return existsSync(location) ? readFileSync(location, 'utf8').trim() : path.join(dataDir, 'postgres');
}

/** From its next start PostgreSQL writes each statement with its parameters into files: the most that it can log. */
export function logEverything(installation: Installation): void {
  const settings = ['logging_collector = on', `log_directory = '${logDirectory}'`, "log_statement = 'all'"];
  appendFileSync(path.join(clusterOf(installation), 'postgresql.conf'), `\n${settings.join('\n')}\n`);
}

/** PostgreSQL's log. */
export function postgresLog(installation: Installation): string {
  const directory = path.join(clusterOf(installation), logDirectory);
  return readdirSync(directory)
    .map((name) => readFileSync(path.join(directory, name), 'utf8'))
    .join('');
}

/** Where the PostgreSQL of a running installation is reached by its owner. */
export function ownerUrlOf(installation: Installation): string {
  const password = readFileSync(path.join(installation.dataDir, 'postgres.password'), 'utf8').trim();
  const port = readFileSync(path.join(clusterOf(installation), 'postmaster.pid'), 'utf8').split('\n')[3];
  return `postgres://almanac:${password}@127.0.0.1:${port}/almanac`;
}

/** Every row of every table of a running installation, as text, by table. */
export async function tablesOf(installation: Installation): Promise<Map<string, string>> {
  const client = new pg.Client({ connectionString: ownerUrlOf(installation) });
  await client.connect();
  try {
    return await dump((text) => client.query(text));
  } finally {
    await client.end();
  }
}

/** Every row of every table of ours, as text, by table. */
export async function dump(
  query: (text: string) => Promise<{ rows: Record<string, string>[] }>,
): Promise<Map<string, string>> {
  const { rows: tables } = await query(
    `select table_schema as schema, table_name as name from information_schema.tables
     where table_schema not in ('pg_catalog', 'information_schema') and table_type = 'BASE TABLE'`,
  );
  const texts = new Map<string, string>();
  for (const { schema, name } of tables) {
    const { rows } = await query(`select row_to_json(t)::text as row from "${schema}"."${name}" as t`);
    texts.set(`${schema}.${name}`, rows.map(({ row }) => row).join('\n'));
  }
  return texts;
}

/** The text of all stored e-mails. */
export function outboxOf({ dataDir }: Installation): string[] {
  const directory = path.join(dataDir, 'outbox');
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((name) => name.endsWith('.eml'))
    .map((name) => readFileSync(path.join(directory, name), 'utf8'));
}

/** Waits for an e-mail to the e-mail address that has the words in it. */
export async function mailTo(installation: Installation, to: string, words = ''): Promise<ReceivedMail> {
  const find = () =>
    outboxOf(installation)
      .filter((raw) => raw.includes(`To: ${to}`))
      .map((raw) => readMail(raw, to))
      .find((mail) => mail.subject.includes(words));
  return untilThere(`an e-mail "${words}" to ${to} is in the outbox`, find);
}
