import test from 'ava';
import type { WaitingFile } from './folder.ts';
import { Sightings, stillMs } from './complete-files.ts';

const file = (name: string, changes: Partial<WaitingFile> = {}): WaitingFile => ({
  ...{ name, size: 10n, mtimeNs: 1_000n, inode: 1n },
  ...changes,
});
const namesOf = (files: readonly WaitingFile[]) => files.map(({ name }) => name);

test('a file is complete once it has been unchanged for long enough, and not before', (t) => {
  const sightings = new Sightings();
  t.deepEqual(sightings.note([file('a')], 0), []);
  t.deepEqual(sightings.note([file('a')], stillMs - 1), []);
  t.deepEqual(namesOf(sightings.note([file('a')], stillMs)), ['a']);
});

for (const [what, change] of Object.entries<Partial<WaitingFile>>({
  'has grown': { size: 11n },
  'was written to at the same length': { mtimeNs: 1_001n },
  'was replaced by one of the same length and time': { inode: 2n },
}))
  test(`a file that ${what} starts waiting again`, (t) => {
    const sightings = new Sightings();
    sightings.note([file('a'), file('b')], 0);
    t.deepEqual(namesOf(sightings.note([file('a', change), file('b')], stillMs)), ['b']);
    t.deepEqual(namesOf(sightings.note([file('a', change), file('b')], 2 * stillMs)), ['a', 'b']);
    t.is(sightings.firstMs('a'), 0, 'it waits since it was first seen');
  });

test('a file that was gone counts as new when it reappears', (t) => {
  const sightings = new Sightings();
  sightings.note([file('a')], 0);
  sightings.note([], 1_000);
  t.is(sightings.firstMs('a'), undefined);
  t.deepEqual(sightings.note([file('a')], stillMs), []);
  t.is(sightings.firstMs('a'), stillMs);
});

test('a file seen before the clock was set back is not regarded as complete too early', (t) => {
  const sightings = new Sightings();
  sightings.note([file('a')], 100_000);
  t.deepEqual(sightings.note([file('a')], 50_000), []);
});
