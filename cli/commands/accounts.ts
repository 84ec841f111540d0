// almanac accounts: create, list, set-plan, set-role, set-password, send-reset, remove-second-factor, disable, enable.
import type { Command } from 'commander';
import { createAccount, listAccounts, setPlan } from '../../accounts-api/operator/operator.ts';
import {
  removeSecondFactor,
  sendReset,
  setPassword,
  setRole,
  setStatus,
} from '../../accounts-api/operator/account-access.ts';
import {
  examples,
  jsonFlag,
  printJson,
  printTable,
  readSecret,
  type DeclareCommand,
  type Terminal,
} from '../command.ts';
import { withAccounts, type CommandDeps } from '../with-accounts.ts';

type Records = Awaited<ReturnType<typeof listAccounts>>;

const anAccount = ['<account>', 'its id or e-mail address'] as const;

export const accounts: DeclareCommand = (command, terminal) => {
  command.description(
    "A disabled account's keys are refused on the next call and its sessions end. A new password ends the sessions, too.",
  );
  declareCreate(command, terminal);
  command
    .command('list')
    .summary('list all accounts')
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac accounts list --json'))
    .action(async ({ json }) => print(terminal, await withAccounts(terminal.env, listAccounts), json));
  command
    .command('set-plan')
    .summary('give an account another plan')
    .argument(...anAccount)
    .argument('<plan>', 'a plan of plans.yml')
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac accounts set-plan ada@example.org pro'))
    .action((account, plan, { json }) => change(terminal, json, (deps) => setPlan(deps, account, plan)));
  command
    .command('set-role')
    .summary('make an account an operator, who manages all accounts in the dashboard; or no longer one')
    .argument(...anAccount)
    .addArgument(command.createArgument('<role>', 'operator, or none').choices(['operator', 'none']))
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples(
        'almanac accounts set-role ada@example.org operator',
        'almanac accounts set-role ada@example.org none',
      ),
    )
    .action((account, role, { json }) =>
      change(terminal, json, (deps) => setRole(deps, account, role === 'none' ? null : role)),
    );
  declareAccess(command, terminal);
};

function declareCreate(command: Command, terminal: Terminal): void {
  command
    .command('create')
    .summary('create an account')
    .argument('<email>', 'its e-mail address')
    .option('--name <name>', 'the name of its holder')
    .option('--plan <plan>', 'a plan of plans.yml', 'free')
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac accounts create ada@example.org --name Ada --plan starter'))
    .action((email, { name, plan, json }) =>
      change(terminal, json, (deps) =>
        createAccount(deps, { email, plan, ...(name === undefined ? {} : { name }) }),
      ),
    );
}

/** The changes that decide who can sign in: passwords, and whether the account is enabled. */
function declareAccess(command: Command, terminal: Terminal): void {
  command
    .command('set-password')
    .summary('set the password, which is read from the terminal or standard input')
    .argument(...anAccount)
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac accounts set-password ada@example.org'))
    .action(async (account, { json }) => {
      // Not an argument: those are visible in the process list and the shell history.
      const password = await readSecret(terminal, 'New password: ');
      await change(terminal, json, (deps) =>
        setPassword(deps, account, { password, lengthMin: deps.passwordLengthMin }),
      );
    });
  command
    .command('send-reset')
    .summary('mail a link that sets a new password')
    .argument(...anAccount)
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac accounts send-reset ada@example.org'))
    .action((account, { json }) => change(terminal, json, (deps) => sendReset(deps, account)));
  command
    .command('remove-second-factor')
    .summary('remove the app and the passkeys of a holder who has lost them')
    .argument(...anAccount)
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac accounts remove-second-factor ada@example.org'))
    .action((account, { json }) => change(terminal, json, (deps) => removeSecondFactor(deps, account)));
  for (const [name, status, summary] of [
    ['disable', 'disabled', 'refuse its keys and end its sessions'],
    ['enable', 'active', 'let its keys work again'],
  ] as const)
    command
      .command(name)
      .summary(summary)
      .argument(...anAccount)
      .option(...jsonFlag)
      .addHelpText('after', examples(`almanac accounts ${name} ada@example.org`))
      .action((account, { json }) => change(terminal, json, (deps) => setStatus(deps, account, status)));
}

/** Changes one account, and prints its new state. */
async function change(
  terminal: Terminal,
  json: true | undefined,
  work: (deps: CommandDeps) => Promise<Records[number]>,
): Promise<void> {
  print(terminal, [await withAccounts(terminal.env, work)], json);
}

function print(terminal: Terminal, records: Records, json: true | undefined): void {
  if (json) return printJson(terminal, { accounts: records });
  printTable(
    terminal,
    ['id', 'e-mail', 'plan', 'status', 'role', 'created'],
    records.map(({ id, email, plan, status, role, created_at: createdAt }) => [
      id,
      email,
      plan,
      status,
      role ?? 'none',
      createdAt,
    ]),
  );
}
