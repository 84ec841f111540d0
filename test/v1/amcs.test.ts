import test from 'ava';
import { startListService, type ListService } from '../services/list-service.ts';

let service: ListService;

test.before(async () => {
  service = await startListService();
  await service.load('amcs', [
    'amc_id,name,short_name,licence_no,rating,rating_agency,rating_date,website,established,source',
    'alpha,Alpha Asset Management,Alpha,L-1,AM1,Rater,2025-01-01,https://alpha.example/,1999-05-01,Register',
    'beta,Beta Investments,,,,,,,,Register',
    'new,Nothing yet,,,,,,,,Register',
    'stale,Stale,,,,,,,,Register',
  ]);
  await service.load('funds', [
    'fund_id,name,amc_id,category,currency,status,source',
    'a-cash,A Cash,alpha,Money market,PKR,active,Register',
    'a-share,A Share,alpha,Equity,PKR,,Register',
    'a-old,A Old,alpha,Equity,PKR,closed,Register',
    'b-share,B Share,beta,Equity,PKR,active,Register',
    'b-dollar,B Dollar,beta,Equity,USD,active,Register',
    'c-share,C Share,,Equity,PKR,active,Register',
    's-present,S Present,stale,Equity,EUR,active,Register',
    's-silent,S Silent,stale,Equity,EUR,active,Register',
  ]);
  await service.load('nav', [
    'fund,date,nav,aum',
    'a-cash,2025-01-15,10,100.50',
    'a-cash,2025-01-31,10,110.50',
    'a-cash,2025-02-28,10,120.25',
    'a-share,2025-01-31,10,30',
    'a-share,2025-02-27,10,29.75',
    'a-old,2025-01-31,10,1000',
    'b-share,2025-02-28,10,50',
    'b-dollar,2025-02-28,10,7',
    's-present,2025-02-28,10,8',
    's-silent,2024-11-27,10,900',
  ]);
});

test.after.always(() => service.close());

test.serial('a company shows its present funds, their assets and its market share', async (t) => {
  const { data, count } = await service.list('/v1/amcs');
  t.is(count, 4);
  t.deepEqual(
    { ...data[0], last_updated: null },
    {
      id: 'alpha',
      name: 'Alpha Asset Management',
      short_name: 'Alpha',
      licence_no: 'L-1',
      rating: { grade: 'AM1', agency: 'Rater', date: '2025-01-01' },
      website: 'https://alpha.example/',
      established: '1999-05-01',
      funds_count: 2,
      aum_total: 150,
      aum_date: '2025-02-28',
      currency: 'PKR',
      market_share_pct: 100,
      as_of: '2025-02-28',
      source: 'Register',
      last_updated: null,
    },
  );
  t.like(data[1], { id: 'beta', funds_count: 2, aum_total: null, currency: null, market_share_pct: null });
  t.like(data[2], { id: 'new', funds_count: 0, aum_total: null, rating: null });
});

test.serial('companies can be searched, sorted, paged and read as CSV', async (t) => {
  t.deepEqual(await service.column('/v1/amcs?q=INVEST', 'id'), ['beta']);
  t.deepEqual(await service.readPages('/v1/amcs?sort=-aum_total', 'id', 1), [
    'alpha',
    'stale',
    'new',
    'beta',
  ]);
  t.deepEqual(await service.readPages('/v1/amcs?sort=-funds_count', 'id', 2), [
    'stale',
    'beta',
    'alpha',
    'new',
  ]);
  const { text } = await service.call('/v1/amcs?format=csv&fields=id,aum_total');
  t.is(text, 'id,aum_total\r\nalpha,150.00\r\nbeta,\r\nnew,\r\nstale,8\r\n');
});

test.serial('one company has its categories, the assets of past months and every fund it had', async (t) => {
  const { data } = (await service.call('/v1/amcs/alpha')).json as { data: Record<string, unknown> };
  t.like(data, { id: 'alpha', aum_total: 150, funds_count: 2 });
  t.deepEqual(data['categories'], [
    { category: 'Equity', funds_count: 1, aum: 29.75, currency: 'PKR' },
    { category: 'Money market', funds_count: 1, aum: 120.25, currency: 'PKR' },
  ]);
  t.deepEqual(data['aum_history'], [
    { date: '2025-01-31', aum: 1140.5, currency: 'PKR', funds_count: 3 },
    { date: '2025-02-28', aum: 150, currency: 'PKR', funds_count: 2 },
  ]);
  t.deepEqual(
    (data['funds'] as { id: string }[]).map(({ id }) => id),
    ['a-cash', 'a-old', 'a-share'],
  );
});

