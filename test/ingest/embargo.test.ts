// Loads under embargo: invisible until their instant, complete after it, made exactly once, and rescheduled. The test sets the clock.
import test, { type ExecutionContext } from 'ava';
import { selectReleases } from '../../ingest/publisher/releases/embargo.sql.ts';
import { makeNextReleases } from '../../ingest/publisher/releases/make-releases.ts';
import { cancelRelease, findRelease, releaseNow } from '../../ingest/publisher/releases/release-actions.ts';
import { instantText } from '../../kernel/clock.ts';
import { until } from '../run/until.ts';
import { createTestDatabase, fakeClock } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';
import { refreshSearch } from '../migrations/search-entries.ts';
import { daily, failureOf, loadCsv, published, rowCounts, seriesRow } from './loading.ts';
import { startReleasing } from './releasing.ts';

const testDatabase = await createTestDatabase();
const start = '2026-06-30T09:00:00Z';
const { database, clock, deps, accept, makeNext, prepared } = startReleasing(test, testDatabase.url, start);
test.after.always(() => testDatabase.drop());

const never = new AbortController().signal;
let hour = Date.parse(start);

/** The instant of a release, an hour after that of the previous test. Sets the clock to one hour before it. */
function nextInstant(): string {
  clock.set(new Date(hour).toISOString());
  hour += 3_600_000;
  return new Date(hour).toISOString();
}

const newestLoad = async () =>
  (await database.query<{ load: number }>('select coalesce(max(load_no), 0) as load from data.loads'))[0]
    ?.load ?? 0;

async function stateOf(releaseNo: number): Promise<string> {
  const { held, state } = await findRelease(database, releaseNo);
  return held === null ? state : `held: ${held}`;
}

/** Adds an entry to the calendar. */
async function announce(id: string, at: string, more: Readonly<Record<string, string>> = {}): Promise<void> {
  const row = {
    release_id: id,
    title: id,
    source: 'Test',
    release_at: instantText(new Date(at)),
    time_zone: 'UTC',
    ...more,
  };
  const lines = [Object.keys(row).join(','), Object.values(row).join(',')];
  await loadCsv(database, lines, { dataset: 'calendar' });
}

/** Asserts that prepared releases are made at their instant, and which ones. */
async function isMadeAt(t: ExecutionContext, instant: string, ...numbers: number[]): Promise<void> {
  clock.set(new Date(Date.parse(instant) - 1_000).toISOString());
  const { made } = await prepared();
  clock.set(instant);
  const result = await made;
  t.is(result.result, 'released');
  if (result.result === 'released')
    t.deepEqual(
      result.releases.map(({ releaseNo }) => releaseNo),
      numbers,
    );
}

test.serial(
  'a release changes nothing before its instant, and then makes exactly the changes of its check',
  async (t) => {
    const instant = nextInstant();
    await loadCsv(database, ['series_id,date,value', 'A,2026-06-01,1'], { create: true, set: daily });
    const [before, load] = [await rowCounts(database), await newestLoad()];
    await database.query('delete from events.outbox');
    const accepted = await accept(['series_id,date,value', 'A,2026-06-01,2', 'B,2026-06-01,3'], instant);
    t.like(accepted.summary, { rowsRead: 2, pointsNew: 1, pointsRevised: 1 });
    t.true(accepted.leadMs >= 5_000);
    t.deepEqual(await rowCounts(database), before);
    t.deepEqual(await makeNext(), { result: 'none' }, 'it is too early');

    clock.set(new Date(Date.parse(instant) - 2_000).toISOString());
    const { made } = await prepared();
    t.deepEqual(await rowCounts(database), before, 'what is prepared is not seen');
    t.is(await newestLoad(), load);
    t.is(await stateOf(accepted.releaseNo), 'pending');
    t.deepEqual(await writtenEvents(database), []);

    clock.set(instant);
    t.is((await made).result, 'released');
    t.deepEqual(await published(database, 'A'), { '2026-06-01': '2' });
    t.deepEqual(await published(database, 'B'), { '2026-06-01': '3' });
    t.is(await newestLoad(), load + 1, 'no number was taken by the check');
    const [row] = await database.query(
      'select vintage, loaded_at, source_name from data.loads order by load_no desc limit 1',
    );
    t.deepEqual(row, { vintage: instant.slice(0, 10), loaded_at: new Date(instant), source_name: '-' });
    const { created_at: createdAt, updated_at: updatedAt } = (await seriesRow(database, 'B')) ?? {};
    t.deepEqual([createdAt, updatedAt], [new Date(instant), new Date(instant)], 'not when it was prepared');
    const events = await writtenEvents(database);
    t.deepEqual(
      events.map(({ type, data, at }) => [type, data['series'], at]),
      [
        ['series.updated', ['A', 'B'], new Date(instant)],
        ['series.revised', ['A'], new Date(instant)],
      ],
    );
    t.is(await stateOf(accepted.releaseNo), 'released');
    t.deepEqual(await makeNext(), { result: 'none' });
  },
);

