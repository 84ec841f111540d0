// Turns the auctions of the US Treasury (TreasuryDirect, as CSV in UTF-16) into the dataset auctions.
// Usage: node examples/convert.js markets/us-auctions <data.csv|data.csv.gz> <out folder>
// The CUSIP is the auction_id: a reopened security has the same one. Bills are auctioned at a discount rate; the yield here is
// the investment rate, which compares with the yields of notes.
import { parse } from 'csv-parse/sync';
import { bytesOf, isinOf, textOf, Unknown, writeCsv } from './out.ts';

const [file = '', out = ''] = process.argv.slice(2);

const text = textOf(bytesOf(file)).replace(/^\uFEFF?#TYPE[^\n]*\n/, '');
const rows = parse<Record<string, string>>(text, { columns: true, bom: true });

const instruments = ['bill', 'note', 'bond', 'tips', 'frn'];
const unknown = new Unknown();
if (rows.length === 0) unknown.add(`${file}: there are no rows`);
const auctions = rows.map((row) => {
  const of = unknown.cells(row, file);
  const day = (column: string) => of(column).slice(0, 10);
  const instrument = of('cashManagementBillCMB') === 'Yes' ? 'cmb' : of('type').toLowerCase();
  if (![...instruments, 'cmb'].includes(instrument))
    unknown.add(`the type "${of('type')}" of an auction; known are ${instruments.join(', ')}`);
  const margin = of('highDiscountMargin');
  return [
    of('cusip'),
    instrument,
    of('term'), // 13-Week, 9-Year 10-Month
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
unknown.refuse();
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
