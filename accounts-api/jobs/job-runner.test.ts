import test from 'ava';
import type { PgBoss } from 'pg-boss';
import { silentLog } from '../../test/services/harness.ts';
import { runJobs } from './job-runner.ts';

test('a job that is being recorded as done while the runner closes is not returned to the queue', async (t) => {
  const [started, over, recording, recorded] = Array.from({ length: 4 }, () => Promise.withResolvers<void>());
  if (!started || !over || !recording || !recorded) throw new Error('four are made');
  const handedBack: unknown[] = [];
  const jobs = [{ id: 'one', data: {} }];
  const boss = {
    fetch: () => Promise.resolve(jobs.splice(0)),
    touch: () => Promise.resolve(),
    async complete() {
      recording.resolve();
      await recorded.promise;
    },
    fail: (_queue: string, ids: unknown) => Promise.resolve(handedBack.push(ids)),
  };
  const runner = runJobs(boss as unknown as PgBoss, 'mail', silentLog, async () => {
    started.resolve();
    await over.promise;
  });
  await started.promise;
  const closed = runner.close();
  over.resolve();
  await recording.promise;
  await new Promise((resolve) => setImmediate(resolve)); // lets `close` proceed as far as it can
  recorded.resolve();
  await closed;
  t.deepEqual(handedBack, []);
});
