// As test/as-of/oracle.test.ts, for rows that loads replace: no request names a state of them, so only the pin does.
import test from 'ava';
import fc from 'fast-check';
import type { History } from './histories.ts';
import { howLong } from './how-long.ts';
import { anyRowHistory, knownRows, priceConstants, rowRoutes } from './row-histories.ts';
import { agreeingOn } from './rows-agreement.ts';

/** Besides those of the table. */
const more = [
  '/v1/trade?sort=date&limit=3&fields=id,date,period,flow,value,share_pct,yoy_pct,last_updated,commodity_name,status',
  '/v1/trade?sort=-value&limit=5',
  '/v1/trade?from=2023&flow=balance',
  '/v1/trade?from=2023&aggregate_by=partner,period',
  '/v1/trade?from=2022&aggregate_by=commodity,year&frequency=M',
  '/v1/trade?updated_after=2024-04-22',
  '/v1/commodities?item=rice&transform=yoy',
  '/v1/commodities?item=salt&city=faisalabad',
  '/v1/commodities?item=sugar',
  '/v1/commodities/by-city?item=rice&transform=yoy',
  '/v1/commodities/by-city?item=sugar',
  '/v1/commodities/items?sort=-last_date&limit=1',
  '/v1/commodities/cities?sort=-last_updated&limit=2',
  '/v1/fixed-income/auctions?sort=auction_date&limit=3',
  '/v1/fixed-income/auctions?sort=-cutoff_yield_pct&limit=2',
  '/v1/securities?sort=-last_yield_pct&limit=1',
  '/v1/securities?updated_after=2024-04-20&traded=true',
  '/v1/securities/trades?sort=trade_date&limit=2',
  '/v1/securities/trades?code=TFC-OLD&type=tfc',
  '/v1/securities/tfc-old/prices?limit=2',
  '/v1/securities/TFC-2/prices',
];
/** All prices of the first day are erased, and after the day of the pin the city has prices again. */
const erasedAndRestored: History = {
  steps: [
    { later: 1, kind: 'retract', age: 1, erase: true },
    {
      ...{
        later: 5,
        kind: 'rows',
        dataset: 'commodity-prices',
        options: { create: true, set: priceConstants },
      },
      lines: ['item,city,date,price_type,stat,price', 'rice,lahore,2024-04-18,retail,avg,110.50'],
    },
  ],
  pinnedAfter: 3,
  known: knownRows,
};

test.serial(
  'rows for a pinned key are those of an installation where nothing was published later',
  async (t) => {
    await fc.assert(await agreeingOn(anyRowHistory, rowRoutes, more), {
      ...howLong,
      examples: [[erasedAndRestored]],
    });
    t.pass();
  },
);
