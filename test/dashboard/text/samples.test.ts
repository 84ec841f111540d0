// The code that the dashboard gives to copy.
import test from 'ava';
import { samplesOf, toolSamplesOf, type ViewCall } from '../../../dashboard/text/samples.ts';

const samples = samplesOf({
  origin: 'https://api.example.org',
  id: 'A B',
  query: { from: '2020-09', dims: 'side:buy,city:x' },
});
const code = (language: string) => samples.find((sample) => sample.language === language)?.code ?? '';

test('each sample calls this installation for the same data, with a key that is not in it', (t) => {
  for (const { language, code: text } of samples) {
    t.true(
      text.includes('https://api.example.org/v1/series/A%20B?from=2020-09&dims=side:buy,city:x'),
      language,
    );
    t.notRegex(text, /pk_live/);
  }
  t.deepEqual(
    samples.map(({ language }) => language),
    ['curl', 'Python', 'R', 'JavaScript', 'Sheets'],
  );
});

test('programs that read tables get CSV, the others JSON', (t) => {
  for (const language of ['Python', 'R', 'Sheets']) t.regex(code(language), /&format=csv/);
  for (const language of ['curl', 'JavaScript']) t.notRegex(code(language), /format=/);
});

const plain: ViewCall = {
  origin: 'https://api.example.org',
  id: 'CPI',
  query: {},
  frequency: 'monthly',
  window: {},
  lines: [[]],
  selected: {},
  hasBulk: false,
};
const shaped: ViewCall = {
  ...plain,
  query: {
    ...{ from: '2020-Q1', to: '2023-Q2', frequency: 'quarterly', aggregate: 'last', transform: 'yoy' },
    vintage: '2024-01-31',
  },
  frequency: 'quarterly',
  window: { from: '2020-03-31', to: '2023-06-30' },
};
const lines: ViewCall = {
  ...plain,
  id: 'FX',
  query: { from: '2026-01-02', dims: 'currency:EUR|GBP,status:official' },
  frequency: 'daily',
  window: { from: '2026-01-02' },
  lines: [
    ['EUR', 'official'],
    ['GBP', 'official'],
  ],
  selected: { currency: ['EUR', 'GBP'], status: ['official'] },
};
const only = (call: ViewCall, tool: string) =>
  toolSamplesOf(call).find(({ language }) => language === tool)?.code ?? '';
/** The code without the common beginning of the tool's samples. */
const after = (call: ViewCall, tool: string, mark: string) => only(call, tool).split(mark)[1];

test('fredapi reads the periods, transform, frequency and vintage of a view, and a column for each line', (t) => {
  t.is(
    only(plain, 'fredapi'),
    `import os
from fredapi import Fred

Fred.root_url = "https://api.example.org/fred"
fred = Fred(os.environ["ALMANAC_KEY"])
x = fred.get_series("CPI")`,
  );
  const read = (call: ViewCall) => after(call, 'fredapi', 'fred = Fred(os.environ["ALMANAC_KEY"])\n');
  t.is(
    read(shaped),
    'x = fred.get_series("CPI", observation_start="2020-01-01", observation_end="2023-04-01", frequency="q", aggregation_method="eop", units="pc1", realtime_start="2024-01-31", realtime_end="2024-01-31")',
  );
  t.is(
    read(lines),
    `ids = ["FX~EUR~official", "FX~GBP~official"]
x = pd.DataFrame({id: fred.get_series(id, observation_start="2026-01-02") for id in ids})`,
  );
  t.is(read({ ...plain, id: 'A&B' }), 'x = fred.get_series("A%26B")', 'fredapi does not encode an id');
});

