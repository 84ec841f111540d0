// The demo's debt securities with their prices and trades, its auctions of debt, and its external trade.
import { addDays, addMonths, dayNumber } from '../../kernel/dates.ts';
import { periodEnd } from '../../domain/periods.ts';
import { random, source, type DemoFile } from './demo-file.ts';

const firstDay = '2024-01-01'; // a Monday
const firstMonth = '2023-01-01';

const securities = [
  bond('DEMO/TFC/050623', 'Demo Bank term finance certificate', 'Demo Bank', 'tfc', 'AA+', 5, 9.5),
  bond('DEMO/SUKUK/150623', 'Demo Energy sukuk', 'Demo Energy', 'sukuk', 'AA', 10, 10.25),
  bond('DEMO/TFC/190623', 'Demo Textiles term finance certificate', 'Demo Textiles', 'tfc', 'A-', 4, 11.75),
  bond('DEMO/PIB/050', 'Demo government bond, 5 years', 'Government of Demoland', 'pib', '', 5, 8),
  bond('DEMO/PIB/100', 'Demo government bond, 10 years', 'Government of Demoland', 'pib', '', 10, 8.5),
  bond('DEMO/GIS/050', 'Demo government Ijarah sukuk, 5 years', 'Government of Demoland', 'gis', '', 5, 8.1),
];

function bond(
  code: string,
  name: string,
  issuer: string,
  type: string,
  rating: string,
  years: number,
  couponPct: number,
) {
  const issued = '2023-06-05';
  const matures = addMonths(issued, years * 12);
  return {
    code,
    name,
    issuer,
    type,
    rating,
    issued,
    matures,
    couponPct,
    shariah: type === 'sukuk' || type === 'gis',
  };
}

type DemoSecurity = (typeof securities)[number];

/** @param lastDay the last day of prices and trades; auctions are announced beyond it. */
export function marketFiles(lastDay: string): DemoFile[] {
  return [
    { dataset: 'securities', lines: securityLines },
    { dataset: 'security-prices', lines: () => priceLines(lastDay) },
    { dataset: 'security-trades', lines: () => securityTradeLines(lastDay) },
    { dataset: 'auctions', lines: () => auctionLines(lastDay) },
    { dataset: 'trade', lines: () => tradeLines(lastDay) },
  ];
}

function* securityLines(): Iterable<string> {
  yield 'code,name,issuer,type,government_guaranteed,shariah_compliant,rating,rating_agency,issue_date,maturity_date,issue_size,currency,par,coupon_type,coupon_pct,coupon_frequency,day_count,listing,status,source';
  for (const each of securities) {
    const isGovernment = each.issuer.startsWith('Government');
    yield [
      each.code,
      `"${each.name}"`,
      each.issuer,
      each.type,
      isGovernment,
      each.shariah,
      each.rating,
      each.rating === '' ? '' : 'Demo Ratings',
      each.issued,
      each.matures,
      isGovernment ? 50_000_000_000 : 2_000_000_000,
      'DMD',
      isGovernment ? 100 : 5000,
      'fixed',
      each.couponPct,
      'semiannual',
      'actual/365',
      'Demo Exchange',
      'active',
      source,
    ].join(',');
  }
}

/** The working days. */
function* days(lastDay: string): Iterable<string> {
  for (let day = firstDay, n = 0; day <= lastDay; day = addDays(day, 1), n += 1) if (n % 7 < 5) yield day;
}

/** The yield of each security on each day, a random walk around its coupon. */
function* yields(lastDay: string): Iterable<{ security: DemoSecurity; day: string; yieldPct: number }> {
  for (const security of securities) {
    const draw = random(`yield of ${security.code}`);
    let yieldPct = security.couponPct;
    for (const day of days(lastDay)) {
      yieldPct += 0.1 * (draw() - 0.5) + 0.02 * (security.couponPct - yieldPct);
      yield { security, day, yieldPct };
    }
  }
}

/** The clean price per 100 of par: the value of coupons and repayment at the yield, compounded annually. */
function priceAt(yieldPct: number, { couponPct, matures }: DemoSecurity, day: string): number {
  const years = Math.max(0, (dayNumber(matures) - dayNumber(day)) / 365.25);
  const discount = (1 + yieldPct / 100) ** -years;
  return 100 * discount + (couponPct / (yieldPct / 100)) * (1 - discount);
}

function* priceLines(lastDay: string): Iterable<string> {
  yield 'code,date,price,yield_pct,traded,method';
  for (const { security, day, yieldPct } of yields(lastDay)) {
    const price = priceAt(yieldPct, security, day).toFixed(4);
    const isTraded = random(`trade of ${security.code} ${day}`)() < 0.4;
    yield `${security.code},${day},${price},${yieldPct.toFixed(4)},${isTraded},${isTraded ? 'trade' : 'matrix'}`;
  }
}

function* securityTradeLines(lastDay: string): Iterable<string> {
  yield 'trade_id,trade_date,trade_time,settlement_date,code,side,price,yield_pct,face_amount,amount,trades_count,venue,counterparty_type,status,as_of,source';
  for (const { security, day, yieldPct } of yields(lastDay)) {
    const draw = random(`trade of ${security.code} ${day}`);
    if (draw() >= 0.4) continue;
    const price = priceAt(yieldPct, security, day).toFixed(4);
    const face = 1_000_000 * (1 + Math.floor(draw() * 50));
    const time = `${10 + Math.floor(draw() * 6)}:${String(Math.floor(draw() * 60)).padStart(2, '0')}`;
    const [side, venue, party] = [
      draw() < 0.5 ? 'buy' : 'sell',
      draw() < 0.7 ? 'OTC' : 'Demo Exchange',
      draw() < 0.5 ? 'dealer' : 'customer',
    ];
    const amount = ((face * Number(price)) / 100).toFixed(2);
    const id = `D-${security.code.replaceAll('/', '-')}-${day}`;
    yield `${id},${day},${time},${addDays(day, 2)},${security.code},${side},${price},${yieldPct.toFixed(4)},${face},${amount},1,${venue},${party},new,false,${source}`;
  }
}

