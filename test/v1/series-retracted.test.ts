// The effects of a retracted load for readers: the next call, earlier vintages, pinned readers, and every list that counts points.
import test from 'ava';
import { retract } from '../../ingest/history/retract/retract.ts';
import { openDatabase } from '../../kernel/database.ts';
import { loadCsv } from '../ingest/loading.ts';
import { startDataService } from '../services/data-service.ts';
import { fakeClock, silentLog } from '../services/harness.ts';

const today = '2026-06-15';
const clock = fakeClock(`${today}T12:00:00Z`);
const service = await startDataService(`${today}T12:00:00Z`);
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await service.close();
});

interface Body {
  meta: Record<string, unknown>;
  data: Record<string, unknown>[];
  error?: { code: string };
}

async function answer(path: string): Promise<Body> {
  return (await service.call(path)).json as Body;
}

/** `date=value` of each point. */
async function points(path: string): Promise<string[]> {
  return (await answer(path)).data.map(({ date, value }) => `${String(date)}=${String(value)}`);
}

/** Loads points of a series, `date,value` each. @returns the number of the load. */
async function loaded(id: string, vintage: string, rows: readonly string[]): Promise<number> {
  await loadCsv(database, ['series_id,date,value', ...rows.map((row) => `${id},${row}`)], {
    ...{ create: true, set: { frequency: 'daily', unit: 'Index', source: 'Test' }, vintage, clock },
  });
  const [row] = await database.query<{ load: number }>('select max(load_no) as load from data.loads');
  return row?.load ?? 0;
}

const retracted = (loadNo: number, erase = false) =>
  retract(database, { loadNo, erase, seriesTimeZone: 'UTC', clock, noGateway: true });

const right = ['2024-01-01,1', '2024-01-02,1'];
const wrong = ['2024-01-02,9', '2024-01-03,9'];

test.serial('the next call does not show a retracted load, and earlier vintages still do', async (t) => {
  await loaded('GONE', '2026-02-01', right);
  const load = await loaded('GONE', '2026-03-01', wrong);
  t.is((await points('/v1/series/GONE')).length, 3);
  await retracted(load);
  t.deepEqual(await points('/v1/series/GONE'), ['2024-01-01=1', '2024-01-02=1']);
  t.deepEqual(await points('/v1/series/GONE/latest'), ['2024-01-02=1']);
  const asOf = '/v1/series/GONE?vintage=2026-06-14';
  t.deepEqual(await points(asOf), ['2024-01-01=1', '2024-01-02=9', '2024-01-03=9']);
  t.deepEqual(await points('/v1/series/GONE?release=first'), [
    '2024-01-01=1',
    '2024-01-02=1',
    '2024-01-03=9',
  ]);
  const vintages = (await answer('/v1/series/GONE/vintages')).data.map((each) =>
    Object.values(each).slice(0, 4),
  );
  t.deepEqual(vintages, [
    ['2026-02-01', 2, 0, 0],
    ['2026-03-01', 1, 1, 0],
    [today, 0, 1, 1],
  ]);
  const wide = (await answer('/v1/series/GONE/triangle?layout=wide')).data.map(({ values }) => values);
  t.deepEqual(wide, [
    [1, 1, 1],
    [1, 9, 1],
    [null, 9, null],
  ]);
  const entry = (await service.call('/v1/catalog/GONE')).json as { data: Record<string, unknown> };
  t.like(entry.data, { observation_count: 2, last_date: '2024-01-02', last_updated: today });
});

test.serial(
  'a reader with a pinned state can continue after a retraction, and gets 410 after an erasure',
  async (t) => {
    await loaded('PINNED', '2026-02-01', right);
    const load = await loaded('PINNED', '2026-03-01', wrong);
    const pinned = `/v1/series/PINNED?vintage=2026-06-15&version=${load}`;
    const before = await points(pinned);
    const { loadNo } = await retracted(load);
    t.deepEqual(await points(pinned), before);
    await retracted(load, true);
    for (const version of [load, loadNo]) {
      const { status, json } = await service.call(`/v1/series/PINNED?vintage=2026-06-15&version=${version}`);
      t.is(status, 410);
      t.is((json as Body).error?.code, 'gone');
    }
    t.deepEqual(await points('/v1/series/PINNED?vintage=2026-03-01'), ['2024-01-01=1', '2024-01-02=1']);
    t.deepEqual(
      (await answer('/v1/series/PINNED/vintages')).data.map(({ vintage }) => vintage),
      ['2026-02-01'],
    );
  },
);
