// Events of releases: a calendar entry is reported once, by the load that completes its series.
import test from 'ava';
import { fakeClock } from '../services/harness.ts';
import { writtenEvents } from '../services/outbox.ts';
import { daily, loadCsv, openIngestDatabase } from './loading.ts';

const database = await openIngestDatabase(test);

const now = '2024-06-30T12:00:00Z';

/** Creates series with one point each, loaded on 2024-01-01. */
async function makeSeries(...ids: string[]): Promise<void> {
  await loadCsv(database, ['series_id,date,value', ...ids.map((id) => `${id},2023-12-31,0`)], {
    ...{ create: true, set: daily },
    clock: fakeClock('2024-01-01T12:00:00Z'),
  });
  // The instant of a load is by PostgreSQL's clock.
  await database.query(`update data.loads set loaded_at = '2024-01-01 12:00Z' where vintage = '2024-01-01'`);
}

/** Adds an entry to the calendar. @param series separated by `;`. @param more cells of further columns. */
async function announce(
  id: string,
  at: string,
  series: string,
  more: Readonly<Record<string, string>> = {},
): Promise<void> {
  const row = { release_id: id, title: `Title of ${id}`, source: 'Test', release_at: at, time_zone: 'UTC' };
  const cells = { ...row, series_ids: series, ...more };
  const lines = [Object.keys(cells).join(','), Object.values(cells).join(',')];
  await loadCsv(database, lines, { dataset: 'calendar', clock: fakeClock(now) });
}

let lastValue = 0;

/** Loads another value of a point of each series. @returns the reported releases: their ids and series. */
async function releasedBy(
  series: readonly string[],
  { vintage = '2024-06-30', at = now, seriesTimeZone = 'UTC' } = {},
): Promise<[unknown, unknown][]> {
  await database.query('delete from events.outbox');
  lastValue += 1;
  await loadCsv(database, ['series_id,date,value', ...series.map((id) => `${id},2024-01-31,${lastValue}`)], {
    ...{ vintage, seriesTimeZone },
    clock: fakeClock(at),
  });
  return (await writtenEvents(database))
    .filter(({ type }) => type === 'release.published')
    .map(({ data }) => [data['release'], data['series']]);
}

test.serial(
  'an entry is reported by the load that completes its series, and never reported again',
  async (t) => {
    await makeSeries('A', 'B', 'OTHER');
    await announce('r1', '2024-06-30 10:00', 'B;A', { reference_period: '2024-05' });
    t.deepEqual(await releasedBy(['OTHER']), []);
    t.deepEqual(await releasedBy(['A']), [], 'B is not there yet');
    t.deepEqual(await releasedBy(['B', 'OTHER']), [['r1', ['A', 'B']]]);
    const [event] = (await writtenEvents(database)).filter(({ type }) => type === 'release.published');
    t.like(event?.data, {
      ...{ title: 'Title of r1', source: 'Test', reference_period: '2024-05', published_at: now },
      ...{ release_at: '2024-06-30T10:00:00Z', release_date: '2024-06-30' },
    });
    t.deepEqual(await releasedBy(['A', 'B']), []);
    await announce('r1', '2024-06-30 11:00', 'A;B');
    t.deepEqual(await releasedBy(['A', 'B']), [], 'nor after it has moved');
  },
);

test.serial(
  'an entry is not reported before its time, and a series that was loaded earlier does not count',
  async (t) => {
    await makeSeries('C', 'D');
    await announce('r2', '2024-06-30 12:00:01', 'C;D');
    t.deepEqual(await releasedBy(['C', 'D']), []);
    await database.query(
      `update data.loads set loaded_at = '2024-06-30 12:00Z' where vintage = '2024-06-30'`,
    );
    t.deepEqual(await releasedBy(['C'], { at: '2024-06-30T12:00:01Z' }), [], 'D came too early');
    t.deepEqual(await releasedBy(['D'], { at: '2024-06-30T12:00:01Z' }), [['r2', ['C', 'D']]]);
  },
);

test.serial('a series that a complete file restates without a change also counts as loaded', async (t) => {
  await makeSeries('Q', 'R', 'S');
  await announce('whole', '2024-06-30 10:00', 'Q;R');
  await announce('part', '2024-06-30 10:00', 'Q;S');
  const again = (id: string, full: boolean) =>
    loadCsv(database, ['series_id,date,value', `${id},2023-12-31,0`], { full, clock: fakeClock(now) });
  await again('R', true);
  await again('S', false);
  t.deepEqual(await releasedBy(['Q']), [['whole', ['Q', 'R']]]);
});

