// almanac ingest: loads a file into a dataset. This file has the arguments and the output; the rules are in ingest/.
import { statSync } from 'node:fs';
import { datasetNames, describe } from '../../ingest/datasets/datasets.ts';
import { shellWord } from '../../ingest/datasets/columns.ts';
import { IngestFailure } from '../../ingest/load/failure.ts';
import type { LoadOptions, LoadSummary } from '../../ingest/load/load-options.ts';
import { load } from '../../ingest/load/load.ts';
import type { LoadUnderWay } from '../../ingest/load/statements.sql.ts';
import { systemClock } from '../../kernel/clock.ts';
import { UsageError, printJson, parseCommandArgs, type Command, type Terminal } from '../command.ts';
import { withDatabase, withInstallation, type Environment } from '../installation.ts';
import { createProgress } from '../progress.ts';

const flags = {
  map: { type: 'string', multiple: true },
  set: { type: 'string', multiple: true },
  ignore: { type: 'string', multiple: true },
  create: { type: 'boolean', default: false },
  wide: { type: 'boolean', default: false },
  full: { type: 'boolean', default: false },
  'dry-run': { type: 'boolean', default: false },
  'skip-invalid': { type: 'boolean', default: false },
  'skip-rows': { type: 'string' },
  'skip-where': { type: 'string', multiple: true },
  'map-value': { type: 'string', multiple: true },
  'date-format': { type: 'string' },
  missing: { type: 'string', multiple: true },
  decimal: { type: 'string' },
  thousands: { type: 'string' },
  multiply: { type: 'string', multiple: true },
  prefix: { type: 'string' },
  resource: { type: 'string' },
  delimiter: { type: 'string' },
  encoding: { type: 'string' },
  'header-line': { type: 'string' },
  vintage: { type: 'string' },
  report: { type: 'string' },
  describe: { type: 'string' },
  json: { type: 'boolean', default: false },
} as const;

export const ingest: Command = {
  flags,
  summary: 'load a CSV file into a dataset',
  usage: `Usage: almanac ingest <dataset> <file.csv|file.csv.gz|-> [flags]
       almanac ingest --describe <dataset>

Datasets: ${datasetNames.join(', ')}

  --map target=source,…    our column name = the file's
  --set column=value,…     a constant for every row; with --create also frequency, unit, source, name of a new series
  --ignore column,…        columns of the file to ignore; other unknown columns become dimensions
  --create                 create series that do not exist yet
  --wide                   one column per series (for nav: per fund), the dates in the first
  --skip-rows N            lines below the header that are not data
  --skip-where COLUMN=VALUE  leave out the rows with that value; may be repeated
  --map-value COLUMN=VALUE=OTHER  read that value as the other; may be repeated
  --date-format FORMAT     such as M/D/YYYY, D-MMM-YYYY, DD/MM/YYYY; default YYYY-MM-DD, YYYY-MM, YYYY, YYYY-Q1
                           and the forms 2024M01, Jan-24, Q1 2024, 2023/24, 30-Jan-2026
  --missing TEXT           text that means missing, as the empty cell does; may be repeated
  --decimal ,              the decimal mark; default .
  --thousands .            the separator between groups of three digits; default none
  --multiply column=NUMBER the factor of the numbers of a column, such as value=1000000
  --prefix TEXT            put before the ids of a wide file's columns
  --header-line N          the line of the column names, if a title is above them
  --delimiter ';'          the delimiter; default detected
  --encoding NAME          utf-8, utf-16le, windows-1252 …; default detected
  --resource NAME          the resource of a datapackage.json that has several
  --vintage YYYY-MM-DD     the day the file was published; default today
  --full                   the file states its series completely: points it leaves out are deleted as of the vintage
  --dry-run                do everything, store nothing
  --skip-invalid           load the good rows even if there are bad ones
  --report FILE            the file for all bad rows; default almanac-rejects.csv
  --json                   one line for machines`,
  async run(args, terminal) {
    const { values, positionals } = parseCommandArgs(args, flags);
    if (values.describe !== undefined) return printDescription(terminal, values.describe);
    const [dataset, input, ...rest] = positionals;
    if (dataset === undefined || input === undefined || rest.length > 0) {
      throw new UsageError('ingest takes a dataset and a file.');
    }
    const progress = createProgress(input === '-' ? undefined : fileSize(input), terminal.stderr);
    const wish: Omit<LoadOptions, 'seriesTimeZone' | 'clock'> = {
      dataset,
      input: input === '-' ? terminal.stdin : input,
      map: assignments(values.map ?? [], '--map'),
      set: assignments(values.set ?? [], '--set'),
      ignore: values.ignore ?? [],
      create: values.create,
      wide: values.wide,
      full: values.full,
      dryRun: values['dry-run'],
      skipInvalid: values['skip-invalid'],
      missing: values.missing ?? [],
      reportFile: values.report ?? 'almanac-rejects.csv',
      onProgress: progress.show,
      onWaiting: (other) => terminal.stderr.write(`${waitingFor(other)}\n`),
      skipRows: wholeNumber(values['skip-rows'], '--skip-rows'),
      headerLine: wholeNumber(values['header-line'], '--header-line'),
      skipWhere: (values['skip-where'] ?? []).map(cellChoice),
      mapValue: (values['map-value'] ?? []).map(cellReplacement),
      dateFormat: values['date-format'],
      decimal: values.decimal,
      thousands: values.thousands,
      multiply: assignments(values.multiply ?? [], '--multiply'),
      prefix: values.prefix,
      resource: values.resource,
      delimiter: values.delimiter,
      encoding: values.encoding,
      vintage: values.vintage,
    };
    try {
      const summary = await loadInto(terminal.env, wish);
      progress.clear();
      print(terminal, summary, values.json, values['dry-run']);
    } catch (error) {
      progress.clear();
      throw withFix(asUsage(error), error, args);
    }
  },
};

