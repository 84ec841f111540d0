import test from 'ava';
import { createLog } from '../../../kernel/log/log.ts';
import { run } from './periodic-job.ts';

test('a failed run is followed by another, and an error is logged once until a run succeeds', async (t) => {
  const lines: string[] = [];
  const log = createLog('publisher', 'info', { write: (line: string) => void lines.push(line) });
  const looks = ['away', 'away', '', 'away', 'other'];
  const isOver = Promise.withResolvers<undefined>();
  const clock = { now: () => Promise.resolve(new Date(0)), pause: () => Promise.resolve() };
  const running = run(
    {
      ...{ everyMs: 1, event: 'some_fault', fault: 'It is tried again' },
      look(signal) {
        const reason = looks.shift();
        if (reason === undefined) {
          isOver.resolve(undefined);
          return new Promise((resolve) => signal.addEventListener('abort', () => resolve(true)));
        }
        return reason === '' ? Promise.resolve(false) : Promise.reject(new Error(reason));
      },
    },
    { clock, log },
  );
  await isOver.promise;
  await running.close();
  t.deepEqual(
    lines.map((line) => /"message":"(away|other)"/.exec(line)?.[1]),
    ['away', 'away', 'other'],
  );
});
