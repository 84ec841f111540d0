// Figures computed by the data-api, each compared with the same figure computed here from the loaded rows.
import test from 'ava';
import { startListService, type ListService } from '../services/list-service.ts';

let service: ListService;

test.before(async () => {
  service = await startListService();
});

test.after.always(() => service?.close());

const dayNumber = (date: string): number => Date.parse(date) / 86_400_000;

/** The yearly rate at which the present value of the flows is zero, in percent; act/365, by bisection. */
function rateOf(flows: readonly { date: string; amount: number }[]): number {
  const last = Math.max(...flows.map(({ date }) => dayNumber(date)));
  const worth = (rate: number) =>
    flows.reduce((sum, { date, amount }) => sum + amount * (1 + rate) ** ((last - dayNumber(date)) / 365), 0);
  let [low, high] = [-0.99, 100];
  for (let i = 0; i < 200; i += 1) {
    const middle = (low + high) / 2;
    // The outflows come first: the higher the rate, the more they would have grown to.
    if (worth(middle) > 0) low = middle;
    else high = middle;
  }
  return low * 100;
}

test.serial(
  'a SIP pays in on the day of the month, from so many years before the last NAV to a month before it',
  async (t) => {
    const dates = Array.from({ length: 37 }, (_, i) => {
      const month = new Date(Date.UTC(2021, i, 15));
      return month.toISOString().slice(0, 10);
    });
    const navOf = (i: number) => 100 + 10 * i;
    await service.load('funds', ['fund_id,name,currency,source', 'monthly,Monthly,PKR,Register']);
    await service.load('nav', ['fund,date,nav', ...dates.map((date, i) => `monthly,${date},${navOf(i)}`)]);
    const { data } = (await service.call('/v1/funds/monthly/returns')).json as {
      data: { sip: { period: string; [field: string]: unknown }[] };
    };
    for (const [period, instalments] of [
      ['1y', 12],
      ['3y', 36],
    ] as const) {
      const first = 36 - instalments;
      const bought = Array.from({ length: instalments }, (_, k) => first + k);
      // Each purchase of 100 buys 100 / NAV units; all units are valued at the last NAV.
      const finalValue = bought.reduce((sum, i) => sum + (100 / navOf(i)) * navOf(36), 0);
      const flows = bought.map((i) => ({ date: dates[i] ?? '', amount: -100 }));
      const rate = rateOf([...flows, { date: '2024-01-15', amount: finalValue }]);
      const sip = data.sip.find((each) => each.period === period);
      t.like(sip, { from: dates[first], to: '2024-01-15', instalments, basis: 'xirr' });
      t.true(Math.abs(Number(sip?.['final_value']) - finalValue) < 1e-6, period);
      t.true(
        Math.abs(Number(sip?.['value_pct']) - rate) < 1e-6,
        `${period}: ${String(sip?.['value_pct'])}, ${rate}`,
      );
    }
  },
);

test.serial('a sum of trade has a quantity only if all its rows have one in the same unit', async (t) => {
  await service.load(
    'trade',
    [
      'reporter,flow,period,partner_code,commodity_code,value,quantity,quantity_unit,net_weight_kg',
      'PAK,export,2024-04,CHN,100630,300,20,KGM,20',
      'PAK,export,2024-04,CHN,010121,150,12,NMB,6000',
      'PAK,export,2024-04,USA,100630,30,2.5,KGM,2.5',
      'PAK,export,2024-04,USA,100640,7,0.25,KGM,0.25',
      'PAK,export,2024-04,IND,100630,10,1,KGM,1',
      'PAK,export,2024-04,IND,100640,11,,,',
      'PAK,export,2024-04,LKA,100630,10,1,KGM,1',
      'PAK,export,2024-04,LKA,100640,11,2,,2',
    ],
    { set: { classification: 'hs', basis: 'customs', currency: 'USD', source: 'Customs' } },
  );
  const sums = async (query: string) =>
    (await service.list(`/v1/trade?period=2024-04&${query}`)).data
      .map((row) => [
        row['partner_code'],
        row['commodity_code'],
        row['value'],
        row['quantity'],
        row['quantity_unit'],
        row['net_weight_kg'],
      ]) // prettier-ignore
      .sort();
  t.deepEqual(await sums('aggregate_by=partner'), [
    ['CHN', 'TOTAL', 450, null, null, 6020], // 20 kilograms and 12 pieces are no quantity; their weights are
    ['IND', 'TOTAL', 21, null, null, null], // one row has none
    ['LKA', 'TOTAL', 21, null, null, 3], // one row has no unit
    ['USA', 'TOTAL', 37, 2.75, 'KGM', 2.75], // 2.5 + 0.25
  ]);
  t.deepEqual(
    (await sums('aggregate_by=commodity')).map(([, ...figures]) => figures),
    [
      ['010121', 150, 12, 'NMB', 6000],
      ['100630', 350, 24.5, 'KGM', 24.5], // 20 + 2.5 + 1 + 1
      ['100640', 29, null, null, null],
    ],
  );
});

