import test from 'ava';
import { csvLines, startListService, type ListService } from '../services/list-service.ts';

let service: ListService;

const header =
  'auction_id,instrument,tenor,auction_date,status,format,currency,source,announce_date,settlement_date,maturity_date,reopening,' +
  'bids_received_face,accepted_competitive,accepted_non_competitive,cutoff_yield_pct,bid_to_cover_published';

test.before(async () => {
  service = await startListService();
  await service.load('auctions', [
    header,
    'MTB-1,mtb,3M,2026-01-07,held,competitive,PKR,State bank,2025-12-30,2026-01-08,2026-04-09,false,900000,300000,50000,11.50,3.1',
    'MTB-1,mtb,12M,2026-01-07,held,competitive,PKR,State bank,2025-12-30,2026-01-08,2027-01-07,false,500000,0,0,,',
    'MTB-2,mtb,3M,2026-01-21,rejected,competitive,PKR,State bank,,,,false,400000,0,,,',
    'MTB-3,mtb,3M,2026-02-04,held,competitive,PKR,State bank,,,,false,600000,450000,,11.2500,',
    'PIB-1,pib_fixed,3Y,2026-02-04,held,,PKR,State bank,,,,false,,200000,,12,',
    'PIB-1,pib_fixed,3Y,2026-03-04,announced,,PKR,State bank,2026-02-25,,,true,,,,,',
    'X-1,mtb,3M,2026-01-28,held,,LKR,Another bank,,,,,,,,8,',
    'MTB-NC,mtb,6M,2026-02-05,held,non_competitive,PKR,State bank,,,,false,,,70000,11.3,',
  ]);
});

test.after.always(() => service.close());

const rows = (query: string) => service.column(`/v1/fixed-income/auctions?${query}`, 'auction_id');

test('an auction shows every fact, and the values derived from them', async (t) => {
  const { data } = await service.list('/v1/fixed-income/auctions?instrument=mtb&tenor=3-Month&to=2026-01-07');
  t.deepEqual(
    data.map((row) => ({ ...row, last_updated: null })),
    [
      {
        auction_id: 'MTB-1',
        instrument: 'mtb',
        tenor: '3M',
        tenor_days: 91,
        isin: null,
        source_code: null,
        reopening: false,
        announce_date: '2025-12-30',
        auction_date: '2026-01-07',
        settlement_date: '2026-01-08',
        maturity_date: '2026-04-09',
        status: 'held',
        format: 'competitive',
        currency: 'PKR',
        target_amount: null,
        maturing_amount: null,
        bids_received_face: 900000,
        bids_received_realized: null,
        bids_count: null,
        accepted_competitive: 300000,
        accepted_non_competitive: 50000,
        accepted_total: 350000,
        accepted_bids_count: null,
        min_bid_yield_pct: null,
        max_bid_yield_pct: null,
        cutoff_yield_pct: 11.5,
        cutoff_price: null,
        cutoff_margin_bps: null,
        weighted_avg_yield_pct: null,
        weighted_avg_price: null,
        coupon_pct: null,
        bid_to_cover: 3,
        bid_to_cover_published: 3.1,
        acceptance_ratio_pct: 33.33333333,
        previous_cutoff_yield_pct: null,
        change_bps: null,
        as_of: '2026-01-07',
        source: 'State bank',
        last_updated: null,
      },
    ],
  );
});

test('a change is measured from the last auction of the same source, instrument and tenor that had a cut-off', async (t) => {
  const changes = (
    await service.list('/v1/fixed-income/auctions?instrument=mtb&tenor=3M&sort=auction_date')
  ).data.map((row) => [row['auction_id'], row['previous_cutoff_yield_pct'], row['change_bps']]);
  t.deepEqual(changes, [
    ['MTB-1', null, null],
    ['MTB-2', 11.5, null], // rejected: nothing to compare
    ['X-1', null, null],
    ['MTB-3', 11.5, -25], // not from the rejected one, nor from that of another bank
  ]);
});

test('without accepted bids there is no ratio, and nothing is divided by zero', async (t) => {
  const { data } = await service.list('/v1/fixed-income/auctions?tenor=12M');
  t.like(data[0], { bid_to_cover: null, acceptance_ratio_pct: 0, accepted_total: 0 });
  const [announced] = (await service.list('/v1/fixed-income/auctions?status=announced')).data;
  t.like(announced, {
    bid_to_cover: null,
    acceptance_ratio_pct: null,
    accepted_total: null,
    cutoff_yield_pct: null,
    previous_cutoff_yield_pct: 12,
    change_bps: null,
    as_of: '2026-02-25',
  });
});

test('a reopening shares the id of the auction before', async (t) => {
  const { data } = await service.list('/v1/fixed-income/auctions?instrument=pib_fixed&sort=auction_date');
  t.deepEqual(
    data.map((row) => [row['auction_id'], row['auction_date'], row['reopening']]),
    [
      ['PIB-1', '2026-02-04', false],
      ['PIB-1', '2026-03-04', true],
    ],
  );
});

test('every filter narrows the auctions, and they combine', async (t) => {
  const cases: [query: string, ids: string[]][] = [
    ['instrument=pib_fixed', ['PIB-1', 'PIB-1']],
    ['tenor=12m', ['MTB-1']],
    ['from=2026-02&to=2026-02-04', ['PIB-1', 'MTB-3']],
    ['status=rejected', ['MTB-2']],
    ['format=non_competitive', ['MTB-NC']],
    ['bidding=non_competitive', ['MTB-NC']],
    ['format=competitive&tenor=3M&status=held', ['MTB-3', 'MTB-1']],
    ['instrument=mtb&from=2030', []],
  ];
  for (const [query, expected] of cases) t.deepEqual(await rows(query), expected, query);
});

test('auctions sort, page without gaps, and come as CSV', async (t) => {
  const newestFirst = await rows('');
  t.is(newestFirst[0], 'PIB-1');
  t.deepEqual(await service.readPages('/v1/fixed-income/auctions', 'auction_id', 1), newestFirst);
  t.deepEqual(
    await service.readPages('/v1/fixed-income/auctions?sort=-cutoff_yield_pct', 'cutoff_yield_pct', 2),
    [12, 11.5, 11.3, 11.25, 8, null, null, null],
  );
  const { header: names, lines } = csvLines(
    await service.call(
      '/v1/fixed-income/auctions?format=csv&bidding=non_competitive&fields=auction_id,cutoff_yield_pct,change_bps',
    ),
  );
  t.is(names, 'auction_id,cutoff_yield_pct,change_bps');
  t.deepEqual(lines, ['MTB-NC,11.3,']);
});

test('what is not allowed is a 400 that names the parameter', async (t) => {
  const cases: [query: string, param: string][] = [
    ['instrument=pib', 'instrument'],
    ['tenor=long', 'tenor'],
    ['status=open', 'status'],
    ['format=xml', 'format'],
    ['format=competitive&bidding=non_competitive', 'format'],
    ['from=2026-02&to=2026-01', 'from'],
    ['sort=tenor', 'sort'],
    ['cursor=abc', 'cursor'],
  ];
  for (const [query, param] of cases) {
    const { status, json } = await service.call(`/v1/fixed-income/auctions?${query}`);
    t.is(status, 400, query);
    t.is((json as { error: { param: string } }).error.param, param, query);
  }
});
