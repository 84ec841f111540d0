// almanac accounts: create, list, set-plan.
import { createAccount, listAccounts, setPlan } from '../accounts-api/operator.ts';
import { UsageError, printJson, printTable, readWords, type Command } from './command.ts';
import { withAccounts } from './with-accounts.ts';

export const accounts: Command = {
  summary: 'create an account, list them, put one on a plan',
  usage: `Usage: almanac accounts create <e-mail> [--name NAME] [--plan PLAN] [--json]
       almanac accounts list [--json]
       almanac accounts set-plan <id or e-mail> <plan> [--json]`,
  async run(args) {
    const { values, positionals } = readWords(args, {
      json: { type: 'boolean', default: false },
      name: { type: 'string' },
      plan: { type: 'string' },
    });
    const [action, ...rest] = positionals;
    if (action === 'create' && rest.length === 1) {
      const wish = {
        email: rest[0] ?? '',
        plan: values.plan ?? 'free',
        ...(values.name === undefined ? {} : { name: values.name }),
      };
      return print(await withAccounts(async (deps) => [await createAccount(deps, wish)]), values.json);
    }
    if (action === 'list' && rest.length === 0) return print(await withAccounts(listAccounts), values.json);
    if (action === 'set-plan' && rest.length === 2) {
      const [account = '', plan = ''] = rest;
      return print(await withAccounts(async (deps) => [await setPlan(deps, account, plan)]), values.json);
    }
    throw new UsageError('accounts takes create, list or set-plan.');
  },
};

function print(records: Awaited<ReturnType<typeof listAccounts>>, json: boolean): void {
  if (json) return printJson({ accounts: records });
  printTable(
    ['id', 'e-mail', 'plan', 'status', 'created'],
    records.map((account) => [account.id, account.email, account.plan, account.status, account.created_at]),
  );
}
