// almanac series: sets facts of a series; declares breaks; renames, merges, deletes and restores it.
import path from 'node:path';
import { interruptionsToJson } from '../../../ingest/load/lock/give-way-to-release.ts';
import type { ChangeSettings } from '../../../ingest/history/change-under-lock.ts';
import type { SeriesChange } from '../../../ingest/history/series/change.ts';
import { deleteSeries, restoreSeries } from '../../../ingest/history/series/delete.ts';
import { mergeSeries } from '../../../ingest/history/series/merge.ts';
import { renameSeries } from '../../../ingest/history/series/rename.ts';
import { declareBreak, removeBreak, type BreakOptions } from '../../../ingest/history/series/break.ts';
import {
  declareContinuation,
  type ContinuationOptions,
} from '../../../ingest/history/series/continuation.ts';
import { readFactsFile } from '../../../ingest/history/series/facts-file.ts';
import { setManyFacts, type ManyFactsChange } from '../../../ingest/history/series/set-many.ts';
import { setFacts, type FactsChange } from '../../../ingest/history/series/set.ts';
import type { FactChange } from '../../../ingest/history/series/set.sql.ts';
import { systemClock } from '../../../kernel/clock.ts';
import type { Database } from '../../../kernel/database.ts';
import {
  UsageError,
  examples,
  jsonFlag,
  printJson,
  type DeclareCommand,
  type Terminal,
} from '../../command.ts';
import { printInterruptions, reportInterruption } from '../../embargo/interrupted.ts';
import { withData } from '../../installation.ts';
import { counted } from '../../../kernel/text/counted.ts';

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
    .command('set')
    .summary('change facts of a series, such as its name, unit, source or licence; or of many, by a file')
    .argument('[series]', 'its id, exact case')
    .argument('[fact=value...]', 'a column of the dataset series; an empty value clears it')
    .option(
      '--from <file>',
      'a CSV file, or - for standard input: a column id, and a column for each fact; an empty cell leaves the fact unchanged, and - clears it',
    )
    .option(...reasonFlag)
    .option(...dryRunFlag)
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples(
        'almanac series set CPI.M name="Consumer prices" licence="CC BY 4.0" --dry-run',
        'almanac series set --from facts.csv --dry-run',
      ),
    )
    .action(async (id, given, { from, ...flags }) => {
      if (from !== undefined) {
        if (id !== undefined)
          throw new UsageError('--from has the ids and the facts: give no series and no fact beside it.');
        return setFromFile(terminal, flags, from);
      }
      if (id === undefined || given.length === 0)
        throw new UsageError(
          'Give a series and its facts, or the facts of many series in a file with --from.',
        );
      const facts = factsOf(given);
      const changed = await runChange(terminal, flags, (database, options) =>
        setFacts(database, { ...options, id, facts }),
      );
      printFacts(terminal, flags, changed, 'changed');
    });
  command
    .command('break')
    .summary(
      'declare that a series is in another unit, or another series, from a date on; remove its last break',
    )
    .argument(...aSeries)
    .argument('[fact=value...]', 'the new unit, unit_multiplier or both')
    .option('--from <date>', 'the first day or period in the new unit, or of the other series; required')
    .option('--frequency <frequency>', 'the frequency of the series of --continued-by')
    .option('--continued-by <series>', 'the series of another frequency that continues this one')
    .option('--note <text>', 'a note on it for readers')
    .option(
      '--remove',
      'remove the break of that date: the series has the unit from before, or is no longer continued by another',
    )
    .option(...reasonFlag)
    .option(...dryRunFlag)
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples(
        'almanac series break CPI.M --from 2024-01 unit="Index 2020=100" --note "New base year"',
        'almanac series break CPI.M --from 2024-01 --frequency quarterly --continued-by CPI.Q',
        'almanac series break CPI.M --from 2024-01 --remove',
      ),
    )
    .action((id, given, { from, frequency, continuedBy, note, remove, ...flags }) => {
      if (from === undefined)
        throw new UsageError(
          'A break needs --from, the first day or period in the new unit, or of the other series.',
        );
      const isOfFrequency = frequency !== undefined || continuedBy !== undefined;
      if (remove === true) {
        if (given.length > 0 || note !== undefined || isOfFrequency)
          throw new UsageError('--remove takes the date of the break alone.');
        return change(terminal, flags, `has no break at ${from} any more`, (database, options) =>
          removeBreak(database, { ...options, id, from }),
        );
      }
      const noted = { id, from, ...(note === undefined ? {} : { note }) };
      if (!isOfFrequency) return unitBreak(terminal, flags, { ...noted, facts: factsOf(given) });
      if (frequency === undefined || continuedBy === undefined || given.length > 0)
        throw new UsageError(
          'Use --frequency and --continued-by without facts: the other series has its own.',
        );
      return continuation(terminal, flags, { ...noted, frequency, continuedBy });
    });
  command
    .command('rename')
    .summary('give a series another id; the old one remains as an alias')
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
    .command('merge')
    .summary('make a series part of another, which has its points and answers to its id from then on')
    .argument('<old>', 'the id of the series that ends')
    .argument('<into>', 'the id of the series that remains')
    .addOption(
      command
        .createOption('--prefer <series>', 'whose value is kept where both have one and they differ')
        .choices(['old', 'into'] as const),
    )
    .option(...reasonFlag)
    .option(...dryRunFlag)
    .option(...jsonFlag)
    .addHelpText(
      'after',
      examples(
        'almanac series merge CPI.M PK.CPI.M --dry-run',
        'almanac series merge CPI.M PK.CPI.M --prefer into --reason "the same index"',
      ),
    )
    .action(async (id, into, { prefer, ...flags }) => {
      const merge = await runChange(terminal, flags, (database, options) =>
        mergeSeries(database, { ...options, id, into, ...(prefer === undefined ? {} : { prefer }) }),
      );
      const { pointsNew, pointsRevised, conflicts } = merge;
      const counts = { points_new: pointsNew, points_revised: pointsRevised, conflicts };
      const points = `${counted(pointsNew, 'point')} new, ${pointsRevised} revised, ${conflicts} in conflict`;
      printChange(terminal, flags, merge, `has what was ${id} (${points})`, counts);
    });
  command
    .command('delete')
    .summary('stop serving a series and loading into it; its history is kept')
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
    .summary('restore a deleted or merged series, with all its history')
    .argument(...aSeries)
    .option(...reasonFlag)
    .option(...dryRunFlag)
    .option(...jsonFlag)
    .addHelpText('after', examples('almanac series restore CPI.M'))
    .action((id, flags) =>
      change(terminal, flags, 'restored', (database, options) => restoreSeries(database, { ...options, id })),
    );
};

