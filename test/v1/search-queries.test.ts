// The everyday queries of search-queries.ts: each finds something, and the expected series is usually the first hit.
import test from 'ava';
import { demoFiles } from '../../ingest/demo/demo.ts';
import { startListService, type ListService } from '../services/list-service.ts';
import { queries } from './search-queries.ts';
import { typicalSeries } from './search-series.ts';
import { makeSeries } from './series-fixture.ts';

const meanReciprocalRankMin = 0.85;
let service: ListService;

test.before(async () => {
  service = await startListService();
  // Without points, as these tests do not depend on them.
  const loaded = ['series', 'commodity-items', 'amcs', 'funds', 'securities', 'calendar'];
  for (const { dataset, lines } of demoFiles('2026-06-01'))
    if (loaded.includes(dataset)) await service.load(dataset, [...lines()]);
  for (const series of typicalSeries) await makeSeries(service.pool, series);
});
test.after.always(() => service.close());

interface Asked {
  q: string;
  ids: string[];
  /** The rank, from 1; 0: none of the expected series is among the hits. */
  rank: number;
}

async function ask({ q, expected }: (typeof queries)[number]): Promise<Asked> {
  const ids = (
    await service.column(`/v1/search?${String(new URLSearchParams({ q, limit: '20' }))}`, 'id')
  ).map(String);
  return { q, ids, rank: 1 + ids.findIndex((id) => expected.includes(id)) };
}

test('each of 150 everyday queries finds something, and the mean reciprocal rank of the expected series is at least 0.85', async (t) => {
  t.true(queries.length >= 150, String(queries.length));
  const asked: Asked[] = [];
  for (const query of queries) asked.push(await ask(query));
  t.deepEqual(
    asked.filter(({ ids }) => ids.length === 0).map(({ q }) => q),
    [],
  );
  const mean = asked.reduce((sum, { rank }) => sum + (rank === 0 ? 0 : 1 / rank), 0) / asked.length;
  const wrong = asked.filter(({ rank }) => rank !== 1);
  t.log(
    `${mean.toFixed(3)}; not first: ${wrong.map(({ q, ids }) => `${q} → ${ids.slice(0, 3).join()}`).join('; ')}`,
  );
  t.true(mean >= meanReciprocalRankMin, String(mean));
});
