// Turns the auctions of the US Treasury (TreasuryDirect, as CSV in UTF-16) into the dataset auctions.
// Usage: node examples/markets/us-auctions.ts <data.csv|data.csv.gz> <out folder>
// The CUSIP is the auction_id: a security that is reopened keeps it. Bills are auctioned at a discount rate; the yield here is
// the investment rate, which compares with the yields of notes.
import { parse } from 'csv-parse/sync';
import { bytesOf, isinOf, textOf, writeCsv } from './out.ts';

const [file = '', out = ''] = process.argv.slice(2);

const text = textOf(bytesOf(file)).replace(/^\uFEFF?#TYPE[^\n]*\n/, '');
const rows = parse<Record<string, string>>(text, { columns: true, bom: true });

const auctions = rows.map((row) => {
  const of = (column: string) => row[column] ?? '';
  const day = (column: string) => of(column).slice(0, 10);
  const instrument = of('cashManagementBillCMB') === 'Yes' ? 'cmb' : of('type').toLowerCase(); // bill, note, bond, tips, frn
  const margin = of('highDiscountMargin');
  return [
    of('cusip'),
    instrument,
    of('term').replace(/^(\d+)-(\w).*$/, '$1$2'),
    day('auctionDate'),
    isinOf(`US${of('cusip')}`),
    of('cusip'),
    of('reopening') === 'Yes',
    day('announcementDate'),
    day('issueDate'),
    day('maturityDate'),
    of('offeringAmount'),
    of('competitiveTendered'),
    of('competitiveAccepted'),
    of('noncompetitiveAccepted'),
    of('totalAccepted'),
    of('highYield') || of('highInvestmentRate'),
    of('highPrice'),
    margin === '' ? '' : String(Math.round(Number(margin) * 1e5) / 1e3),
    of('lowYield') || of('lowInvestmentRate'),
    of('interestRate'),
    of('bidToCoverRatio'),
  ];
});
writeCsv(
  out,
  'us-auctions.csv',
  [
    'auction_id',
    'instrument',
    'tenor',
    'auction_date',
    'isin',
    'source_code',
    'reopening',
    'announce_date',
    'settlement_date',
    'maturity_date',
    'target_amount',
    'bids_received_face',
    'accepted_competitive',
    'accepted_non_competitive',
    'accepted_total',
    'cutoff_yield_pct',
    'cutoff_price',
    'cutoff_margin_bps',
    'min_bid_yield_pct',
    'coupon_pct',
    'bid_to_cover_published',
  ],
  auctions,
);
