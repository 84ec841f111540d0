// The operators' actions on sources: read one, fetch it now, remove it.
import type { Database, Queryable } from '../../../kernel/database.ts';
import { waitForGatewayLeases } from '../../load/load.ts';
import type { FetchDeps, FetchResult } from './fetch-source.ts';
import { fetchDue } from './fetch-due-sources.ts';
import { deleteSource, selectSources, type Source } from './sources.sql.ts';

/** The source does not exist, or cannot be fetched now. */
class WrongSource extends Error {}

/** @throws WrongSource if it does not exist. */
export async function findSource(on: Queryable, name: string): Promise<Source> {
  const [source] = await selectSources(on, { name });
  if (source === undefined) throw new WrongSource(`There is no source ${name}: see "almanac sources list".`);
  return source;
}

/**
 * Fetches a source, whether due or not, and loads it if it has changed; when this resolves, the load is visible everywhere.
 * @throws WrongSource if it does not exist, or another process is fetching it. Error if the database fails.
 */
export async function fetchNow(
  deps: FetchDeps,
  name: string,
  signal: AbortSignal,
): Promise<{ result: FetchResult; source: Source }> {
  await findSource(deps.database, name);
  const result = (await fetchDue(deps, signal, name)).get(name);
  if (result === undefined)
    throw new WrongSource(`Another process fetches ${name} just now: see "almanac sources show ${name}".`);
  if (result === 'loaded') await waitForGatewayLeases();
  return { result, source: await findSource(deps.database, name) };
}

/** Ends the registration of a source; its series stay. A running fetch loads nothing. @throws WrongSource if it does not exist. */
export async function removeSource(database: Database, name: string): Promise<Source> {
  const source = await findSource(database, name);
  if (!(await deleteSource(database, name))) throw new WrongSource(`There is no source ${name} any more.`);
  return source;
}
