// One load of every kind: new rows, revised ones, deletions only, a status only, names and labels, dataset by dataset.
// They are based on the data of test/v1/every-dataset.ts, and must be made in this order.
import type { ChangeSettings } from '../../ingest/history/change-under-lock.ts';
import { declareBreak } from '../../ingest/history/series/break.ts';
import { declareContinuation } from '../../ingest/history/series/continuation.ts';
import { deleteSeries, restoreSeries } from '../../ingest/history/series/delete.ts';
import { mergeSeries } from '../../ingest/history/series/merge.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { setFacts } from '../../ingest/history/series/set.ts';
import type { Database } from '../../kernel/database.ts';
import { tradeConstants, type Load } from './every-dataset.ts';

/** Loads that each change the answer of some endpoint; the name states the change. */
export const changes: readonly (Load & { name: string })[] = [
  {
    name: 'a new point',
    dataset: 'observations',
    options: { vintage: '2024-06-02' },
    lines: ['series_id,date,value', 'CPI,2024-05,115.00'],
  },
  {
    name: 'a revised point',
    dataset: 'observations',
    options: { vintage: '2024-06-02' },
    lines: ['series_id,date,value', 'CPI,2024-01,112.50'],
  },
  {
    name: 'a status alone',
    dataset: 'observations',
    options: { vintage: '2024-06-03' },
    lines: ['series_id,date,value,status', 'CPI,2024-04,114.00,R'],
  },
  {
    name: 'a value that is withdrawn',
    dataset: 'observations',
    options: { vintage: '2024-06-04' },
    lines: ['series_id,date,value', 'CPI,2024-05,'],
  },
  {
    name: 'deleted points alone',
    dataset: 'observations',
    options: { vintage: '2024-06-05', full: true },
    lines: ['series_id,date,value', 'BENCH,2023-05-01,1000', 'BENCH,2023-12-29,1100'],
  },
  {
    name: 'an earlier vintage',
    dataset: 'observations',
    options: { vintage: '2024-03-01' },
    lines: ['series_id,date,value', 'CPI,2024-01,111.00'],
  },
  {
    name: 'a point of a combination',
    dataset: 'observations',
    options: { vintage: '2024-06-05' },
    lines: ['series_id,date,value,side,city', 'TRADES,2024-05-02,5,buy,Karachi'],
  },
  {
    name: 'other metadata of a series',
    dataset: 'series',
    lines: ['series_id,name,unit,frequency,source', 'CPI,Consumer prices (all),Index,monthly,Office'],
  },
  {
    name: 'another series',
    dataset: 'series',
    lines: ['series_id,name,unit,frequency,source', 'CPI.CORE,Core prices,Index,monthly,Office'],
  },
  {
    name: 'another label',
    dataset: 'dimension-labels',
    lines: ['series_id,dimension,value,label', 'TRADES,side,sell,Sold'],
  },
  {
    name: 'a changed label',
    dataset: 'dimension-labels',
    lines: ['series_id,dimension,value,label', 'TRADES,side,buy,Purchases'],
  },
  {
    name: 'other notes on a series and on its points',
    dataset: 'footnotes',
    lines: ['series_id,date,dims,mark,text', 'CPI,,,1,A new basket since 2021', 'CPI,2023-04,,,Estimated'],
  },
  {
    name: 'no notes any more',
    dataset: 'footnotes',
    lines: ['series_id,text', 'TRADES,'],
  },
  {
    name: 'a renamed item',
    dataset: 'commodity-items',
    lines: [
      'item_id,name,unit,currency,frequency,source',
      'rice,Rice (basmati),1 Kg,PKR,weekly,Price Office',
    ],
  },
  {
    name: 'a renamed city',
    dataset: 'commodity-cities',
    lines: ['city_id,name', 'lahore,Lahore City'],
  },
  {
    name: 'a new price',
    dataset: 'commodity-prices',
    options: { vintage: '2024-06-08' },
    lines: ['item,city,date,price', 'rice,lahore,2024-05-30,115'],
  },
  {
    name: 'a new price from a file of observations',
    dataset: 'observations',
    options: { vintage: '2024-06-08' },
    lines: ['series_id,date,value,city,price_type,stat', 'commodity.rice,2024-06-06,116,lahore,retail,avg'],
  },
  {
    name: 'deleted prices alone',
    dataset: 'commodity-prices',
    options: { vintage: '2024-06-09', full: true },
    lines: [
      'item,city,date,price,price_type,stat',
      'rice,lahore,2024-05-16,100,retail,avg',
      'rice,lahore,2024-05-23,110,retail,avg',
    ],
  },
  {
    name: 'a release that moves',
    dataset: 'calendar',
    lines: [
      'release_id,title,source,release_at,time_zone,series_ids',
      'r1,Consumer prices,Office,2024-07-04 09:00,Asia/Karachi,CPI',
    ],
  },
  {
    name: 'a renamed company',
    dataset: 'amcs',
    lines: ['amc_id,name,source', 'alpha,Alpha Managers,Register'],
  },
  {
    name: 'other facts of a fund',
    dataset: 'funds',
    lines: ['fund_id,name,currency,back_end_load_pct,source', 'share,Share Fund,PKR,2,Register'],
  },
  { name: 'a new NAV', dataset: 'nav', lines: ['fund,date,nav,aum', 'share,2024-06-30,131.5,99000000'] },
  { name: 'a revised NAV', dataset: 'nav', lines: ['fund,date,nav', 'share,2024-06-28,128.25'] },
  {
    name: 'a payout',
    dataset: 'payouts',
    lines: ['fund,ex_date,type,payout_per_unit', 'share,2024-06-28,cash,3'],
  },
  {
    name: 'expenses',
    dataset: 'expenses',
    lines: ['fund,period_end,period_type,ter_pct', 'share,2024-06-28,ytd,3.3'],
  },
  {
    name: 'a portfolio stated anew with fewer lines',
    dataset: 'portfolio',
    lines: [
      'fund,as_of,section,rank,name,type,sector,rating,pct_net_assets,disclosure_scope',
      'share,2024-05-31,summary,1,,,,,,full',
      'share,2024-05-31,holding,1,Bank A,Equity,Banks,,55,',
      'share,2024-05-31,holding,2,Cement B,Equity,Cement,,35.5,',
    ],
  },
  {
    name: 'other facts of a security',
    dataset: 'securities',
    lines: ['code,name,type,currency,source', 'TFC-1,Term certificate one,tfc,USD,Exchange'],
  },
  {
    name: 'a new price of a security',
    dataset: 'security-prices',
    lines: ['code,date,price,yield_pct', 'TFC-1,2024-06-24,98,14'],
  },
  {
    name: 'a trade',
    dataset: 'security-trades',
    lines: ['trade_id,trade_date,code,price,source', 'T4,2024-06-25,TFC-1,98.5,Exchange'],
  },
  {
    name: 'the result of an auction',
    dataset: 'auctions',
    lines: [
      'auction_id,instrument,tenor,auction_date,status,currency,cutoff_yield_pct,source',
      'A3,pib_fixed,5Y,2024-07-10,held,PKR,15.5,Central bank',
    ],
  },
  {
    name: 'a revised row of trade',
    dataset: 'trade',
    options: tradeConstants,
    lines: [
      'reporter,flow,period,partner_code,commodity_code,value,currency',
      'PAK,export,2024-04,CHN,010121,155,USD',
    ],
  },
  {
    name: 'the name of a commodity',
    dataset: 'trade-commodities',
    lines: ['classification,commodity_code,name,source', 'hs,100630,Rice,WCO'],
  },
];