test("a view that FRED's API cannot express names in a comment what it omits, and never has half of an aggregation", (t) => {
  const zscore = { ...plain, query: { transform: 'zscore', vintage: '2024-01-31' } };
  const highest = { ...shaped, query: { frequency: 'quarterly', aggregate: 'max', transform: 'yoy' } };
  const index = { ...plain, query: { transform: 'index', base: '2020-01-31' } };
  for (const tool of ['fredapi', 'fredr']) {
    t.regex(only(zscore, tool), /\n# FRED's API cannot express transform=zscore: left out here\.\n/);
    t.regex(only(zscore, tool), /realtime_end/);
    t.regex(only(highest, tool), /cannot express frequency=quarterly, aggregate=max: left out here/);
    t.notRegex(only(highest, tool), /frequency ?= ?"|aggregation_method/);
    t.regex(only(highest, tool), /units ?= ?"pc1"/);
    t.regex(only(index, tool), /cannot express transform=index, base=2020-01-31: left out here/);
    t.notRegex(only(shaped, tool), /left out/);
  }
});

test('a window begins in FRED on the first day of its first period, fiscal years included', (t) => {
  const startOf = (from: string, frequency: ViewCall['frequency']) =>
    /observation_start="(.*?)"/.exec(only({ ...plain, frequency, window: { from } }, 'fredapi'))?.[1];
  const months = [
    ['2024-02-29', 'monthly', '2024-02-01'],
    ['2023-03-31', 'quarterly', '2023-01-01'],
    ['2023-12-31', 'semiannual', '2023-07-01'],
    ['2023-12-31', 'annual', '2023-01-01'],
    ['2023-06-30', 'annual', '2022-07-01'],
    ['2024-04-05', 'annual', '2023-04-06'],
    ['2023-08-20', 'weekly', '2023-08-20'],
    ['2023-08-17', 'daily', '2023-08-17'],
  ] as const;
  for (const [from, frequency, start] of months)
    t.is(startOf(from, frequency), start, `${frequency} ${from}`);
});

test('fredr is pointed to this installation, and reads the lines of a view under each other', (t) => {
  t.is(
    only(shaped, 'fredr'),
    `library(fredr)
# fredr has no setting for the address.
assignInNamespace("fredr_download", function(endpoint, params, ...) {
  httr::GET(paste0("https://api.example.org/fred/", endpoint), query = params)
}, "fredr")
fredr_set_key(Sys.getenv("ALMANAC_KEY"))
x <- fredr("CPI", observation_start = as.Date("2020-01-01"), observation_end = as.Date("2023-04-01"), frequency = "q", aggregation_method = "eop", units = "pc1", realtime_start = as.Date("2024-01-31"), realtime_end = as.Date("2024-01-31"))`,
  );
  t.is(
    after(lines, 'fredr', 'fredr_set_key(Sys.getenv("ALMANAC_KEY"))\n'),
    `ids <- c("FX~EUR~official", "FX~GBP~official")
x <- do.call(rbind, lapply(ids, function(id) fredr(id, observation_start = as.Date("2026-01-02"))))`,
  );
});

test('Excel gets a query in M for Basic authentication, with every setting of the view', (t) => {
  t.is(
    only({ ...shaped, query: { ...shaped.query, dims: 'city:"x" #(lf)' } }, 'Excel'),
    `// Excel asks how to connect: Basic, your key as the user name, no password.
let
  Answer = Web.Contents("https://api.example.org", [
    RelativePath = "v1/series/CPI",
    Query = [format = "csv", from = "2020-Q1", to = "2023-Q2", frequency = "quarterly", aggregate = "last", transform = "yoy", vintage = "2024-01-31", dims = "city:""x"" #(#)(lf)"]
  ]),
  Table = Table.PromoteHeaders(Csv.Document(Answer, [Delimiter = ",", Encoding = 65001, QuoteStyle = QuoteStyle.Csv])),
  Typed = Table.TransformColumnTypes(Table, {{"date", type date}, {"value", type number}}, "en-US")
in
  Typed`,
  );
});

const duckdbHead = `install httpfs; load httpfs;
create secret almanac (type http, scope 'https://api.example.org',
  extra_http_headers map {'Authorization': 'Basic ' || to_base64(encode(getenv('ALMANAC_KEY') || ':'))});

`;

test('DuckDB reads CSV by URL without bulk files, and for what these do not have', (t) => {
  const csv = (
    query: string,
  ) => `${duckdbHead}select * from read_csv('https://api.example.org/v1/series/${query}',
  types = {'date': 'DATE', 'value': 'DOUBLE'});`;
  t.is(only(plain, 'DuckDB'), csv('CPI?format=csv'));
  t.is(
    only({ ...shaped, hasBulk: true }, 'DuckDB'),
    csv(
      'CPI?from=2020-Q1&to=2023-Q2&frequency=quarterly&aggregate=last&transform=yoy&vintage=2024-01-31&format=csv',
    ),
  );
});

test('DuckDB reads the present Parquet file with bulk: the selected values in the window, or those of a vintage', (t) => {
  t.is(
    only({ ...lines, hasBulk: true }, 'DuckDB'),
    `${duckdbHead}-- The present file of all series.
set variable file = (select url from read_csv('https://api.example.org/v1/bulk?kind=current&format=csv') where source is null);
select * from read_parquet(getvariable('file'))
where series = 'FX'
  and "currency" in ('EUR', 'GBP')
  and "dim_status" in ('official')
  and date >= date '2026-01-02'
order by date;`,
  );
  t.is(
    after({ ...plain, query: { vintage: '2024-01-31' }, hasBulk: true }, 'DuckDB', 'source is null);\n'),
    `select * from read_parquet(getvariable('file'))
where series = 'CPI'
  and published_on <= date '2024-01-31'
  and (superseded_on is null or superseded_on > date '2024-01-31')
order by date;`,
  );
});

test('Polars reads CSV by URL without bulk files', (t) => {
  t.is(
    only(shaped, 'Polars'),
    `import os
import aiohttp, fsspec, polars as pl

key = {"auth": aiohttp.BasicAuth(os.environ["ALMANAC_KEY"], "")}
with fsspec.open("https://api.example.org/v1/series/CPI?from=2020-Q1&to=2023-Q2&frequency=quarterly&aggregate=last&transform=yoy&vintage=2024-01-31&format=csv", client_kwargs=key) as file:
    points = pl.read_csv(file.read(), try_parse_dates=True)`,
  );
});

test('Polars reads the present Parquet file with bulk', (t) => {
  t.is(
    only({ ...lines, query: { ...lines.query, vintage: '2026-02-01' }, hasBulk: true }, 'Polars'),
    `import os
import aiohttp, fsspec, polars as pl
from datetime import date

key = {"auth": aiohttp.BasicAuth(os.environ["ALMANAC_KEY"], "")}

# The present file of all series.
with fsspec.open("https://api.example.org/v1/bulk?kind=vintages&format=csv", client_kwargs=key) as file:
    url = pl.read_csv(file.read()).filter(pl.col("source").is_null())["url"][0]
with fsspec.open(url, client_kwargs=key) as file:
    points = pl.read_parquet(file)
points = points.filter(
    pl.col("series") == "FX",
    pl.col("currency").is_in(["EUR", "GBP"]),
    pl.col("dim_status").is_in(["official"]),
    pl.col("date") >= date.fromisoformat("2026-01-02"),
    pl.col("published_on") <= date.fromisoformat("2026-02-01"),
    pl.col("superseded_on").is_null() | (pl.col("superseded_on") > date.fromisoformat("2026-02-01")),
).sort("date")`,
  );
});

test('the origin and a series of an unusual name end no string of any tool', (t) => {
  for (const { language, code: text } of toolSamplesOf({ ...plain, id: `O'Neill "x"`, hasBulk: true })) {
    t.notRegex(text, /O'Neill "x"/, language);
    t.notRegex(text, /pk_live/, language);
  }
});
