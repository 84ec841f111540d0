// almanac usage: what an account has used this month.
import { usage as monthUsage } from '../../accounts-api/operator/operator.ts';
import { examples, jsonFlag, printJson, printTable, type DeclareCommand } from '../command.ts';
import { withAccounts } from '../with-accounts.ts';

export const usage: DeclareCommand = (command, terminal) => {
  command
    .argument('<account>', 'its id or e-mail address')
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac usage ada@example.org'))
    .action(async (account, { json }) => {
      const used = await withAccounts(terminal.env, (deps) => monthUsage(deps, account));
      if (json === true) return printJson(terminal, used);
      terminal.stdout.write(
        `${used.used} of ${used.limit ?? 'unlimited'} calls used; restarts ${used.resets_at}\n`,
      );
      printTable(
        terminal,
        ['endpoint', 'calls', 'billed'],
        used.by_endpoint.map((row) => [row.endpoint, row.calls, row.billed].map(String)),
      );
    });
};