test.serial(
  'two releases of one instant become visible together, in the order of their numbers',
  async (t) => {
    const instant = nextInstant();
    const load = await newestLoad();
    const first = await accept(['series_id,date,value', 'TWO,2026-06-01,1'], instant);
    const second = await accept(
      ['series_id,date,value', 'TWO,2026-06-01,2', 'TWO.MORE,2026-06-01,2'],
      instant,
    );
    await isMadeAt(t, instant, first.releaseNo, second.releaseNo);
    t.deepEqual(await published(database, 'TWO'), { '2026-06-01': '2' });
    const loads = await database.query<{ xmin: string; load_no: number }>(
      'select xmin::text, load_no from data.loads where load_no > $1 order by load_no',
      [load],
    );
    t.deepEqual(
      loads.map(({ load_no: loadNo }) => loadNo - load),
      [1, 2],
    );
    const [one] = await selectReleases(database, first.releaseNo);
    t.deepEqual(one?.outcome?.['loads'], [load + 1]);
  },
);

test.serial('a cancelled load is never made, even if cancelled just before its instant', async (t) => {
  const instant = nextInstant();
  const load = await newestLoad();
  const { releaseNo } = await accept(['series_id,date,value', 'CANCELLED,2026-06-01,1'], instant);
  clock.set(new Date(Date.parse(instant) - 100).toISOString());
  const { made } = await prepared();
  t.is((await cancelRelease(database, releaseNo, clock)).state, 'cancelled');
  clock.set(instant);
  t.deepEqual(await made, { result: 'changed' });
  t.deepEqual(await makeNext(), { result: 'none' });
  t.deepEqual(await published(database, 'CANCELLED'), {});
  t.deepEqual(await database.query('select from embargo.pieces where release_no = $1', [releaseNo]), []);
  await loadCsv(database, ['series_id,date,value', 'NEXT,2026-06-01,1'], { create: true, set: daily });
  t.is(await newestLoad(), load + 1, 'what was prepared has left no gap');
  await t.throwsAsync(cancelRelease(database, releaseNo, clock), { message: /is cancelled; it cannot be/ });
  await t.throwsAsync(releaseNow(deps, releaseNo, never), {
    message: /is cancelled; it cannot be published/,
  });
  await t.throwsAsync(cancelRelease(database, 999_999, clock), { message: /There is no release 999999/ });
});

test.serial(
  'a release that is cancelled after its instant but before its commit is never made at all',
  async (t) => {
    const instant = nextInstant();
    const { releaseNo } = await accept(['series_id,date,value', 'LAST,2026-06-01,1'], instant);
    clock.set(instant);
    let asked = 0;
    const cancelling = {
      ...clock,
      async now() {
        asked += 1;
        // Read twice when it is chosen, once when it is loaded, once after the wait, and last before it is ended.
        if (asked === 5) await cancelRelease(database, releaseNo, clock);
        return clock.now(database);
      },
    };
    t.deepEqual(await makeNextReleases({ ...deps, clock: cancelling }, never), { result: 'changed' });
    t.is(asked, 5);
    t.is(await stateOf(releaseNo), 'cancelled');
    t.deepEqual(await published(database, 'LAST'), {});
  },
);