interface SeriesCommand {
  name: string;
  run(database: Database, options: ChangeSettings): Promise<unknown>;
}

/** Changes of series by the command line, made after the loads. Afterwards every requested id still resolves. */
export const seriesCommands: readonly SeriesCommand[] = [
  {
    name: 'a renamed series',
    run: (database, options) => renameSeries(database, { ...options, id: 'CPI', newId: 'PK.CPI' }),
  },
  {
    name: 'a series renamed again',
    run: (database, options) => renameSeries(database, { ...options, id: 'PK.CPI', newId: 'PAK.CPI' }),
  },
  {
    name: 'a series with its first id again',
    run: (database, options) => renameSeries(database, { ...options, id: 'PAK.CPI', newId: 'CPI' }),
  },
  {
    name: 'a deleted series',
    run: (database, options) => deleteSeries(database, { ...options, id: 'CPI.CORE' }),
  },
  {
    name: 'a restored series',
    run: (database, options) => restoreSeries(database, { ...options, id: 'CPI.CORE' }),
  },
  {
    name: 'other facts of a series',
    run: (database, options) =>
      setFacts(database, { ...options, id: 'CPI', facts: { name: 'Consumer prices', licence: 'CC0' } }),
  },
  {
    name: 'a series that is merged into another',
    run: (database, options) => mergeSeries(database, { ...options, id: 'CPI', into: 'CPI.CORE' }),
  },
  {
    name: 'a merged series with its id again',
    run: (database, options) => restoreSeries(database, { ...options, id: 'CPI' }),
  },
  {
    name: 'a break',
    run: (database, options) =>
      declareBreak(database, { ...options, id: 'CPI', from: '2024', facts: { unit: 'Points' } }),
  },
  {
    name: 'a series that goes on as another',
    run: (database, options) =>
      declareContinuation(database, {
        ...{ ...options, id: 'CPI', from: '2030', frequency: 'quarterly', continuedBy: 'PRICES' },
      }),
  },
  {
    name: 'another id of the series as which one goes on',
    run: (database, options) => renameSeries(database, { ...options, id: 'PRICES', newId: 'PRICES.Q' }),
  },
];
