// The requests of fredapi, fredr, pandas-datareader, quantmod, alfred and OpenBB, as each sends them: the bytes of every answer are in golden/.
// Written anew with GOLDEN=write; a changed file is read by hand before it is committed.
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import test from 'ava';
import { startDataService, type DataService } from '../services/data-service.ts';
import { makeSeries, publish } from '../v1/series-fixture.ts';

let service: DataService;
test.before(async () => {
  service = await startDataService('2024-09-30T12:00:00Z');
  const { pool } = service;
  await makeSeries(pool, {
    id: 'DEMO.GDP',
    name: 'Gross output',
    unit: 'USD',
    frequency: 'quarterly',
    description: 'Goods & services, "at cost"',
  });
  await publish(pool, 'DEMO.GDP', '2024-01-30', [{ date: '2023-12-31', value: '26.10' }]);
  await publish(pool, 'DEMO.GDP', '2024-04-30', [
    { date: '2023-12-31', value: '26.30' },
    { date: '2024-03-31', value: '27.1' },
  ]);
  await publish(pool, 'DEMO.GDP', '2024-08-29', [
    { date: '2024-03-31', value: null },
    { date: '2024-06-30', value: '27.6' },
  ]);
});
test.after.always(() => service.close());

// A series has the time at which this run loaded it; lists have the day, at midnight, which is of the data.
const loadedAt = /\d{4}-\d\d-\d\d (?!00:00:00)\d\d:\d\d:\d\d\+00/g;
const observations = '/fred/series/observations?series_id=DEMO.GDP';
const allTime = 'realtime_start=1776-07-04&realtime_end=9999-12-31';
const requests = {
  'fredapi-series.xml': '/fred/series?series_id=DEMO.GDP',
  'fredapi-observations.xml': observations,
  'fredapi-annual.xml': `${observations}&observation_start=2023-01-01&units=lin&frequency=a&aggregation_method=eop`,
  'fredapi-all-releases.xml': `${observations}&${allTime}`,
  'fredapi-vintage-dates.xml': '/fred/series/vintagedates?series_id=DEMO.GDP',
  'fredapi-search.xml':
    '/fred/series/search?search_text=gross+output&&order_by=title&filter_variable=frequency&filter_value=Quarterly&sort_order=asc',
  'fredapi-unknown.xml': '/fred/series/observations?series_id=NOPE',
  'fredr-series.json': '/fred/series?series_id=DEMO.GDP&file_type=json',
  'fredr-observations.json': `${observations}&observation_start=2023-01-01&vintage_dates=2024-01-30%2C2024-04-30&file_type=json`,
  'fredr-vintage-dates.json': '/fred/series/vintagedates?series_id=DEMO.GDP&file_type=json',
  'fredr-search.json': '/fred/series/search?search_type=full_text&search_text=gross%20output&file_type=json',
  'fredr-unknown.json': '/fred/series?series_id=NOPE&file_type=json',
  'alfred-vintages.json': `${observations}&${allTime}&output_type=2&file_type=json`,
  'openbb-observations.json': `${observations}&observation_start=2023-01-01&frequency=q&units=chg&limit=100000&file_type=json`,
  'graph.csv': '/graph/fredgraph.csv?id=DEMO.GDP',
};

for (const [name, request] of Object.entries(requests)) {
  test(`the answer to a client is byte for byte that of ${name}`, async (t) => {
    const file = path.join(import.meta.dirname, 'golden', name);
    const answer = await service.call(request);
    const text = answer.text.replaceAll(loadedAt, '2024-08-29 07:56:03+00');
    if (process.env['GOLDEN'] === 'write') writeFileSync(file, text);
    t.is(text, readFileSync(file, 'utf8'));
  });
}
