// Shared by the tests of scheduled sources: a server, a folder with its almanac.yml, a publisher with its own role, and a clock.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import type { ExecutionContext, TestFn } from 'ava';
import { planPublishing } from '../../ingest/plan/plan.ts';
import { publish, type Published } from '../../ingest/publisher/publish-tables.ts';
import type { FetchDeps } from '../../ingest/publisher/sources/fetch-source.ts';
import { findTables } from '../../ingest/preview/find-tables.ts';
import { loadTableFile } from '../../ingest/plan/load-table-file.ts';
import { fetchDeps, fetchDue } from '../../ingest/publisher/sources/fetch-due-sources.ts';
import { loadFetchedHere } from '../../ingest/publisher/sources/load-fetched.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { createAddressGuard } from '../../kernel/outbound/address-guard.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { startFileServer, type FileServer } from './file-server.ts';
import { fakeReleaseClock, type FakeReleaseClock } from './releasing.ts';

/** The instant at which each test begins. */
export const start = '2026-11-23T08:00:00Z';
/** Test servers are on this machine and have no certificate. */
export const local = { allowCidrs: ['127.0.0.0/8'], allowHttp: true };
export const never = new AbortController().signal;

/** An entry of almanac.yml. @param more further lines, each except the first indented by four spaces. */
export const table = (id: string, file: string, more = '') => `
  - file: ${file}
    header: 1
    first: 2
    date: { column: date }
    values: value
    series: { id: ${id}, unit: USD, frequency: monthly, source: Tests }
${more === '' ? '' : `    ${more}\n`}`;

const csv = (...points: [string, number][]) =>
  ['date,value', ...points.map(([date, value]) => `${date},${value}`)].join('\n');
export const january = csv(['2026-01', 1]);
export const february = csv(['2026-01', 1], ['2026-02', 2]);
/** Another value for the month of `january`. */
export const revised = csv(['2026-01', 5]);

/** A server and a folder of one test. */
export interface Here {
  server: FileServer;
  /** The id of a series, and the name of the publication. */
  id: string;
  deps: FetchDeps;
  clock: FakeReleaseClock;
  url(query?: string): string;
  /** Writes almanac.yml and publishes its folder. */
  publishes(tables: string, change?: { dryRun?: boolean }): Promise<Published>;
  /** Fetches the due sources like a publisher. @returns the outcome of each, by name. */
  due(): Promise<Record<string, string>>;
}

export interface SourceTests {
  /** Connected as the owner. */
  database: Database;
  /** Connected as a publisher. */
  byRole: Database;
  startHere(t: ExecutionContext): Promise<Here>;
}

/** The database of this test file; the sources of each test are removed after it. */
export async function openSourceTests(test: TestFn): Promise<SourceTests> {
  const testDatabase = await createTestDatabase();
  const options = { applicationName: 'test', statementTimeoutMs: 0 };
  const database = openDatabase(testDatabase.url, silentLog, options);
  const byRole = openDatabase(serviceUrl(testDatabase.url, 'almanac_publisher'), silentLog, options);
  test.serial.afterEach.always(() => database.query('delete from embargo.sources'));
  test.after.always(async () => {
    await byRole.close();
    await database.close();
    await testDatabase.drop();
  });
  let number = 0;
  return {
    database,
    byRole,
    startHere: async (t) => hereOf(await startFileServer(t), { database, byRole, id: `S${(number += 1)}` }),
  };
}

function hereOf(
  server: FileServer,
  { database, byRole, id }: { database: Database; byRole: Database; id: string },
): Here {
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  const clock = fakeReleaseClock(start);
  const on = { database: byRole, clock, log: silentLog };
  const deps = fetchDeps(on, { ...local, seriesTimeZone: 'UTC' }, (fetched) => loadFetchedHere(on, fetched));
  return {
    ...{ server, id, deps, clock },
    url: (query = '') => `${server.url}/${id}.csv${query}`,
    async publishes(tables, { dryRun = false } = {}) {
      writeFileSync(path.join(folder, 'almanac.yml'), `version: 1\nname: ${id}\ntables: ${tables}`);
      const now = await clock.now(database);
      const today = now.toISOString().slice(0, 10);
      const wish = { targets: [folder], facts: {}, again: false, today, find: findTables };
      const [plan] = await planPublishing(database, wish);
      if (plan === undefined) throw new Error('there is no plan');
      try {
        return await publish(database, plan, {
          ...{ acceptGuesses: false, dryRun, seriesTimeZone: 'UTC', noGateway: true },
          load: (planned, settings) => loadTableFile(database, planned, settings),
          ...{ clock: { now: () => now }, sourceGuard: createAddressGuard(local) },
        });
      } finally {
        await plan.close();
      }
    },
    async due() {
      return Object.fromEntries(await fetchDue(deps, never));
    },
  };
}
