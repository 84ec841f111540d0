// almanac accounts: create, list, set-plan, set-password, send-reset, disable, enable.
import { createAccount, listAccounts, setPlan } from '../../accounts-api/operator/operator.ts';
import { sendReset, setPassword, setStatus } from '../../accounts-api/operator/operator-access.ts';
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

type Records = Awaited<ReturnType<typeof listAccounts>>;

const flags = {
  json: { type: 'boolean', default: false },
  name: { type: 'string' },
  plan: { type: 'string' },
} as const;

export const accounts: Command = {
  flags,
  summary: 'create an account, list them, set plan or password, mail a reset, disable, enable',
  usage: `Usage: almanac accounts create <e-mail> [--name NAME] [--plan PLAN] [--json]
       almanac accounts list [--json]
       almanac accounts set-plan <id or e-mail> <plan> [--json]
       almanac accounts set-password <id or e-mail> [--json]     reads the password from the terminal or standard input
       almanac accounts send-reset <id or e-mail> [--json]       mails a link that sets a new password
       almanac accounts disable|enable <id or e-mail> [--json]

A disabled account's keys are refused on the next call and its sessions end. A new password ends the sessions, too.`,
  async run(args, terminal) {
    const { values, positionals } = parseCommandArgs(args, flags);
    const [action = '', ...rest] = positionals;
    if (action === 'list' && rest.length === 0)
      return print(terminal, await withAccounts(terminal.env, listAccounts), values.json);
    const [account = ''] = rest;
    if (action === 'create' && rest.length === 1) {
      const { name, plan = 'free' } = values;
      const wish = { email: account, plan, ...(name === undefined ? {} : { name }) };
      const made = await withAccounts(terminal.env, (deps) => createAccount(deps, wish));
      return print(terminal, [made], values.json);
    }
    const change = changes[action];
    if (change === undefined || rest.length !== change.words) {
      throw new UsageError(`accounts takes create, list or ${Object.keys(changes).join(', ')}.`);
    }
    return print(terminal, [await change.run(terminal, account, rest[1] ?? '')], values.json);
  },
};

/** The actions on one account, by name. */
const changes: Record<
  string,
  { words: number; run(terminal: Terminal, account: string, word: string): Promise<Records[number]> }
> = {
  'set-plan': {
    words: 2,
    run: ({ env }, account, plan) => withAccounts(env, (deps) => setPlan(deps, account, plan)),
  },
  'set-password': {
    words: 1,
    async run(terminal, account) {
      // Not an argument: those are visible in the process list and the shell history.
      const password = await readSecret(terminal, 'New password: ');
      return withAccounts(terminal.env, (deps) =>
        setPassword(deps, account, { password, lengthMin: deps.passwordLengthMin }),
      );
    },
  },
  'send-reset': {
    words: 1,
    run: ({ env }, account) => withAccounts(env, (deps) => sendReset(deps, account)),
  },
  disable: {
    words: 1,
    run: ({ env }, account) => withAccounts(env, (deps) => setStatus(deps, account, 'disabled')),
  },
  enable: {
    words: 1,
    run: ({ env }, account) => withAccounts(env, (deps) => setStatus(deps, account, 'active')),
  },
};

function print(terminal: Terminal, records: Records, json: boolean): void {
  if (json) return printJson(terminal, { accounts: records });
  printTable(
    terminal,
    ['id', 'e-mail', 'plan', 'status', 'created'],
    records.map((account) => [account.id, account.email, account.plan, account.status, account.created_at]),
  );
}
