import test from 'ava';
import fc from 'fast-check';
import { addDays, addMonths } from '../../../kernel/dates.ts';
import { periodEnd } from '../../../domain/periods.ts';
import { transforms } from '../../../domain/transforms.ts';
import { propertyRuns } from '../../run/property-runs.ts';
import { startDataService, type DataService } from '../../services/data-service.ts';
import { makeSeries, publish } from '../series-fixture.ts';

interface Point {
  date: string;
  value: number | null;
  dims: Record<string, string>;
}

interface Envelope {
  series: string;
  meta: Record<string, unknown>;
  data: Point[];
  pagination: { next_cursor: string | null; count: number };
  error: { code: string; message: string; param?: string };
}

let service: DataService;

test.before(async () => {
  service = await startDataService();
  const { pool } = service;
  await makeSeries(pool, { id: 'SALES', unit: 'PKR' });
  const months = (first: number) =>
    Array.from({ length: 30 }, (_, i) => ({
      date: periodEnd(addMonths('2022-01-31', i), 'monthly'),
      value: `${first + i}.50`,
    }));
  await publish(pool, 'SALES', '2024-07-05', months(1));
  await publish(pool, 'SALES', '2024-08-05', months(2));
  await makeSeries(pool, { id: 'FX', frequency: 'daily', dimensions: ['side'] });
  const days = Array.from({ length: 900 }, (_, i) => addDays('2022-01-03', i));
  await publish(
    pool,
    'FX',
    '2024-07-01',
    days.flatMap((date, i) =>
      ['buy', 'sell']
        .filter((side) => i % 7 < 5 && !(side === 'sell' && i > 400 && i < 520))
        .map((side, s) => ({
          date,
          value: i % 31 === 0 ? null : `${100 + ((i * 37 + s) % 50)}.25`,
          dims: { side },
        })),
    ),
  );
  await makeSeries(pool, { id: 'GDP', frequency: 'quarterly' });
  await publish(pool, 'GDP', '2024-06-01', [{ date: '2024-03-31', value: '1' }]);
  await makeSeries(pool, { id: 'RATE', frequency: 'irregular' });
  await publish(pool, 'RATE', '2024-06-01', [
    { date: '2024-03-05', value: '20.50' },
    { date: '2024-03-20', value: '22' },
  ]);
});

test.after.always(() => service.close());

async function series(path: string): Promise<Envelope> {
  return (await service.call(path)).json as Envelope;
}

const values = ({ data }: Envelope) => Object.fromEntries(data.map((point) => [point.date, point.value]));

test('the answer has the frequency, and meta says how each point came about', async (t) => {
  const quarters = await series('/v1/series/SALES?frequency=quarterly&from=2024');
  t.deepEqual(values(quarters), { '2024-03-31': 27.5, '2024-06-30': 30.5 });
  t.like(quarters.meta, {
    ...{
      frequency: 'quarterly',
      source_frequency: 'monthly',
      aggregate: 'avg',
      unit: 'PKR',
      transform: null,
    },
  });
  t.deepEqual(values(await series('/v1/series/SALES?frequency=annual&aggregate=sum')), {
    '2022-12-31': 96,
    '2023-12-31': 240,
  });
  t.is(
    values(await series('/v1/series/SALES?frequency=annual&aggregate=last&incomplete=true'))['2024-12-31'],
    31.5,
  );
  const missing = await series('/v1/series/SALES?frequency=annual&include_missing=true&from=2023');
  t.deepEqual(values(missing), { '2023-12-31': 20, '2024-12-31': null }, 'an incomplete year');
});

test('a period is whole wherever from and to cut it, and is dated to its end', async (t) => {
  t.deepEqual(values(await series('/v1/series/SALES?frequency=quarterly&from=2024-05-10')), {
    '2024-06-30': 30.5,
  });
  t.deepEqual(values(await series('/v1/series/SALES?frequency=quarterly&to=2022-06-15')), {
    '2022-03-31': 3.5,
  });
});

test('values computed from means are as exact as if the means had all their digits', async (t) => {
  await makeSeries(service.pool, { id: 'THIRDS' });
  const months = Array.from({ length: 9 }, (_, i) => ({
    date: periodEnd(addMonths('2023-01-31', i), 'monthly'),
    value: i % 3 === 2 ? '2' : '1',
  }));
  await publish(service.pool, 'THIRDS', '2024-07-05', months);
  const of = async (transform: string) =>
    Object.values(values(await series(`/v1/series/THIRDS?frequency=quarterly&transform=${transform}`)));
  t.deepEqual(await of('cumulative'), [1.333333333333, 2.666666666667, 4]);
  t.deepEqual(await of('3ma'), [1.333333333333]);
  t.deepEqual(await of('change'), [0, 0]);
});

