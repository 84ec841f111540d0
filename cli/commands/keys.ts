// almanac keys: create, list, revoke, rotate. A new key's value is printed once.
import { createKey, listKeys, revokeKey, rotateKey } from '../../accounts-api/operator/operator.ts';
import { keyScopes } from '../../kernel/credentials/key-access.ts';
import {
  UsageError,
  examples,
  jsonFlag,
  printJson,
  printTable,
  readSecret,
  type DeclareCommand,
  type Terminal,
} from '../command.ts';
import { withAccounts } from '../with-accounts.ts';

const anAccount = ['<account>', 'its id or e-mail address'] as const;
const aKey = [
  '<key>',
  'its id or masked form; - reads the key itself from standard input, where neither the process list nor the shell history shows it',
] as const;

export const keys: DeclareCommand = (command, terminal) => {
  const { env } = terminal;
  command.description('A revoked key is refused on the next call.');
  command
    .command('create')
    .summary('create a key, and print it')
    .argument(...anAccount)
    .option('--name <name>', 'what the holder calls it', 'made on the command line')
    .option('--scopes <list>', `what it may do: some of ${keyScopes.join(',')} (default: all)`, listOf)
    .option(
      '--addresses <list>',
      'addresses and ranges from which it works, with commas (default: all)',
      listOf,
    )
    .option(
      '--as-of <day>',
      'pin it to a day, for good: its answers are as if nothing was published after it, and it reads data only',
    )
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples(
        'almanac keys create ada@example.org --name laptop',
        'almanac keys create ada@example.org --scopes data --addresses 203.0.113.0/24,2001:db8::/32',
        'almanac keys create ada@example.org --name backtest --as-of 2020-01-01',
      ),
    )
    .action(async (account, { name, json, asOf, ...access }) => {
      const wish = { ...access, ...(asOf !== undefined && { as_of: asOf }) };
      printNew(terminal, await withAccounts(env, (deps) => createKey(deps, account, name, wish)), json);
    });
  command
    .command('list')
    .summary("list an account's keys, masked")
    .argument(...anAccount)
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac keys list ada@example.org'))
    .action(async (account, { json }) =>
      printAll(terminal, await withAccounts(env, (deps) => listKeys(deps, account)), json),
    );
  command
    .command('revoke')
    .summary('revoke a key')
    .argument(...aKey)
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples('almanac keys revoke key_k3v9x2', 'almanac keys revoke - < leaked-key.txt'),
    )
    .action(async (key, { json }) => {
      const keyRef = await readKeyRef(terminal, key);
      const ended = await withAccounts(env, (deps) => revokeKey(deps, keyRef));
      if (json) return printJson(terminal, ended);
      terminal.stdout.write(`revoked ${ended.id} (${ended.masked})\n`);
    });
  command
    .command('rotate')
    .summary('give a key a new value, and print it')
    .argument(...aKey)
    .option(
      '--overlap-hours <hours>',
      'for how long the old value also works, at most 168 (default: 24; 0: it ends at once)',
      (text) => (/^\d+$/.test(text) ? Number(text) : Number.NaN), // an empty text is not 0
    )
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples('almanac keys rotate key_k3v9x2', 'almanac keys rotate key_k3v9x2 --overlap-hours 0'),
    )
    .action(async (key, { json, overlapHours }) => {
      const keyRef = await readKeyRef(terminal, key);
      const rotated = await withAccounts(env, (deps) => rotateKey(deps, keyRef, overlapHours));
      printNew(terminal, rotated, json);
    });
};

/** Entries between commas. */
const listOf = (text: string) => text.split(',').map((entry) => entry.trim());

function printNew(
  terminal: Terminal,
  made: Awaited<ReturnType<typeof createKey>>,
  json: true | undefined,
): void {
  if (json) return printJson(terminal, made);
  terminal.stdout.write(`API key: ${made.key}\n(${made.id}; shown this once)\n`);
}

function printAll(
  terminal: Terminal,
  records: Awaited<ReturnType<typeof listKeys>>,
  json: true | undefined,
): void {
  if (json) return printJson(terminal, { keys: records });
  printTable(
    terminal,
    ['id', 'key', 'name', 'status', 'created', 'last used', 'scopes', 'addresses', 'as of'],
    records.map((key) => [
      key.id,
      key.masked,
      key.name,
      key.status,
      key.created_at,
      key.last_used_at ?? 'never',
      key.scopes.join(','),
      key.addresses?.join(',') ?? 'all',
      key.as_of ?? 'now',
    ]),
  );
}

/** The identification of a key: as given, or its value on standard input. @throws UsageError if there is none. */
async function readKeyRef(terminal: Terminal, given: string): Promise<string> {
  if (given !== '-') return given;
  const value = (await readSecret(terminal, 'API key: ')).trim();
  if (value === '') throw new UsageError('Nothing came on standard input.');
  return value;
}
