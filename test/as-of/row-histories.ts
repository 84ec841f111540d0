// Random histories of loads of rows that are replaced, and of retractions of them. Hides the rows that are possible.
import fc from 'fast-check';
import { tradeConstants, type Load } from '../v1/every-dataset.ts';
import { anyRetraction, later, type RowStep } from './histories.ts';

/** The endpoints whose data are such rows. */
export const rowRoutes: readonly string[] = ['/v1/trade'];

/** A load of some of the keys, each with some of the cells. @param cells beside a key: the columns, and the rows that are possible. */
function anyLoadOf(
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

const anyRows = fc.oneof({ weight: 4, arbitrary: anyTrade }, { weight: 1, arbitrary: anyTradeNames });

export const anyRowHistory = fc.record({
  steps: fc
    .tuple(
      anyTrade,
      fc.array(fc.oneof({ weight: 4, arbitrary: anyRows }, { weight: 1, arbitrary: anyRetraction }), {
        ...{ minLength: 8, maxLength: 16 },
      }),
    )
    .map(([first, others]) => [first, ...others]),
  pinnedAfter: fc.nat(20),
  known: fc.constant([] as readonly Load[]),
});