test('the fiscal year of the series is that of annual values', async (t) => {
  await makeSeries(service.pool, { id: 'FISCAL' });
  await service.pool.query(`update data.series set fiscal_year_end = '06-30' where series_id = 'FISCAL'`);
  const months = Array.from({ length: 24 }, (_, i) => ({
    date: periodEnd(addMonths('2022-01-31', i), 'monthly'),
    value: '1',
  }));
  await publish(service.pool, 'FISCAL', '2024-07-05', months);
  t.deepEqual(values(await series('/v1/series/FISCAL?frequency=annual&aggregate=sum')), { '2023-06-30': 12 });
});

test('the base of an index may be a day of the fiscal year that ends after year 9999', async (t) => {
  await makeSeries(service.pool, { id: 'LAST', frequency: 'annual' });
  await service.pool.query(`update data.series set fiscal_year_end = '06-30' where series_id = 'LAST'`);
  await publish(service.pool, 'LAST', '2024-07-05', [{ date: '2024-06-30', value: '2' }]);
  const { error } = await series('/v1/series/LAST?transform=index&base=9999-12-31');
  t.like(error, { code: 'invalid_parameter', param: 'base' });
});

test('values are aggregated before they are transformed', async (t) => {
  const change = await series('/v1/series/SALES?frequency=annual&aggregate=sum&transform=pct_change');
  t.deepEqual(values(change), { '2023-12-31': 150 });
  t.like(change.meta, { unit: '%', source_unit: 'PKR', transform: 'pct_change', aggregate: 'sum' });
});

test('both the aggregated values and those they are compared with are of the vintage', async (t) => {
  const path = '/v1/series/SALES?frequency=quarterly&from=2024-Q2';
  t.deepEqual(values(await series(`${path}&vintage=2024-07-31`)), { '2024-06-30': 29.5 });
  t.deepEqual(values(await series(`${path}&release=first`)), { '2024-06-30': 29.5 });
  t.deepEqual(values(await series(path)), { '2024-06-30': 30.5 });
});

test('a higher frequency is refused by name, and so are combinations without a meaning', async (t) => {
  const refused = async (query: string) => {
    const { error } = await series(`/v1/series/${query}`);
    return [error.code, error.param, error.message];
  };
  t.deepEqual(await refused('GDP?frequency=monthly'), [
    ...['invalid_parameter', 'frequency'],
    '"frequency" must not be higher than that of GDP, which is quarterly: monthly values cannot be known. Lower ones are semiannual, annual.',
  ]);
  t.regex((await refused('RATE?frequency=monthly'))[2] ?? '', /irregular.*incomplete=true/);
  t.deepEqual(values(await series('/v1/series/RATE?frequency=monthly&aggregate=last&incomplete=true')), {
    '2024-03-31': 22,
  });
  for (const [query, param] of [
    ['SALES?aggregate=sum', 'aggregate'],
    ['SALES?incomplete=true', 'incomplete'],
    ['SALES?frequency=annual&include=notes', 'include'],
    ['SALES?frequency=daily', 'frequency'],
    ['SALES?last=3&limit=5', 'last'],
    ['FX?last=60000', 'last'],
  ])
    t.deepEqual((await refused(query ?? '')).slice(0, 2), ['invalid_parameter', param], query);
  t.like(await series('/v1/series/SALES?resample=annual'), { error: { code: 'invalid_parameter' } });
});

test('the frequency of the series itself leaves the points as published', async (t) => {
  const { data, meta } = await series('/v1/series/SALES?frequency=monthly&aggregate=sum');
  t.deepEqual(data, (await series('/v1/series/SALES')).data);
  t.false('aggregate' in meta);
});

test('each of several series has the frequency, or the call fails by the name of the series that cannot', async (t) => {
  const { data } = (await service.call('/v1/series?ids=SALES,FX&frequency=annual&last=1')).json as {
    data: Envelope[];
  };
  for (const { series: id, data: points, meta } of data) {
    t.is(meta['frequency'], 'annual');
    t.deepEqual(points, (await series(`/v1/series/${id}?frequency=annual&last=1`)).data);
  }
  const { error } = await series('/v1/series?ids=SALES,GDP&frequency=monthly');
  t.regex(error.message, /GDP, which is quarterly/);
});

test('each parameter of the frequency has an ETag of its own', async (t) => {
  const queries = ['', '?frequency=quarterly', '?frequency=annual', '?frequency=annual&aggregate=sum', '?frequency=annual&incomplete=true', '?last=5', '?last=6']; // prettier-ignore
  const tags = await Promise.all(
    queries.map(async (query) => (await service.call(`/v1/series/SALES${query}`)).headers.get('etag')),
  );
  t.is(new Set(tags).size, queries.length);
  t.false(tags.includes(null));
});

test("FRED's names are those of transforms", async (t) => {
  const named = { chg: 'change', ch1: 'change_yoy', pch: 'pct_change', pc1: 'yoy', pca: 'annualised', cch: 'log_change', cca: 'log_change_annualised' }; // prettier-ignore
  for (const [name, transform] of Object.entries(named))
    t.deepEqual(
      await series(`/v1/series/SALES?transform=${name}`),
      await series(`/v1/series/SALES?transform=${transform}`),
    );
  t.deepEqual(await series('/v1/series/SALES?transform=lin'), await series('/v1/series/SALES'));
});

