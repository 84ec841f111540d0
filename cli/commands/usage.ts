// almanac usage: what an account has used this month.
import { usage as monthUsage } from '../../accounts-api/operator/operator.ts';
import { UsageError, printJson, printTable, parseCommandArgs, type Command } from '../command.ts';
import { withAccounts } from '../with-accounts.ts';

const flags = { json: { type: 'boolean' } } as const;

export const usage: Command = {
  flags,
  summary: "show an account's calls of this month",
  usage: 'Usage: almanac usage <account id or e-mail> [--json]',
  async run(args, terminal) {
    const { values, positionals } = parseCommandArgs(args, flags);
    const [account, ...rest] = positionals;
    if (account === undefined || rest.length > 0) throw new UsageError('usage takes one account.');
    const used = await withAccounts(terminal.env, (deps) => monthUsage(deps, account));
    if (values.json === true) return printJson(terminal, used);
    terminal.stdout.write(
      `${used.used} of ${used.limit ?? 'unlimited'} calls used; starts anew ${used.resets_at}\n`,
    );
    printTable(
      terminal,
      ['endpoint', 'calls', 'billed'],
      used.by_endpoint.map((row) => [row.endpoint, row.calls, row.billed].map(String)),
    );
  },
};
