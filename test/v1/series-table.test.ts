// Several series as one CSV table, compared with the CSV of each series.
import test from 'ava';
import { parse } from 'csv-parse/sync';
import { startSeriesService } from './series-service.ts';
import { makeSeries, publish } from './series-fixture.ts';

const { service, refusal } = await startSeriesService(test);
test.before(async () => {
  await makeSeries(service.pool, { id: 'EMPTY' });
  await makeSeries(service.pool, { id: 'LATER' });
  await publish(service.pool, 'LATER', '2024-06-10', [
    { date: '2024-03-31', value: '7' },
    { date: '2024-05-31', value: '8.50' },
  ]);
});

const rowsOf = async (path: string) => parse((await service.call(path)).text);
const table = (query: string) => rowsOf(`/v1/series?format=csv&${query}`);
const alone = (id: string, query: string) => rowsOf(`/v1/series/${id}?format=csv&${query}`);

const queries = [
  '',
  'sort=desc',
  'from=2024',
  'to=2024-01-05',
  'last=2',
  'vintage=2024-04-10',
  'transform=pct_change',
];

for (const query of queries) {
  test(`a long table has the lines of each series, in the order of the ids: ${query}`, async (t) => {
    const [header, ...lines] = await table(`ids=TRADES,CPI,EMPTY&${query}`);
    t.deepEqual(header, ['series', 'date', 'value', 'side', 'city']);
    const [, ...ofTrades] = await alone('TRADES', query);
    const [, ...ofCpi] = await alone('CPI', query);
    t.deepEqual(lines, [
      ...ofTrades.map((line) => ['TRADES', ...line]),
      ...ofCpi.map((line) => ['CPI', ...line, '', '']),
    ]);
  });

  test(`a wide table has a column per series and combination, and their values: ${query}`, async (t) => {
    const [[, ...names] = [], ...lines] = await table(`ids=CPI,TRADES,LATER&layout=wide&${query}`);
    t.deepEqual([names.length, names[0], names.at(-1)], [8, 'CPI', 'LATER']);
    const cells = new Map<string, string>();
    for (const id of ['CPI', 'TRADES', 'LATER'])
      for (const [date = '', value = '', side, city] of (await alone(id, query)).slice(1))
        cells.set(
          `${date} ${side === undefined ? id : `${id} side:${side},city:${city?.replace("'", '')}`}`,
          value,
        );
    const dates = [...new Set([...cells.keys()].map((key) => key.slice(0, 10)))].sort();
    if (query === 'sort=desc') dates.reverse();
    t.deepEqual(
      lines,
      dates.map((date) => [date, ...names.map((name) => cells.get(`${date} ${name}`) ?? '')]),
    );
  });
}

test('a wide table does not depend on the number of time windows in which it is read', async (t) => {
  // The number of points determines the number of windows.
  const wide = (query = '') => service.call(`/v1/series?format=csv&layout=wide&ids=CPI,LATER,TRADES${query}`);
  const before = (await wide()).text;
  const descending = (await wide('&sort=desc')).text;
  await service.pool.query(
    `update data.series set observation_count = 3000000, row_version = row_version + 1 where series_id = 'CPI'`,
  );
  t.is((await wide()).text, before);
  t.is((await wide('&sort=desc')).text, descending);
});

test('parameters without a meaning for a table are refused by name', async (t) => {
  for (const [query, param] of [
    ['layout=wide', 'layout'],
    ['format=csv&limit=5', 'limit'],
    ['format=csv&layout=wide&fields=date,value', 'fields'],
    ['format=csv&layout=wide&include=notes', 'include'],
    ['format=csv&layout=square', 'layout'],
    ['format=csv&cursor=x', 'cursor'],
  ] as const) {
    const refused = await refusal(`/v1/series?ids=CPI&${query}`);
    t.deepEqual([refused.status, refused.code, refused.param], [400, 'invalid_parameter', param], query);
  }
  t.is((await refusal('/v1/series?ids=CPI,NONE&format=csv')).code, 'not_found');
});
