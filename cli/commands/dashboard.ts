// almanac dashboard build: builds the dashboard ahead of the first start, such as in an image.
import { UsageError, parseCommandArgs, printJson, type Command } from '../command.ts';
import { builtDashboard } from '../dashboard.ts';

const flags = { json: { type: 'boolean' } } as const;

export const dashboard: Command = {
  flags,
  summary: 'build the dashboard ahead of the first start',
  usage: `Usage: almanac dashboard build [--json]

Builds the dashboard into dashboard/.build, unless it is there already. A start does the same by itself; an image, whose files cannot be
written later, is made with it.`,
  async run(args, terminal) {
    const { positionals, values } = parseCommandArgs(args, flags);
    if (positionals.join(' ') !== 'build') throw new UsageError('the only subcommand is build.');
    const directory = await builtDashboard();
    if (values.json === true) return printJson(terminal, { directory });
    terminal.stdout.write(`The dashboard is built: ${directory}\n`);
  },
};
