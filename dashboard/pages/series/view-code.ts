// The code that fetches what the page shows, in five languages, all from one URL.
// Hides how each language quotes a text, and that a period is shorter than its last day: `2020-Q3`.
import { pathOf, queryOf } from '../../../clients/typescript/client.ts';

/** What a view asks of the API. */
export interface ViewQuery {
  from?: string;
  to?: string;
  dims?: readonly string[];
  transform?: string;
  base?: string;
  vintage?: string;
  version?: number;
}

export interface View {
  /** Such as `https://api.example.org`. */
  origin: string;
  id: string;
  query: ViewQuery;
  /** How many points the view has: more than a page of JSON need a limit. */
  pointCount: number;
}

const pageDefault = 1_000;
const pageMax = 100_000;

/** The URL of the points of a view. */
export function viewUrl({ origin, id, query, pointCount }: View, format: 'json' | 'csv'): string {
  const more =
    format === 'csv' ? { format } : pointCount > pageDefault ? { limit: Math.min(pageMax, pointCount) } : {};
  return `${origin}${pathOf('/v1/series/{id}', { id })}${readable(queryOf({ ...query, ...more }))}`;
}

/** Colons and commas need no escape in a query. */
function readable(query: string): string {
  return query.replaceAll('%3A', ':').replaceAll('%2C', ',');
}

export interface CodeSample {
  language: string;
  code: string;
}

/** The samples. No URL among them needs a quote to be escaped: a query has neither quotes nor dollar signs. */
export function viewCode(view: View): CodeSample[] {
  const json = viewUrl(view, 'json');
  const csv = viewUrl(view, 'csv');
  return [
    { language: 'curl', code: `curl -H "X-API-Key: $ALMANAC_KEY" \\\n  "${json}"` },
    {
      language: 'Python',
      code: `import os
import pandas as pd

df = pd.read_csv(
    "${csv}",
    storage_options={"X-API-Key": os.environ["ALMANAC_KEY"]},
    parse_dates=["date"],
)`,
    },
    {
      language: 'R',
      code: `x <- read.csv(url(
  "${csv}",
  headers = c("X-API-Key" = Sys.getenv("ALMANAC_KEY"))
))`,
    },
    {
      language: 'JavaScript',
      code: `const response = await fetch("${json}", {
  headers: { "X-API-Key": process.env.ALMANAC_KEY },
});
const { data } = await response.json();`,
    },
    { language: 'Sheets', code: `=IMPORTDATA("${csv}&api_key=" & Settings!B1)` },
  ];
}

/** The period that ends on the date, as the API writes it: `2020-11`, `2020-Q3`, `2020`, or the day. */
export function periodParam(date: string, frequency: string): string {
  const [year = '', month = ''] = date.split('-');
  if (frequency === 'monthly') return `${year}-${month}`;
  if (frequency === 'quarterly') return `${year}-Q${Math.ceil(Number(month) / 3)}`;
  if (frequency === 'semiannual') return `${year}-H${Math.ceil(Number(month) / 6)}`;
  return date;
}
