// Shared by the tests of loads that give way to releases: makes work wait for a table while it has the load lock, and a release become due.
import type { ExecutionContext, TestFn } from 'ava';
import { createChildRunner } from '../../ingest/publisher/child-process/run-in-child.ts';
import type { Tasks } from '../../ingest/publisher/child-process-tasks.ts';
import { serviceUrl } from '../../migrations/roles.ts';
import { commandLine, settingsOf } from '../cli/terminal.ts';
import { endChildren } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { published } from './loading.ts';
import { startReleasing } from './releasing.ts';

/** Tables that are written by work under the load lock, but not by a release of observations. */
type Blocked = 'data.published_files' | 'data.audit_events' | 'data.amcs';

/** A separate database with releases under embargo, and work that has the load lock while one is due. */
export async function openGivingWay(test: TestFn) {
  const testDatabase = await createTestDatabase();
  const { database, clock, deps, accept, makeNext, prepared } = startReleasing(
    test,
    testDatabase.url,
    '2026-11-23T08:00:00Z',
  );
  const settings = settingsOf(testDatabase.url);
  const almanac = commandLine(settings);
  const children = createChildRunner<Tasks>({
    ...{ databaseUrl: serviceUrl(testDatabase.url, 'almanac_publisher'), log: silentLog },
    applicationName: 'test children',
  });
  test.serial.beforeEach(() => clock.set('2026-11-23T08:00:00Z'));
  test.serial.afterEach.always(async () => {
    await database.query('delete from embargo.releases');
    await database.query('delete from embargo.sources');
  });
  test.after.always(async () => {
    await endChildren();
    await children.close();
    await testDatabase.drop();
  });

  const here = 'database = (select oid from pg_database where datname = current_database())';

  const waiting = async (table: string): Promise<number> =>
    (
      await database.query(`select from pg_locks where relation = $1::regclass and not granted and ${here}`, [
        table,
      ])
    ).length;

  /** Starts work that waits for the table with the load lock, calls `meanwhile`, then lets the work continue. @returns the result of the work. */
  async function whileStuck<T>(
    table: Blocked,
    begin: () => Promise<T>,
    meanwhile: () => Promise<void>,
  ): Promise<T> {
    const started = await database.transaction(async (on) => {
      await on.query(`lock table ${table} in share mode`);
      const work = begin();
      let isOver = false;
      void work.then(
        () => (isOver = true),
        () => (isOver = true),
      );
      await until('the work waits for its table', async () => isOver || (await waiting(table)) > 0);
      if (isOver) throw new Error(`it is over before: ${JSON.stringify(await work)}`);
      await meanwhile();
      return { work };
    });
    return started.work;
  }

  /** Asserts that a release due while the work is blocked is made at its instant. @returns its number, and the result of the work. */
  async function releaseMeanwhile<T>(
    t: ExecutionContext,
    id: string,
    table: Blocked,
    begin: () => Promise<T>,
  ): Promise<{ releaseNo: number; result: T }> {
    const { releaseNo, at, leadMs } = await accept(
      ['series_id,date,value', `${id},2024-01-01,1`],
      '2026-11-23T09:00:00Z',
    );
    const result = await whileStuck(table, begin, async () => {
      clock.set(new Date(at.getTime() - leadMs).toISOString());
      const { made } = await prepared();
      t.deepEqual(await published(database, id), {}, 'nobody sees it before');
      clock.set(at.toISOString());
      t.deepEqual(await made, { result: 'released', releases: [{ releaseNo, at, endedAt: at }] });
      t.deepEqual(await published(database, id), { '2024-01-01': '1' });
    });
    return { releaseNo, result };
  }

  const loadsOf = async (source: string): Promise<number> =>
    (await database.query('select from data.loads where source_name = $1', [source])).length;

  return {
    database,
    clock,
    deps,
    accept,
    makeNext,
    prepared,
    settings,
    almanac,
    children,
    here,
    waiting,
    whileStuck,
    releaseMeanwhile,
    loadsOf,
  };
}

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/;

/** Asserts that the report of a program lists one interruption, by this release. */
export function assertInterrupted(t: ExecutionContext, reported: unknown, releaseNo: number): void {
  const interruptions = reported as { release: number; at: string; started_again_at: string }[] | undefined;
  t.deepEqual(
    interruptions?.map(({ release }) => release),
    [releaseNo],
  );
  const [{ at, started_again_at: again } = { at: '', started_again_at: '' }] = interruptions ?? [];
  t.regex(at, instant);
  t.regex(again, instant);
  t.true(at <= again);
}
