// The final report of almanac publish: the loaded tables and how to call them, and the error with which it ends.
import { z } from 'zod';
import { interruptionsToJson } from '../ingest/load/lock/give-way-to-release.ts';
import type { LoadCounts } from '../ingest/load/store/load-record.sql.ts';
import type { Plan, PlannedTable } from '../ingest/plan/plan.ts';
import type { LoadedTable } from '../ingest/plan/load-table-file.ts';
import type { Published } from '../ingest/publisher/publish-tables.ts';
import { pointCounts } from '../ingest/load/load-report.ts';
import type { Registered } from '../ingest/publisher/sources/register.ts';
import { instantText } from '../kernel/clock.ts';
import { entryAt } from '../kernel/entries.ts';
import type { Settings } from '../kernel/settings/settings.ts';
import { printJson, type Terminal } from './command.ts';
import { servingOf } from './start/serving.ts';
import { counted, nounOf } from '../kernel/text/counted.ts';

/** All folders of a run together. */
export interface PublishedRun {
  plans: readonly Plan[];
  results: readonly Published[];
  dryRun: boolean;
}

/** The counts of a load, for people. */
export const countsOf = ({ pointsNew, pointsRevised, pointsUnchanged, pointsDeleted }: LoadCounts) =>
  `${pointsNew} new, ${pointsRevised} revised, ${pointsUnchanged} unchanged, ${pointsDeleted} deleted points`;

/** The file, and the sheet if it is not the first. */
export const tableName = ({ path, entry }: Pick<PlannedTable, 'path' | 'entry'>): string =>
  entry.sheet === undefined ? path : `${path}, sheet ${entry.sheet}`;

export const tablesOf = (count: number) => counted(count, 'table');
const addressesOfTable = 5;
const addressesMax = 10;
const namesMax = 5;
const tablesShown = 20;
const rejectsShown = 3;

/** The loaded part of a table, the first rows that were left out, and the options that matched nothing. */
export function linesOfTable(
  table: PlannedTable,
  { summary, series }: LoadedTable,
  isDryRun: boolean,
): string[] {
  const { rowsRejected, rejects, notes } = summary;
  const shown = rejects.slice(0, rejectsShown);
  const more = rowsRejected - shown.length;
  return [
    `${isDryRun ? 'nothing stored (--dry-run): ' : ''}${tableName(table)}: ${table.entry.dataset ?? `${series} series`}, ${countsOf(summary)}` +
      (rowsRejected === 0 ? '' : `, ${rowsRejected} rejected`),
    ...shown.map(
      ({ line, column, value, expected }) => `  line ${line}, ${column}: "${value}", expected ${expected}`,
    ),
    ...(more > 0 ? [`  and ${more} more`] : []),
    ...notes.map((note) => `  ${note}`),
  ];
}

export function printPublishedJson(terminal: Terminal, run: PublishedRun): void {
  const { loaded, failed, unconfirmed, unreadable, leftOut, unchanged, sources } = sumOf(run);
  printJson(terminal, {
    dry_run: run.dryRun,
    descriptions: run.plans.map(({ descriptionPath }) => descriptionPath),
    loaded: loaded.map(({ table, loaded: { summary, series, seriesIds } }) => ({
      path: table.path,
      sheet: table.entry.sheet ?? null,
      series,
      series_ids: seriesIds,
      rows_read: summary.rowsRead,
      ...pointCounts(summary),
      rows_rejected: summary.rowsRejected,
      notes: summary.notes,
      ...interruptionsToJson(summary.interruptions),
    })),
    unchanged,
    left_out: leftOut.map(({ path, state, entry }) => ({
      path,
      sheet: entry.sheet ?? null,
      reason: entry.skip ?? '',
      on_purpose: state === 'skipped',
    })),
    failed: [
      ...failed.map(({ table, failure }) => ({
        path: table.path,
        sheet: table.entry.sheet ?? null,
        reason: failure.message,
      })),
      ...unreadable.map(({ path, reason }) => ({ path, sheet: null, reason })),
    ],
    entries_without_file: run.plans.flatMap(({ withoutFile }) =>
      withoutFile.map(({ file }) => [file].flat()),
    ),
    unconfirmed: unconfirmed.map(({ path, entry }) => ({
      path,
      sheet: entry.sheet ?? null,
      guessed: entry.guessed ?? [],
    })),
    sources: {
      added: sources.added.map(sourceToJson),
      changed: sources.changed.map(sourceToJson),
      ended: sources.ended,
      refused: sources.refused,
    },
  });
}

const sourceToJson = ({ name, schedule, fetchAt }: Registered) => ({
  name,
  schedule,
  next_fetch_at: instantText(fetchAt),
});

