// almanac dashboard build: builds the dashboard ahead of the first start, such as in an image.
import { examples, jsonFlag, printJson, type DeclareCommand } from '../command.ts';
import { builtDashboard } from '../dashboard.ts';

export const dashboard: DeclareCommand = (command, terminal) => {
  command
    .command('build')
    .summary('build the dashboard into dashboard/.build, unless it is there already')
    .description(
      'Builds the dashboard into dashboard/.build, unless it is there already. A start does the same by itself; an image, whose files cannot be written later, is made with it.',
    )
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac dashboard build'))
    .action(async ({ json }) => {
      const directory = await builtDashboard();
      if (json === true) return printJson(terminal, { directory });
      terminal.stdout.write(`The dashboard is built: ${directory}\n`);
    });
};