test.serial('a current code, then an ISIN, wins over a former code of another security', async (t) => {
  const columns = 'code,isin,name,type,currency,source';
  await service.load('securities', [
    columns,
    'B-1,,Owner,tfc,PKR,Exchange',
    'B-2,US0378331005,By ISIN,tfc,PKR,Exchange',
    'A-1,,Was B-1,tfc,PKR,Exchange',
    'A-2,,Was called like an ISIN,tfc,PKR,Exchange',
  ]);
  await service.load('security-prices', [
    'code,date,price',
    'B-1,2024-01-02,10',
    'B-2,2024-01-02,20',
    'A-1,2024-01-02,30',
    'A-2,2024-01-02,40',
  ]);
  await service.load('securities', [
    `${columns},former_codes`,
    'A-1,,Was B-1,tfc,PKR,Exchange,B-1;OLD-1',
    'A-2,,Was called like an ISIN,tfc,PKR,Exchange,US0378331005',
  ]);
  for (const [name, price] of [
    ['B-1', 10],
    ['b%2F1', 10],
    ['US0378331005', 20],
    ['OLD-1', 30],
    ['A-2', 40],
  ] as const) {
    t.deepEqual(await service.column(`/v1/securities/${name}/prices`, 'price'), [price], name);
  }
});

test.serial('a code of two funds identifies neither; an id takes precedence over a code', async (t) => {
  await service.load('funds', [
    'fund_id,name,symbol,currency,source',
    'one,One,SHARED,PKR,Register',
    'two,Two,SHARED,PKR,Register',
    'three,Three,ONE,PKR,Register',
    'four,Four,FOURTH,PKR,Register',
  ]);
  const found = async (name: string) => {
    const { status, json } = await service.call(`/v1/funds/${name}`);
    return status === 200 ? (json as { data: { id: string } }).data.id : status;
  };
  t.is(await found('SHARED'), 404);
  t.is(await found('one'), 'one');
  t.is(await found('ONE'), 'three');
  t.is(await found('fourth'), 'four');
});

test.serial('an average is as new as the newest of its prices', async (t) => {
  await service.load('commodity-items', [
    'item_id,name,unit,currency,frequency,source',
    'rice,Rice,1 Kg,PKR,monthly,Price Office',
  ]);
  await service.load('commodity-cities', [
    'city_id,name',
    'lahore,Lahore',
    'karachi,Karachi',
    'multan,Multan',
  ]);
  const prices = (vintage: string, rows: string[]) =>
    service.load('commodity-prices', ['item,city,date,price', ...rows], { vintage });
  await prices('2024-02-05', [
    'rice,lahore,2024-01,100',
    'rice,karachi,2024-01,110',
    'rice,lahore,2024-02,102',
  ]);
  await prices('2024-03-05', ['rice,multan,2024-01,120.5', 'rice,karachi,2024-02,112']);
  await prices('2024-04-05', ['rice,lahore,2024-01,101']);
  const { data } = await service.list('/v1/commodities?item=rice&fields=date,value,published_on');
  t.deepEqual(data, [
    // (101 + 110 + 120.5) / 3; published on 5 April, 5 February and 5 March
    { date: '2024-01-31', value: 110.5, published_on: '2024-04-05' },
    // (102 + 112) / 2; published on 5 February and 5 March
    { date: '2024-02-29', value: 107, published_on: '2024-03-05' },
  ]);
});

