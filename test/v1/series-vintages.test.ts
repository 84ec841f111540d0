import test from 'ava';
import fc from 'fast-check';
import { propertyRuns } from '../run/property-runs.ts';
import { freeAccount, startDataService, type DataService } from '../services/data-service.ts';
import { makeSeries, publish, type FixturePoint } from './series-fixture.ts';

interface Envelope {
  meta: Record<string, unknown>;
  data: { date: string; value: number | null; dims: Record<string, string>; published_on?: string }[];
  pagination: { next_cursor: string | null; count: number };
  error: { code: string; message: string; param?: string };
}

interface VintageList {
  success: boolean;
  data: { vintage: string; loaded_at: string }[];
  count: number;
  pagination: { next_cursor: string | null };
}

let service: DataService;

test.before(async () => {
  service = await startDataService();
});

test.after.always(() => service.close());

async function series(path: string): Promise<Envelope> {
  return (await service.call(path)).json as Envelope;
}

const values = ({ data }: Envelope) => Object.fromEntries(data.map((point) => [point.date, point.value]));

test('a vintage shows the data as published at the end of that day', async (t) => {
  await makeSeries(service.pool, { id: 'GDP', frequency: 'quarterly' });
  await publish(service.pool, 'GDP', '2024-04-30', [{ date: '2024-03-31', value: '1.6' }]);
  await publish(service.pool, 'GDP', '2024-05-30', [{ date: '2024-03-31', value: '1.3' }]);
  await publish(service.pool, 'GDP', '2024-07-25', [
    { date: '2024-03-31', value: '1.4' },
    { date: '2024-06-30', value: '2.8' },
  ]);
  const asOf = async (day: string) => values(await series(`/v1/series/GDP?vintage=${day}`));
  t.deepEqual(await asOf('2024-04-30'), { '2024-03-31': 1.6 });
  t.deepEqual(await asOf('2024-05-29'), { '2024-03-31': 1.6 });
  t.deepEqual(await asOf('2024-05-30'), { '2024-03-31': 1.3 });
  t.deepEqual(await asOf('2026-06-15'), { '2024-03-31': 1.4, '2024-06-30': 2.8 });
  const { meta } = await series('/v1/series/GDP?vintage=2024-06-01');
  t.is(meta['vintage'], '2024-06-01');
  t.is(meta['last_updated'], '2024-05-30');
  t.is(meta['first_vintage'], '2024-04-30');
  const latest = await series('/v1/series/GDP/latest?vintage=2024-06-01');
  t.deepEqual(values(latest), { '2024-03-31': 1.3 });
  const first = await series('/v1/series/GDP?release=first&fields=date,value,published_on');
  t.deepEqual(first.data as unknown, [
    { date: '2024-03-31', value: 1.6, published_on: '2024-04-30' },
    { date: '2024-06-30', value: 2.8, published_on: '2024-07-25' },
  ]);
});

test('the vintages of a series are listed with their changes', async (t) => {
  await makeSeries(service.pool, { id: 'LISTED', frequency: 'daily' });
  const point = (n: number, value: string) => ({ date: `2024-01-0${n}`, value });
  await publish(service.pool, 'LISTED', '2024-02-01', [point(1, '1'), point(2, '2')]);
  await publish(service.pool, 'LISTED', '2024-02-01', [point(3, '3')]);
  await publish(service.pool, 'LISTED', '2024-02-02', [point(3, '3')]);
  await publish(service.pool, 'LISTED', '2024-02-03', [point(2, '2.5'), point(3, '3')], { complete: true });
  const list = async (query = '') =>
    (await service.call(`/v1/series/LISTED/vintages${query}`)).json as VintageList;
  const all = await list();
  t.true(all.success);
  t.is(all.count, 2);
  t.deepEqual(
    all.data.map(({ loaded_at, ...counts }) => (t.regex(loaded_at, /Z$/), counts)),
    [
      { vintage: '2024-02-01', points_new: 3, points_revised: 0, points_deleted: 0 },
      { vintage: '2024-02-03', points_new: 0, points_revised: 1, points_deleted: 1 },
    ],
  );
  const days = ({ data }: VintageList) => data.map(({ vintage }) => vintage);
  t.deepEqual(days(await list('?sort=-vintage')), ['2024-02-03', '2024-02-01']);
  t.deepEqual(days(await list('?from=2024-02-02')), ['2024-02-03']);
  const page = await list('?limit=1');
  t.deepEqual(days(page), ['2024-02-01']);
  t.deepEqual(days(await list(`?limit=1&cursor=${page.pagination.next_cursor}`)), ['2024-02-03']);
  const csv = await service.call('/v1/series/LISTED/vintages?format=csv&limit=1');
  t.regex(csv.text, /^vintage,points_new,points_revised,points_deleted,loaded_at\r\n2024-02-01,3,0,0,/);
  t.regex(csv.headers.get('link') ?? '', /rel="next"/);
  const disorder = (await service.call('/v1/series/LISTED/vintages?from=2024-02&to=2024-01'))
    .json as Envelope;
  t.like(disorder.error, { code: 'invalid_parameter', param: 'from' });
  const refused = await service.call('/v1/series/LISTED/vintages', { identity: freeAccount });
  t.is(refused.status, 403);
});

