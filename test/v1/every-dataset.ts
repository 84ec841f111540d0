// A few rows of every dataset, with gaps and equal values: the data for tests that cover all endpoints.
// Each entry is one load, as by the command line, on a day of its own.
import type { LoadOptions } from '../../ingest/load/store/load-options.ts';
import { fakeClock } from '../services/harness.ts';
import type { ListService } from '../services/list-service.ts';

/** One load: the dataset, the rows and the options. */
export interface Load {
  dataset: string;
  lines: readonly string[];
  options?: Partial<LoadOptions>;
  /** The day of the load; later days are "updated" later. */
  day?: string;
}

/** Runs one load. */
export async function loadInto(
  service: Pick<ListService, 'load'>,
  { dataset, lines, options = {}, day }: Load,
): Promise<void> {
  await service.load(dataset, lines, {
    ...(day === undefined ? {} : { clock: fakeClock(`${day}T12:00:00Z`) }),
    ...options,
  });
}

/** The common cells of the rows of trade. */
export const tradeConstants = { set: { classification: 'hs', basis: 'customs', source: 'Customs' } };

/** NAVs of a fund on the weekdays of fourteen months until 2024-06-28. */
function navs(fund: string, first: number, dailyPct: number): string[] {
  const lines: string[] = [];
  let nav = first;
  for (let day = Date.UTC(2023, 4, 1); day <= Date.UTC(2024, 5, 28); day += 86_400_000) {
    const date = new Date(day);
    if (date.getUTCDay() % 6 === 0) continue;
    nav *= 1 + ((date.getUTCDate() % 3 === 0 ? -1 : 1) * dailyPct) / 100;
    lines.push(`${fund},${date.toISOString().slice(0, 10)},${nav.toFixed(4)},`);
  }
  lines.push(`${fund},2024-06-29,,${Math.round(first * 1e6)}`);
  return lines;
}

