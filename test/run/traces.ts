// Searches everything that a run has written for secrets: every row of every test database, every log line of every service, the content of Redis.
// The files are in TEST_TRACES, a directory of the run.
import { appendFileSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { threadId } from 'node:worker_threads';
import pg from 'pg';
import { to as copyTo } from 'pg-copy-streams';
import { isWellFormedApiKey } from '../../kernel/credentials/api-key.ts';

const directory = process.env['TEST_TRACES'];
const own = `${process.pid}-${threadId}`;
const secretsFile = 'secrets-';
const leastSecretLength = 12;

/** Records a password, or the token of a session or an e-mail, which must not be found at the end of the run. @returns it. */
export function recordSecret(secret: string): string {
  if (directory !== undefined && secret.length >= leastSecretLength) {
    appendFileSync(path.join(directory, `${secretsFile}${own}`), `${JSON.stringify(secret)}\n`);
  }
  return secret;
}

const linesAtOnce = 200;
const lines: string[] = [];

/** The file for the log lines of the services that tests start. */
export const logTrace = {
  write(line: string): void {
    lines.push(line);
    if (lines.length >= linesAtOnce) writeLines();
  },
};
process.once('exit', writeLines);

function writeLines(): void {
  if (directory !== undefined && lines.length > 0) {
    appendFileSync(path.join(directory, `log-${own}`), lines.join(''));
  }
  lines.length = 0;
}

/** Stores the log lines of a process's output; greetings and new keys, which commands print on purpose, are not log lines. */
export function saveLogLines(output: string): void {
  for (const line of output.split('\n')) if (line.startsWith('{"level":')) logTrace.write(`${line}\n`);
}

/** Stores all rows of a database before it is dropped. */
export async function saveRows(databaseUrl: string): Promise<void> {
  if (directory === undefined) return;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    const file = path.join(directory, `rows-${new URL(databaseUrl).pathname.slice(1)}`);
    const { rows } = await client.query<{ name: string }>(
      `select format('%I.%I', nspname, relname) as name
       from pg_class join pg_namespace on pg_namespace.oid = relnamespace
       where relkind = 'r' and nspname not in ('pg_catalog', 'information_schema') and pg_relation_size(pg_class.oid) > 0`,
    );
    for (const { name } of rows) {
      appendFileSync(file, `\\ ${name}\n`);
      for await (const chunk of client.query(copyTo(`copy ${name} to stdout`)))
        appendFileSync(file, chunk as Buffer);
    }
  } finally {
    await client.end();
  }
}

/** All keys and values of a Redis, one line each. */
export async function readRedis(url: string): Promise<string> {
  const { createClient } = await import('redis'); // 50 ms of CPU, which no test file that imports this module need spend
  const client = createClient({ url });
  await client.connect();
  try {
    const redisLines: string[] = [];
    for await (const keys of client.scanIterator()) {
      for (const key of keys) {
        const type = await client.type(key);
        const value =
          type === 'hash' ? await client.hGetAll(key) : type === 'string' ? await client.get(key) : type;
        redisLines.push(`${key} ${JSON.stringify(value)}`);
      }
    }
    return redisLines.join('\n');
  } finally {
    client.destroy();
  }
}

// Text in the format of a secret counts as one, whether or not it was recorded.
const forms: [what: string, form: RegExp][] = [
  ['an API key', /pk_live_[0-9A-Za-z]{42}/g],
  ['a session token', /sess_[a-z2-7]{16}\.[\w-]{43}/g],
  ['a token of a device', /dev_[\w-]{22}\.[\w-]{43}/g],
  ["a webhook's secret", /whsec_[A-Za-z0-9+/=]{20,}/g],
  ['an identity token', /eyJ[\w-]{20,}\.eyJ[\w-]{20,}\.[\w-]{20,}/g],
];

export interface Leak {
  what: string;
  /** The file and line where it was found. */
  where: string;
}

/** Searches everything that the run has written for secrets. @param texts further texts, by name. */
export function findLeaks(
  traces: string,
  texts: readonly { name: string; text: string }[],
): { leaks: Leak[]; secrets: number; bytes: number } {
  const names = readdirSync(traces);
  const read = (name: string) => readFileSync(path.join(traces, name), 'utf8');
  const recorded = names
    .filter((name) => name.startsWith(secretsFile))
    .flatMap((name) => read(name).trim().split('\n'));
  const secrets = new Set(recorded.map((line) => JSON.parse(line) as string));
  // Most secrets are a single word of these letters, so each word is looked up once, however many secrets there are.
  const isWord = /^[\w-]+$/;
  const sentences = [...secrets].filter((secret) => !isWord.test(secret));
  const leaks: Leak[] = [];
  let bytes = 0;
  const look = (name: string, text: string) => {
    bytes += text.length;
    for (const [number, line] of text.split('\n').entries()) {
      const where = `${name}:${number + 1}: ${line.slice(0, 120)}`;
      for (const what of secretsIn(line, secrets, sentences)) leaks.push({ what, where });
    }
  };
  for (const name of names.filter((each) => !each.startsWith(secretsFile))) look(name, read(name));
  for (const { name, text } of texts) look(name, text);
  return { leaks, secrets: secrets.size, bytes };
}

function secretsIn(line: string, secrets: ReadonlySet<string>, sentences: readonly string[]): string[] {
  const found: string[] = [];
  for (const word of line.match(/[\w-]{12,}/g) ?? []) if (secrets.has(word)) found.push('a noted secret');
  if (sentences.some((secret) => line.includes(secret))) found.push('a noted secret');
  for (const [what, form] of forms) {
    const hits = line.match(form) ?? [];
    if (hits.some((hit) => !hit.startsWith('pk_live_') || isWellFormedApiKey(hit))) found.push(what);
  }
  return found;
}
