import test from 'ava';
import { loadCsv, openIngestDatabase, rejectsOf } from './loading.ts';

const database = await openIngestDatabase(test);

const securities = { dataset: 'securities', set: { type: 'tfc', currency: 'PKR', source: 'Exchange' } };
const prices = { dataset: 'security-prices' };
const trades = { dataset: 'security-trades' };
const auctions = { dataset: 'auctions', set: { status: 'held', currency: 'PKR', source: 'Central bank' } };
const trade = {
  dataset: 'trade',
  set: { reporter: 'PAK', classification: 'hs', basis: 'customs', currency: 'USD', source: 'Customs' },
};

const refused = (csv: readonly string[], options: object) => rejectsOf(loadCsv(database, csv, options));

async function row(table: string, where: string): Promise<Record<string, unknown> | undefined> {
  return (await database.query<Record<string, unknown>>(`select * from data.${table} where ${where}`))[0];
}

test.serial('a code with slashes is stored with hyphens, and in the form of its source', async (t) => {
  const csv = [
    'code,isin,name,issue_date,maturity_date,rating,former_names,former_codes',
    'hbl / tfc/190216,PK0009200129,Habib TFC,2016-02-19,2026-02-19,aa+,HBL paper;Old name,HBL-TFC-OLD',
    'GOP 1,,Sukuk,,,,,',
  ];
  t.like(await loadCsv(database, csv, securities), { pointsNew: 2 });
  t.like(await row('securities', `code = 'HBL-TFC-190216'`), {
    source_code: 'hbl / tfc/190216',
    isin: 'PK0009200129',
    former_names: ['HBL paper', 'Old name'],
    last_price: null,
  });
  t.like(await row('securities', `code = 'GOP-1'`), { source_code: 'GOP 1', isin: null });
  t.like(await loadCsv(database, csv, securities), { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 2 });
});

test.serial('a file with one of two compared days changes only that day', async (t) => {
  const csv = ['code,issue_date', 'HBL-TFC-190216,2016-02-20'];
  t.like(await loadCsv(database, csv, securities), { pointsRevised: 1 });
  t.like(await row('securities', `code = 'HBL-TFC-190216'`), {
    issue_date: '2016-02-20',
    maturity_date: '2026-02-19',
  });
});

test.serial('a day that contradicts a stored one, which the file lacks, is refused', async (t) => {
  const stored = ['code,name,issue_date,maturity_date', 'DAYS 1,Days,2016-02-19,2026-02-19', 'DAYS 2,Days,,'];
  await loadCsv(database, stored, securities);
  t.deepEqual(await refused(['code,maturity_date', 'DAYS 1,2016-02-18', 'DAYS 2,2016-02-18'], securities), [
    [2, 'maturity_date', '2016-02-18'],
  ]);
  t.deepEqual(await refused(['code,issue_date', 'DAYS 1,2026-02-20'], securities), [
    [2, 'maturity_date', '2026-02-19'],
  ]);
  await loadCsv(database, ['code,date,price,valid_from', 'DAYS 1,2024-01-02,99,2024-01-02'], prices);
  t.deepEqual(await refused(['code,date,valid_to', 'DAYS 1,2024-01-02,2024-01-01'], prices), [
    [2, 'valid_to', '2024-01-01'],
  ]);
});

test.serial('impossible facts of a security are refused with line and column', async (t) => {
  t.deepEqual(
    await refused(
      [
        'code,isin,name,issue_date,maturity_date,merged_into',
        'A,PK0009200120,Name,,,',
        'B,,Name,2020-01-02,2020-01-01,',
        'C,PK0009200129,Name,,,',
        'D,,Name,,,NOWHERE',
        'E,,Name,,,F/1',
        'F/1,US0378331005,Name,,,',
        'G,US0378331005,Name,,,',
        '/,,Name,,,',
      ],
      securities,
    ),
    [
      [2, 'isin', 'PK0009200120'],
      [9, 'code', '/'],
      [5, 'merged_into', 'NOWHERE'],
      [4, 'isin', 'PK0009200129'],
      [8, 'isin', 'US0378331005'],
      [3, 'maturity_date', '2020-01-01'],
    ],
  );
  t.is(await row('securities', `code = 'F-1'`), undefined);
});

