// A series counts as changed if anything changes that is served with it: labels, notes, and the series that continues it.
import test from 'ava';
import { declareContinuation } from '../../ingest/history/series/continuation.ts';
import { deleteSeries, restoreSeries } from '../../ingest/history/series/delete.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { setFacts } from '../../ingest/history/series/set.ts';
import { fakeClock } from '../services/harness.ts';
import { daily, loadCsv, openIngestDatabase, today } from './loading.ts';

const database = await openIngestDatabase(test);
const how = { noGateway: true, seriesTimeZone: 'UTC', clock: fakeClock(`${today}T12:00:00Z`) };

test.before(async () => {
  const points = ['series_id,date,value,city', 'A,2024-01-02,1,K', 'B,2024-01-02,1,K', 'C,2024-01-02,1,K'];
  await loadCsv(database, points, { create: true, set: daily });
  const facts = ['M,M,Index,monthly,Office', 'Q,Q,Index,quarterly,Office', 'Y,Y,Index,annual,Office'];
  await loadCsv(database, ['series_id,name,unit,frequency,source', ...facts], { dataset: 'series' });
  const later = { ...how, from: '2024-04' };
  await declareContinuation(database, { ...later, id: 'M', continuedBy: 'Q', frequency: 'quarterly' });
  await declareContinuation(database, { ...later, id: 'Q', continuedBy: 'Y', frequency: 'annual' });
});

/** The series that the work has changed. */
async function changedBy(work: () => Promise<unknown>): Promise<string[]> {
  await database.query(`update data.series set updated_at = '2000-01-01'`);
  await work();
  const rows = await database.query<{ id: string }>(
    `select series_id as id from data.series where updated_at <> '2000-01-01' order by 1`,
  );
  return rows.map(({ id }) => id);
}

test.serial(
  'a new or changed label changes its series, and a label that is unchanged changes none',
  async (t) => {
    const label = (...rows: string[]) =>
      changedBy(() =>
        loadCsv(database, ['series_id,dimension,value,label', ...rows], { dataset: 'dimension-labels' }),
      );
    t.deepEqual(await label('A,city,K,Karachi', 'B,city,K,Karachi'), ['A', 'B']);
    t.deepEqual(await label('A,city,K,Karachi', 'B,city,K,Karāchī'), ['B']);
    t.deepEqual(await label('A,city,K,Karachi'), []);
  },
);

test.serial(
  'a new, changed or omitted note changes its series, and an unchanged one changes none',
  async (t) => {
    const note = (...rows: string[]) =>
      changedBy(() => loadCsv(database, ['series_id,date,mark,text', ...rows], { dataset: 'footnotes' }));
    t.deepEqual(await note('A,,1,Estimated', 'B,,1,Estimated', 'B,,2,By hand'), ['A', 'B']);
    t.deepEqual(await note('A,,1,Guessed'), ['A']);
    t.deepEqual(await note('B,,1,Estimated'), ['B'], 'its second note is gone');
    t.deepEqual(await note('A,,1,Guessed', 'B,,1,Estimated'), []);
  },
);

test.serial(
  'a series changes with the id and the frequency of the series that it continues or that continues it, and with no other fact of theirs',
  async (t) => {
    const set = (facts: Readonly<Record<string, string>>) =>
      changedBy(() => setFacts(database, { ...how, id: 'Q', facts }));
    const file = (line: string) =>
      changedBy(() => loadCsv(database, ['series_id,frequency,unit', line], { dataset: 'series' }));
    t.deepEqual(await set({ name: 'By quarter' }), ['Q']);
    t.deepEqual(await set({ frequency: 'semiannual' }), ['M', 'Q', 'Y']);
    t.deepEqual(await file('Q,quarterly,Index'), ['M', 'Q', 'Y']);
    t.deepEqual(await file('Q,quarterly,USD'), ['Q']);
    t.deepEqual(await changedBy(() => renameSeries(database, { ...how, id: 'Y', newId: 'YEARS' })), [
      'Q',
      'YEARS',
    ]);
  },
);

test.serial('a series changes when its predecessor or continuation is deleted or restored', async (t) => {
  t.deepEqual(await changedBy(() => deleteSeries(database, { ...how, id: 'Q' })), ['M', 'Q', 'YEARS']);
  t.deepEqual(await changedBy(() => restoreSeries(database, { ...how, id: 'Q' })), ['M', 'Q', 'YEARS']);
});
