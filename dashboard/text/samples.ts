// The code that reads a series in five languages, with the address of this installation. The key is the user's own, and not in it.

/** Code in one language. */
export interface Sample {
  language: string;
  code: string;
  /** What is copied instead, such as with a key that is not shown. */
  copies?: string | (() => string);
}

export interface SampleCall {
  /** Of the API: `https://api.example.org`. */
  origin: string;
  id: string;
  /** Parameters but `format`. */
  query: Readonly<Record<string, string>>;
  /** How many points it has: more than a page of JSON need a limit. By default a page. */
  pointCount?: number;
}

/** Points in a page of JSON by default, and at most. */
const [pageDefault, pageMax] = [1_000, 100_000];

/** curl, Python, R, JavaScript and Sheets. */
export function samplesOf({ origin, id, query, pointCount = pageDefault }: SampleCall): Sample[] {
  const address = (more: Readonly<Record<string, string>> = {}) => {
    const text = new URLSearchParams({ ...query, ...more })
      .toString()
      .replaceAll('%2C', ',')
      .replaceAll('%3A', ':');
    return `${origin}/v1/series/${encodeURIComponent(id)}${text === '' ? '' : `?${text}`}`;
  };
  const csv = address({ format: 'csv' });
  const json = address(pointCount > pageDefault ? { limit: String(Math.min(pageMax, pointCount)) } : {});
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
