// almanac ingest: loads a file into a dataset. This file has the arguments and the output; ingest/entry/ has the flags that describe the
// file and form an almanac.yml entry.
import { statSync } from 'node:fs';
import { Option, type Command } from 'commander';
import { datasetNames, describe } from '../../ingest/datasets/datasets.ts';
import { shellWord } from '../../ingest/datasets/shell-word.ts';
import { entryFlags, entryOfFlags, isRepeatable } from '../../ingest/entry/flags.ts';
import { IngestFailure } from '../../ingest/failure.ts';
import type { LoadSummary } from '../../ingest/load/store/load-options.ts';
import { waitForGatewayLeases } from '../../ingest/load/load.ts';
import { loadTableFile, type LoadSettings } from '../../ingest/plan/load-table-file.ts';
import { typedFile, type FileToLoad } from '../../ingest/plan/plan.ts';
import type { Due } from '../../ingest/publisher/releases/accept.ts';
import { reportOf } from '../../ingest/load/load-report.ts';
import type { RunningLoad } from '../../ingest/load/lock/load-lock.sql.ts';
import { systemClock } from '../../kernel/clock.ts';
import {
  UsageError,
  collect,
  examples,
  jsonFlag,
  printJson,
  type DeclareCommand,
  type Terminal,
} from '../command.ts';
import { withData, type Environment } from '../installation.ts';
import { createProgress } from '../progress.ts';
import { reportInterruption } from '../embargo/interrupted.ts';
import { acceptInto, countsText, printAccepted } from '../embargo/accept.ts';

export const ingest: DeclareCommand = (command, terminal, words) => {
  declareFlags(command)
    .usage('<dataset> <file> [flags]\n       almanac ingest --describe <dataset>')
    .addHelpText(
      'after',
      examples(
        'almanac ingest observations gdp.csv --create --set series_id=GDP,frequency=quarterly,unit="Billions of dollars",source=BEA',
        'almanac ingest observations wide.csv --wide --vintage 2024-06-30 --dry-run',
        'almanac ingest observations cpi.csv --release-at 2026-12-16T10:00:00+05:00',
        'curl -s https://example.org/nav.csv | almanac ingest nav - --json',
      ),
    )
    .action(async (dataset, file, options) => {
      if (options.describe !== undefined) return printJson(terminal, describe(options.describe));
      if (dataset === undefined || file === undefined)
        throw new UsageError('ingest takes a dataset and a file.');
      const due = dueOf(options);
      const planned = planTypedFile(dataset, file, (name) => command.getOptionValue(name), terminal);
      await loadFile(terminal, planned, options, { words, due });
    });
};

type Flags = ReturnType<ReturnType<typeof declareFlags>['opts']>;

/** Both arguments are missing with --describe. */
function declareFlags(command: Command) {
  for (const each of entryFlags) {
    const words = `${each.flag} ${each.placeholder}`.trimEnd();
    if (isRepeatable(each)) command.option(words, each.help, collect);
    else command.option(words, each.help);
  }
  return command
    .addArgument(command.createArgument('[dataset]', 'what the file has').choices(datasetNames))
    .argument('[file]', 'a CSV file, also .gz, a workbook, or a datapackage.json; - is standard input')
    .option(
      '--release-at <instant>',
      'under embargo: check now, and make visible at that instant, such as 2026-12-16T10:00:00Z',
    )
    .option(
      '--release-with <id>',
      'the same, at the time of an entry of the calendar; if it moves, so does the release',
    )
    .option('--dry-run', 'do everything, store nothing')
    .option('--report <file>', 'the file for all bad rows', 'almanac-rejects.csv')
    .option('--describe <dataset>', 'print the columns of a dataset, and load nothing')
    .option(...jsonFlag);
}

/** @param given the value of a flag by its attribute, such as `skipRows`. @throws IngestFailure if they make no entry. */
function planTypedFile(
  dataset: string,
  file: string,
  given: (attribute: string) => unknown,
  { stdin }: Terminal,
): FileToLoad {
  const entry = entryOfFlags(dataset, file, ({ flag }) => given(new Option(flag).attributeName()));
  return typedFile(entry, file, file === '-' ? stdin : undefined);
}