/** @param from the path of a file, or - for standard input. */
async function setFromFile(terminal: Terminal, flags: Flags, from: string): Promise<void> {
  const file = await readFactsFile(from === '-' ? terminal.stdin : from);
  const fileName = from === '-' ? 'standard input' : path.basename(from);
  const done = await runChange(terminal, flags, (database, options) =>
    setManyFacts(database, { ...options, ...file, fileName }),
  );
  printManyFacts(terminal, flags, done);
}

function printManyFacts(
  terminal: Terminal,
  { dryRun = false, json = false }: Flags,
  { changed, unchanged, loadNo, interruptions }: ManyFactsChange,
): void {
  if (json)
    return printJson(terminal, {
      dry_run: dryRun,
      ...(dryRun ? {} : { load: loadNo }),
      series_changed: changed.length,
      series_unchanged: unchanged,
      series: changed,
      ...interruptionsToJson(interruptions),
    });
  printInterruptions(terminal, { interruptions });
  const what = `${changed.length} series changed, ${unchanged} unchanged`;
  terminal.stdout.write(dryRun ? `nothing stored (--dry-run): ${what}\n` : `${what}, by load ${loadNo}\n`);
  for (const { series: id, changes } of changed)
    for (const { fact, from, to } of changes)
      terminal.stdout.write(`${id} ${fact}: ${factText(from)} → ${factText(to)}\n`);
}

