// Total expense ratios of Indian schemes, a CSV file a day (ter_YYYY-MM-DD.csv), as funds.csv and expenses.csv.
// Usage: node examples/convert.js funds/amfi-expenses <out folder> <ter_….csv …>
// A row is a scheme with two plans, and each plan becomes a fund. A scheme is identified by its name alone: its id is made of the
// name without former names, so that neither case nor renaming changes it. If a file has a name twice
// with different rates, the scheme is ambiguous and its rows of that day are omitted.
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import { bytesOf, textOf, Unknown, writeCsv } from '../markets/out.ts';

const rates = [
  'Base TER (%)',
  'Additional expense as per Regulation 52(6A)(b) (%)',
  'Additional expense as per Regulation 52(6A)(c) (%)',
  'GST (%)',
  'Total TER (%)',
];

const [out = '', ...files] = process.argv.slice(2);
const unknown = new Unknown();
const funds = new Map<string, string[]>();
const expenses: string[][] = [];
let leftOut = 0;

for (const file of files.toSorted()) {
  const day = path.basename(file, '.csv').replace('ter_', '');
  if (!/^\d{4}-\d\d-\d\d$/.test(day))
    unknown.add(`${path.basename(file)}: the day, as the name is not ter_YYYY-MM-DD.csv`);
  const rows = parse<Record<string, string>>(textOf(bytesOf(file)), { columns: true, bom: true });
  const byScheme = Map.groupBy(rows, (row) => schemeId(row['Scheme Name'] ?? ''));
  for (const [scheme, stated] of byScheme) {
    const [row = {}] = stated;
    const of = unknown.cells(row, file);
    of('Scheme Name');
    if (stated.some((other) => ratesOf(other) !== ratesOf(row))) {
      leftOut += 1;
      continue;
    }
    for (const plan of ['Regular', 'Direct']) {
      const [base = 0, b = 0, c = 0, levies = 0, total = 0] = rates.map((rate) =>
        Number(of(`${plan} Plan - ${rate}`)),
      );
      if (total === 0) continue; // the scheme has no such plan
      const fund = `${scheme}-${plan.toLowerCase()}`;
      funds.set(fund, [fund, `${nameOf(row['Scheme Name'] ?? '')} - ${plan} Plan`, plan.toLowerCase()]);
      expenses.push([fund, day, String(total), String(Number((base + b + c).toFixed(4))), String(levies)]);
    }
  }
}
unknown.refuse();
writeCsv(out, 'funds.csv', ['fund_id', 'name', 'plan'], [...funds.values()]);
writeCsv(
  out,
  'expenses.csv',
  ['fund', 'period_end', 'ter_pct', 'ter_excl_levies_pct', 'government_levies_pct'],
  expenses,
);
process.stdout.write(`left out: ${leftOut} schemes of a day with one name and two sets of rates\n`);

function ratesOf(row: Readonly<Record<string, string>>): string {
  return ['Regular', 'Direct'].flatMap((plan) => rates.map((rate) => row[`${plan} Plan - ${rate}`])).join();
}

/** The name without brackets that describe the past. */
function nameOf(title: string): string {
  return (title.split(/[[(]\s*(?:formerly|erstwhile|earlier)/i)[0] ?? '').replace(/[\s–-]+$/, '');
}

function schemeId(title: string): string {
  const words = nameOf(title)
    .normalize('NFD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-');
  return words.slice(0, 70).replaceAll(/^-|-$/g, '');
}