test('before the first vintage there is no data, and meta states when it begins', async (t) => {
  await makeSeries(service.pool, { id: 'YOUNG' });
  await publish(service.pool, 'YOUNG', '2024-04-30', [{ date: '2024-03-31', value: '1' }]);
  const { data, meta, pagination } = await series('/v1/series/YOUNG?vintage=2024-04-29');
  t.deepEqual(data, []);
  t.is(meta['first_vintage'], '2024-04-30');
  t.is(meta['last_updated'], null);
  t.deepEqual(pagination, { next_cursor: null, count: 0 });
});

test("today is the publisher's day, not the server's", async (t) => {
  const karachi = await startDataService('2026-06-15T20:00:00Z', 'Asia/Karachi');
  await makeSeries(karachi.pool, { id: 'A' });
  t.is((await karachi.call('/v1/series/A?vintage=2026-06-16')).status, 200);
  t.is((await karachi.call('/v1/series/A?vintage=2026-06-17')).status, 400);
  await karachi.close();
});

test('a complete vintage without changes is not shown as a vintage: not as the first, not as the newest, not in the list', async (t) => {
  await makeSeries(service.pool, { id: 'QUIET' });
  await publish(service.pool, 'QUIET', '2024-02-01', [], { complete: true });
  const points = [{ date: '2024-02-29', value: '1' }];
  await publish(service.pool, 'QUIET', '2024-03-01', points, { complete: true });
  await publish(service.pool, 'QUIET', '2024-04-01', points, { complete: true });
  const { meta, data } = await series('/v1/series/QUIET?vintage=2024-05-01');
  t.is(meta['first_vintage'], '2024-03-01');
  t.is(meta['last_updated'], '2024-03-01');
  t.is(data.length, 1);
  t.deepEqual((await series('/v1/series/QUIET?vintage=2024-02-15')).data, []);
  const { json } = await service.call('/v1/series/QUIET/vintages');
  t.deepEqual(
    (json as { data: { vintage: string }[] }).data.map(({ vintage }) => vintage),
    ['2024-03-01'],
  );
});

test('a value that was corrected within its vintage, or withdrawn and published anew, is right in every vintage', async (t) => {
  await makeSeries(service.pool, { id: 'FIXED' });
  const point = (value: string | null) => [{ date: '2024-01-31', value }];
  await publish(service.pool, 'FIXED', '2024-02-10', point('1.0'));
  await publish(service.pool, 'FIXED', '2024-02-10', point('1.5'));
  await publish(service.pool, 'FIXED', '2024-03-10', [], { complete: true });
  await publish(service.pool, 'FIXED', '2024-04-10', point('2.5'));
  await publish(service.pool, 'FIXED', '2024-05-10', point(null));
  const asOf = async (query: string) => values(await series(`/v1/series/FIXED?${query}`));
  t.deepEqual(await asOf('vintage=2024-02-10'), { '2024-01-31': 1.5 });
  t.deepEqual(await asOf('vintage=2024-03-10'), {});
  t.deepEqual(await asOf('vintage=2024-04-10'), { '2024-01-31': 2.5 });
  t.deepEqual(await asOf('vintage=2024-05-10'), {});
  t.deepEqual(await asOf('vintage=2024-05-10&include_missing=true'), { '2024-01-31': null });
  t.deepEqual(await asOf('release=first'), { '2024-01-31': 1.5 });
});