test.serial(
  'a change of trade on the year before is that on the same month, whatever lies between',
  async (t) => {
    const row = (period: string, value: number, partner = 'AUS') =>
      `NZL,export,${period},${partner},0101,${value}`;
    await service.load(
      'trade',
      [
        'reporter,flow,period,partner_code,commodity_code,value',
        row('2022-04', 50),
        row('2023-03', 70),
        row('2023-04', 80),
        row('2023-04', 8, 'CHN'),
        row('2023-05', 90),
        row('2024-03', 95),
        row('2024-04', 100),
        row('2023', 1_000),
        row('2024', 1_100),
      ],
      { set: { classification: 'hs', basis: 'customs', currency: 'NZD', source: 'Customs' } },
    );
    const { data } = await service.list('/v1/trade?reporter=NZL&partner=AUS&sort=date');
    const changes = Object.fromEntries(data.map((row) => [row['period'], row['yoy_pct']]));
    t.deepEqual(changes, {
      '2022-04': null,
      '2023-03': null,
      '2023-04': 60, // 80 / 50
      '2023-05': null,
      '2023': null,
      '2024-03': 35.71428571, // 95 / 70
      '2024-04': 25, // 100 / 80
      '2024': 10, // 1100 / 1000
    });
  },
);

test.serial('a cut-off changes from the last one before it, of three or more', async (t) => {
  const row = (id: string, date: string, cutoff: string, more = 'mtb,3M') =>
    `${id},${more},${date},held,PKR,${cutoff},Bank`;
  await service.load('auctions', [
    'auction_id,instrument,tenor,auction_date,status,currency,cutoff_yield_pct,source',
    row('1', '2024-01-03', '20'),
    row('2', '2024-01-17', '21.5'),
    row('3', '2024-01-31', ''),
    row('4', '2024-02-14', '21.25'),
    row('5', '2024-02-28', '19'),
    row('6', '2024-02-28', '15', 'mtb,12M'),
  ]);
  const { data } = await service.list('/v1/fixed-income/auctions?sort=auction_date');
  t.deepEqual(
    data.map((each) => [each['auction_id'], each['previous_cutoff_yield_pct'], each['change_bps']]),
    [
      ['1', null, null],
      ['2', 20, 150], // 100 × (21.5 − 20)
      ['3', 21.5, null],
      ['4', 21.5, -25], // 100 × (21.25 − 21.5)
      ['5', 21.25, -225], // 100 × (19 − 21.25)
      ['6', null, null],
    ],
  );
});

test.serial(
  'published figures of a price or a trade take precedence over figures that are derived',
  async (t) => {
    await service.load('securities', ['code,name,type,currency,source', 'C-1,Certificate,tfc,PKR,Exchange']);
    await service.load('security-prices', [
      'code,date,price,dirty_price,accrued,source',
      'C-1,2024-01-02,100,102.5,2.25,Broker', // 2.25 as published, not 102.5 − 100
      'C-1,2024-01-03,100,102.5,,', // 102.5 − 100
      'C-1,2024-01-04,100,,,',
    ]);
    const { data } = await service.list('/v1/securities/C-1/prices');
    t.deepEqual(
      data.map((row) => [row['accrued'], row['source']]),
      [
        [2.25, 'Broker'],
        [2.5, 'Exchange'],
        [null, 'Exchange'],
      ],
    );
    await service.load('security-trades', [
      'trade_id,trade_date,code,price,currency,source',
      'T1,2024-01-02,C-1,100,USD,Broker',
      'T2,2024-01-02,C-1,100,,',
    ]);
    const trades = await service.list('/v1/securities/trades?code=C-1&sort=trade_date');
    t.deepEqual(
      trades.data.map((row) => [row['trade_id'], row['currency'], row['source']]),
      [
        ['T1', 'USD', 'Broker'],
        ['T2', 'PKR', 'Exchange'],
      ],
    );
  },
);

