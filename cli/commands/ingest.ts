// almanac ingest: loads a file into a dataset. This file has the arguments and the output; the rules are in ingest/.
import { statSync } from 'node:fs';
import type { Command } from 'commander';
import { datasetNames, describe } from '../../ingest/datasets/datasets.ts';
import { shellWord } from '../../ingest/datasets/shell-word.ts';
import { IngestFailure } from '../../ingest/load/failure.ts';
import type { LoadSummary } from '../../ingest/load/load-options.ts';
import { load } from '../../ingest/load/load.ts';
import type { Due } from '../../ingest/publisher/accept.ts';
import { reportOf } from '../../ingest/publisher/report.ts';
import type { LoadUnderWay } from '../../ingest/load/statements.sql.ts';
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
import { tellInterrupted } from '../embargo/interrupted.ts';
import { acceptInto, countsText, printAccepted, type Wish } from '../embargo/accept.ts';

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
      if (options.describe !== undefined) return printDescription(terminal, options.describe);
      if (dataset === undefined || file === undefined)
        throw new UsageError('ingest takes a dataset and a file.');
      const due = dueOf(options);
      const wish = toWish(terminal, dataset, file, options);
      await loadFile(terminal, wish, { asJson: options.json === true, words, due });
    });
};

type Flags = ReturnType<ReturnType<typeof declareFlags>['opts']>;

/** Both arguments are missing with --describe. */
function declareFlags(command: Command) {
  return declareFormat(command)
    .option('--vintage <date>', 'the day on which the file was published; default today')
    .option(
      '--full',
      'the file states its series completely: points it leaves out are deleted as of the vintage',
    )
    .option(
      '--release-at <instant>',
      'under embargo: check now, and make visible at that instant, such as 2026-12-16T10:00:00Z',
    )
    .option(
      '--release-with <id>',
      'the same, at the time of an entry of the calendar; if it moves, so does the release',
    )
    .option('--dry-run', 'do everything, store nothing')
    .option('--skip-invalid', 'load the good rows even if there are bad ones')
    .option('--report <file>', 'the file for all bad rows', 'almanac-rejects.csv')
    .option('--describe <dataset>', 'print the columns of a dataset, and load nothing')
    .option(...jsonFlag);
}