test.serial(
  'a release with an entry of the calendar moves with it, and is held while it states no time',
  async (t) => {
    const instant = nextInstant();
    const later = new Date(Date.parse(instant) + 60_000).toISOString();
    await announce('r1', instant);
    const { releaseNo, at } = await accept(['series_id,date,value', 'MOVED,2026-06-01,1'], {
      calendarId: 'r1',
    });
    t.deepEqual(at, new Date(instant));
    await announce('r1', later);
    clock.set(instant);
    t.deepEqual((await findRelease(database, releaseNo)).at, new Date(later));
    for (const [more, why] of [
      [{ status: 'cancelled' }, 'cancelled in the calendar'],
      [{ status: 'delayed' }, 'delayed in the calendar'],
      [{ status: '', time_confirmed: 'false' }, 'the calendar states a day and no time'],
    ] as const) {
      await announce('r1', instant, more);
      t.is(await stateOf(releaseNo), `held: ${why}`);
      t.deepEqual(await makeNext(), { result: 'none' });
      await t.throwsAsync(accept(['series_id,date,value', 'M,2026-06-01,1'], { calendarId: 'r1' }), {
        message: new RegExp(`--release-with r1: ${why}`),
      });
    }
    await database.query(`delete from data.releases where release_id = 'r1'`);
    t.is(await stateOf(releaseNo), 'held: the calendar has no such entry');
    await announce('r1', later, { series_ids: 'A' });
    await isMadeAt(t, later, releaseNo);
    t.deepEqual(await published(database, 'MOVED'), { '2026-06-01': '1' });
    await announce('r1', instant);
    t.deepEqual(
      (await findRelease(database, releaseNo)).at,
      new Date(later),
      'what was released stays as it was',
    );
  },
);

test.serial(
  'the calendar entry that a release completes is reported, with all loads of its instant',
  async (t) => {
    const instant = nextInstant();
    await loadCsv(database, ['series_id,date,value', 'P,2026-05-01,1', 'Q,2026-05-01,1'], {
      ...{ create: true, set: daily, vintage: '2024-06-01' },
    });
    await announce('r2', instant, { series_ids: 'P;Q' });
    await database.query('delete from events.outbox');
    const first = await accept(['series_id,date,value', 'P,2026-06-01,1'], { calendarId: 'r2' });
    const second = await accept(['series_id,date,value', 'Q,2026-06-01,1'], { calendarId: 'r2' });
    await isMadeAt(t, instant, first.releaseNo, second.releaseNo);
    const reported = (await writtenEvents(database)).filter(({ type }) => type === 'release.published');
    t.deepEqual(
      reported.map(({ data }) => [data['release'], data['series']]),
      [['r2', ['P', 'Q']]],
    );
  },
);

test.serial(
  'a release that restates a series whole, without a change, counts as a load of it for the calendar',
  async (t) => {
    const instant = '2090-01-01T10:00:00Z'; // loads that are being made are dated by PostgreSQL's clock, which is before it
    clock.set('2090-01-01T09:00:00Z');
    const old = ['series_id,date,value', 'CHANGED,2026-05-01,1', 'SAME,2026-05-01,1'];
    await loadCsv(database, old, { create: true, set: daily });
    await announce('whole', instant, { series_ids: 'CHANGED;SAME' });
    await database.query('delete from events.outbox');
    const { releaseNo } = await accept(old.with(1, 'CHANGED,2026-05-01,2'), instant, { full: true });
    await isMadeAt(t, instant, releaseNo);
    const reported = (await writtenEvents(database)).filter(({ type }) => type === 'release.published');
    t.deepEqual(
      reported.map(({ data }) => [data['release'], data['series']]),
      [['whole', ['CHANGED', 'SAME']]],
    );
  },
);

test.serial('what a release of prices makes is there from the instant of the release on', async (t) => {
  const instant = '2090-01-02T00:00:00Z';
  clock.set('2090-01-01T23:00:00Z');
  const set = { unit: '1 Kg', currency: 'PKR', frequency: 'daily', source: 'Test' };
  const prices = ['item,city,date,price', 'Embargoed tea,Embargo City,2026-06-01,1'];
  const { releaseNo } = await accept(prices, instant, { dataset: 'commodity-prices', set });
  await isMadeAt(t, instant, releaseNo);
  t.deepEqual(
    await database.query(
      `select c.created_at as city, s.created_at as series from data.commodity_cities c, data.series s
       where c.city_id = 'embargo-city' and s.series_id = 'commodity.embargoed-tea'`,
    ),
    [{ city: new Date(instant), series: new Date(instant) }],
  );
});