/** The actions of a publisher: vintages in order, each with its stated values, and whether it is complete. */
const historyArbitrary = fc.array(
  fc.record({
    gapDays: fc.integer({ min: 0, max: 3 }),
    complete: fc.boolean(),
    points: fc.uniqueArray(
      fc.record({
        day: fc.integer({ min: 1, max: 6 }),
        side: fc.constantFrom('buy', 'sell'),
        value: fc.option(fc.integer({ min: -3, max: 3 })),
      }),
      { selector: ({ day, side }) => `${day}${side}`, maxLength: 8 },
    ),
  }),
  { minLength: 1, maxLength: 6 },
);

test('for any history of publications, every vintage shows the state of that day, for any page size and format', async (t) => {
  let run = 0;
  await fc.assert(
    fc.asyncProperty(historyArbitrary, fc.integer({ min: 1, max: 5 }), async (history, limit) => {
      run += 1;
      const id = `ANY${run}`;
      await makeSeries(service.pool, { id, frequency: 'daily', dimensions: ['side'] });
      const active = new Map<string, Map<string, string | null>>();
      let state = new Map<string, string | null>();
      let day = 1;
      for (const { gapDays, complete, points } of history) {
        day += gapDays;
        const vintage = `2024-02-${String(day).padStart(2, '0')}`;
        const stated = points.map(({ day, side, value }): FixturePoint => {
          return { date: `2024-01-0${day}`, value: value === null ? null : `${value}.0`, dims: { side } };
        });
        state = new Map(complete ? [] : state);
        for (const { date, dims, value } of stated) state.set(`${date} ${dims?.['side']}`, value);
        active.set(vintage, state);
        await publish(service.pool, id, vintage, stated, { complete });
      }
      for (const [vintage, expected] of [...active, ['', state] as const]) {
        const query = vintage === '' ? '' : `&vintage=${vintage}`;
        const shown = new Map<string, string | null>();
        let cursor: string | null = '';
        while (cursor !== null) {
          const page: { text: string; json: unknown } = await service.call(
            `/v1/series/${id}?include_missing=true&limit=${limit}${query}${cursor === '' ? '' : `&cursor=${cursor}`}`,
          );
          for (const [, date, value, side] of page.text.matchAll(
            /\{"date":"([\d-]+)","value":([^,]+),"dims":\{"side":"(\w+)"\}/g,
          )) {
            t.false(shown.has(`${date} ${side}`), 'one row a point');
            shown.set(`${date} ${side}`, value === 'null' ? null : (value ?? ''));
          }
          cursor = (page.json as Envelope).pagination.next_cursor;
        }
        const sorted = (map: ReadonlyMap<string, string | null>) => [...map].sort();
        t.deepEqual(sorted(shown), sorted(expected), `${vintage} of ${JSON.stringify(history)}`);
        const csv = await service.call(`/v1/series/${id}?include_missing=true&format=csv${query}`);
        t.deepEqual(
          csv.text.split('\r\n').slice(1, -1),
          [...shown].map(([key, value]) => `${key.slice(0, 10)},${value ?? ''},${key.slice(11)}`),
        );
      }
    }),
    { numRuns: propertyRuns(40) },
  );
});

test('paging that is overtaken by loads shows the state of its first page, in any vintage', async (t) => {
  await makeSeries(service.pool, { id: 'MOVING', frequency: 'daily' });
  const day = (n: number) => `2024-01-${String(n).padStart(2, '0')}`;
  const first = Array.from({ length: 9 }, (_, i) => ({ date: day(i + 1), value: `${i}.1` }));
  await publish(service.pool, 'MOVING', '2024-02-01', first.slice(0, 5));
  await publish(service.pool, 'MOVING', '2024-02-02', first);
  for (const query of [
    'sort=asc',
    'sort=desc',
    'vintage=2024-02-02',
    'vintage=2024-02-01',
    'release=first',
  ]) {
    const before = await series(`/v1/series/MOVING?${query}`);
    const paged: Envelope['data'] = [];
    let cursor: string | null = '';
    let step = 0;
    while (cursor !== null) {
      const page: Envelope = await series(
        `/v1/series/MOVING?${query}&limit=2${cursor === '' ? '' : `&cursor=${cursor}`}`,
      );
      paged.push(...page.data);
      cursor = page.pagination.next_cursor;
      step += 1;
      // Revised within the newest vintage, then revised, deleted and extended by a later one.
      const moved = first.map(({ date }) => ({ date, value: `${step}${query.length}` }));
      await publish(service.pool, 'MOVING', '2024-02-02', moved);
    }
    t.deepEqual(paged, before.data, query);
    await publish(service.pool, 'MOVING', '2024-02-02', first, { complete: true });
  }
  const { pagination } = await series('/v1/series/MOVING?limit=4');
  await publish(service.pool, 'MOVING', '2024-02-03', [{ date: day(20), value: '5' }], { complete: true });
  const rest = await series(`/v1/series/MOVING?limit=100&cursor=${pagination.next_cursor}`);
  t.deepEqual(
    rest.data.map((point) => point.value),
    first.slice(4).map((point) => Number(point.value)),
  );
  t.deepEqual(values(await series('/v1/series/MOVING')), { [day(20)]: 5 });
});

test('the first release is the first value; a publication as missing does not count', async (t) => {
  await makeSeries(service.pool, { id: 'LATE' });
  const dates = ['2024-01-31', '2024-02-29'];
  for (const [day, ...stated] of [
    ['2024-03-01', null, null],
    ['2024-04-01', '7', null],
    ['2024-05-01', '8', null],
  ] as const)
    await publish(
      service.pool,
      'LATE',
      day,
      stated.map((value, i) => ({ date: dates[i] ?? '', value })),
    );
  const first = (query: string) =>
    series(`/v1/series/LATE?release=first&fields=date,value,published_on${query}`);
  const seven = { date: '2024-01-31', value: 7, published_on: '2024-04-01' };
  t.deepEqual((await first('')).data as unknown, [seven]);
  t.deepEqual((await first('&include_missing=true')).data as unknown, [
    seven,
    { date: '2024-02-29', value: null, published_on: '2024-03-01' },
  ]);
  t.deepEqual((await first('&vintage=2024-03-15')).data, []);
});

test('paging has to restart if an older vintage was loaded since', async (t) => {
  await makeSeries(service.pool, { id: 'BACK', frequency: 'daily' });
  const points = [1, 2, 3].map((n) => ({ date: `2024-01-0${n}`, value: `${n}` }));
  await publish(service.pool, 'BACK', '2024-02-02', points);
  const { pagination } = await series('/v1/series/BACK?limit=2');
  await service.pool.query(
    `with l as (insert into data.loads (dataset, source_name, vintage, complete)
       values ('observations', '-', '2024-02-01', false) returning load_no)
     , v as (insert into data.vintages (series_no, published_on, load_no, complete)
       select series_no, '2024-02-01', load_no, false from data.series, l where series_id = 'BACK')
     update data.series set data_version = l.load_no, row_version = row_version + 1 from l where series_id = 'BACK'`,
  );
  const { status, json } = await service.call(`/v1/series/BACK?limit=2&cursor=${pagination.next_cursor}`);
  t.is(status, 410);
  t.regex((json as Envelope).error.message, /Start again without a cursor/);
});

test('a load that only deletes is a vintage; a load that states the same again is not', async (t) => {
  await makeSeries(service.pool, { id: 'SHRINKS' });
  const points = ['2024-01-31', '2024-02-29'].map((date) => ({ date, value: '1' }));
  await publish(service.pool, 'SHRINKS', '2024-03-01', points);
  await publish(service.pool, 'SHRINKS', '2024-04-01', points, { complete: true });
  await publish(service.pool, 'SHRINKS', '2024-05-01', points.slice(0, 1), { complete: true });
  const listed = (await service.call('/v1/series/SHRINKS/vintages')).json as VintageList;
  t.is(listed.count, 2);
  t.like(listed, {
    data: [
      { vintage: '2024-03-01', points_new: 2, points_revised: 0, points_deleted: 0 },
      { vintage: '2024-05-01', points_new: 0, points_revised: 0, points_deleted: 1 },
    ],
  });
  const { meta } = await series('/v1/series/SHRINKS?vintage=2024-06-01');
  t.is(meta['last_updated'], '2024-05-01');
});
