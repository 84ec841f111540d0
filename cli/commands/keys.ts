// almanac keys: create, list, revoke, rotate. A new key's value is printed once.
import { createKey, listKeys, revokeKey, rotateKey } from '../../accounts-api/operator/operator.ts';
import {
  UsageError,
  printJson,
  printTable,
  readSecret,
  parseCommandArgs,
  type Command,
  type Terminal,
} from '../command.ts';
import { withAccounts } from '../with-accounts.ts';

const flags = {
  json: { type: 'boolean', default: false },
  name: { type: 'string', default: 'made on the command line' },
} as const;

export const keys: Command = {
  flags,
  summary: "create an account's key, list them, revoke or replace one",
  usage: `Usage: almanac keys create <account id or e-mail> [--name NAME] [--json]
       almanac keys list <account id or e-mail> [--json]
       almanac keys revoke <key id, masked key, or - for the key itself> [--json]
       almanac keys rotate <key id, masked key, or - for the key itself> [--json]   revokes it and prints its replacement

With - the key is read from standard input, where neither the process list nor the shell history shows it.
A revoked key is refused on the next call.`,
  async run(args, terminal) {
    const { values, positionals } = parseCommandArgs(args, flags);
    const [action, subject, ...rest] = positionals;
    if (subject === undefined || rest.length > 0)
      throw new UsageError('keys takes create, list, revoke or rotate, and one name.');
    const keyRef = action === 'revoke' || action === 'rotate' ? await readKeyRef(terminal, subject) : subject;
    if (action === 'create' || action === 'rotate') {
      const made = await withAccounts(terminal.env, (deps) =>
        action === 'create' ? createKey(deps, subject, values.name) : rotateKey(deps, keyRef),
      );
      if (values.json) return printJson(terminal, made);
      terminal.stdout.write(`API key: ${made.key}\n(${made.id}; shown this once)\n`);
    } else if (action === 'list') {
      const records = await withAccounts(terminal.env, (deps) => listKeys(deps, subject));
      if (values.json) return printJson(terminal, { keys: records });
      printTable(
        terminal,
        ['id', 'key', 'name', 'status', 'created', 'last used'],
        records.map((key) => [
          key.id,
          key.masked,
          key.name,
          key.status,
          key.created_at,
          key.last_used_at ?? 'never',
        ]),
      );
    } else if (action === 'revoke') {
      const ended = await withAccounts(terminal.env, (deps) => revokeKey(deps, keyRef));
      if (values.json) return printJson(terminal, ended);
      terminal.stdout.write(`revoked ${ended.id} (${ended.masked})\n`);
    } else {
      throw new UsageError(`keys takes create, list, revoke or rotate, not "${action}".`);
    }
  },
};

/** What names a key: as given, or its value on standard input. @throws UsageError if there is none. */
async function readKeyRef(terminal: Terminal, given: string): Promise<string> {
  if (given !== '-') return given;
  const value = (await readSecret(terminal, 'API key: ')).trim();
  if (value === '') throw new UsageError('Nothing came on standard input.');
  return value;
}