test.serial('a vintage before the day of the entry does not complete it', async (t) => {
  await makeSeries('E', 'F');
  await announce('r3', '2024-06-30 10:00', 'E;F');
  t.deepEqual(await releasedBy(['E', 'F'], { vintage: '2024-06-29' }), []);
  t.deepEqual(await releasedBy(['E']), []);
  t.deepEqual(await releasedBy(['F'], { vintage: '2024-06-29' }), []);
  t.deepEqual(await releasedBy(['F']), [['r3', ['E', 'F']]]);
});

test.serial(
  'the day of the entry is that of the publisher or of the series, whichever is earlier',
  async (t) => {
    await makeSeries('G', 'H');
    // In New York it is still 2024-06-29, in Karachi 2024-06-30 already.
    await announce('ny', '2024-06-29T21:00', 'G', { time_zone: 'America/New_York' });
    await announce('khi', '2024-06-30T02:00', 'H', { time_zone: 'Asia/Karachi' });
    t.deepEqual(await releasedBy(['G'], { vintage: '2024-06-28' }), []);
    t.deepEqual(await releasedBy(['G'], { vintage: '2024-06-29' }), [['ny', ['G']]]);
    t.deepEqual(await releasedBy(['H'], { vintage: '2024-06-28' }), []);
    t.deepEqual(
      await releasedBy(['H'], { vintage: '2024-06-29' }),
      [['khi', ['H']]],
      'in UTC it was 2024-06-29',
    );
  },
);

test.serial('cancelled and delayed entries, and those that name no series, are not reported', async (t) => {
  await makeSeries('I', 'J', 'K', 'L');
  await announce('off', '2024-06-30 10:00', 'I', { status: 'cancelled' });
  await announce('later', '2024-06-30 10:00', 'J', { status: 'delayed' });
  await announce('none', '2024-06-30 10:00', '');
  await announce('said', '2024-06-30 10:00', 'K', { status: 'released' });
  await announce('meant', '2024-06-30 10:00', 'L', { status: 'scheduled' });
  t.deepEqual(await releasedBy(['I', 'J', 'K', 'L']), [
    ['meant', ['L']],
    ['said', ['K']],
  ]);
});

test.serial(
  'of several pending entries of a series, only the newest is reported, and none older than a year',
  async (t) => {
    await makeSeries('M', 'N', 'O');
    for (const month of ['04', '05', '06']) await announce(`m${month}`, `2024-${month}-15 10:00`, 'M');
    await announce('also', '2024-06-15 10:00', 'M;N');
    await announce('next', '2024-07-15 10:00', 'M');
    await announce('old', '2023-06-30 11:59', 'O');
    t.deepEqual(await releasedBy(['M', 'N', 'O']), [
      ['also', ['M', 'N']],
      ['m06', ['M']],
    ]);
    t.deepEqual(await releasedBy(['M', 'N', 'O']), []);
    t.deepEqual(await releasedBy(['M'], { at: '2024-07-15T10:00:00Z', vintage: '2024-07-15' }), [
      ['next', ['M']],
    ]);
  },
);

test.serial('an entry of more than 250 series is reported in several events', async (t) => {
  const ids = Array.from({ length: 251 }, (_, i) => `MANY.${String(i).padStart(3, '0')}`);
  await makeSeries(...ids);
  await announce('many', '2024-06-30 10:00', ids.toReversed().join(';'));
  t.deepEqual(await releasedBy(ids), [
    ['many', ids.slice(0, 250)],
    ['many', ids.slice(250)],
  ]);
});

test.serial('a backfill does not complete an entry that was added after its series', async (t) => {
  await makeSeries('T');
  t.deepEqual(await releasedBy(['T']), []);
  await announce('after', '2024-06-30 10:00', 'T');
  t.deepEqual(await releasedBy(['T'], { vintage: '2024-06-01' }), []);
  t.deepEqual(await releasedBy(['T']), [['after', ['T']]]);
});

test.serial('of a file of many vintages, only those of the entry’s day complete it', async (t) => {
  await makeSeries('U', 'V');
  await announce('mixed', '2024-06-30 10:00', 'U;V');
  const lines = ['series_id,date,value,vintage', 'U,2024-01-31,-1,2024-06-30', 'V,2024-01-31,-1,2024-06-01'];
  await loadCsv(database, lines, { clock: fakeClock(now) });
  const events = await writtenEvents(database);
  t.false(events.some(({ data }) => data['release'] === 'mixed'));
  t.deepEqual(await releasedBy(['V']), [['mixed', ['U', 'V']]]);
});

test.serial('a dry run publishes nothing, so the load itself reports the release', async (t) => {
  await makeSeries('P');
  await announce('dry', '2024-06-30 10:00', 'P');
  await loadCsv(database, ['series_id,date,value', 'P,2024-01-31,5'], { dryRun: true });
  t.deepEqual(await releasedBy(['P']), [['dry', ['P']]]);
});