test.serial(
  'a security that is renamed keeps the name and the ISIN it had, and is found by them',
  async (t) => {
    const named = (name: string, isin: string) => ['code,isin,name', `GOP 2,${isin},${name}`];
    await loadCsv(database, named('Old paper', 'US0378331005'), securities);
    const renamed = named('New paper', 'US5949181045');
    t.like(await loadCsv(database, renamed, securities), { pointsRevised: 1 });
    t.like(await loadCsv(database, renamed, securities), { pointsRevised: 0, pointsUnchanged: 1 });
    t.like(await row('securities', `code = 'GOP-2'`), {
      name: 'New paper',
      isin: 'US5949181045',
      former_names: ['Old paper'],
      former_codes: ['US0378331005'],
    });
    t.like(await loadCsv(database, ['code,date,price', 'US0378331005,2024-01-02,99'], prices), {
      pointsNew: 1,
    });
    t.like(await row('search_entries', `type = 'security' and id = 'GOP-2' and facts like '%Old paper%'`), {
      name: 'New paper',
    });
    // A load's own statement about the past counts.
    await loadCsv(database, ['code,name,former_names', 'GOP 2,Newest paper,Paper'], securities);
    t.deepEqual((await row('securities', `code = 'GOP-2'`))?.['former_names'], ['Paper']);
  },
);

test.serial(
  'an ISIN is that of the security that has it now, and a former code of two securities is refused',
  async (t) => {
    const isins = ['US0231351067', 'US88160R1014', 'US02079K3059', 'US67066G1040'] as const;
    // Both orders of the codes: the security that had the ISIN before is the first, and the last.
    for (const [before, now, isin, corrected] of [
      ['ISIN A', 'ISIN B', isins[0], isins[1]],
      ['ISIN D', 'ISIN C', isins[2], isins[3]],
    ]) {
      await loadCsv(database, ['code,isin,name', `${before},${isin},Before`], securities);
      await loadCsv(database, ['code,isin', `${before},${corrected}`], securities);
      await loadCsv(database, ['code,isin,name', `${now},${isin},Now`], securities);
      await loadCsv(database, ['code,date,price', `${isin},2024-01-05,98`], prices);
    }
    t.deepEqual(
      await database.query(`select code from data.security_prices where date = '2024-01-05' order by 1`),
      [{ code: 'ISIN-B' }, { code: 'ISIN-C' }],
    );
    const twice = ['code,name,former_codes', 'ISIN E,E,SHARED', 'ISIN F,F,SHARED'];
    await loadCsv(database, twice, securities);
    t.deepEqual(await refused(['code,date,price', 'SHARED,2024-01-05,98'], prices), [[2, 'code', 'SHARED']]);
  },
);

test.serial('prices and trades find their security by code, former code or ISIN', async (t) => {
  const csv = [
    'code,date,price,yield_pct,traded',
    'HBL/TFC/190216,2024-01-02,99.50,21.10,true',
    'PK0009200129,2024-01-03,99.75,21.00,false',
    'HBL-TFC-OLD,2024-01-04,,,',
    'gop 1,2024-01-02,100,,',
  ];
  t.like(await loadCsv(database, csv, prices), { pointsNew: 4 });
  t.like(await loadCsv(database, csv, prices), { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 4 });
  t.like(await row('securities', `code = 'HBL-TFC-190216'`), {
    last_price: '99.75',
    last_yield_pct: '21.00',
    last_price_date: '2024-01-03',
    last_traded: false,
  });
  const more = ['trade_id,trade_date,trade_time,code,price', 'T1,2024-01-02,10:30,PK0009200129,99.4'];
  t.like(await loadCsv(database, more, trades), { pointsNew: 1 });
  t.like(await row('security_trades', `trade_id = 'T1'`), {
    code: 'HBL-TFC-190216',
    trade_time: '10:30:00',
  });
});

