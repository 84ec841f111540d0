// almanac migrate: brings the database to the newest schema.
import { printJson, readWords, type Command } from './command.ts';
import { withInstallation } from './installation.ts';

export const migrate: Command = {
  summary: 'bring the database to the newest schema',
  usage: 'Usage: almanac migrate [--json]',
  async run(args) {
    const { values } = readWords(args, { json: { type: 'boolean' } });
    const migrated = await withInstallation((installation) => Promise.resolve(installation.migrated));
    if (values.json === true) return printJson({ migrated });
    process.stdout.write(migrated.length === 0 ? 'up to date\n' : `ran ${migrated.join(', ')}\n`);
  },
};