test('each transform names its unit', async (t) => {
  const units = await Promise.all(
    transforms.map(async (name) => [name, (await series(`/v1/series/SALES?transform=${name}`)).meta['unit']]),
  );
  t.deepEqual(Object.fromEntries(units), {
    ...{ yoy: '%', mom: '%', pct_change: '%', annualised: '%', log_change: '%', log_change_annualised: '%' },
    ...{ '3ma': 'PKR', change: 'PKR', change_yoy: 'PKR', cumulative: 'PKR' },
    ...{ index: 'Index (2022-01-31 = 100)', log: 'Natural log (PKR)', zscore: 'Standard deviations' },
  });
});

test('the latest and the last points, a chart and a citation are of the frequency', async (t) => {
  for (const query of [
    'frequency=monthly',
    'frequency=weekly&transform=cumulative',
    'transform=zscore',
    '',
  ]) {
    const { data } = await series(`/v1/series/FX?${query}&limit=100000`);
    for (const count of [1, 4]) {
      const expected = data.filter(
        (point, i) =>
          data.slice(i + 1).filter(({ dims }) => dims['side'] === point.dims['side']).length < count,
      );
      t.deepEqual((await series(`/v1/series/FX?${query}&last=${count}`)).data, expected, query);
      t.deepEqual(
        (await series(`/v1/series/FX?${query}&last=${count}&sort=desc`)).data,
        expected.toReversed(),
        query,
      );
      if (count === 1) t.deepEqual((await series(`/v1/series/FX/latest?${query}`)).data, expected, query);
    }
  }
  const chart = await service.call('/v1/series/FX/chart.svg?frequency=annual&incomplete=true');
  t.is(chart.status, 200);
  t.not(chart.text, (await service.call('/v1/series/FX/chart.svg')).text);
  const cited = await service.call('/v1/series/SALES/cite?frequency=annual&aggregate=sum');
  t.regex(cited.text, /frequency=annual&aggregate=sum/);
});

test('an index at a lower frequency begins at 100 for each combination, also for one that begins later', async (t) => {
  const { data } = await series(
    '/v1/series/FX?frequency=weekly&transform=index&from=2023-03-01&limit=100000',
  );
  const firsts = ['buy', 'sell'].map((side) =>
    data.find(({ dims, value }) => dims['side'] === side && value !== null),
  );
  t.deepEqual(
    firsts.map((first) => first?.value),
    [100, 100],
  );
  t.true((firsts[0]?.date ?? '') < (firsts[1]?.date ?? ''));
});

test('page size, order, window, dims and format change no aggregated or transformed value', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('weekly', 'monthly', 'quarterly', null),
      fc.constantFrom('avg', 'sum', 'max'),
      fc.constantFrom(...transforms.filter((name) => name !== 'index'), null),
      fc.boolean(),
      fc.constantFrom('asc', 'desc'),
      fc.integer({ min: 15, max: 150 }),
      fc.tuple(fc.nat(1000), fc.nat(1000)),
      fc.constantFrom('', '&dims=side:sell'),
      async (frequency, aggregate, transform, incomplete, sort, limit, days, filter) => {
        const shape = [
          frequency === null ? '' : `&frequency=${frequency}&aggregate=${aggregate}&incomplete=${incomplete}`,
          transform === null ? '' : `&transform=${transform}`,
        ].join('');
        if (transform === 'mom' && frequency === 'quarterly') return;
        const whole = await series(`/v1/series/FX?limit=100000${shape}`);
        const [from = '', to = ''] = days.sort((a, b) => a - b).map((day) => addDays('2021-12-20', day));
        const expected = whole.data.filter(
          ({ date, dims }) => date >= from && date <= to && (filter === '' || dims['side'] === 'sell'),
        );
        if (sort === 'desc') expected.reverse();
        const query = `/v1/series/FX?sort=${sort}&from=${from}&to=${to}${filter}${shape}`;
        const paged: Point[] = [];
        let cursor: string | null = '';
        while (cursor !== null) {
          const page: Envelope = await series(
            `${query}&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
          );
          paged.push(...page.data);
          cursor = page.pagination.next_cursor;
        }
        t.deepEqual(paged, expected, query);
        const { text } = await service.call(`${query}&format=csv`);
        t.deepEqual(
          text.split('\r\n').slice(1, -1),
          expected.map(({ date, value, dims }) => `${date},${csvNumber(text, date, value)},${dims['side']}`),
          query,
        );
      },
    ),
    { numRuns: propertyRuns(20) },
  );
});

/** The digits of the CSV if they equal the number, as a published number may end with zeros. */
function csvNumber(text: string, date: string, value: number | null): string {
  const line = text
    .split('\r\n')
    .find((each) => each.startsWith(date) && Number(each.split(',')[1]) === value);
  return line?.split(',')[1] ?? String(value);
}
