// almanac series: renames, deletes and restores a series.
import type { ChangeOptions, SeriesChange } from '../../../ingest/series/change.ts';
import { deleteSeries, restoreSeries } from '../../../ingest/series/delete.ts';
import { renameSeries } from '../../../ingest/series/rename.ts';
import { systemClock } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/database.ts';
import { examples, jsonFlag, printJson, type DeclareCommand, type Terminal } from '../../command.ts';
import { withData } from '../../installation.ts';

const aSeries = ['<series>', 'its id, exact case'] as const;
const reasonFlag = ['--reason <text>', 'why, for the record'] as const;
const dryRunFlag = ['--dry-run', 'do everything, report the result, and store nothing'] as const;

interface Flags {
  reason?: string | undefined;
  dryRun?: boolean | undefined;
  json?: boolean | undefined;
}

export const series: DeclareCommand = (command, terminal) => {
  command.description('A change of a series is a load of its own, and on record: almanac loads list.');
  command
    .command('rename')
    .summary('give a series another id; the old one goes on as an alias')
    .argument(...aSeries)
    .argument('<new-id>', 'an id that no series has or had')
    .option(...reasonFlag)
    .option(...dryRunFlag)
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples('almanac series rename CPI.M PK.CPI.M --reason "one form for all countries" --dry-run'),
    )
    .action((id, newId, flags) =>
      change(terminal, flags, `renamed from ${id}`, (database, options) =>
        renameSeries(database, { ...options, id, newId }),
      ),
    );
  command
    .command('delete')
    .summary('serve a series to nobody any more, and load nothing into it; keeps its history')
    .argument(...aSeries)
    .option(...reasonFlag)
    .option(...dryRunFlag)
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac series delete CPI.M --reason "licence withdrawn"'))
    .action((id, flags) =>
      change(terminal, flags, 'deleted', (database, options) => deleteSeries(database, { ...options, id })),
    );
  command
    .command('restore')
    .summary('bring a deleted series back, with all its history')
    .argument(...aSeries)
    .option(...reasonFlag)
    .option(...dryRunFlag)
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac series restore CPI.M'))
    .action((id, flags) =>
      change(terminal, flags, 'restored', (database, options) => restoreSeries(database, { ...options, id })),
    );
};

/** Runs the change on the installation and prints it. @param what was done to the series. */
async function change(
  terminal: Terminal,
  { reason, dryRun = false, json = false }: Flags,
  what: string,
  work: (database: Database, options: Omit<ChangeOptions, 'id'>) => Promise<SeriesChange>,
): Promise<void> {
  const { series: id, loadNo } = await withData(terminal.env, 'series', (database, { settings }) =>
    work(database, {
      dryRun,
      ...(reason === undefined ? {} : { reason }),
      seriesTimeZone: settings.seriesTimeZone,
      clock: systemClock,
      onWaiting: () => terminal.stderr.write('A load is under way; the change waits for it.\n'),
    }),
  );
  if (json) return printJson(terminal, { dry_run: dryRun, ...(dryRun ? {} : { load: loadNo }), series: id });
  terminal.stdout.write(
    dryRun ? `nothing kept (--dry-run): ${id} ${what}\n` : `${id} ${what}, by load ${loadNo}\n`,
  );
}