test.serial(
  'a release that can no longer be loaded fails at once, stores nothing, and can be retried',
  async (t) => {
    const instant = nextInstant();
    const sets = { create: false, set: {} };
    await loadCsv(database, ['series_id,date,value', 'GONE,2026-05-01,1'], { create: true, set: daily });
    const failing = await accept(['series_id,date,value', 'GONE,2026-06-01,1'], instant, sets);
    const other = await accept(['series_id,date,value', 'STAYS,2026-06-01,1'], instant);
    await database.query(`update data.series set series_id = 'AWAY' where series_id = 'GONE'`);
    await refreshSearch(database);
    const load = await newestLoad();
    clock.set(new Date(Date.parse(instant) - 1_000).toISOString());
    t.deepEqual(await makeNext(), { result: 'failed', releaseNo: failing.releaseNo });
    const failed = await findRelease(database, failing.releaseNo);
    t.is(failed.state, 'failed');
    t.like(failed.outcome, { code: 'invalid_rows' });
    t.regex(String(failed.outcome?.['message']), /GONE/);
    await isMadeAt(t, instant, other.releaseNo);
    t.is(await newestLoad(), load + 1);
    t.deepEqual(await published(database, 'AWAY'), { '2026-05-01': '1' });

    const still = await releaseNow(deps, failing.releaseNo, never);
    t.is(still.state, 'failed', 'nothing was repaired');
    await database.query(`update data.series set series_id = 'GONE' where series_id = 'AWAY'`);
    await refreshSearch(database);
    t.is((await releaseNow(deps, failing.releaseNo, never)).state, 'released');
    t.deepEqual(await published(database, 'GONE'), { '2026-05-01': '1', '2026-06-01': '1' });
  },
);

test.serial('an overdue release is made at once, as of the day on which it was due', async (t) => {
  const instant = nextInstant();
  const { releaseNo } = await accept(['series_id,date,value', 'LATE,2026-06-01,1'], instant);
  const comes = new Date(Date.parse(instant) + 2 * 86_400_000).toISOString();
  clock.set(comes);
  t.is((await makeNext()).result, 'released');
  const { state, at, endedAt } = await findRelease(database, releaseNo);
  t.deepEqual([state, at, endedAt], ['released', new Date(instant), new Date(comes)]);
  const [row] = await database.query(
    'select vintage, loaded_at from data.loads order by load_no desc limit 1',
  );
  t.deepEqual(row, { vintage: instant.slice(0, 10), loaded_at: new Date(comes) });
});

test.serial('"now" makes a release at once, before those that another process is preparing', async (t) => {
  const instant = nextInstant();
  const waits = await accept(['series_id,date,value', 'WAITS,2026-06-01,1'], instant);
  const hastened = await accept(
    ['series_id,date,value', 'HASTENED,2026-06-01,1'],
    new Date(Date.parse(instant) + 3_600_000).toISOString(),
  );
  clock.set(new Date(Date.parse(instant) - 2_000).toISOString());
  const { made } = await prepared();
  const now = releaseNow(deps, hastened.releaseNo, never);
  await until('it waits for its turn', () => clock.waiting() > 1);
  clock.advance(600);
  t.deepEqual(await made, { result: 'changed' });
  let isOver = false;
  void now.finally(() => (isOver = true));
  await until('it is made', () => {
    if (clock.waiting() > 0) clock.advance(200);
    return isOver;
  });
  t.is((await now).state, 'released');
  t.deepEqual(await published(database, 'HASTENED'), { '2026-06-01': '1' });
  t.deepEqual(await published(database, 'WAITS'), {});
  await isMadeAt(t, instant, waits.releaseNo);
});

test.serial(
  'a stopping publisher abandons releases that are not due yet, and another one makes them, once',
  async (t) => {
    const instant = nextInstant();
    const { releaseNo } = await accept(['series_id,date,value', 'STOPPED,2026-06-01,1'], instant);
    await database.query('update embargo.releases set lead_ms = 60000 where release_no = $1', [releaseNo]);
    const load = await newestLoad();
    clock.set(new Date(Date.parse(instant) - 30_000).toISOString());
    const stopping = new AbortController();
    const { made } = await prepared(stopping.signal);
    t.deepEqual(await makeNext(), { result: 'busy' }, 'one prepares at a time');
    stopping.abort();
    t.deepEqual(await made, { result: 'changed' });
    await isMadeAt(t, instant, releaseNo);
    t.is(await newestLoad(), load + 1);
  },
);