/** Adds the whole command that would work, if the failure knows what its own lacks. */
function withFix(shown: unknown, error: unknown, args: readonly string[]): unknown {
  if (!(shown instanceof UsageError && error instanceof IngestFailure) || error.fix.length === 0)
    return shown;
  const command = ['almanac', 'ingest', ...args, ...error.fix].map(shellWord).join(' ');
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

function loadInto(
  env: Environment,
  wish: Omit<LoadOptions, 'seriesTimeZone' | 'clock'>,
): Promise<LoadSummary> {
  return withInstallation(env, ({ databaseUrl, settings }) => {
    const { logLevel, seriesTimeZone, fiscalYearFirstMonth } = settings;
    return withDatabase(databaseUrl, { command: 'ingest', logLevel, statementTimeoutMs: 0 }, (database) =>
      load(database, { ...wish, seriesTimeZone, fiscalYearFirstMonth, clock: systemClock }),
    );
  });
}

function waitingFor(other: LoadUnderWay | undefined): string {
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
    return printJson(terminal, {
      dry_run: dryRun,
      rows_read: summary.rowsRead,
      points_new: summary.pointsNew,
      points_revised: summary.pointsRevised,
      points_unchanged: summary.pointsUnchanged,
      points_deleted: summary.pointsDeleted,
      rows_rejected: summary.rowsRejected,
      rows_skipped: summary.rowsSkipped,
      seconds: summary.seconds,
      rows_per_second: summary.rowsPerSecond,
      notes: summary.notes,
    });
  }
  for (const note of summary.notes) terminal.stderr.write(`note: ${note}\n`);
  const { pointsNew, pointsRevised, pointsUnchanged, pointsDeleted } = summary;
  terminal.stdout.write(
    `${dryRun ? 'nothing kept (--dry-run): ' : ''}${summary.rowsRead} rows read: ${pointsNew} new, ${pointsRevised} revised, ` +
      `${pointsUnchanged} unchanged, ${pointsDeleted} deleted, ${summary.rowsRejected} rejected` +
      `${summary.rowsSkipped === 0 ? '' : `, ${summary.rowsSkipped} left out by --skip-where`}; ` +
      `${summary.seconds.toFixed(1)} s, ${Math.round(summary.rowsPerSecond)} rows/s\n`,
  );
}
