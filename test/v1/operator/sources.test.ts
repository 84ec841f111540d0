// /v1/operator/sources: the health of the scheduled sources, for an operator.
import test from 'ava';
import { insertSource } from '../../../ingest/publisher/sources/sources.sql.ts';
import { startServices } from '../../services/services.ts';
import { dataOf, newOperator, type Operating } from './operating.ts';

const services = await startServices({ publisher: true });
let operator: Operating;
test.before(async () => {
  operator = await newOperator(services);
  await services.database.transaction(async (on) => {
    for (const [name, year] of [
      ['copper', 2101],
      ['gold', 2100],
    ] as const)
      await insertSource(on, {
        ...{ name, publication: 'prices', url: `https://example.org/${name}.csv?token=secret`, sheet: '' },
        ...{ entry: { file: 'x' }, schedule: 'daily', at: new Date('2026-11-20T10:00:00.5Z') },
        fetchAt: new Date(`${year}-01-01T00:00:00Z`),
      });
  });
  await services.database.query(
    `update embargo.sources set failures = 2, failing_since = '2026-11-21', fetched_at = '2026-11-22', outcome = '{"result":"failed","message":"404"}'
     where name = 'gold'`,
  );
});
test.after.always(() => services.close());

const rows = async (query = '') =>
  dataOf<{ name: string }[]>(await operator.get(`/sources${query}`)).map(({ name }) => name);

test('a source is listed with its last and next fetch, and without the query of its URL', async (t) => {
  const answer = await operator.get('/sources?state=failing');
  t.deepEqual(dataOf<object[]>(answer), [
    {
      ...{ name: 'gold', publication: 'prices', url: 'https://example.org/gold.csv', sheet: null },
      ...{ schedule: 'daily', registered_at: '2026-11-20T10:00:00Z', last_fetch_at: '2026-11-22T00:00:00Z' },
      ...{ last_change_at: null, next_fetch_at: '2100-01-01T00:00:00Z', is_being_fetched: false },
      ...{
        failures: 2,
        failing_since: '2026-11-21T00:00:00Z',
        outcome: { result: 'failed', message: '404' },
      },
    },
  ]);
  t.false(answer.text.includes('secret'));
});

test('sources are filtered by their state, sorted and paged', async (t) => {
  t.deepEqual(await rows(), ['copper', 'gold']);
  t.deepEqual(await rows('?sort=-name'), ['gold', 'copper']);
  t.deepEqual(await rows('?sort=next_fetch_at'), ['gold', 'copper']);
  t.deepEqual(await rows('?sort=-failures'), ['gold', 'copper']);
  t.deepEqual(await rows('?state=well'), ['copper']);
  const { json } = await operator.get('/sources?limit=1&sort=failures');
  const { next_cursor: cursor } = (json as { pagination: { next_cursor: string } }).pagination;
  t.deepEqual(await rows(`?limit=1&sort=failures&cursor=${cursor}`), ['gold']);
});