/** When the load is to become visible; undefined: at once. */
function dueOf({ releaseAt: instant, releaseWith: calendarId, dryRun }: Flags): Due | undefined {
  if (instant === undefined && calendarId === undefined) return undefined;
  if (instant !== undefined && calendarId !== undefined)
    throw new UsageError('--release-at and --release-with: a release is due at one of them.');
  if (dryRun === true)
    throw new UsageError('--dry-run stores nothing, so it takes neither --release-at nor --release-with.');
  return calendarId === undefined ? { instant: instant ?? '' } : { calendarId };
}

/** @param words of the command, for the suggestion if it fails. @param due undefined: it is loaded at once. */
async function loadFile(
  terminal: Terminal,
  planned: FileToLoad,
  flags: Flags,
  { words, due }: { words: readonly string[]; due: Due | undefined },
): Promise<void> {
  const progress = createProgress(fileSize(planned.file), terminal.stderr);
  const asJson = flags.json === true;
  const given = {
    reportFile: flags.report,
    onProgress: progress.show,
    onWaiting: (other: RunningLoad | undefined, isRelease: boolean) =>
      void terminal.stderr.write(`${waitingFor(other, isRelease)}\n`),
    onInterrupted: reportInterruption(terminal, 'load'),
  };
  try {
    if (due !== undefined) {
      const made = await acceptInto(terminal.env, planned, given, due);
      progress.clear();
      return printAccepted(terminal, made, asJson);
    }
    const dryRun = flags.dryRun === true;
    const summary = await loadInto(terminal.env, planned, { ...given, dryRun });
    progress.clear();
    print(terminal, summary, asJson, dryRun);
  } catch (error) {
    progress.clear();
    throw withFix(error, words);
  }
}

/** Adds the whole working command, if the failure knows the missing part. */
function withFix(error: unknown, words: readonly string[]): unknown {
  if (!(error instanceof IngestFailure && error.code === 'usage') || error.fix.length === 0) return error;
  const command = ['almanac', ...words, ...error.fix].map(shellWord).join(' ');
  return new UsageError(`${error.message}\nWith this the columns can be used:\n  ${command}`);
}

function loadInto(
  env: Environment,
  planned: FileToLoad,
  given: Pick<LoadSettings, 'dryRun' | 'reportFile' | 'onProgress' | 'onWaiting' | 'onInterrupted'>,
): Promise<LoadSummary> {
  return withData(env, 'ingest', async (database, { settings: { seriesTimeZone, fiscalYearFirstMonth } }) => {
    const settings = { seriesTimeZone, fiscalYearFirstMonth, clock: systemClock, isTyped: true };
    const { summary } = await loadTableFile(database, planned, { ...settings, ...given });
    if (!given.dryRun) await waitForGatewayLeases();
    return summary;
  });
}

function waitingFor(other: RunningLoad | undefined, isRelease: boolean): string {
  if (isRelease)
    return 'A release under embargo is being prepared; this load waits for its instant, see "almanac releases list".';
  if (other === undefined) return 'Another load is running; this one waits for it.';
  const { since, program, clientAddress } = other;
  const from = clientAddress === null ? '' : ` from ${clientAddress}`;
  return `Another load has been running since ${since.toISOString()} (${program}${from}); this one waits for it.`;
}

function fileSize(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function print(terminal: Terminal, summary: LoadSummary, json: boolean, dryRun: boolean): void {
  if (json) {
    const { rejects: _, ...report } = reportOf(summary); // rejected rows are in the report file
    return printJson(terminal, { dry_run: dryRun, ...report, rows_per_second: summary.rowsPerSecond });
  }
  for (const note of summary.notes) terminal.stderr.write(`note: ${note}\n`);
  terminal.stdout.write(`${dryRun ? 'nothing stored (--dry-run): ' : ''}${countsText(summary)}\n`);
}