/** The initial loads of an empty database, in order. */
export const initialLoads: readonly Load[] = [
  {
    dataset: 'series',
    day: '2024-05-01',
    lines: [
      'series_id,name,unit,frequency,source,geography,category,tags',
      'CPI,Consumer prices,Index,monthly,Office,Pakistan,prices/consumer,inflation;prices',
      'TRADES,Trades,USD,daily,Exchange,Pakistan,markets,',
      'OLD.PRICES,Old prices,Index,monthly,Office,,prices-old,prices',
      'PRICES,Prices,Index,quarterly,Bureau,India,prices,',
      'LIKE.A,Prices of 100%,Index,annual,Bureau,,prices%,',
      'BENCH,Benchmark,Index,daily,Exchange,,markets/index,',
      'EMPTY,Nothing yet,USD,annual,Bureau,,,',
    ],
  },
  {
    dataset: 'observations',
    day: '2024-05-02',
    options: { vintage: '2024-04-02' },
    lines: [
      'series_id,date,value,status',
      ...['01', '02', '03', '04', '05', '06', '07', '08', '09', '10', '11', '12'].map(
        (month, i) => `CPI,2023-${month},${100 + i}.50,`,
      ),
      'CPI,2024-01,112.00,',
      'CPI,2024-02,,',
      'CPI,2024-03,113.25,P',
    ],
  },
  {
    dataset: 'observations',
    day: '2024-05-03',
    options: { vintage: '2024-05-02' },
    lines: ['series_id,date,value,status', 'CPI,2024-03,113.50,', 'CPI,2024-04,114.00,P'],
  },
  {
    dataset: 'observations',
    day: '2024-05-03',
    options: { vintage: '2024-05-02' },
    lines: [
      'series_id,date,value,side,city',
      ...['2024-04-29', '2024-04-30', '2024-05-01'].flatMap((date, i) => [
        `TRADES,${date},1${i},buy,Lahore`,
        `TRADES,${date},2${i}.5,sell,Lahore`,
        `TRADES,${date},3${i},sell,Karachi`,
      ]),
    ],
  },
  {
    dataset: 'observations',
    day: '2024-05-04',
    options: { vintage: '2024-05-03' },
    lines: [
      'series_id,date,value',
      'OLD.PRICES,2024-01,1',
      'PRICES,2024-03,2',
      'LIKE.A,2023-12-31,3',
      'BENCH,2023-05-01,1000',
      'BENCH,2023-12-29,1100',
      'BENCH,2024-06-28,1200',
    ],
  },
  {
    dataset: 'dimension-labels',
    lines: ['series_id,dimension,value,label', 'TRADES,side,buy,Bought'],
  },
  {
    dataset: 'footnotes',
    lines: [
      'series_id,date,dims,mark,text',
      'CPI,,,1,A new basket since 2020',
      'CPI,2023-03,,,Estimated',
      'TRADES,2024-04-30,side:sell,a,"Without banks, as they were closed"',
      'TRADES,2024-04-30,,b,Half a day',
    ],
  },
  {
    dataset: 'commodity-items',
    lines: [
      'item_id,name,category,unit,unit_quantity,currency,frequency,source,coicop,active',
      'rice,Rice,cereals,1 Kg,1,PKR,weekly,Price Office,01.1.1,true',
      'milk,Milk,dairy,1 L,1,PKR,weekly,Price Office,,',
      'salt,Salt,,1 Kg,,PKR,monthly,Price Office,,false',
    ],
  },
  {
    dataset: 'commodity-cities',
    lines: [
      'city_id,name,province,latitude,longitude',
      'lahore,Lahore,Punjab,31.55,74.34',
      'karachi,Karachi,Sindh,24.9,67.08',
      'multan,Multan,Punjab,,',
      'quetta,Quetta,,,',
    ],
  },
  {
    dataset: 'commodity-prices',
    options: { vintage: '2024-06-01' },
    lines: [
      'item,city,date,price,price_type,stat',
      'rice,lahore,2024-05-16,100,retail,avg',
      'rice,karachi,2024-05-16,120,retail,avg',
      'rice,lahore,2024-05-23,110,retail,avg',
      'rice,karachi,2024-05-23,130,retail,avg',
      'rice,multan,2024-05-23,90,retail,avg',
      'rice,lahore,2024-05-23,80,wholesale,avg',
      'rice,lahore,2024-05-23,70,retail,min',
      'milk,lahore,2024-05-23,200,retail,avg',
    ],
  },
  {
    dataset: 'calendar',
    lines: [
      'release_id,title,source,release_at,time_zone,reference_period,frequency,kind,status,importance,series_ids,url',
      'r1,Consumer prices,Office,2024-07-03 09:00,Asia/Karachi,2024-06,monthly,new,,high,CPI,https://example.org/cpi',
      'r2,Consumer prices,Office,2024-08-03 09:00,Asia/Karachi,2024-07,monthly,new,,high,CPI,',
      'r3,Prices,Bureau,2024-07-05 00:00,UTC,,,,delayed,low,PRICES,',
      'r4,Old prices,Office,2024-06-20 08:00,UTC,,,revised,,,,',
      'r5,Wages,Bureau,2024-07-09 08:00,UTC,,,,cancelled,medium,,',
      'r6,Rice,Price Office,2024-07-04 08:00,UTC,,,,,,commodity.rice,',
    ],
  },
  {
    dataset: 'amcs',
    lines: [
      'amc_id,name,short_name,rating,established,source',
      'alpha,Alpha Asset Management,Alpha,AM1,1999-01-01,Register',
      'beta,Beta_Investments 100%,,,2004-02-03,Register',
      'gamma,Gamma Funds,GF,AM3,,Register',
    ],
  },
  {
    dataset: 'funds',
    day: '2024-06-20',
    lines: [
      'fund_id,name,symbol,amc_id,category,asset_class,structure,shariah_compliant,risk_profile,currency,launch_date,status,rating,benchmark_series,front_end_load_pct,back_end_load_pct,source',
      'cash,Cash Fund,CF,alpha,Money market,money_market,open_end,false,low,PKR,2023-05-01,active,AA+(f),,0,0,Register',
      'share,Share Fund,SF,alpha,Equity,equity,open_end,true,high,PKR,2023-05-01,active,,BENCH,2.5,1,Register',
      'growth,Growth 100% Fund,,beta,Equity,equity,closed_end,false,high,PKR,2023-05-01,,A(f),,,,Register',
      'old,Old_Fund,,beta,Equity,equity,open_end,,,PKR,,merged,,,,,Register',
      'dollar,Dollar Fund,,,,,,,,USD,,suspended,,,,,Elsewhere',
    ],
  },
  {
    dataset: 'nav',
    day: '2024-06-29',
    lines: [
      'fund,date,nav,aum',
      ...navs('cash', 10, 0.05),
      ...navs('share', 100, 0.9),
      ...navs('growth', 50, 0.7),
      'old,2023-06-30,40,',
    ],
  },
  {
    dataset: 'payouts',
    lines: [
      'fund,ex_date,type,payout_per_unit,financial_year',
      'cash,2023-06-30,cash,0.25,2022-23',
      'cash,2023-12-29,reinvest,0.5,2023-24',
      'share,2023-12-29,bonus,2,2023-24',
    ],
  },
  {
    dataset: 'expenses',
    lines: [
      'fund,period_end,period_type,ter_pct,management_fee_pct',
      'cash,2023-12-31,ytd,0.9,0.5',
      'cash,2023-12-31,mtd,0.95,0.5',
      'cash,2024-03-31,ytd,0.92,',
      'share,2024-03-31,ytd,3.1,2',
    ],
  },
  {
    dataset: 'portfolio',
    lines: [
      'fund,as_of,section,rank,name,type,sector,rating,pct_net_assets,disclosure_scope',
      'share,2024-04-30,holding,1,Bank A,Equity,Banks,,60,',
      'share,2024-05-31,summary,1,,,,,,full',
      'share,2024-05-31,holding,1,Bank A,Equity,Banks,,55,',
      'share,2024-05-31,holding,2,Cement B,Equity,Cement,,35.5,',
      'share,2024-05-31,holding,3,Bill,T-bill,,AAA,9.5,',
    ],
  },
  {
    dataset: 'securities',
    day: '2024-06-21',
    lines: [
      'code,isin,name,issuer,type,shariah_compliant,rating,issue_date,maturity_date,issue_size,currency,coupon_pct,status,former_codes,source',
      'TFC-1,,Term certificate 1,Bank A,tfc,false,AA,2020-01-15,2026-01-15,5000,PKR,12.5,active,,Exchange',
      'TFC-2,,Term certificate 2,Bank A 100%,tfc,,AA+,2021-01-15,2027-01-15,,PKR,,active,TFC-1-OLD,Exchange',
      'SUKUK-1,,Sukuk,Bank_B,sukuk,true,A-,2022-03-01,2025-03-01,1000,PKR,11,matured,,Exchange',
      'BILL-1,,Bill,,tbill,false,,2024-01-15,,,USD,,,,Central bank',
    ],
  },
  {
    dataset: 'security-prices',
    day: '2024-06-22',
    lines: [
      'code,date,price,yield_pct,traded,method',
      'TFC-1,2024-06-20,99.5,13.1,true,trade',
      'TFC-1,2024-06-21,99.75,13,false,matrix',
      'SUKUK-1,2024-06-21,101,10.5,true,trade',
    ],
  },
  {
    dataset: 'security-trades',
    lines: [
      'trade_id,trade_date,code,side,price,amount,venue,source',
      'T1,2024-06-20,TFC-1,buy,99.5,1000000,Exchange,Exchange',
      'T2,2024-06-20,TFC-1,sell,99.6,2000000.50,OTC,Exchange',
      'T3,2024-06-21,SUKUK-1,buy,101,,OTC,Exchange',
    ],
  },
  {
    dataset: 'auctions',
    lines: [
      'auction_id,instrument,tenor,auction_date,settlement_date,maturity_date,status,format,currency,target_amount,bids_received_face,accepted_competitive,cutoff_yield_pct,source',
      'A1,mtb,3M,2024-05-15,2024-05-16,2024-08-08,held,competitive,PKR,1000,3000,900,21.5,Central bank',
      'A2,mtb,3M,2024-05-29,2024-05-30,2024-08-22,held,competitive,PKR,1000,2000,950,21,Central bank',
      'A2,mtb,12M,2024-05-29,2024-05-30,2025-05-29,rejected,competitive,PKR,500,700,,,Central bank',
      'A3,pib_fixed,5Y,2024-07-10,,,announced,non_competitive,PKR,200,,,,Central bank',
    ],
  },
  {
    dataset: 'trade',
    options: tradeConstants,
    day: '2024-06-23',
    lines: [
      'reporter,flow,period,partner_code,partner_name,commodity_code,value,quantity,quantity_unit,valuation,currency,status',
      'PAK,export,2023-04,CHN,China,010121,100,10,NMB,fob,USD,final',
      'PAK,export,2024-04,CHN,China,010121,150.5,12,NMB,fob,USD,final',
      'PAK,export,2024-04,USA,United States,010121,50,4,NMB,fob,USD,final',
      'PAK,export,2024-04,CHN,China,100630,300,20,KGM,fob,USD,provisional',
      'PAK,import,2024-04,CHN,China,100630,80,4,KGM,cif,USD,final',
      'PAK,import,2024-03,CHN,China,270900,,7,KGM,cif,USD,revised',
      'NZL,export,2023,WLD,,TOTAL,1000,,,,NZD,provisional',
      'NZL,re_export,2023,AUS,,0101,5,,,,NZD,provisional',
    ],
  },
  {
    dataset: 'trade-commodities',
    lines: ['classification,commodity_code,name,source', 'hs,010121,Horses,WCO', 'hs,0101,Equines,WCO'],
  },
];
