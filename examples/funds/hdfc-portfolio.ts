// HDFC (India): the monthly portfolio of a scheme (xlsx, first sheet), as funds.csv and portfolio.csv.
// Usage: node examples/convert.js funds/hdfc-portfolio <out folder> <workbook.xlsx>
// A line with a market value is a holding, the heading above it is its type, totals are left out. Market values are in
// lakhs (100,000). `@` means less than 0.01 % and becomes unknown. Footnote signs are removed from the names. The classes
// that the sheet itself sums are used as published.
import { readFirstSheet } from '../converters/xlsx.ts';
import { product, Unknown, writeCsv } from '../markets/out.ts';

const fields = [
  'fund',
  'as_of',
  'section',
  'rank',
  'name',
  'isin',
  'type',
  'rating',
  'quantity',
  'market_value',
  'pct_net_assets',
  'coupon_pct',
  'ytm_pct',
  'weighted_avg_maturity_days',
  'portfolio_ytm_pct',
  'disclosure_scope',
];
const breakdowns: Readonly<Record<string, string>> = {
  'Portfolio Classification by Asset Class(%)': 'asset_class',
  'Portfolio Classification by Rating Class(%)': 'rating',
};
const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

type Line = Readonly<Record<string, string>>;

const [out = '', workbook = ''] = process.argv.slice(2);
const rows = readFirstSheet(workbook);
const title = rows[0]?.[0] ?? '';
const scheme = title.replace(/\s*\(.*/, '');
const fund = scheme.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
const [day = '', month = '', year = ''] = (rows[1]?.[0] ?? '').replace(/.* /, '').split('-');
const asOf = `${year}-${String(months.indexOf(month) + 1).padStart(2, '0')}-${day}`;
const header = rows.findIndex((row) => row[1] === 'ISIN' && row[3]?.startsWith('Name Of') === true);

const unknown = new Unknown();
if (fund === '') unknown.add('the scheme: cell A1 is empty');
if (!months.includes(month) || !/^\d{4}-\d\d-\d\d$/.test(asOf))
  unknown.add(`the day: cell A2 is "${rows[1]?.[0] ?? ''}", and not "Portfolio as on 31-Jul-2025"`);
if (header < 0)
  unknown.add('the columns: no row has "ISIN" in column B and "Name Of the Instrument" in column D');
unknown.refuse();

const ranks = new Map<string, number>();
const lines = linesOf(rows.slice(header + 1)).map((line) => {
  const section = line['section'] ?? '';
  ranks.set(section, (ranks.get(section) ?? 0) + 1);
  const whole: Line = { ...line, fund, as_of: asOf, rank: String(ranks.get(section)) };
  return fields.map((field) => whole[field] ?? '');
});
writeCsv(out, 'funds.csv', ['fund_id', 'name', 'objective'], [[fund, scheme, title]]);
writeCsv(out, 'portfolio.csv', fields, lines);

/** Where the lines below a heading belong: it changes as the sheet is read. */
interface Place {
  section: string;
  type: string;
}

function linesOf(sheet: readonly (readonly string[])[]): Line[] {
  const place: Place = { section: 'holding', type: '' };
  const found: Line[] = [];
  const summary: Record<string, string> = { section: 'summary', disclosure_scope: 'full' };
  for (const row of sheet) {
    const text = (row[1] ?? '').trim();
    const ytm = /Annualised Portfolio YTM : ([\d.]+)/.exec(text)?.[1];
    const maturity = /Residual Maturity.*: ([\d.]+) Days/.exec(text)?.[1];
    if (ytm !== undefined) summary['portfolio_ytm_pct'] = ytm;
    if (maturity !== undefined) summary['weighted_avg_maturity_days'] = maturity;
    found.push(...lineOf(row, text, place));
  }
  return [...found, summary];
}

function lineOf(row: readonly string[], text: string, place: Place): Line[] {
  const [, , coupon = '', name = '', rating = '', quantity = '', value = '', share = '', ytm = ''] = row;
  if (text in breakdowns) place.section = breakdowns[text] ?? '';
  else if (text.startsWith('Notes')) place.section = '';
  else if (place.section === 'holding') {
    if (name !== '' && isNumber(value)) {
      return [
        {
          section: 'holding',
          name: name.replace(/[\s^£#@*$]+$/, ''),
          isin: text,
          type: place.type,
          rating,
          quantity: rounded(quantity),
          market_value: product(rounded(value), '100000'),
          pct_net_assets: rounded(share),
          coupon_pct: rounded(coupon),
          ytm_pct: rounded(ytm),
        },
      ];
    }
    if (text !== '' && value === '' && !/^(?:Sub |Grand )?Total|^\(/.test(text)) place.type = text;
  } else if (place.section !== '' && text !== '' && isNumber(name)) {
    return [{ section: place.section, name: text, pct_net_assets: rounded(name) }];
  }
  return [];
}

function isNumber(text: string): boolean {
  return text !== '' && Number.isFinite(Number(text));
}

/** A binary fraction as the four decimals that were meant; '' where it is no number. */
function rounded(text: string): string {
  return isNumber(text) ? String(Number(Number(text).toFixed(4))) : '';
}
