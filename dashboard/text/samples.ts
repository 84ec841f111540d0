// The code that reads a series in programs and tools, with the address of this installation. It does not contain the user's key.
import type { Aggregate } from '../../domain/aggregates.ts';
import { monthsPerPeriod, type Frequency } from '../../domain/periods.ts';
import { fredUnits } from '../../domain/transforms.ts';

/** Code in one language. */
export interface Sample {
  language: string;
  code: string;
  /** The copied text, if it differs, for example with a key that is not shown. */
  copies?: string | (() => string);
}

export interface SampleCall {
  /** The origin of the API: `https://api.example.org`. */
  origin: string;
  id: string;
  /** Parameters but `format`. */
  query: Readonly<Record<string, string>>;
  /** The number of points; more than one page of JSON require a limit. Default: one page. */
  pointCount?: number;
}

/** A view of a series, for tools that do not call `/v1/series/{id}`. */
export interface ViewCall extends SampleCall {
  /** The frequency of the points of the view. */
  frequency: Frequency;
  /** The first and the last stored date, where `query` has them. */
  window: { from?: string; to?: string };
  /** The dimension values of each line, in the order of the dimensions. */
  lines: readonly (readonly string[])[];
  /** The dimensions with only some values selected, and these values. */
  selected: Readonly<Record<string, readonly string[]>>;
  /** Whether the plan of the reader has the feature `bulk`. */
  hasBulk: boolean;
}

/** Points in a page of JSON by default, and at most. */
const [pageDefault, pageMax] = [1_000, 100_000];

/** curl, Python, R, JavaScript and Sheets. */
export function samplesOf(call: SampleCall): Sample[] {
  const { pointCount = pageDefault } = call;
  const csv = addressOf(call, { format: 'csv' });
  const json = addressOf(
    call,
    pointCount > pageDefault ? { limit: String(Math.min(pageMax, pointCount)) } : {},
  );
  return [
    { language: 'curl', code: `curl -H "X-API-Key: $ALMANAC_KEY" \\\n  "${json}"` },
    {
      language: 'Python',
      code: `import os, pandas as pd

df = pd.read_csv(
    "${csv}",
    storage_options={"X-API-Key": os.environ["ALMANAC_KEY"]},
    parse_dates=["date"],
)`,
    },
    {
      language: 'R',
      code: `key <- c("X-API-Key" = Sys.getenv("ALMANAC_KEY"))
x <- read.csv(url("${csv}", headers = key))`,
    },
    {
      language: 'JavaScript',
      code: `const response = await fetch(
  "${json}",
  { headers: { "X-API-Key": process.env.ALMANAC_KEY } },
);
const { meta, data } = await response.json();`,
    },
    { language: 'Sheets', code: `=IMPORTDATA("${csv}&api_key=" & Settings!B1)` },
  ];
}

/** fredapi, fredr, Excel, DuckDB and Polars. A comment names options that a tool cannot express; they are left out. */
export function toolSamplesOf(call: ViewCall): Sample[] {
  return [
    { language: 'fredapi', code: fredapiCode(call) },
    { language: 'fredr', code: fredrCode(call) },
    { language: 'Excel', code: excelCode(call) },
    { language: 'DuckDB', code: isInFiles(call) ? duckdbFileCode(call) : duckdbCsvCode(call) },
    { language: 'Polars', code: isInFiles(call) ? polarsFileCode(call) : polarsCsvCode(call) },
  ];
}

function addressOf({ origin, id, query }: SampleCall, more: Readonly<Record<string, string>>): string {
  const text = new URLSearchParams({ ...query, ...more })
    .toString()
    .replaceAll('%2C', ',')
    .replaceAll('%3A', ':')
    .replaceAll("'", '%27');
  return `${origin}/v1/series/${encodeURIComponent(id).replaceAll("'", '%27')}${text === '' ? '' : `?${text}`}`;
}

const fredFrequencies: Readonly<Record<string, string>> = {
  weekly: 'w',
  monthly: 'm',
  quarterly: 'q',
  semiannual: 'sa',
  annual: 'a',
};
const fredAggregates: Readonly<Partial<Record<Aggregate, string>>> = { avg: 'avg', sum: 'sum', last: 'eop' };

interface FredCall {
  ids: string[];
  /** The first days of the first and the last period. */
  start: string | undefined;
  end: string | undefined;
  /** The other parameters. */
  params: [name: string, value: string][];
  /** The parameters of the view that FRED's API does not have, such as `transform=zscore`. */
  missing: string[];
}

