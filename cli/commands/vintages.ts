// almanac vintages: lists the vintages of a series, and what each changed.
import { fail } from '../../kernel/errors.ts';
import { UsageError, printJson, printTable, parseCommandArgs, type Command } from '../command.ts';
import { withDatabase, withInstallation } from '../installation.ts';
import { findVintages } from './vintages.sql.ts';

const flags = { json: { type: 'boolean' } } as const;

export const vintages: Command = {
  flags,
  summary: 'list the vintages of a series, with what changed',
  usage: 'Usage: almanac vintages <series id> [--json]',
  async run(args, terminal) {
    const { values, positionals } = parseCommandArgs(args, flags);
    const [seriesId, ...rest] = positionals;
    if (seriesId === undefined || rest.length > 0) throw new UsageError('vintages takes one series id.');
    const found = await withInstallation(terminal.env, ({ databaseUrl }) =>
      withDatabase(databaseUrl, { command: 'vintages' }, (database) => findVintages(database, seriesId)),
    );
    if (found === null) fail('not_found', `There is no series "${seriesId}".`);
    if (values.json === true) return printJson(terminal, { series: seriesId, vintages: found });
    printTable(
      terminal,
      ['vintage', 'new', 'revised', 'deleted'],
      found.map((v) => [v.vintage, v.points_new, v.points_revised, v.points_deleted].map(String)),
    );
  },
};
