// No answer contains data under embargo: until the instant, each endpoint answers byte for byte as before. Uses one load of every kind, with the
// publisher's own role.
import test from 'ava';
import type { Answer } from '../services/data-service.ts';
import { publicCaller } from '../services/data-service.ts';
import { startListService } from '../services/list-service.ts';
import { fakeReleaseClock, startReleasing } from '../ingest/releasing.ts';
import { exempt } from '../openapi/check-answers.ts';
import { newestLoadPath, parseValidity } from '../../kernel/http/validity.ts';
import { until } from '../run/until.ts';
import { endpoints } from './endpoint-requests.ts';
import { changes } from './every-change.ts';
import { initialLoads, loadInto } from './every-dataset.ts';

const now = '2024-07-01T12:00:00Z';
const instant = '2024-07-01T13:00:00Z';
const service = await startListService({ openRevisionsSeries: 'CPI' });
test.after.always(() => service.close());
exempt(service.url); // the gateway does not forward x-almanac-valid, so it is not in the document
const { accept, clock, prepared } = startReleasing(test, service.databaseUrl, now);

const more = [
  ...['/v1/search?q=secret', '/v1/search?q=prices&type=series', '/v1/catalog?q=secret', '/v1/series/SECRET'],
  ...['/v1/catalog/SECRET', '/v1/series/SECRET/vintages', '/v1/series?ids=CPI,SECRET', '/v1/status'],
  ...['/v1/catalog?updated_after=2024-06-30', '/v1/series/CPI?dims=secret:x', '/v1/calendar?from=2024-01-01'],
];

/** The parts of an answer that a client can see, without its time and request id. */
function seen({ status, text, headers }: Answer): (string | number | null)[] {
  const body = text.replaceAll(/"request_id":"[^"]*"/g, '');
  const names = [
    'etag',
    'last-modified',
    'content-length',
    'link',
    'cache-control',
    'vary',
    'x-almanac-valid',
  ];
  // No gateway caches such an answer: its validity depends on which of its parts was read first.
  const isCacheable = headers.get('cache-control') !== 'no-store';
  const shown = names.filter((name) => isCacheable || name !== 'x-almanac-valid');
  return [status, body, ...shown.map((name) => headers.get(name))];
}

/** Calls every endpoint, without any cache: without validators, the service queries the database. */
async function answers(): Promise<Record<string, unknown>> {
  const identity = { ...publicCaller, scope: 'internal' as const };
  const found: Record<string, unknown> = {
    [newestLoadPath]: (await service.call(newestLoadPath, { identity })).text,
  };
  for (const path of [...endpoints.map((each) => each.path), ...more])
    found[path] = seen(await service.call(path));
  return found;
}

/** The numbers of the newest load according to the validity headers of the answers. */
function loadsKnown(found: Readonly<Record<string, unknown>>): Set<number> {
  const validities = Object.values(found).flatMap((answer) =>
    Array.isArray(answer) ? (parseValidity(String(answer.at(-1))) ?? []) : [],
  );
  return new Set(validities.map(({ state }) => state.load));
}

test('no endpoint reveals what is under embargo, before its check, after it, or while it is prepared', async (t) => {
  service.clock.set(now);
  for (const load of initialLoads) await loadInto(service, load);
  let before: Record<string, unknown> = {};
  // If several data-apis read from a replica, each detects a load by itself.
  await until('every instance knows the newest load', async () => {
    before = await answers();
    return loadsKnown(before).size === 1;
  });
  await accept(['series_id,date,value', 'SECRET,2024-06-30,1'], instant, {
    set: { name: 'The secret', frequency: 'daily', unit: 'One', source: 'Office of secrets' },
  });
  const loads = changes.filter(({ name }) => name !== 'an earlier vintage');
  for (const { dataset, lines, options = {} } of loads)
    await accept(lines, instant, { create: false, set: {}, dataset, ...options });
  t.deepEqual(await answers(), before, 'after the check');

  clock.set('2024-07-01T12:59:58Z');
  const { made } = await prepared();
  t.deepEqual(await answers(), before, 'while all of it is prepared');

  clock.set(instant);
  service.clock.set(instant);
  const result = await made;
  t.is(result.result === 'released' && result.releases.length, loads.length + 1);
  const after = await answers();
  const changed = Object.keys(after).filter(
    (path) => JSON.stringify(after[path]) !== JSON.stringify(before[path]),
  );
  t.true(changed.length > endpoints.length / 2, `${changed.length} answers are others now`);
  t.true(changed.includes('/v1/series/SECRET'));
  t.true(changed.includes('/v1/search?q=secret'));
  t.true(changed.includes(newestLoadPath));
});

test('the clock of these tests wakes only callers whose time has come', async (t) => {
  const fake = fakeReleaseClock(now);
  const signal = new AbortController();
  const woken: string[] = [];
  const long = fake.pause(2_000, signal.signal).then(() => woken.push('long'));
  const short = fake.pause(1_000, signal.signal).then(() => woken.push('short'));
  fake.advance(1_000);
  await short;
  t.deepEqual([woken, fake.waiting()], [['short'], 1]);
  signal.abort();
  await long;
  t.is(fake.waiting(), 0);
});
