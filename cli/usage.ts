// almanac usage: what an account has used this month.
import { usage as monthUsage } from '../accounts-api/operator.ts';
import { UsageError, printJson, printTable, readWords, type Command } from './command.ts';
import { withAccounts } from './with-accounts.ts';

export const usage: Command = {
  summary: "show an account's calls of this month",
  usage: 'Usage: almanac usage <account id or e-mail> [--json]',
  async run(args) {
    const { values, positionals } = readWords(args, { json: { type: 'boolean' } });
    const [account, ...rest] = positionals;
    if (account === undefined || rest.length > 0) throw new UsageError('usage takes one account.');
    const used = await withAccounts((deps) => monthUsage(deps, account));
    if (values.json === true) return printJson(used);
    process.stdout.write(
      `${used.used} of ${used.limit ?? 'unlimited'} calls used; starts anew ${used.resets_at}\n`,
    );
    printTable(
      ['endpoint', 'calls', 'billed'],
      used.by_endpoint.map((row) => [row.endpoint, row.calls, row.billed].map(String)),
    );
  },
};
