// almanac migrate: brings the database to the newest schema.
import { printJson, parseCommandArgs, type Command } from '../command.ts';
import { withInstallation } from '../installation.ts';

const flags = { json: { type: 'boolean' } } as const;

export const migrate: Command = {
  flags,
  summary: 'bring the database to the newest schema',
  usage: 'Usage: almanac migrate [--json]',
  async run(args, terminal) {
    const { values } = parseCommandArgs(args, flags);
    const migrated = await withInstallation(
      terminal.env,
      (installation) => Promise.resolve(installation.migrated),
      { create: true },
    );
    if (values.json === true) return printJson(terminal, { migrated });
    terminal.stdout.write(migrated.length === 0 ? 'up to date\n' : `ran ${migrated.join(', ')}\n`);
  },
};