export function printPublished({ stdout }: Terminal, run: PublishedRun): void {
  const { loaded, leftOut, unchanged, sources } = sumOf(run);
  if (stdout.isTTY === true) {
    for (const { table, loaded: of } of loaded.slice(0, tablesShown))
      for (const line of linesOfTable(table, of, run.dryRun)) stdout.write(`${line}\n`);
    if (loaded.length > tablesShown) stdout.write(`… and ${tablesOf(loaded.length - tablesShown)} more\n`);
  }
  const left = leftOut.length === 0 ? '' : `, ${leftOut.length} left out (almanac.yml has the reason)`;
  const done = run.dryRun ? 'would be loaded' : 'loaded';
  stdout.write(`${tablesOf(loaded.length)} ${done}, ${unchanged} unchanged${left}\n`);
  for (const { name, schedule, fetchAt } of [...sources.added, ...sources.changed])
    stdout.write(
      `${run.dryRun ? 'would be ' : ''}kept fresh: ${name}, ${schedule}, next ${instantText(fetchAt)}\n`,
    );
  for (const name of sources.ended)
    stdout.write(`${run.dryRun ? 'would no longer be' : 'no longer'} fetched: ${name}\n`);
}

/**
 * The URLs of the loaded series on the instance of these settings, or what to start if none responds.
 * `host` and `port`: where the gateway of this machine listens, if no process has noted that it serves from this directory.
 */
export async function printAddresses(
  { stdout }: Terminal,
  run: PublishedRun,
  { host, port, dataDir }: Pick<Settings, 'host' | 'port' | 'dataDir'>,
): Promise<void> {
  const ids = sumOf(run)
    .loaded.flatMap(({ loaded: { seriesIds } }) => seriesIds.slice(0, addressesOfTable))
    .slice(0, addressesMax);
  if (run.dryRun || ids.length === 0) return;
  const url = new URL(servingOf(dataDir)?.url ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`);
  const origin = url.origin.replace('//0.0.0.0', '//127.0.0.1').replace('//[::]', '//[::1]');
  const answered = await Promise.all(ids.map((id) => isServedAt(origin, id)));
  const addresses = ids.filter((_, at) => answered[at]).map((id) => `${origin}/v1/series/${id}`);
  for (const address of addresses) stdout.write(`  ${address}\n`);
  if (addresses[0] !== undefined) stdout.write(`Call: curl -H "X-API-Key: $KEY" "${addresses[0]}?limit=5"\n`);
  else
    stdout.write(
      `Stored: ${ids.slice(0, namesMax).join(', ')}${ids.length > namesMax ? ', …' : ''}. ${origin} does not serve them: ` +
        `start Almanac there ("almanac start"), or call the instance that uses this database (GET /v1/series/${entryAt(ids, 0)}).\n`,
    );
}

const answersWithinMs = 2_000;

/** Whether an instance at this origin has the series in its catalogue. No reply in time counts as no. */
async function isServedAt(origin: string, id: string): Promise<boolean> {
  try {
    const response = await fetch(`${origin}/v1/catalog/${id}`, {
      signal: AbortSignal.timeout(answersWithinMs),
      redirect: 'manual',
    });
    const answer: unknown = await response.json();
    return catalogAnswer.safeParse(answer).data?.data.id === id;
  } catch {
    return false; // nobody listens, or it is not Almanac
  }
}

const catalogAnswer = z.object({ success: z.literal(true), data: z.object({ id: z.string() }) });

/** @throws Error if a table was not loaded, or none was found in a file. */
export function requireAllPublished(run: PublishedRun): void {
  const { loaded, unchanged, failed, unreadable, noTables, unconfirmed, sources } = sumOf(run);
  const faults = failed.length + unreadable.length;
  const others = loaded.length + unchanged > 0 ? '; the others were' : '';
  if (faults > 0)
    throw new Error(`${tablesOf(faults)} ${nounOf(faults, 'was', 'were')} not loaded${others}.`);
  if (sources.refused.length > 0)
    throw new Error(sources.refused.map(({ path, reason }) => `${path}: ${reason}`).join('\n'));
  const files = run.plans.map(({ descriptionPath }) => descriptionPath).join(', ');
  if (noTables.length > 0) {
    const names = noTables.slice(0, namesMax).map(tableName);
    throw new Error(
      `No table was found in ${names.join('; ')}${noTables.length > namesMax ? ` and ${noTables.length - namesMax} more` : ''}. ` +
        `Describe the table in ${files}, or delete the line "guessed" there to leave the file out on purpose.`,
    );
  }
  if (unconfirmed.length > 0)
    throw new Error(
      `${tablesOf(unconfirmed.length)} ${nounOf(unconfirmed.length, 'was', 'were')} not loaded, because ${nounOf(unconfirmed.length, 'its', 'their')} guesses are not confirmed: ` +
        `correct ${files} and delete the lines "guessed" there, or accept them with --yes.`,
    );
}

function sumOf({ plans, results }: PublishedRun) {
  const tables = plans.flatMap((plan) => plan.tables);
  const noTables = tables.filter(({ state }) => state === 'no table');
  return {
    loaded: results.flatMap((result) => result.loaded),
    failed: results.flatMap((result) => result.failed),
    unconfirmed: results.flatMap((result) => result.unconfirmed),
    unreadable: plans.flatMap((plan) => plan.unreadable),
    noTables,
    sources: {
      added: results.flatMap((result) => result.sources.added),
      changed: results.flatMap((result) => result.sources.changed),
      ended: results.flatMap((result) => result.sources.ended),
      refused: results.flatMap((result) => result.sources.refused),
    },
    leftOut: [...tables.filter(({ state }) => state === 'skipped'), ...noTables],
    unchanged: results.reduce((sum, result) => sum + result.unchanged, 0),
  };
}
