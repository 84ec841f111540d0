// Series that were changed after the day of a pin: by a break of the unit, a merge or a deletion. As of the day they are as they were.
import test from 'ava';
import { declareBreak } from '../../ingest/history/series/break.ts';
import { deleteSeries } from '../../ingest/history/series/delete.ts';
import { mergeSeries } from '../../ingest/history/series/merge.ts';
import { openDatabase } from '../../kernel/database.ts';
import { daily, loadCsv } from '../ingest/loading.ts';
import { proAccount, startDataService } from '../services/data-service.ts';
import { fakeClock, silentLog } from '../services/harness.ts';

const service = await startDataService('2024-06-15T12:00:00Z');
const database = openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' });
test.after.always(async () => {
  await database.close();
  await service.close();
});
const on = (day: string) => ({
  ...{ seriesTimeZone: 'UTC', clock: fakeClock(`${day}T12:00:00Z`), noGateway: true },
});
const lines = ['A', 'B', 'C', 'D'].flatMap((id, i) => [`${id},2024-01-01,${i}1`, `${id},2024-01-02,${i}2`]);

test.before(async () => {
  await loadCsv(database, ['series_id,date,value', ...lines], {
    ...{ create: true, set: daily, vintage: '2024-02-01', ...on('2024-02-01') },
  });
  await declareBreak(database, { id: 'A', from: '2024-01-02', facts: { unit: 'New' }, ...on('2024-03-01') });
  await mergeSeries(database, { id: 'B', into: 'C', prefer: 'old', ...on('2024-03-01') });
  await deleteSeries(database, { id: 'D', ...on('2024-03-01') });
});

async function pinned(id: string, asOf: string): Promise<unknown> {
  const { status, json } = await service.call(`/v1/series/${id}`, { identity: { ...proAccount, asOf } });
  if (status !== 200) return status;
  const { series, meta, data } = json as {
    series: string;
    meta: { unit: string; breaks: unknown[] };
    data: { value: number }[];
  };
  return { series, unit: meta.unit, breaks: meta.breaks.length, values: data.map(({ value }) => value) };
}

test('keys pinned before a change see the old state, and keys pinned from its day on the new one', async (t) => {
  const asOf = (day: string) => Promise.all(['A', 'B', 'C', 'D'].map((id) => pinned(id, day)));
  const { unit } = daily;
  t.deepEqual(await asOf('2024-02-29'), [
    { series: 'A', unit, breaks: 0, values: [1, 2] },
    { series: 'B', unit, breaks: 0, values: [11, 12] },
    { series: 'C', unit, breaks: 0, values: [21, 22] },
    { series: 'D', unit, breaks: 0, values: [31, 32] },
  ]);
  t.deepEqual(await asOf('2024-03-01'), [
    { series: 'A', unit: 'New', breaks: 1, values: [1, 2] },
    { series: 'C', unit, breaks: 0, values: [11, 12] },
    { series: 'C', unit, breaks: 0, values: [11, 12] },
    410,
  ]);
  t.deepEqual(await asOf('2024-01-31'), [404, 404, 404, 404]);
});