test.serial('a corrected price changes the last price of its security', async (t) => {
  await loadCsv(database, ['code,date,price', 'GOP 1,2024-01-02,101.5'], prices);
  t.like(await row('securities', `code = 'GOP-1'`), { last_price: '101.5', last_price_date: '2024-01-02' });
  await loadCsv(database, ['code,date,price', 'GOP 1,2023-12-29,98'], prices);
  t.like(await row('securities', `code = 'GOP-1'`), { last_price: '101.5', last_price_date: '2024-01-02' });
});

test.serial('prices and trades of unknown securities are refused, as are two of one day', async (t) => {
  t.deepEqual(
    await refused(
      [
        'code,date,price',
        'NOPE,2024-01-02,1',
        'GOP 1,2024-02-02,1',
        'GOP-1,2024-02-02,2',
        'GOP 1,2024-02-03,-1',
      ],
      prices,
    ),
    [
      [5, 'price', '-1'],
      [4, 'code, date', 'GOP-1, 2024-02-02'],
      [2, 'code', 'NOPE'],
    ],
  );
  t.deepEqual(
    await refused(
      [
        'trade_id,trade_date,trade_time,code,side',
        '1,2024-01-02,25:00,GOP 1,buy',
        '2,2024-01-02,,GOP 1,swap',
      ],
      trades,
    ),
    [
      [2, 'trade_time', '25:00'],
      [3, 'side', 'swap'],
    ],
  );
});

test.serial('an auction is one row per instrument, tenor and day; a reopening shares its id', async (t) => {
  const csv = [
    'auction_id,instrument,tenor,auction_date,reopening,cutoff_yield_pct',
    'PIB-1,pib_fixed,3-Year,2024-01-10,false,16.5',
    'PIB-1,pib_fixed,5 years,2024-01-10,false,15.5',
    'PIB-1,pib_fixed,3Y,2024-02-10,true,16.2',
  ];
  t.like(await loadCsv(database, csv, auctions), { pointsNew: 3 });
  t.like(await loadCsv(database, csv, auctions), { pointsNew: 0, pointsUnchanged: 3 });
  t.deepEqual(
    await refused(
      [
        'auction_id,instrument,tenor,auction_date',
        'X,pib,3Y,2024-01-10',
        'X,mtb,soon,2024-01-10',
        'PIB-1,pib_fixed,03Y,2024-01-10',
        'PIB-1,pib_fixed,3-Year,2024-01-10',
      ],
      auctions,
    ),
    [
      [2, 'instrument', 'pib'],
      [3, 'tenor', 'soon'],
      [5, 'auction_id, instrument, tenor, auction_date', 'PIB-1, pib_fixed, 3Y, 2024-01-10'],
    ],
  );
});

test.serial('an auction in two spellings is one: its CUSIP or ISIN and its day identify it', async (t) => {
  const header = 'auction_id,instrument,tenor,auction_date,status,source_code,isin,cutoff_yield_pct';
  const treasury = { dataset: 'auctions', set: { currency: 'USD', source: 'Treasury' } };
  const announced = [
    'N-1,note,10-Year,2024-01-10,announced,91282CJJ1,,',
    'N-2,note,2-Year,2024-01-10,announced,91282CJS1,,',
  ];
  t.like(await loadCsv(database, [header, ...announced], treasury), { pointsNew: 2 });
  const held = [
    header,
    '91282CJJ1,note,9-Year 10-Month,2024-01-10,held,91282CJJ1,US91282CJJ18,4.024',
    '91282CJS1,note,2-Year,2024-01-10,held,,US91282CJS17,4.36',
    '91282CJJ1,note,9-Year 9-Month,2024-02-10,held,91282CJJ1,US91282CJJ18,4.093',
  ];
  t.like(await loadCsv(database, held, treasury), { pointsNew: 1, pointsRevised: 2 });
  t.like(await loadCsv(database, held, treasury), { pointsNew: 0, pointsUnchanged: 3 });
  const rows = await database.query<{ row: string }>(
    `select concat_ws(' ', auction_id, tenor, auction_date, status, cutoff_yield_pct) as row from data.auctions
     where source = 'Treasury' order by auction_date, auction_id`,
  );
  t.deepEqual(
    rows.map((each) => each.row),
    ['N-1 10Y 2024-01-10 held 4.024', 'N-2 2Y 2024-01-10 held 4.36', '91282CJJ1 9Y9M 2024-02-10 held 4.093'],
  );
  const byCusip = [header, 'X,note,9Y9M,2024-02-10,held,91282CJJ1,,4.1'];
  t.like(await loadCsv(database, byCusip, treasury), { pointsNew: 0, pointsRevised: 1 });
  const twice = [
    header,
    'A,note,5Y,2024-03-10,held,91282CKA8,,4',
    'B,note,4-Year 11-Month,2024-03-10,held,,US91282CKA89,4',
  ];
  t.deepEqual(await refused(twice, treasury), [
    [3, 'auction_id, instrument, tenor, auction_date', 'A, note, 5Y, 2024-03-10'],
  ]);
  const others = [header, 'A,note,5Y,2024-03-10,held,,,4', 'B,note,4-Year 11-Month,2024-03-10,held,,,4'];
  t.like(await loadCsv(database, others, treasury), { pointsNew: 2 });
});