/** The view in the parameters of FRED's API. Without its aggregate, the frequency is omitted too, as it would give different values. */
function fredCallOf({ id, query, frequency, window, lines }: ViewCall): FredCall {
  const { transform, aggregate, base, vintage } = query;
  const [units] = Object.entries(fredUnits).find(([, name]) => name === transform) ?? [];
  const method = fredAggregates[(aggregate ?? 'avg') as Aggregate];
  const target = fredFrequencies[query['frequency'] ?? ''];
  const params: [string, string | undefined][] = [
    ['frequency', method === undefined ? undefined : target],
    ['aggregation_method', method === 'avg' ? undefined : method],
    ['units', transform === undefined ? undefined : units],
    ['realtime_start', vintage],
    ['realtime_end', vintage],
  ];
  const missing: [string, string | undefined][] = [
    ['frequency', method === undefined ? query['frequency'] : undefined],
    ['aggregate', method === undefined ? aggregate : undefined],
    ['transform', units === undefined ? transform : undefined],
    ['base', base],
  ];
  const day = (date: string | undefined) => (date === undefined ? undefined : firstDay(date, frequency));
  const ids = lines.map((values) => [id, ...values].join('~'));
  return {
    ids: ids.length === 0 ? [id] : ids,
    start: day(window.from),
    end: day(window.to),
    params: given(params),
    missing: given(missing).map((pair) => pair.join('=')),
  };
}

function given(pairs: readonly [string, string | undefined][]): [string, string][] {
  return pairs.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]));
}

/** The first day of the period that ends on the date: FRED dates periods by it. */
function firstDay(date: string, frequency: Frequency): string {
  const months = monthsPerPeriod[frequency];
  if (months === undefined) return date;
  const [year, month, day] = date.split('-').map(Number) as [number, number, number];
  const isMonthEnd = new Date(Date.UTC(year, month, 0)).getUTCDate() === day;
  const first = isMonthEnd ? Date.UTC(year, month - months, 1) : Date.UTC(year, month - 1 - months, day + 1);
  return new Date(first).toISOString().slice(0, 10);
}

function leftOut({ missing }: FredCall): string {
  return missing.length === 0 ? '' : `# FRED's API cannot express ${missing.join(', ')}: left out here.\n`;
}

function fredapiCode(call: ViewCall): string {
  const fred = fredCallOf(call);
  const days = given([
    ['observation_start', fred.start],
    ['observation_end', fred.end],
  ]);
  // fredapi puts the id into the URL unchanged.
  const ids = fred.ids.map((id) => JSON.stringify(encodeURIComponent(id)));
  const args = [...days, ...fred.params]
    .map(([name, value]) => `, ${name}=${JSON.stringify(value)}`)
    .join('');
  const isOne = ids.length === 1;
  const read = isOne
    ? `x = fred.get_series(${ids[0]}${args})`
    : `ids = [${ids.join(', ')}]\nx = pd.DataFrame({id: fred.get_series(id${args}) for id in ids})`;
  return `import os${isOne ? '' : ', pandas as pd'}
from fredapi import Fred

Fred.root_url = "${call.origin}/fred"
fred = Fred(os.environ["ALMANAC_KEY"])
${leftOut(fred)}${read}`;
}

function fredrCode(call: ViewCall): string {
  const fred = fredCallOf(call);
  const days = given([
    ['observation_start', fred.start],
    ['observation_end', fred.end],
  ]);
  const args = [
    ...days.map(([name, value]) => `, ${name} = as.Date("${value}")`),
    ...fred.params.map(([name, value]) => {
      const isDay = name.startsWith('realtime_');
      return `, ${name} = ${isDay ? `as.Date("${value}")` : JSON.stringify(value)}`;
    }),
  ].join('');
  const ids = fred.ids.map((id) => JSON.stringify(id));
  const read =
    ids.length === 1
      ? `x <- fredr(${ids[0]}${args})`
      : `ids <- c(${ids.join(', ')})\nx <- do.call(rbind, lapply(ids, function(id) fredr(id${args})))`;
  return `library(fredr)
# fredr has no setting for the address.
assignInNamespace("fredr_download", function(endpoint, params, ...) {
  httr::GET(paste0("${call.origin}/fred/", endpoint), query = params)
}, "fredr")
fredr_set_key(Sys.getenv("ALMANAC_KEY"))
${leftOut(fred)}${read}`;
}

function excelCode({ origin, id, query }: ViewCall): string {
  const text = (value: string) => `"${value.replaceAll('"', '""').replaceAll('#(', '#(#)(')}"`;
  const fields = Object.entries({ format: 'csv', ...query }).map(
    ([name, value]) => `${name} = ${text(value)}`,
  );
  return `// Excel asks how to connect: Basic, your key as the user name, no password.
let
  Answer = Web.Contents(${text(origin)}, [
    RelativePath = ${text(`v1/series/${encodeURIComponent(id)}`)},
    Query = [${fields.join(', ')}]
  ]),
  Table = Table.PromoteHeaders(Csv.Document(Answer, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv])),
  Typed = Table.TransformColumnTypes(Table, {{"date", type date}, {"value", type number}}, "en-US")
in
  Typed`;
}