test.serial('a share of trade is of a total above zero', async (t) => {
  await service.load(
    'trade',
    [
      'reporter,flow,period,partner_code,commodity_code,value',
      ...[
        ['2024-01', 400],
        ['2024-02', 0],
        ['2024-03', -400],
      ].flatMap(([period, total]) => [
        `LKA,export,${period},WLD,TOTAL,${total}`,
        `LKA,export,${period},CHN,TOTAL,100`,
      ]),
    ],
    { set: { classification: 'hs', basis: 'customs', currency: 'LKR', source: 'Customs' } },
  );
  t.deepEqual(await service.column('/v1/trade?reporter=LKA&partner=CHN&sort=date', 'share_pct'), [
    25,
    null,
    null,
  ]);
});

test.serial('a change over a week is from a price seven to fourteen days older', async (t) => {
  await service.load('commodity-items', [
    'item_id,name,unit,currency,frequency,source',
    'milk,Milk,1 L,PKR,weekly,Price Office',
  ]);
  await service.load('commodity-cities', ['city_id,name', 'a,A', 'b,B', 'c,C', 'd,D']);
  await service.load('commodity-prices', [
    'item,city,date,price',
    ...['a', 'b', 'c', 'd'].map((city) => `milk,${city},2024-05-30,110`),
    'milk,a,2024-05-23,100', // 7 days older
    'milk,b,2024-05-16,88', // 14 days older
    'milk,c,2024-05-15,100', // 15 days older
    'milk,d,2024-05-24,100', // 6 days older
  ]);
  const { data } = await service.list('/v1/commodities/by-city?item=milk&sort=city');
  t.deepEqual(
    data.map((row) => row['change_1w_pct']),
    [10, 25, null, null], // 110 / 100, 110 / 88
  );
  const citiesOn = (day: string) =>
    service.column(`/v1/commodities/by-city?item=milk&date=${day}&sort=city`, 'city_name');
  t.deepEqual(await citiesOn('2024-05-22'), ['B'], 'a day means the seven days that end with it');
  t.deepEqual(await citiesOn('2024-05-21'), ['B', 'C']);
  t.deepEqual(await citiesOn('2024-05-23'), ['A']);
});

test.serial(
  'a company reports its assets of the last 120 months, each by the last day reported within it',
  async (t) => {
    await service.load('amcs', ['amc_id,name,source', 'grown,Grown,Register']);
    await service.load('funds', [
      'fund_id,name,amc_id,currency,source',
      'grown-a,Grown A,grown,PKR,Register',
    ]);
    const months = Array.from({ length: 122 }, (_, i) =>
      new Date(Date.UTC(2014, i, 10)).toISOString().slice(0, 7),
    );
    await service.load('nav', [
      'fund,date,nav,aum',
      ...months.flatMap((month, i) => [`grown-a,${month}-10,10,${i}1`, `grown-a,${month}-20,10,${i}2`]),
    ]);
    const { data } = (await service.call('/v1/amcs/grown')).json as {
      data: { aum_history: { date: string; aum: number }[] };
    };
    t.deepEqual(
      data.aum_history.map(({ date, aum }) => [date.slice(0, 7), aum]),
      months.slice(-120).map((month, i) => [month, Number(`${i + 2}2`)]),
    );
  },
);

test.serial(
  'a city has prices from the first to the last that is current, not of one that was deleted',
  async (t) => {
    await service.load('commodity-items', [
      'item_id,name,unit,currency,frequency,source',
      'salt,Salt,1 Kg,PKR,monthly,Price Office',
    ]);
    await service.load('commodity-cities', ['city_id,name', 'quetta,Quetta']);
    const prices = (vintage: string, months: string[]) =>
      service.load(
        'commodity-prices',
        ['item,city,date,price', ...months.map((month) => `salt,quetta,${month},5`)],
        {
          vintage,
          full: true,
        },
      );
    const ends = async () =>
      (await service.list('/v1/commodities/cities')).data
        .filter(({ id }) => id === 'quetta')
        .map((city) => [city['first_date'], city['last_date']]);
    await prices('2024-05-01', ['2024-01', '2024-02', '2024-03', '2024-04']);
    t.deepEqual(await ends(), [['2024-01-31', '2024-04-30']]);
    await prices('2024-06-01', ['2024-02', '2024-03']);
    t.deepEqual(await ends(), [['2024-02-29', '2024-03-31']]);
  },
);
