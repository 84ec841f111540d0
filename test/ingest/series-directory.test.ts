import test from 'ava';
import { SeriesDirectory } from '../../ingest/load/points/series-directory.ts';
import { openIngestDatabase } from './loading.ts';

const database = await openIngestDatabase(test);

test('evicted entries are looked up again with the same numbers', async (t) => {
  await database.transaction(async (on) => {
    const directory = new SeriesDirectory(on, ['side'], true, {}, 3);
    const facts = (id: string) => ({
      series_id: id,
      name: id,
      unit: 'x',
      frequency: 'daily',
      source: 'Test',
    });
    const combine = (id: string, side: string) => {
      const series = directory.get(id);
      if (series === undefined || series === null) throw new Error(`${id} is not known`);
      return directory.combination(series, [side]).lineNo;
    };

    await directory.learn(['A', 'B'], facts);
    const before = [combine('A', 'buy'), combine('A', 'sell'), combine('B', 'sell')];
    t.true(await directory.makeSpace());
    t.is(directory.get('A'), undefined);
    await directory.learn(['A', 'B', 'C'], facts);
    t.deepEqual([combine('A', 'buy'), combine('A', 'sell'), combine('B', 'sell')], before);
    t.is(combine('B', 'buy'), Math.max(...before) + 1);

    await directory.finish();
    const rows = await on.query<{ series_id: string; dims: object | null }>(
      `select series_id, dims from data.series left join data.series_dims using (series_no)
       order by series_id, line_no`,
    );
    t.deepEqual(rows, [
      { series_id: 'A', dims: { side: 'buy' } },
      { series_id: 'A', dims: { side: 'sell' } },
      { series_id: 'B', dims: { side: 'sell' } },
      { series_id: 'B', dims: { side: 'buy' } },
    ]); // C was created but not used by any row
  });
});
