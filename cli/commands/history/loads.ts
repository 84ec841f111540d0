// almanac loads: lists loads, shows one, retracts one.
import { datasetNamed, datasetNames } from '../../../ingest/datasets/datasets.ts';
import { listLoads, seriesOfLoad, type LoadEntry } from '../../../ingest/history/retract/load-list.sql.ts';
import { findLoads, unretractableBecause } from '../../../ingest/history/retract/retractable.ts';
import { retract, retractionReport, type Retraction } from '../../../ingest/history/retract/retract.ts';
import { dateIn, systemClock } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/database.ts';
import { entryOf } from '../../../kernel/entries.ts';
import { fail } from '../../../kernel/errors.ts';
import type { Settings } from '../../../kernel/settings/settings.ts';
import {
  UsageError,
  examples,
  jsonFlag,
  printJson,
  printTable,
  type DeclareCommand,
  type Terminal,
} from '../../command.ts';
import { printInterruptions, reportInterruption } from '../../embargo/interrupted.ts';
import { withData } from '../../installation.ts';
import { counted } from '../../../kernel/text/counted.ts';

const aLoad = ['<load>', 'its number, as in almanac loads list'] as const;
/** The most series that are named. */
const namedMax = 20;
const nameWidth = 'not_retractable_because  '.length;

export const loads: DeclareCommand = (command, terminal) => {
  command.description('A load can be retracted: the data are then as if it had not been loaded.');
  command
    .command('list')
    .summary('list the loads, newest first')
    .addOption(command.createOption('--dataset <name>', 'only loads of that dataset').choices(datasetNames))
    .option('--before <load>', 'only loads older than that')
    .option('--limit <number>', 'the most loads that are listed', '20')
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples('almanac loads list', 'almanac loads list --dataset observations --limit 100'),
    )
    .action(async ({ dataset, before, limit, json }) => {
      const wish = {
        ...(dataset === undefined ? {} : { dataset }),
        ...(before === undefined ? {} : { before: loadNumber(before) }),
        limit: wholeNumber(limit, '--limit takes a whole number'),
      };
      const found = await withLoads(terminal, async (database, settings) =>
        withReasons(database, await listLoads(database, wish), settings),
      );
      if (json) return printJson(terminal, { loads: found });
      printTable(terminal, heading, found.map(rowOf));
    });
  command
    .command('show')
    .summary('show a load, and the series that it changed')
    .argument(...aLoad)
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac loads show 412'))
    .action(async (load, { json }) => {
      const loadNo = loadNumber(load);
      const [entry, of] = await withLoads(terminal, async (database, settings) => {
        const [found] = await withReasons(
          database,
          await listLoads(database, { loadNo, limit: 1 }),
          settings,
        );
        return [found, await seriesOfLoad(database, loadNo, json ? 1_000_000 : namedMax)] as const;
      });
      if (entry === undefined) fail('not_found', `There is no load ${loadNo}.`);
      if (json) return printJson(terminal, { ...entry, ...of });
      for (const [name, value] of Object.entries(entry))
        if (value !== null) terminal.stdout.write(`${name.padEnd(nameWidth)}${String(value)}\n`);
      const more = of.count > of.series.length ? ` and ${of.count - of.series.length} more` : '';
      terminal.stdout.write(`${'series'.padEnd(nameWidth)}${of.series.join(', ') || 'none'}${more}\n`);
    });
  command
    .command('retract')
    .summary('retract a load: from today on, or with --erase in all vintages')
    .argument(...aLoad)
    .option('--erase', 'rewrite the history too; cannot be undone')
    .option('--reason <text>', 'why, for the record')
    .option('--dry-run', 'do everything, report the result, and store nothing')
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples(
        'almanac loads retract 412 --reason "wrong unit" --dry-run',
        'almanac loads retract 412 --erase',
      ),
    )
    .action(async (load, { erase, reason, dryRun, json }) => {
      const result = await withLoads(terminal, (database, { seriesTimeZone, fiscalYearFirstMonth }) =>
        retract(database, {
          loadNo: loadNumber(load),
          erase: erase === true,
          dryRun: dryRun === true,
          ...(reason === undefined ? {} : { reason }),
          ...{ seriesTimeZone, fiscalYearFirstMonth },
          clock: systemClock,
          onWaiting: () => terminal.stderr.write('A load is running; the retraction waits for it.\n'),
          onInterrupted: reportInterruption(terminal, 'retraction'),
        }),
      );
      printRetraction(terminal, result, { json: json === true, dryRun: dryRun === true });
    });
};

function withLoads<T>(
  { env }: Terminal,
  work: (database: Database, settings: Settings) => Promise<T>,
): Promise<T> {
  return withData(env, 'loads', (database, { settings }) => work(database, settings));
}

/** The loads, each with why it cannot be retracted; null if it can. */
async function withReasons(database: Database, entries: readonly LoadEntry[], { seriesTimeZone }: Settings) {
  const loads = await findLoads(
    database,
    entries.map(({ load_no: loadNo }) => loadNo),
  );
  const how = { erase: false, today: dateIn(seriesTimeZone, systemClock.now()) };
  return entries.map((entry) => ({
    ...entry,
    not_retractable_because: unretractableBecause(entryOf(loads, entry.load_no), how),
  }));
}

const loadNumber = (text: string): number =>
  wholeNumber(text, 'A load is a number, as in almanac loads list');

function wholeNumber(text: string, expected: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw new UsageError(`${expected}, not "${text}".`);
  return Number(text);
}

const heading = ['load', 'at', 'dataset', 'source', 'vintage', 'new', 'revised', 'deleted', 'is'];

function rowOf(entry: LoadEntry): string[] {
  const { load_no, loaded_at, dataset, source_name, vintage, points_new, points_revised, points_deleted } =
    entry;
  return [load_no, loaded_at, dataset, source_name, vintage, points_new, points_revised, points_deleted]
    .map(String)
    .concat(stateOf(entry));
}

/** Notes on the load besides its counts. */
function stateOf({ retracts, erases, retracted_by, is_erased, part_of }: LoadEntry): string {
  return [
    retracts === null ? '' : `${erases ? 'erases' : 'retracts'} ${retracts}`,
    retracted_by === null ? '' : `${is_erased ? 'erased' : 'retracted'} by ${retracted_by}`,
    part_of === null ? '' : `of the file of ${part_of}`,
  ]
    .filter((part) => part !== '')
    .join(', ');
}

const effects: Record<Retraction['effect'], string> = {
  out_of_force: 'retracted',
  in_force: 'active again',
  erased: 'erased',
};

function printRetraction(
  terminal: Terminal,
  result: Retraction,
  { json, dryRun }: { json: boolean; dryRun: boolean },
): void {
  const {
    loadNo,
    dataset,
    loads: concerned,
    effect,
    since,
    pointsNew,
    pointsRevised,
    pointsUnchanged,
    pointsDeleted,
  } = result;
  if (json) return printJson(terminal, retractionReport(result, dryRun));
  printInterruptions(terminal, result);
  const which =
    concerned.length === 1
      ? `load ${concerned[0]}`
      : `${concerned.length} loads of one file (from ${concerned[0]})`;
  terminal.stdout.write(
    `${dryRun ? 'nothing stored (--dry-run): ' : ''}${which} ${effects[effect]} since ${since}` +
      `${dryRun ? '' : `, by load ${loadNo}`}: ` +
      `${counted(pointsNew, datasetNamed(dataset).kind === 'table' ? 'row' : 'point')} restored, ${pointsRevised} changed, ${pointsDeleted} deleted, ${pointsUnchanged} as before\n`,
  );
}