test.serial('a publisher that stops in the last seconds finishes first', async (t) => {
  const instant = nextInstant();
  const { releaseNo } = await accept(['series_id,date,value', 'FINISHED,2026-06-01,1'], instant);
  clock.set(new Date(Date.parse(instant) - 2_000).toISOString());
  const stopping = new AbortController();
  const { made } = await prepared(stopping.signal);
  stopping.abort();
  clock.set(instant);
  t.is((await made).result, 'released');
  t.is(await stateOf(releaseNo), 'released');
});

test.serial('another load waits for a release that is being prepared, and is informed', async (t) => {
  const instant = nextInstant();
  await accept(['series_id,date,value', 'FIRST,2026-06-01,1'], instant);
  clock.set(new Date(Date.parse(instant) - 1_000).toISOString());
  const { made } = await prepared();
  const reported = Promise.withResolvers<boolean>();
  const other = loadCsv(database, ['series_id,date,value', 'FIRST,2026-06-01,2'], {
    ...{ create: true, set: daily, clock: fakeClock(instant) },
    onWaiting: (_load, isRelease) => reported.resolve(isRelease),
  });
  t.true(await reported.promise);
  clock.set(instant);
  await made;
  t.like(await other, { pointsRevised: 1 });
  const isReported = Promise.withResolvers<boolean>();
  const lock = database.transaction(async (on) => {
    await on.query('select pg_advisory_xact_lock(4115202)');
    const waits = loadCsv(database, ['series_id,date,value', 'FIRST,2026-06-01,3'], {
      ...{ create: true, set: daily, clock: fakeClock(instant) },
      onWaiting: (_load, isRelease) => isReported.resolve(isRelease),
    });
    t.false(await isReported.promise, 'an ordinary load is not a release');
    return { waits };
  });
  await (
    await lock
  ).waits;
});

test.serial('invalid input is refused before anything is stored', async (t) => {
  const instant = nextInstant();
  const count = async () => (await selectReleases(database)).length;
  const before = await count();
  const csv = ['series_id,date,value', 'WRONG,2026-06-01,1'];
  for (const text of [
    ...['2026-12-16', '2026-12-16T10:00', '2026-12-16T10:00:00', '2026-02-30T10:00:00Z', 'tomorrow', ''],
    ...['2026-12-16 10:00:00Z', '2026-12-16T10:00:00Z[UTC]', '2026-12-16T25:00:00Z'],
    '9999-12-31T23:00:00-05:00',
  ])
    t.is(
      (await failureOf(accept(csv, text))).message.includes(': must be an instant with its offset'),
      true,
      text,
    );
  const past = await failureOf(accept(csv, new Date(hour - 3_600_000).toISOString()));
  t.regex(past.message, /is past .*load the file without embargo/);
  t.is((await failureOf(accept(['series_id,date,value', 'W,2026-13-01,x'], instant))).code, 'invalid_rows');
  t.is((await failureOf(accept(csv, instant, { input: '/no/such.csv' }))).code, 'invalid_file');
  t.is((await failureOf(accept(csv, instant, { dataset: 'nothing' }))).code, 'usage');
  t.regex((await failureOf(accept(csv, instant, { vintage: '2027-01-01' }))).message, /2027-01-01/);
  t.is(await count(), before);
  const offset = await accept(csv, '2026-12-16T15:00:00+05:00');
  t.deepEqual(offset.at, new Date('2026-12-16T10:00:00Z'));
  await cancelRelease(database, offset.releaseNo, clock);
});

test.serial('if the instant passes while the file is checked, nothing is stored', async (t) => {
  const instant = nextInstant();
  const before = (await selectReleases(database)).length;
  const csv = ['series_id,date,value', 'PASSED,2026-06-01,1'];
  const onProgress = () => clock.set(instant);
  const failure = await failureOf(accept(csv, instant, { onProgress }));
  t.regex(failure.message, /is past/);
  t.is((await selectReleases(database)).length, before);
});