const tenors = [
  { instrument: 'mtb', tenor: '3M', months: 3, everyWeeks: 2, yieldPct: 7.4 },
  { instrument: 'mtb', tenor: '6M', months: 6, everyWeeks: 2, yieldPct: 7.5 },
  { instrument: 'mtb', tenor: '12M', months: 12, everyWeeks: 2, yieldPct: 7.6 },
  { instrument: 'pib_fixed', tenor: '5Y', months: 60, everyWeeks: 4, yieldPct: 8 },
  { instrument: 'pib_fixed', tenor: '10Y', months: 120, everyWeeks: 4, yieldPct: 8.5 },
];

/** Auctions are held on Wednesdays; the next one is announced. Two of three bond auctions reopen a bond, which keeps its id. */
function* auctionLines(lastDay: string): Iterable<string> {
  yield 'auction_id,instrument,tenor,auction_date,reopening,announce_date,settlement_date,maturity_date,status,format,currency,target_amount,bids_received_face,bids_count,accepted_competitive,accepted_non_competitive,accepted_bids_count,min_bid_yield_pct,max_bid_yield_pct,cutoff_yield_pct,weighted_avg_yield_pct,coupon_pct,source';
  for (const { instrument, tenor, months, everyWeeks, yieldPct } of tenors) {
    const draw = random(`auctions of ${instrument} ${tenor}`);
    const isBond = instrument !== 'mtb';
    let cutoff = yieldPct;
    let first = addDays(firstDay, 2);
    for (
      let day = first, n = 0;
      day <= addDays(lastDay, 7 * everyWeeks);
      day = addDays(day, 7 * everyWeeks), n += 1
    ) {
      const isReopening = isBond && n % 3 !== 0;
      if (!isReopening) first = day;
      cutoff += 0.2 * (draw() - 0.5);
      const target = 100_000_000_000;
      const bids = Math.round(target * (1 + 2 * draw()));
      const accepted = Math.round(target * (0.6 + 0.4 * draw()));
      const isHeld = day <= lastDay;
      yield [
        `DEMO-${instrument.toUpperCase()}-${isBond ? first : day}`,
        instrument,
        tenor,
        day,
        isReopening,
        isHeld ? addDays(day, -7) : lastDay, // no announcement has a future date
        addDays(day, 1),
        addMonths(addDays(first, 1), months),
        isHeld ? 'held' : 'announced',
        'competitive',
        'DMD',
        target,
        ...(isHeld
          ? [
              bids,
              40 + Math.floor(draw() * 60),
              accepted,
              Math.round(target * 0.05),
              10 + Math.floor(draw() * 30),
              (cutoff - 0.3).toFixed(4),
              (cutoff + 0.5).toFixed(4),
              cutoff.toFixed(4),
              (cutoff - 0.05).toFixed(4),
            ]
          : ['', '', '', '', '', '', '', '', '']),
        isBond ? yieldPct : '',
        source,
      ].join(',');
    }
  }
}

const partners = [
  ['CHN', 'China', 1],
  ['USA', 'United States', 0.7],
  ['ARE', 'United Arab Emirates', 0.4],
] as const;

const commodities = [
  ['010121', 'Horses; live, pure-bred breeding animals', 0.2, 'NMB'],
  ['100630', 'Rice, semi-milled or wholly milled', 6, 'KGM'],
  ['270900', 'Petroleum oils, crude', 9, 'KGM'],
  ['520100', 'Cotton, not carded or combed', 3, 'KGM'],
  ['630260', 'Toilet and kitchen linen, of terry fabrics, of cotton', 4, 'KGM'],
] as const;

/** By month, partner and six-digit Harmonized System code; the newest month is provisional. */
function* tradeLines(lastDay: string): Iterable<string> {
  yield 'reporter,flow,period,partner_code,partner_name,classification,classification_version,commodity_code,commodity_name,basis,currency,valuation,value,quantity,quantity_unit,status,source';
  const last = periodEnd(addMonths(`${lastDay.slice(0, 7)}-01`, -1), 'monthly');
  for (let month = firstMonth; month <= last; month = addMonths(month, 1)) {
    const period = month.slice(0, 7);
    const status = periodEnd(month, 'monthly') === last ? 'provisional' : 'final';
    for (const flow of ['export', 'import', 're_export'])
      for (const [partner, partnerName, size] of partners)
        for (const [code, name, usual, unit] of commodities) {
          const draw = random(`${flow} ${period} ${partner} ${code}`);
          if (flow === 're_export' && draw() < 0.7) continue;
          const scale = flow === 're_export' ? 50_000 : 1_000_000;
          const value = Math.round(scale * size * usual * (0.7 + 0.6 * draw()));
          const quantity = Math.round(value / (unit === 'NMB' ? 8_000 : 0.6 + 0.2 * draw()));
          const valuation = flow === 'import' ? 'cif' : 'fob';
          yield `DMO,${flow},${period},${partner},${partnerName},hs,HS 2022,${code},"${name}",customs,DMD,${valuation},${value},${quantity},${unit},${status},${source}`;
        }
  }
}