/** How the file is read. */
function declareFormat(command: Command) {
  return command
    .addArgument(command.createArgument('[dataset]', 'what the file has').choices(datasetNames))
    .argument('[file]', 'a CSV file, also .gz, or a datapackage.json; - is standard input')
    .option('--map <target=source,…>', "our column name = the file's", collect)
    .option(
      '--set <column=value,…>',
      'a constant for every row; with --create also frequency, unit, source, name of a new series',
      collect,
    )
    .option(
      '--ignore <column,…>',
      'columns of the file to ignore; other unknown columns become dimensions',
      collect,
    )
    .option('--create', 'create series that do not exist yet')
    .option('--wide', 'one column per series (for nav: per fund), the dates in the first')
    .option('--skip-rows <number>', 'lines below the header that are not data')
    .option('--skip-where <column=value>', 'leave out the rows with that value; may be repeated', collect)
    .option('--map-value <column=value=other>', 'read that value as the other; may be repeated', collect)
    .option(
      '--date-format <format>',
      'such as M/D/YYYY, D-MMM-YYYY, DD/MM/YYYY; default YYYY-MM-DD, YYYY-MM, YYYY, YYYY-Q1 and the forms 2024M01, Jan-24, Q1 2024, 2023/24, 30-Jan-2026',
    )
    .option('--missing <text>', 'text that means missing, as the empty cell does; may be repeated', collect)
    .option('--decimal <mark>', 'the decimal mark; default .')
    .option('--thousands <mark>', 'the separator between groups of three digits; default none')
    .option(
      '--multiply <column=number>',
      'the factor of the numbers of a column, such as value=1000000',
      collect,
    )
    .option('--prefix <text>', "put before the ids of a wide file's columns")
    .option('--header-line <number>', 'the line of the column names, if a title is above them')
    .option('--delimiter <character>', 'the delimiter; default detected')
    .option('--encoding <name>', 'utf-8, utf-16le, windows-1252 …; default detected')
    .option('--resource <name>', 'the resource of a datapackage.json that has several');
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

function toWish(terminal: Terminal, dataset: string, file: string, flags: Flags): Wish {
  const { dateFormat, decimal, thousands, prefix, resource, delimiter, encoding, vintage } = flags;
  return {
    dataset,
    input: file === '-' ? terminal.stdin : file,
    map: assignments(flags.map ?? [], '--map'),
    set: assignments(flags.set ?? [], '--set'),
    ignore: flags.ignore ?? [],
    create: flags.create === true,
    wide: flags.wide === true,
    full: flags.full === true,
    dryRun: flags.dryRun === true,
    skipInvalid: flags.skipInvalid === true,
    missing: flags.missing ?? [],
    reportFile: flags.report,
    onWaiting: (other, isRelease) => terminal.stderr.write(`${waitingFor(other, isRelease)}\n`),
    onInterrupted: tellInterrupted(terminal, 'load'),
    skipRows: wholeNumber(flags.skipRows, '--skip-rows'),
    headerLine: wholeNumber(flags.headerLine, '--header-line'),
    skipWhere: (flags.skipWhere ?? []).map(cellChoice),
    mapValue: (flags.mapValue ?? []).map(cellReplacement),
    multiply: assignments(flags.multiply ?? [], '--multiply'),
    ...{ dateFormat, decimal, thousands, prefix, resource, delimiter, encoding, vintage },
  };
}

/** @param words of the command, for the one that is offered where it fails. @param due undefined: it is loaded at once. */
async function loadFile(
  terminal: Terminal,
  wish: Wish,
  { asJson, words, due }: { asJson: boolean; words: readonly string[]; due: Due | undefined },
): Promise<void> {
  const size = typeof wish.input === 'string' ? fileSize(wish.input) : undefined;
  const progress = createProgress(size, terminal.stderr);
  try {
    if (due !== undefined) {
      const made = await acceptInto(terminal.env, { ...wish, onProgress: progress.show }, due);
      progress.clear();
      return printAccepted(terminal, made, asJson);
    }
    const summary = await loadInto(terminal.env, { ...wish, onProgress: progress.show });
    progress.clear();
    print(terminal, summary, asJson, wish.dryRun === true);
  } catch (error) {
    progress.clear();
    throw withFix(asUsage(error), error, words);
  }
}

/** Adds the whole command that would work, if the failure knows what its own lacks. */
function withFix(shown: unknown, error: unknown, words: readonly string[]): unknown {
  if (!(shown instanceof UsageError && error instanceof IngestFailure) || error.fix.length === 0)
    return shown;
  const command = ['almanac', ...words, ...error.fix].map(shellWord).join(' ');
  return new UsageError(`${shown.message}\nWith this the columns can be used:\n  ${command}`);
}

function printDescription(terminal: Terminal, dataset: string): void {
  try {
    printJson(terminal, describe(dataset));
  } catch (error) {
    throw asUsage(error);
  }
}

/** Reports a wrong call with the usage text, wherever it was detected. */
function asUsage(error: unknown): unknown {
  return error instanceof IngestFailure && error.code === 'usage' ? new UsageError(error.message) : error;
}

function loadInto(env: Environment, wish: Wish): Promise<LoadSummary> {
  return withData(env, 'ingest', (database, { settings: { seriesTimeZone, fiscalYearFirstMonth } }) =>
    load(database, { ...wish, seriesTimeZone, fiscalYearFirstMonth, clock: systemClock }),
  );
}

function waitingFor(other: LoadUnderWay | undefined, isRelease: boolean): string {
  if (isRelease)
    return 'A release under embargo is being prepared; this load waits for its instant, see "almanac releases list".';
  if (other === undefined) return 'Another load is under way; this one waits for it.';
  const { since, program, clientAddress } = other;
  const from = clientAddress === null ? '' : ` from ${clientAddress}`;
  return `Another load is under way since ${since.toISOString()} (${program}${from}); this one waits for it.`;
}

/** `target=source` pairs; a comma begins a new pair only before a name and `=`, so values may contain commas. */
function assignments(given: readonly string[], flag: string): Record<string, string> {
  const pairs = given.flatMap((text) => text.split(/,(?=[A-Za-z_][A-Za-z0-9_.-]*=)/));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      if (at < 1) throw new UsageError(`${flag} takes name=value, not "${pair}".`);
      return [pair.slice(0, at), pair.slice(at + 1)];
    }),
  );
}

function cellChoice(text: string): { column: string; value: string } {
  const [, column, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (column === undefined || value === undefined)
    throw new UsageError(`--skip-where takes column=value, not "${text}".`);
  return { column: column.trim(), value: value.trim() };
}

function cellReplacement(text: string): { column: string; value: string; to: string } {
  const [column, value, to, ...rest] = text.split('=').map((part) => part.trim());
  if (!column || value === undefined || to === undefined || rest.length > 0)
    throw new UsageError(`--map-value takes column=value=other, not "${text}".`);
  return { column, value, to };
}

function wholeNumber(text: string | undefined, flag: string): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,6}$/.test(text)) throw new UsageError(`${flag} takes a whole number, not "${text}".`);
  return Number(text);
}

function fileSize(file: string): number | undefined {
  return statSync(file, { throwIfNoEntry: false })?.size;
}

function print(terminal: Terminal, summary: LoadSummary, json: boolean, dryRun: boolean): void {
  if (json) {
    const { rejects: _, ...report } = reportOf(summary); // refused rows are in the report file
    return printJson(terminal, { dry_run: dryRun, ...report, rows_per_second: summary.rowsPerSecond });
  }
  for (const note of summary.notes) terminal.stderr.write(`note: ${note}\n`);
  terminal.stdout.write(`${dryRun ? 'nothing kept (--dry-run): ' : ''}${countsText(summary)}\n`);
}
