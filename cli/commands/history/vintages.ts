// almanac vintages: lists the vintages of a series, and what each changed.
import { fail } from '../../../kernel/errors.ts';
import { examples, jsonFlag, printJson, printTable, type DeclareCommand } from '../../command.ts';
import { withDatabase, withInstallation } from '../../installation.ts';
import { findVintages } from './vintages.sql.ts';

export const vintages: DeclareCommand = (command, terminal) => {
  command
    .argument('<series>', 'its id')
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac vintages DEMO.GDP'))
    .action(async (seriesId, { json }) => {
      const found = await withInstallation(terminal.env, ({ databaseUrl }) =>
        withDatabase(databaseUrl, { command: 'vintages' }, (database) => findVintages(database, seriesId)),
      );
      if (found === null) fail('not_found', `There is no series "${seriesId}".`);
      if (json === true) return printJson(terminal, { series: seriesId, vintages: found });
      printTable(
        terminal,
        ['vintage', 'new', 'revised', 'deleted'],
        found.map((v) => [v.vintage, v.points_new, v.points_revised, v.points_deleted].map(String)),
      );
    });
};