/** Whether the bulk files contain the view: they have values as published, with their vintages. */
function isInFiles({ hasBulk, query }: ViewCall): boolean {
  return hasBulk && query['frequency'] === undefined && query['transform'] === undefined;
}

const fileColumns = ['series', 'date', 'value', 'value_text', 'status', 'published_on', 'superseded_on', 'load', 'superseded_load']; // prettier-ignore

/** The column of a dimension in the bulk files. */
function columnOf(dimension: string): string {
  return fileColumns.includes(dimension.toLowerCase()) ? `dim_${dimension}` : dimension;
}

const listAddress = ({ origin }: ViewCall, kind: string) => `${origin}/v1/bulk?kind=${kind}&format=csv`;

const sqlText = (text: string) => `'${text.replaceAll("'", "''")}'`;
const sqlName = (name: string) => `"${name.replaceAll('"', '""')}"`;

function duckdbHead({ origin }: ViewCall): string {
  return `install httpfs; load httpfs;
create secret almanac (type http, scope ${sqlText(origin)},
  extra_http_headers map {'Authorization': 'Basic ' || to_base64(encode(getenv('ALMANAC_KEY') || ':'))});
`;
}

function duckdbCsvCode(call: ViewCall): string {
  return `${duckdbHead(call)}
select * from read_csv(${sqlText(addressOf(call, { format: 'csv' }))},
  types = {'date': 'DATE', 'value': 'DOUBLE'});`;
}

function duckdbFileCode(call: ViewCall): string {
  const { id, query, window, selected } = call;
  const day = (text: string) => `date ${sqlText(text)}`;
  const { vintage } = query;
  const conditions = [
    `series = ${sqlText(id)}`,
    ...Object.entries(selected).map(
      ([name, values]) => `${sqlName(columnOf(name))} in (${values.map(sqlText).join(', ')})`,
    ),
    ...(window.from === undefined ? [] : [`date >= ${day(window.from)}`]),
    ...(window.to === undefined ? [] : [`date <= ${day(window.to)}`]),
    ...(vintage === undefined
      ? []
      : [`published_on <= ${day(vintage)}`, `(superseded_on is null or superseded_on > ${day(vintage)})`]),
  ];
  const kind = vintage === undefined ? 'current' : 'vintages';
  return `${duckdbHead(call)}
-- The present file of all series.
set variable file = (select url from read_csv(${sqlText(listAddress(call, kind))}) where source is null);
select * from read_parquet(getvariable('file'))
where ${conditions.join('\n  and ')}
order by date;`;
}

function polarsHead(more = ''): string {
  return `import os
import aiohttp, fsspec, polars as pl${more}

key = {"auth": aiohttp.BasicAuth(os.environ["ALMANAC_KEY"], "")}
`;
}

function polarsCsvCode(call: ViewCall): string {
  return `${polarsHead()}with fsspec.open("${addressOf(call, { format: 'csv' })}", client_kwargs=key) as file:
    points = pl.read_csv(file.read(), try_parse_dates=True)`;
}

function polarsFileCode(call: ViewCall): string {
  const { id, query, window, selected } = call;
  const column = (name: string) => `pl.col(${JSON.stringify(name)})`;
  const day = (text: string) => `date.fromisoformat("${text}")`;
  const { vintage } = query;
  const conditions = [
    `${column('series')} == ${JSON.stringify(id)}`,
    ...Object.entries(selected).map(
      ([name, values]) =>
        `${column(columnOf(name))}.is_in([${values.map((value) => JSON.stringify(value)).join(', ')}])`,
    ),
    ...(window.from === undefined ? [] : [`${column('date')} >= ${day(window.from)}`]),
    ...(window.to === undefined ? [] : [`${column('date')} <= ${day(window.to)}`]),
    ...(vintage === undefined
      ? []
      : [
          `${column('published_on')} <= ${day(vintage)}`,
          `${column('superseded_on')}.is_null() | (${column('superseded_on')} > ${day(vintage)})`,
        ]),
  ];
  const kind = vintage === undefined ? 'current' : 'vintages';
  const isDated = conditions.some((condition) => condition.includes('date.fromisoformat('));
  return `${polarsHead(isDated ? '\nfrom datetime import date' : '')}
# The present file of all series.
with fsspec.open("${listAddress(call, kind)}", client_kwargs=key) as file:
    url = pl.read_csv(file.read()).filter(pl.col("source").is_null())["url"][0]
with fsspec.open(url, client_kwargs=key) as file:
    points = pl.read_parquet(file)
points = points.filter(
    ${conditions.join(',\n    ')},
).sort("date")`;
}
