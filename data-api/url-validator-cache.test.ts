import test from 'ava';
import { fakeClock } from '../test/services/harness.ts';
import { createUrlValidatorCache } from './url-validator-cache.ts';
import type { Series } from './series/series.sql.ts';

const headers = { etag: '"a"' };
const series = (rowVersion: string, releases: string[] = []) =>
  ({ id: 'A', rowVersion, releases }) as unknown as Series;

function setUp() {
  const state = { rowVersion: '1' };
  const clock = fakeClock('2026-06-15T12:00:00Z');
  const seriesFacts = {
    isCurrent: (_id: string, rowVersion: string) => Promise.resolve(rowVersion === state.rowVersion),
  };
  const known = createUrlValidatorCache(seriesFacts, clock);
  const holds = async (url: string): Promise<boolean> => {
    const found = known.get(url);
    return found !== undefined && (await known.holds(found));
  };
  return { state, clock, known, holds };
}

test('a cached validator holds as long as its series is unchanged', async (t) => {
  const { state, known, holds } = setUp();
  t.false(await holds('/v1/series/A'));
  known.keep('/v1/series/A', headers, series('1'));
  t.true(await holds('/v1/series/A'));
  t.is(known.get('/v1/series/A')?.headers, headers);
  t.false(await holds('/v1/series/A?sort=desc'));
  state.rowVersion = '2';
  t.false(await holds('/v1/series/A'));
  known.keep('/v1/series/A', headers, series('2'));
  t.true(await holds('/v1/series/A'));
});

test('an answer that names the next release holds until that release', async (t) => {
  const { clock, known, holds } = setUp();
  known.keep('/v1/series/A', headers, series('1', ['2026-06-15T13:00:00Z']));
  clock.set('2026-06-15T12:59:59Z');
  t.true(await holds('/v1/series/A'));
  clock.set('2026-06-15T13:00:00Z');
  t.false(await holds('/v1/series/A'));
});

test('memory is bounded: the most recently used URLs are cached, very long ones never', (t) => {
  const { known } = setUp();
  for (let i = 0; i < 10_000; i += 1) known.keep(`/${i}`, headers, series('1'));
  t.truthy(known.get('/0'));
  known.keep('/more', headers, series('1'));
  t.truthy(known.get('/0'));
  t.is(known.get('/1'), undefined);
  t.truthy(known.get('/more'));
  const long = `/${'x'.repeat(500)}`;
  known.keep(long, headers, series('1'));
  t.is(known.get(long), undefined);
});

test('an answer is not repeated at an earlier time than that at which it was made: clocks are also set back', async (t) => {
  const { clock, known, holds } = setUp();
  clock.set('2026-06-15T13:00:00Z');
  known.keep('/v1/series/A', headers, series('1', []));
  t.true(await holds('/v1/series/A'));
  clock.set('2026-06-15T12:59:59Z');
  t.false(await holds('/v1/series/A'));
});
