import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { runScheduledBackups, type ScheduledBackups } from './scheduled.ts';

/** A folder, and a run on it whose clock jumps to each awaited instant, up to the end. */
function scheduled(t: ExecutionContext, from: string) {
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  let now = new Date(from);
  const run = async (until: string, options: Partial<ScheduledBackups> = {}) => {
    const made: string[] = [];
    const stopping = new AbortController();
    await runScheduledBackups({
      ...{ folder, schedule: 'daily 03:00', timeZone: 'UTC', keep: 3, clock: { now: () => now } },
      signal: stopping.signal,
      make: async (file) => {
        made.push(path.basename(file));
        writeFileSync(file, '');
      },
      waitUntil: async (instant) => {
        now = new Date(Math.min(instant.getTime(), Date.parse(until)));
        if (now.getTime() === Date.parse(until)) stopping.abort();
      },
      ...options,
    });
    return made;
  };
  return {
    folder,
    run,
    files: () => readdirSync(folder).toSorted(),
    setNow: (at: string) => void (now = new Date(at)),
  };
}

test('the first backup is made at once, later ones at the scheduled times, and the newest are kept', async (t) => {
  const { run, files } = scheduled(t, '2026-11-20T10:00:00Z');
  t.deepEqual(await run('2026-11-24T10:00:00Z'), [
    ...['almanac-2026-11-20T100000Z.gz', 'almanac-2026-11-21T030000Z.gz', 'almanac-2026-11-22T030000Z.gz'],
    ...['almanac-2026-11-23T030000Z.gz', 'almanac-2026-11-24T030000Z.gz'],
  ]);
  t.deepEqual(
    files(),
    [22, 23, 24].map((day) => `almanac-2026-11-${day}T030000Z.gz`),
  );
});

test('a backup that was due while nothing ran is made once at the start; one that is not due is not made', async (t) => {
  const { run, setNow } = scheduled(t, '2026-11-20T10:00:00Z');
  await run('2026-11-21T02:00:00Z');
  t.deepEqual(await run('2026-11-21T02:30:00Z'), []);
  setNow('2026-11-25T12:00:00Z');
  t.deepEqual(await run('2026-11-26T00:00:00Z'), ['almanac-2026-11-25T120000Z.gz']);
});

test('files with other names are not touched; the remains of a killed run are removed', async (t) => {
  const { folder, run, files } = scheduled(t, '2026-11-20T10:00:00Z');
  const others = ['.almanac-mine.gz.ab2cd3ef.unfinished', 'almanac-before-upgrade.gz', 'notes.txt'];
  for (const name of [...others, '.almanac-2026-11-19T030000Z.gz.ab2cd3ef.unfinished'])
    writeFileSync(path.join(folder, name), '');
  await run('2026-11-23T10:00:00Z', { keep: 1 });
  t.deepEqual(files(), [
    '.almanac-mine.gz.ab2cd3ef.unfinished',
    'almanac-2026-11-23T030000Z.gz',
    'almanac-before-upgrade.gz',
    'notes.txt',
  ]);
});

test('a failed backup ends the run, deletes no other backup, and is still due', async (t) => {
  const { run, files } = scheduled(t, '2026-11-20T10:00:00Z');
  await run('2026-11-22T12:00:00Z');
  const before = files();
  const failing = { make: () => Promise.reject(new Error('the disk is full')) };
  await t.throwsAsync(run('2026-11-24T00:00:00Z', failing), { message: 'the disk is full' });
  t.deepEqual(files(), before);
  t.deepEqual(await run('2026-11-23T10:00:00Z'), ['almanac-2026-11-23T030000Z.gz']);
});