async function unitBreak(
  terminal: Terminal,
  flags: Flags,
  wished: Pick<BreakOptions, 'id' | 'from' | 'facts' | 'note'>,
): Promise<void> {
  const changed = await runChange(terminal, flags, (database, options) =>
    declareBreak(database, { ...options, ...wished }),
  );
  printFacts(terminal, flags, changed, `has a break at ${wished.from}`);
}

async function continuation(
  terminal: Terminal,
  flags: Flags,
  wished: Pick<ContinuationOptions, 'id' | 'from' | 'frequency' | 'continuedBy' | 'note'>,
): Promise<void> {
  const { from, frequency, continuedBy } = wished;
  const changed = await runChange(terminal, flags, (database, options) =>
    declareContinuation(database, { ...options, ...wished }),
  );
  printChange(terminal, flags, changed, `is continued by ${continuedBy} (${frequency}) from ${from}`, {
    ...{ changes: changed.changes, continued_by: continuedBy },
  });
}

/** @throws UsageError if one is malformed, or a fact is given twice. */
function factsOf(given: readonly string[]): Record<string, string> {
  const facts = new Map<string, string>();
  for (const text of given) {
    const [, fact, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
    if (fact === undefined || value === undefined)
      throw new UsageError(`A fact is given as name=value, such as unit="Index 2020=100", not "${text}".`);
    if (facts.has(fact)) throw new UsageError(`${fact} is given twice.`);
    facts.set(fact, value);
  }
  return Object.fromEntries(facts);
}

const factText = (value: FactChange['from']): string => (value === null ? 'none' : JSON.stringify(value));

function printFacts(terminal: Terminal, flags: Flags, changed: FactsChange, what: string): void {
  printChange(terminal, flags, changed, what, { changes: changed.changes });
  if (flags.json === true) return;
  for (const { fact, from, to } of changed.changes)
    terminal.stdout.write(`${fact}: ${factText(from)} → ${factText(to)}\n`);
}

/** Runs the change on the installation and prints it. @param what was done to the series. */
async function change(
  terminal: Terminal,
  flags: Flags,
  what: string,
  work: (database: Database, options: ChangeSettings) => Promise<SeriesChange>,
): Promise<void> {
  printChange(terminal, flags, await runChange(terminal, flags, work), what);
}

function runChange<Change>(
  terminal: Terminal,
  { reason, dryRun = false }: Flags,
  work: (database: Database, options: ChangeSettings) => Promise<Change>,
): Promise<Change> {
  return withData(terminal.env, 'series', (database, { settings }) =>
    work(database, {
      dryRun,
      ...(reason === undefined ? {} : { reason }),
      seriesTimeZone: settings.seriesTimeZone,
      clock: systemClock,
      onWaiting: () => terminal.stderr.write('A load is running; the change waits for it.\n'),
      onInterrupted: reportInterruption(terminal, 'change'),
    }),
  );
}

/** @param more for --json. */
function printChange(
  terminal: Terminal,
  { dryRun = false, json = false }: Flags,
  { series: id, loadNo, interruptions }: SeriesChange,
  what: string,
  more: Readonly<Record<string, unknown>> = {},
): void {
  if (json)
    return printJson(terminal, {
      dry_run: dryRun,
      ...(dryRun ? {} : { load: loadNo }),
      series: id,
      ...more,
      ...interruptionsToJson(interruptions),
    });
  printInterruptions(terminal, { interruptions });
  terminal.stdout.write(
    dryRun ? `nothing stored (--dry-run): ${id} ${what}\n` : `${id} ${what}, by load ${loadNo}\n`,
  );
}