test.serial('a code that is also a word of a path is refused', async (t) => {
  t.deepEqual(await refused(['code,name', 'trades,Trades', 'TRADES,Trades', 'trades-1,Trades'], securities), [
    [2, 'code', 'trades'],
    [3, 'code', 'TRADES'],
  ]);
  const funds = { dataset: 'funds', set: { currency: 'PKR', source: 'Register' } };
  t.deepEqual(
    await refused(['fund_id,name', 'screener,Screener', 'Screener!,Screener', 'screener-1,X'], funds),
    [
      [2, 'fund_id', 'screener'],
      [3, 'fund_id', 'Screener!'],
    ],
  );
});

test.serial('an auction is announced first, and completed once it was held', async (t) => {
  const header = 'auction_id,instrument,tenor,auction_date,status';
  const announced = { dataset: 'auctions', set: { currency: 'PKR', source: 'Central bank' } };
  await loadCsv(database, [header, 'MTB-9,mtb,3M,2024-03-01,announced'], announced);
  const held = [`${header},cutoff_yield_pct`, 'MTB-9,mtb,3M,2024-03-01,held,21.25'];
  t.like(await loadCsv(database, held, announced), { pointsRevised: 1 });
  t.like(await row('auctions', `auction_id = 'MTB-9'`), { status: 'held', cutoff_yield_pct: '21.25' });
});

test.serial(
  'trade keeps leading zeros, derives levels and dates by itself, and is revised in place',
  async (t) => {
    const header = 'flow,period,partner_code,commodity_code,value,quantity,status';
    const csv = [
      header,
      'export,202401,chn,0101210015,200000,1,provisional',
      'export,2024-01,USA,01,300000,,provisional',
      'import,2023,world,total,900000,,final',
    ];
    t.like(await loadCsv(database, csv, trade), { pointsNew: 3 });
    t.like(await row('trade', `partner_code = 'CHN'`), {
      commodity_code: '0101210015',
      level: 10,
      frequency: 'M',
      date: '2024-01-31',
      is_aggregate: false,
    });
    t.like(await row('trade', `partner_code = 'WLD'`), {
      commodity_code: 'TOTAL',
      level: 0,
      frequency: 'A',
      date: '2023-12-31',
      is_aggregate: true,
    });
    const revised = [header, 'export,2024-01,CHN,0101210015,250000,1,revised'];
    t.like(await loadCsv(database, revised, trade), { pointsNew: 0, pointsRevised: 1 });
    t.like(await row('trade', `partner_code = 'CHN'`), { value: '250000', status: 'revised' });
    t.like(await row('trade_totals', `period = '2024-01'`), { value: '250000' });
    t.deepEqual(await refused([header, 'balance,202401,CHN,01,1,,', 'export,202413,CHN,01,1,,'], trade), [
      [2, 'flow', 'balance'],
      [3, 'period', '202413'],
    ]);
  },
);
