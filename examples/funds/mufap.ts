// MUFAP (Pakistan): a SQLite history of NAVs, the performance summary and the latest NAVs, as funds.csv and nav.csv.
// Usage: node examples/convert.js funds/mufap <out folder> <navs.db[.gz]> <performance_summary.csv> <navs.json>
// The sources identify a fund by its name alone, and sub-funds of a pension fund share one name. Such a name is ambiguous in
// the history, so names that navs.json has more than once are omitted. The category, which decides whether
// short returns are annualised, comes from the summary.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { parse } from 'csv-parse/sync';
import { bytesOf, slug, textOf, Unknown, writeCsv } from '../markets/out.ts';

/** The first that the category has in it. */
const assetClasses = [
  ['Money Market', 'money_market'],
  ['(Annualized Return)', 'income'],
  ['Index Tracker', 'index'],
  ['Commodities', 'commodity'],
  ['Fund of Funds', 'fund_of_funds'],
  ['Capital Protected', 'capital_protected'],
  ['Asset Allocation', 'asset_allocation'],
  ['Balanced', 'balanced'],
  ['Equity', 'equity'],
] as const;

const idLengthMax = 80;

const [out = '', database = '', summary = '', latest = ''] = process.argv.slice(2);

// A title is above the header.
const summaries = parse<Record<string, string>>(textOf(bytesOf(summary)), {
  columns: true,
  bom: true,
  from_line: 2,
});
const unknown = new Unknown();
if (summaries.length === 0) unknown.add(`${path.basename(summary)}: there are no rows`);
for (const row of summaries.slice(0, 1))
  ['Fund Name', 'Category', 'Sector', 'Rating'].forEach(unknown.cells(row, summary));
unknown.refuse();
const facts = new Map(summaries.map((row) => [row['Fund Name'] ?? '', row]));
const { data } = JSON.parse(readFileSync(latest, 'utf8')) as { data: { fund: string }[] };
const named = Map.groupBy(data, ({ fund }) => fund);

const directory = mkdtempSync(path.join(tmpdir(), 'mufap-'));
try {
  const plain = path.join(directory, 'navs.db');
  writeFileSync(plain, bytesOf(database));
  convert(new DatabaseSync(plain));
} finally {
  rmSync(directory, { recursive: true });
}

function convert(history: DatabaseSync): void {
  const all = history.prepare('select id, name from funds order by id').all() as {
    id: number;
    name: string;
  }[];
  const funds = all.filter(({ name }) => (named.get(name)?.length ?? 0) < 2);
  const ids = new Map(funds.map(({ id, name }) => [id, fundId(name, id)]));
  writeCsv(
    out,
    'funds.csv',
    ['fund_id', 'name', 'category', 'asset_class', 'structure', 'shariah_compliant', 'rating'],
    funds.map(({ id, name }) => {
      const fact = facts.get(name);
      const category = fact?.['Category'] ?? '';
      return [
        ids.get(id) ?? '',
        name,
        category.replace(/ \((?:Annualized|Absolute) Return\)\s*$/, ''),
        assetClasses.find(([word]) => category.includes(word))?.[1] ?? '',
        fact?.['Sector'] === 'Open-End Funds' ? 'open_end' : '',
        fact === undefined ? '' : category.startsWith('Shariah Compliant'),
        fact?.['Rating'] === 'N/A' ? '' : (fact?.['Rating'] ?? ''),
      ];
    }),
  );
  const navs = history
    .prepare('select fund_id as fund, nav_date as date, nav from nav_history order by fund_id, nav_date')
    .all() as { fund: number; date: string; nav: number }[];
  writeCsv(
    out,
    'nav.csv',
    ['fund', 'date', 'nav'],
    navs
      .filter(({ fund }) => ids.has(fund))
      .map(({ fund, date, nav }) => [ids.get(fund) ?? '', date, nav.toFixed(4)]),
  );
}

/** Of a name that is too long its beginning, and the number that the source gave it. */
function fundId(name: string, number: number): string {
  const words = slug(name.normalize('NFD'));
  return words.length <= idLengthMax
    ? words
    : `${words.slice(0, idLengthMax - 6).replace(/-$/, '')}-${number}`;
}
