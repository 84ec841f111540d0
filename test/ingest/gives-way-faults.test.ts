// Loads that give way to a release while others wait, the publisher is killed, or their own process or connection is paused or ended.
import path from 'node:path';
import test from 'ava';
import { InterruptedByRelease, runInterruptible } from '../../ingest/load/lock/give-way-to-release.ts';
import { noteInterruption, readOwnTransaction } from '../../ingest/load/lock/interruptions.sql.ts';
import { load } from '../../ingest/load/load.ts';
import { isReleaseBeingPrepared, lockLoads } from '../../ingest/load/lock/load-lock.sql.ts';
import { findRelease } from '../../ingest/publisher/releases/release-actions.ts';
import { projectRoot } from '../../kernel/project.ts';
import { startChild } from '../run/processes.ts';
import { until } from '../run/until.ts';
import { fakeClock } from '../services/harness.ts';
import { fileOf, published, today } from './loading.ts';
import { openGivingWay } from './giving-way.ts';

const { database, clock, accept, makeNext, prepared, here, waiting, whileStuck, releaseMeanwhile, settings } =
  await openGivingWay(test);

const loadingOf = (name: string) => (onWaiting?: () => void) =>
  load(database, {
    ...{
      dataset: 'amcs',
      input: fileOf(['amc_id,name,source', `${name.toLowerCase()},${name},Tests`]),
      noGateway: true,
    },
    ...{ seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`), onWaiting },
  });

test.serial(
  'a load that waits for an interrupted load does not get the lock before the release',
  async (t) => {
    const second = loadingOf('A5');
    const { result } = await releaseMeanwhile(t, 'R.QUEUE', 'data.amcs', async () => {
      const first = loadingOf('A4')();
      await until('the first has the lock', async () => (await waiting('data.amcs')) > 0);
      const waits = Promise.withResolvers<void>();
      const other = second(() => waits.resolve());
      await waits.promise;
      return Promise.all([first, other]);
    });
    t.deepEqual(
      result.map(({ pointsNew }) => pointsNew),
      [1, 1],
    );
    t.is((await database.query(`select from data.amcs where name in ('A4', 'A5')`)).length, 2);
  },
);

test.serial('consecutive releases interrupt a load once each, and it ends when there is time', async (t) => {
  const first = await accept(['series_id,date,value', 'ROW1,2024-01-01,1'], '2026-11-23T09:00:00Z');
  const second = await accept(['series_id,date,value', 'ROW2,2024-01-01,1'], '2026-11-23T10:00:00Z');
  const result = await whileStuck('data.amcs', loadingOf('A6'), async () => {
    for (const { at } of [first, second]) {
      clock.set(at.toISOString());
      t.like(await makeNext(), { releases: [{ at, endedAt: at }] });
      await until('the load has started again', async () => (await waiting('data.amcs')) > 0);
    }
  });
  t.deepEqual(
    result.interruptions.map(({ releaseNo }) => releaseNo),
    [first.releaseNo, second.releaseNo],
  );
  t.is(result.pointsNew, 1);
});

test.serial(
  'if the publisher is killed in between, the load restarts at once, and the release is made later',
  async (t) => {
    const { releaseNo, at, leadMs } = await accept(
      ['series_id,date,value', 'KILLED,2024-01-01,1'],
      '2026-11-23T09:00:00Z',
    );
    const result = await whileStuck('data.amcs', loadingOf('A7'), async () => {
      clock.set(new Date(at.getTime() - leadMs).toISOString());
      const { made } = await prepared();
      const broken = t.throwsAsync(made);
      await database.query(
        `select pg_terminate_backend(pid) from pg_locks where locktype = 'advisory' and objid = 4115221 and granted and ${here}`,
      );
      await until('PostgreSQL has ended the release', async () => !(await isReleaseBeingPrepared(database)));
      clock.set(at.toISOString()); // so that it notices the due release
      await broken;
      await until('the load has started again', async () => (await waiting('data.amcs')) > 0);
      t.deepEqual(await published(database, 'KILLED'), {});
    });
    t.deepEqual(
      result.interruptions.map((each) => each.releaseNo),
      [releaseNo],
    );
    t.is((await findRelease(database, releaseNo)).state, 'pending');
    t.is((await makeNext()).result, 'released');
    t.deepEqual(await published(database, 'KILLED'), { '2024-01-01': '1' });
  },
);

test.serial('a release that is due while the process of a load is stopped is on time', async (t) => {
  const file = fileOf(['amc_id,name,source', 'stopped,Stopped,Tests']);
  const child = startChild(process.execPath, [path.join(projectRoot, 'almanac.js'), 'ingest', 'amcs', file], {
    name: 'almanac ingest',
    env: { ...process.env, ...settings },
  });
  const { releaseNo, result } = await releaseMeanwhile(t, 'R.STOPPED', 'data.amcs', async () => {
    await until('it waits for its table', async () => (await waiting('data.amcs')) > 0);
    child.process.kill('SIGSTOP');
    await until('the release has interrupted it', async () => (await waiting('data.amcs')) === 0);
    child.process.kill('SIGCONT');
    return child.exit();
  });
  t.is(result, 0, child.output());
  t.regex(child.output(), new RegExp(`note: interrupted by release ${releaseNo} at `));
  t.is((await database.query(`select from data.amcs where name = 'Stopped'`)).length, 1);
});

test.serial('a load ended by someone else does not restart', async (t) => {
  const error = await whileStuck(
    'data.amcs',
    async () => t.throwsAsync(loadingOf('A8')()),
    async () => {
      await database.query(
        `select pg_terminate_backend(pid) from pg_locks where relation = 'data.amcs'::regclass and not granted and ${here}`,
      );
    },
  );
  t.like(error, { code: '57P01' });
  t.is((await database.query(`select from data.amcs where name = 'A8'`)).length, 0);
});

test.serial('work whose commit succeeded without an answer is not repeated', async (t) => {
  const { releaseNo } = await accept(['series_id,date,value', 'LOST,2024-01-01,1'], '2026-11-23T09:00:00Z');
  const broken = (isLost: boolean) =>
    runInterruptible(
      {
        query: database.query,
        async transaction(work) {
          const result = await database.transaction(async (on) => {
            const worked = await work(on);
            await noteInterruption(database, releaseNo, (await readOwnTransaction(on)).transaction);
            if (!isLost) throw new Error('Connection terminated unexpectedly');
            return worked;
          });
          if (isLost) throw new Error('Connection terminated unexpectedly');
          return result;
        },
      },
      false,
      async (on) => {
        await lockLoads(on);
        return 'done';
      },
    );
  t.is(await broken(true), 'done');
  await t.throwsAsync(broken(false), { instanceOf: InterruptedByRelease });
});
