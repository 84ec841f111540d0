// Publishes planned tables: writes almanac.yml, loads new and changed tables one after the other, and waits once until all are visible. A
// table that cannot be loaded does not stop the others.
import { setImmediate as turn } from 'node:timers/promises';
import type { Database } from '../../kernel/database.ts';
import { IngestFailure } from '../failure.ts';
import { waitForGatewayLeases } from '../load/load.ts';
import type { AddressGuard } from '../../kernel/outbound/address-guard.ts';
import { registerSources, type Registration } from './sources/register.ts';
import { confirmGuesses } from '../entry/entry-file.ts';
import { removeLeftDrafts, writeDescription } from '../entry/write-entry-file.ts';
import type { LoadedTable, LoadSettings } from '../plan/load-table-file.ts';
import type { Plan, PlannedTable } from '../plan/plan.ts';

export interface PublishOptions extends Omit<
  LoadSettings,
  'publication' | 'onProgress' | 'inSameTransaction'
> {
  /** Loads a table: `loadTableFile`, in a child process unless its file is trusted. */
  load: (planned: PlannedTable, settings: Omit<LoadSettings, 'inSameTransaction'>) => Promise<LoadedTable>;
  /** Loads tables with guesses, and confirms them in almanac.yml. */
  acceptGuesses: boolean;
  /** Decides which URLs the publisher will fetch by their schedule. Undefined: sources are neither registered nor ended. */
  sourceGuard?: AddressGuard;
  /** No gateway serves the database. */
  noGateway?: boolean;
  /** The size of all tables to load. */
  onProgress?: (state: PublishState) => void;
  onLoaded?: (table: PlannedTable, loaded: LoadedTable) => void;
  onFailed?: (table: PlannedTable, failure: IngestFailure) => void;
}

/** The progress of a run. */
export interface PublishState {
  /** The number of tables loaded or failed. */
  tablesDone: number;
  tables: number;
  /** Points read so far, including those of tables that failed. */
  pointsRead: number;
  bytesRead: number;
  bytesTotal: number;
}

export interface Published {
  loaded: { table: PlannedTable; loaded: LoadedTable }[];
  failed: { table: PlannedTable; failure: IngestFailure }[];
  unchanged: number;
  /** Tables whose guesses are not confirmed. */
  unconfirmed: PlannedTable[];
  /** The outcome for URLs with a schedule. */
  sources: Registration;
}

/** What the run would load. */
export function toLoad(plan: Plan, acceptGuesses: boolean): PlannedTable[] {
  return plan.tables.filter(
    ({ state, isGuessed }) =>
      !['unchanged', 'skipped', 'no table'].includes(state) && (acceptGuesses || !isGuessed),
  );
}

/**
 * Loads the tables of a plan. almanac.yml is written first, so that the next run continues one that was killed.
 * @throws IngestFailure if almanac.yml cannot be written; failures of tables are in the result.
 */
export async function publish(database: Database, plan: Plan, options: PublishOptions): Promise<Published> {
  const { load, acceptGuesses, sourceGuard, noGateway, onProgress, onLoaded, onFailed, ...shared } = options;
  const tables = toLoad(plan, acceptGuesses);
  if (!options.dryRun) saveDescription(plan, acceptGuesses);
  const result: Published = {
    loaded: [],
    failed: [],
    unchanged: plan.tables.filter(({ state }) => state === 'unchanged').length,
    unconfirmed: acceptGuesses
      ? []
      : plan.tables.filter(({ state, isGuessed }) => isGuessed && state !== 'unchanged'),
    sources: { added: [], changed: [], ended: [], refused: [] },
  };
  const bytesTotal = tables.reduce((sum, { bytes }) => sum + bytes, 0);
  let [pointsBefore, bytesBefore] = [0, 0];
  for (const [tablesDone, table] of tables.entries()) {
    let pointsRead = 0;
    const reportProgress = (done: number, bytesRead: number) =>
      onProgress?.({
        tablesDone: done,
        tables: tables.length,
        pointsRead: pointsBefore + pointsRead,
        bytesRead: bytesBefore + bytesRead,
        bytesTotal,
      });
    try {
      const loaded = await load(table, {
        ...shared,
        publication: plan.description.description.name,
        onProgress: (rowsRead, bytesRead) => {
          pointsRead = rowsRead;
          reportProgress(tablesDone, bytesRead);
        },
      });
      result.loaded.push({ table, loaded });
      onLoaded?.(table, loaded);
    } catch (error) {
      if (!(error instanceof IngestFailure)) throw error;
      result.failed.push({ table, failure: error });
      onFailed?.(table, error);
    }
    reportProgress(tablesDone + 1, table.bytes);
    pointsBefore += pointsRead;
    bytesBefore += table.bytes;
    await turn();
  }
  if (sourceGuard !== undefined)
    result.sources = await registerSources(database, plan.description.description, {
      ...{ seriesTimeZone: options.seriesTimeZone, now: options.clock.now(), guard: sourceGuard },
      ...{ isNew: plan.isNew, dryRun: options.dryRun },
    });
  if (!options.dryRun && noGateway !== true && result.loaded.length > 0) await waitForGatewayLeases();
  return result;
}

/** Whether a run changes almanac.yml. */
export const changesDescription = (plan: Plan, acceptGuesses: boolean): boolean =>
  plan.newEntries.length > 0 ||
  plan.isCompleted ||
  (acceptGuesses && plan.tables.some(({ isGuessed }) => isGuessed));

function saveDescription(plan: Plan, acceptGuesses: boolean): void {
  removeLeftDrafts(plan.descriptionPath);
  if (!changesDescription(plan, acceptGuesses)) return;
  const guessed = acceptGuesses
    ? plan.tables.filter(({ isGuessed }) => isGuessed).map(({ entry }) => entry)
    : [];
  confirmGuesses(plan.description, guessed);
  writeDescription(plan.descriptionPath, plan.description);
}
