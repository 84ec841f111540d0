// Random histories of loads of rows that are replaced, and of retractions of them. Hides the rows that are possible.
import fc from 'fast-check';
import { tradeConstants, type Load } from '../v1/every-dataset.ts';
import { anyRetraction, later, type History, type RowStep } from './histories.ts';

/** The endpoints whose data are such rows. */
export const rowRoutes: readonly string[] = [
  '/v1/trade',
  ...['/v1/commodities', '/v1/commodities/by-city', '/v1/commodities/items', '/v1/commodities/cities'],
  ...['/v1/securities', '/v1/securities/trades', '/v1/securities/:code/prices', '/v1/fixed-income/auctions'],
];

/** A load of some of the keys, each with some of the cells. @param cells without the key: the columns, and the possible rows. */
export function anyLoadOf(
  dataset: string,
  keys: { columns: string; rows: readonly string[] },
  cells: readonly { columns: string; rows: readonly string[] }[],
  options: Load['options'] = {},
): fc.Arbitrary<RowStep> {
  return fc.constantFrom(...cells).chain(({ columns, rows }) =>
    fc.record({
      ...{
        later,
        kind: fc.constant('rows' as const),
        dataset: fc.constant(dataset),
        options: fc.constant(options),
      },
      lines: fc
        .uniqueArray(fc.tuple(fc.constantFrom(...keys.rows), fc.constantFrom(...rows)), {
          ...{ minLength: 1, maxLength: keys.rows.length, selector: ([key]: [string, string]) => key },
        })
        .map((found) => [`${keys.columns},${columns}`, ...found.map((row) => row.join(','))]),
    }),
  );
}

const anyTrade = anyLoadOf(
  'trade',
  {
    columns: 'reporter,flow,period,partner_code,commodity_code,currency',
    rows: [
      ...['2023-03', '2023-04', '2024-03'].flatMap((period) => [
        `PAK,export,${period},CHN,010121,USD`,
        `PAK,export,${period},CHN,100630,USD`,
        `PAK,import,${period},CHN,010121,USD`,
        `PAK,import,${period},USA,100630,USD`,
      ]),
      ...[
        'PAK,export,2023-04,WLD,TOTAL,USD',
        'PAK,export,2024-03,WLD,TOTAL,USD',
        'PAK,import,2024-03,WLD,0101,USD',
      ],
      ...['NZL,export,2022,WLD,TOTAL,NZD', 'NZL,export,2023,WLD,TOTAL,NZD', 'NZL,import,2023,AUS,0101,NZD'],
    ],
  },
  [
    {
      columns: 'value,quantity,quantity_unit,valuation,status',
      rows: [
        '100,10,NMB,fob,final',
        '120.50,10,KGM,cif,provisional',
        ',,,,',
        '99,12,NMB,fob,revised',
        '0,,,,',
      ],
    },
    { columns: 'value', rows: ['100', '150.25', '7'] },
    { columns: 'partner_name,commodity_name', rows: ['China,Horses', ',', 'Elsewhere,'] },
  ],
  tradeConstants,
);
const anyTradeNames = anyLoadOf(
  'trade-commodities',
  { columns: 'classification,commodity_code', rows: ['hs,010121', 'hs,0101', 'hs,100630', 'hs,TOTAL'] },
  [{ columns: 'name,source', rows: ['Horses,WCO', 'Animals,WCO', 'Rice,Customs'] }],
);

export const priceConstants = { unit: '1 Kg', currency: 'PKR', frequency: 'weekly', source: 'Price Office' };
const anyItems = anyLoadOf(
  'commodity-items',
  { columns: 'item_id,unit,currency,frequency', rows: ['rice', 'salt'].map((id) => `${id},1 Kg,PKR,weekly`) },
  [
    { columns: 'name,category,source', rows: ['Rice,cereals,Office', 'Basmati,,Office', 'Rice,food,Bureau'] },
    { columns: 'name,name_local,active,source', rows: ['Grain,,true,Office', 'Rice,Chawal,false,Office'] },
  ],
);
const anyCities = anyLoadOf(
  'commodity-cities',
  { columns: 'city_id', rows: ['lahore', 'multan', 'quetta'] },
  [
    { columns: 'name,province', rows: ['Lahore,Punjab', 'Walled City,Punjab', 'Quetta,'] },
    { columns: 'name,latitude', rows: ['Lahore,31.5', 'Lahore,'] },
  ],
);
const pricedDates = ['2023-04-13', '2024-04-04', '2024-04-11', '2024-04-18'];
const pricesOf = (sold: readonly string[]) =>
  sold.flatMap((what) => pricedDates.map((date) => what.replace('DATE', date)));
