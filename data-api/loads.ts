// The newest load known to this service: gateways ask for it and cache answers that include it. An answer includes every load that this
// service knew of before the call began to read.
import { hash } from 'node:crypto';
import type { Queryable } from '../kernel/database.ts';
import { sendJson } from '../kernel/http/reply.ts';
import type { Route } from '../kernel/http/server.ts';
import { programBuild } from '../kernel/project.ts';
import { newestLoadPath, type DataState } from '../kernel/http/validity.ts';
import { readNewestLoad } from './loads.sql.ts';

export interface Loads {
  /** Asks the database. */
  newest(): Promise<DataState>;
  /** The newest load when the database was last asked: every later read includes it. Undefined if it was never asked. */
  known(): DataState | undefined;
  /** Records a newest load that another statement has read. */
  note(load: number): void;
}

/** The state besides the data that answers depend on: the build, and these. Instances that agree in all of it have the same edition. */
export function editionOf(settings: Readonly<Record<string, string | number | undefined>>): string {
  const shaping = [programBuild(), Object.entries(settings).toSorted()];
  return hash('sha256', JSON.stringify(shaping), 'base64url').slice(0, 12);
}

export function createLoads(database: Queryable, edition: string): Loads {
  let known: DataState | undefined;
  function note(load: number): DataState {
    // Two concurrent queries may be answered out of order.
    if (known === undefined || known.load < load) known = { edition, load };
    return known;
  }
  return {
    newest: async () => note(await readNewestLoad(database)),
    known: () => known,
    note: (load) => void note(load),
  };
}

/** The endpoint that gateways ask. */
export function newestLoad(loads: Loads): Route {
  return {
    method: 'GET',
    path: newestLoadPath,
    scope: 'internal',
    handler: async (_request, response) => sendJson(response, 200, await loads.newest()),
  };
}