test.serial(
  'assets that were last reported more than a quarter before the others are not counted',
  async (t) => {
    const { data } = (await service.call('/v1/amcs/stale')).json as { data: Record<string, unknown> };
    t.like(data, { funds_count: 2, aum_total: 8, market_share_pct: 100 });
    t.deepEqual(data['categories'], [{ category: 'Equity', funds_count: 2, aum: 8, currency: 'EUR' }]);
  },
);

test.serial('an unknown company is 404 with the nearest id', async (t) => {
  const { error } = await service.list('/v1/amcs/alphe');
  t.deepEqual([error.code, error.param], ['not_found', 'amc']);
  t.regex(error.message, /Did you mean "alpha"/);
});

test.serial('a company is updated by the loads that change its funds or their assets', async (t) => {
  // A day passes: all that was loaded was loaded on an earlier one.
  await service.pool.query(`
    set session_replication_role = replica;
    update data.amcs set updated_on = '2025-01-01';
    update data.funds set updated_on = '2025-01-02';
    update data.fund_figures set updated_on = '2025-01-03';
    set session_replication_role = origin`);
  const updated = () => service.column('/v1/amcs?updated_after=2025-01-03', 'id');
  t.deepEqual(await updated(), []);
  t.deepEqual(await service.column('/v1/amcs?updated_after=2025-01-02', 'id'), ['alpha', 'beta', 'stale']);
  await service.load('nav', ['fund,date,nav,aum', 'b-share,2025-03-01,10,60']);
  t.deepEqual(await updated(), ['beta']);
  await service.load('funds', ['fund_id,name', 'a-cash,A Cash Fund']);
  t.deepEqual(await updated(), ['alpha', 'beta']);
});

// Not serial, so it runs last: its load changes the data of the others.
test('an answer is valid until a load changes it', async (t) => {
  const first = await service.call('/v1/amcs/new');
  const again = async () =>
    (await service.call('/v1/amcs/new', { headers: { 'if-none-match': first.headers.get('etag') ?? '' } }))
      .status;
  t.is(await again(), 304);
  await service.load('amcs', ['amc_id,short_name', 'new,N']);
  t.is(await again(), 200);
});

test.serial(
  'the market share of a company is of the companies whose assets are of the same day',
  async (t) => {
    await service.load('amcs', [
      'amc_id,name,source',
      ...['p', 'q', 'r', 's'].map((id) => `${id},${id},Register`),
    ]);
    const shares = async (assets: Record<string, [day: string, aum: number]>) => {
      const ids = Object.keys(assets);
      await service.load('funds', [
        'fund_id,name,amc_id,currency,source',
        ...ids.map((id) => `${id}-1,F,${id},CHF,Register`),
      ]);
      await service.load('nav', [
        'fund,date,nav,aum',
        ...Object.entries(assets).map(([id, [day, aum]]) => `${id}-1,${day},10,${aum}`),
      ]);
      const { data } = await service.list('/v1/amcs?fields=id,market_share_pct');
      return Object.fromEntries(
        data.filter(({ id }) => ids.includes(String(id))).map((row) => [row['id'], row['market_share_pct']]),
      );
    };
    t.deepEqual(await shares({ p: ['2025-02-28', 30] }), { p: 100 }, 'the only one of its currency');
    t.deepEqual(
      await shares({ p: ['2025-03-31', 30], q: ['2025-03-31', 10], r: ['2025-01-31', 500] }),
      { p: 75, q: 25, r: null },
      'the only one of its day',
    );
    t.deepEqual(
      await shares({
        p: ['2025-03-31', 30],
        q: ['2025-03-31', 10],
        r: ['2025-01-31', 500],
        s: ['2025-01-31', 125],
      }),
      { p: 75, q: 25, r: 80, s: 20 },
    );
  },
);