const anyItemPrices = fc.oneof(
  anyLoadOf(
    'commodity-prices',
    {
      columns: 'item,city,date,price_type,stat',
      rows: pricesOf([
        ...['rice,lahore,DATE,retail,avg', 'rice,multan,DATE,retail,avg', 'rice,karachi,DATE,wholesale,min'],
        ...['salt,lahore,DATE,retail,avg', 'sugar,Faisalabad,DATE,retail,avg'],
      ]),
    },
    [{ columns: 'price', rows: ['100', '110.50', '90', ''] }],
    { create: true, set: priceConstants },
  ),
  // Published some days before they are loaded, with the data known then.
  anyLoadOf(
    'commodity-prices',
    {
      columns: 'item,city,date,price_type,stat',
      rows: pricesOf(['rice,lahore,DATE,retail,avg', 'rice,karachi,DATE,retail,avg']).slice(0, 7),
    },
    [{ columns: 'price', rows: ['100', '120', ''] }],
  ).chain((load) => fc.constantFrom(1, 3, 7).map((age) => ({ ...load, age }))),
);

/** Known from the first day on; a load adds another. */
export const knownRows: readonly Load[] = [
  {
    dataset: 'commodity-prices',
    lines: [
      'item,city,date,price_type,stat,price',
      'rice,lahore,2024-04-04,retail,avg,95',
      'rice,karachi,2024-04-04,retail,avg,99',
    ],
    options: { create: true, set: priceConstants },
  },
  {
    dataset: 'securities',
    lines: [
      'code,name,type,currency,former_codes,source',
      'TFC-1,Term certificate 1,tfc,PKR,TFC-OLD,Exchange',
      'SUKUK-1,Sukuk,sukuk,PKR,,Exchange',
    ],
  },
];
const anySecurity = anyLoadOf('securities', { columns: 'code', rows: ['TFC-1', 'TFC-2'] }, [
  {
    columns: 'name,type,currency,source,rating,former_codes',
    rows: [
      'Certificate,tfc,USD,Exchange,AA,',
      'Term certificate,tfc,PKR,Exchange,A+,TFC-OLD',
      'Note,tfc,PKR,Bank,,',
    ],
  },
  { columns: 'name,type,currency,source,maturity_date', rows: ['Certificate,tfc,PKR,Exchange,2030-01-01'] },
]);
const ofSecurities = (dates: readonly string[]) =>
  dates.flatMap((date) => ['TFC-1', 'SUKUK-1'].map((code) => `${code},${date}`));
const anyPrices = anyLoadOf(
  'security-prices',
  { columns: 'code,date', rows: ofSecurities(['2024-04-15', '2024-04-16', '2024-04-17']) },
  [
    { columns: 'price,yield_pct,traded,method', rows: ['99.5,13.1,true,trade', '101,10.50,,quote', ',,,'] },
    { columns: 'dirty_price,valid_from', rows: ['102,', '100.25,2024-04-15'] },
  ],
);
const anyTrades = anyLoadOf(
  'security-trades',
  {
    columns: 'trade_id,code,trade_date',
    rows: ['T1,TFC-1,2024-04-15', 'T2,TFC-1,2024-04-16', 'T3,SUKUK-1,2024-04-16', 'T4,SUKUK-1,2024-04-17'],
  },
  [
    {
      columns: 'price,amount,venue,status',
      rows: ['99.5,1000000,OTC,new', '99.6,2000000.50,Exchange,corrected', ',,,'],
    },
    { columns: 'side,trade_time,as_of', rows: ['buy,09:30,true', 'sell,,'] },
  ],
);
const anyAuctions = anyLoadOf(
  'auctions',
  {
    columns: 'auction_id,instrument,tenor,auction_date',
    rows: [
      'A1,mtb,3M,2024-04-03',
      'A2,mtb,3M,2024-04-17',
      'A3,mtb,3M,2024-05-01',
      'A4,pib_fixed,5Y,2024-04-17',
    ],
  },
  [
    {
      columns: 'status,currency,source,bids_received_face,accepted_competitive,cutoff_yield_pct,format',
      rows: [
        ...[
          'held,PKR,Bank,3000,900,21.5,competitive',
          'held,PKR,Bank,2000,950,21,',
          'rejected,PKR,Bank,700,,,',
        ],
        'announced,PKR,Bank,,,,non_competitive',
      ],
    },
  ],
);

const anyRows = fc.oneof(
  ...[anySecurity, anyPrices, anyTrades, anyAuctions, anyItems, anyCities].map((arbitrary) => ({
    weight: 2,
    arbitrary,
  })),
  { weight: 4, arbitrary: anyTrade },
  { weight: 4, arbitrary: anyItemPrices },
  { weight: 1, arbitrary: anyTradeNames },
);

/** Histories of such loads, and of retractions. @param first the first load. @param known loaded before it. */
export const anyHistoryOf = (
  first: fc.Arbitrary<RowStep>,
  loads: fc.Arbitrary<RowStep>,
  known: readonly Load[],
): fc.Arbitrary<History> =>
  fc.record({
    steps: fc
      .tuple(
        first,
        fc.array(fc.oneof({ weight: 4, arbitrary: loads }, { weight: 1, arbitrary: anyRetraction }), {
          ...{ minLength: 10, maxLength: 20 },
        }),
      )
      .map(([one, others]) => [one, ...others]),
    pinnedAfter: fc.nat(20),
    known: fc.constant(known),
  });

export const anyRowHistory = anyHistoryOf(anyTrade, anyRows, knownRows);
