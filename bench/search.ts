// Builds a million search entries in a scratch database and times a fixed mix of queries of search and of the catalogue against a data-api. Everything is generated from one
// seed, so two runs make the same queries on the same data.
import pg from 'pg';
import { start } from '../data-api/main.ts';
import { systemClock } from '../kernel/clock.ts';
import { anonymous, createSealer, identityHeader } from '../kernel/identity.ts';
import { createLog } from '../kernel/log/log.ts';
import { startBenchPostgres } from './instruments/postgres.ts';
import { seriesNames } from './series/names.sql.ts';
import { makeWords, measures, seeded } from './series/words.ts';

const entriesTotal = 1_000_000;
const batchEntries = 100_000;
const queriesPerKind = 100;
const secondsMax = 60;
const identitySecret = 'a secret of the bench, long enough';

/** Builds, measures, prints; removes everything it made. */
export async function run(): Promise<void> {
  const postgres = await startBenchPostgres();
  try {
    const databaseUrl = await postgres.createDatabase('bench_search');
    const draw = seeded(20_261_120);
    const words = makeWords(3_000, draw);
    const { seconds, ids } = await build(databaseUrl, words);
    print(`${entriesTotal} series with their search entries written in ${seconds.toFixed(1)} s`);
    const service = await start({
      databaseUrl,
      identitySecret,
      seriesTimeZone: 'UTC',
      publicUrl: 'http://localhost',
      host: '127.0.0.1',
      port: 0,
      log: createLog('bench', 'error'),
      clock: systemClock,
    });
    try {
      await measure(service.url, words, ids, draw);
    } finally {
      await service.close();
    }
  } finally {
    await postgres.stop();
  }
}

/** Series such as `S12.BAFOTU.40310`, "Exports of bafotu, Drenal". Few words are frequent, most are rare. */
async function build(
  databaseUrl: string,
  words: readonly string[],
): Promise<{ seconds: number; ids: readonly string[] }> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const started = performance.now();
  for (let first = 1; first <= entriesTotal; first += batchEntries) {
    await client.query(
      `insert into data.series (series_id, name, unit, frequency, source, category, geography)
       select 'S' || i % 977 || '.' || upper(n.product) || '.' || i, n.name, 'Index', n.frequency, n.source, n.category,
         n.geography
       from generate_series($3::integer, $4::integer) i, lateral ${seriesNames('$1', '$2')} n`,
      [measures, words, first, first + batchEntries - 1],
    );
    await client.query(
      `select data.refresh_search(array(select series_no from data.series order by 1 desc limit $1))`,
      [batchEntries],
    );
  }
  const seconds = (performance.now() - started) / 1000;
  await client.query('vacuum analyze data.series, data.search_entries, data.search_terms');
  const sample = await client.query<{ series_id: string }>(
    'select series_id from data.series where series_no % 9973 = 0 order by series_no',
  );
  await client.end();
  return { seconds, ids: sample.rows.map((row) => row.series_id) };
}

async function measure(
  url: string,
  words: readonly string[],
  ids: readonly string[],
  draw: () => number,
): Promise<void> {
  const pick = (from: readonly string[]): string => from[Math.floor(draw() * from.length)] ?? '';
  const rare = words.slice(-300);
  const twoCommon = ['price index', 'consumer price', 'producer index', 'unemployment rate', 'gross value'];
  const mix: Record<string, () => string> = {
    'exact id': () => pick(ids),
    'beginning of a word': () => pick(words).slice(0, 4),
    'one typing error': () => misspelt(pick(words), draw),
    'two words': () => `${pick(measures).split(' ')[0]} ${pick(words)}`,
    'two common words': () => pick(twoCommon),
    'rare word': () => pick(rare),
    'some of three words': () => `${pick(measures).split(' ')[0]} ${pick(rare)} ${pick(words)}`,
    'a common and an unknown word': () => `${pick(['price', 'index', 'rate', 'exports'])} ${pick(words)}qqq`,
    'terms with synonyms': () =>
      pick([
        'house prices rate',
        'inflation rate',
        'industrial production index',
        'retail sales',
        'cost of living',
      ]),
    'another language': () =>
      pick(['Arbeitslosenquote', 'taux de chômage', 'prix du blé', 'producción industrial']),
    'no hit': () => `${pick(words)}qqq ${pick(words)}xx`,
  };
  const ofCatalogue: Record<string, [target: string, make: () => string]> = {
    'a rare word': ['', () => pick(rare)],
    'a common word': ['', () => pick(['price', 'index', 'rate', 'exports'])],
    'two common words': ['', () => pick(twoCommon)],
    'two common words of a frequency': ['&frequency=monthly', () => pick(twoCommon)],
    'two common words by id': ['&sort=id', () => pick(twoCommon)],
    'two common words, counted': ['&count_only=true', () => pick(twoCommon)],
    'two common words with facets': ['&facets=true', () => pick(twoCommon)],
  };
  const deadline = performance.now() + secondsMax * 1000;
  const all: number[] = [];
  print(`${'query'.padEnd(34)}${'p50'.padStart(9)}${'p99'.padStart(9)}  hits on the first page`);
  for (const [kind, make] of Object.entries(mix))
    all.push(...(await timeQueries(kind, `${url}/v1/search?limit=20`, make, deadline)));
  print(`${'all'.padEnd(34)}${ms(quantile(all, 0.5))}${ms(quantile(all, 0.99))}  (goal: p99 below 50 ms)`);
  print('\nthe catalogue');
  for (const [kind, [filter, make]] of Object.entries(ofCatalogue))
    await timeQueries(kind, `${url}/v1/catalog?limit=20${filter}`, make, deadline + secondsMax * 1000);
}

/** Times queries of a kind until the deadline, and prints the figures. @param list the URL without `q`. @returns milliseconds. */
async function timeQueries(
  kind: string,
  list: string,
  make: () => string,
  deadline: number,
): Promise<number[]> {
  const seal = createSealer(identitySecret, 'data-api');
  const timesMs: number[] = [];
  let hits = 0;
  for (let i = 0; i < queriesPerKind && performance.now() < deadline; i += 1) {
    const query = make();
    const url = new URL(`${list}&q=${encodeURIComponent(query)}`);
    const target = url.pathname + url.search;
    const started = performance.now();
    const response = await fetch(url, {
      headers: { [identityHeader]: seal(anonymous, 'GET', target) },
    });
    const body = (await response.json()) as { count: number };
    timesMs.push(performance.now() - started);
    if (response.status !== 200) throw new Error(`"${query}" was answered ${response.status}`);
    hits += body.count;
  }
  print(
    `${kind.padEnd(34)}${ms(quantile(timesMs, 0.5))}${ms(quantile(timesMs, 0.99))}  ${(hits / timesMs.length).toFixed(1)}`,
  );
  return timesMs;
}

/** The word with one of its letters dropped, doubled, replaced, or swapped with the next. */
function misspelt(word: string, draw: () => number): string {
  const at = 1 + Math.floor(draw() * (word.length - 2));
  const [before, letter, next, rest] = [
    word.slice(0, at),
    word.charAt(at),
    word.charAt(at + 1),
    word.slice(at + 2),
  ];
  const errors = [
    before + next + rest,
    before + letter + letter + next + rest,
    `${before}y${next}${rest}`,
    before + next + letter + rest,
  ];
  return errors[Math.floor(draw() * errors.length)] ?? word;
}

function quantile(values: readonly number[], at: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(at * sorted.length))] ?? NaN;
}

function ms(value: number): string {
  return `${value.toFixed(1)} ms`.padStart(9);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
