// Frequencies and transforms of the series that the other checks have loaded, and of FRED-MD's, as pandas computes them from the published points:
// exact where the service is exact, else to the digits that it promises.
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { parse } from 'csv-parse/sync';
import { ingest, json, series, type Instance, type Point } from './answers.ts';
import { writeCombination } from '../../domain/dims-text.ts';
import { loadFredMd } from './vintages/fred-md.ts';
import type { Check } from './run.ts';

/** The interpreters that may have pandas. */
const interpreters = ['python3', '/usr/bin/python3'];

/** An interpreter that has pandas; undefined if there is none. */
export function pandasPython(): string | undefined {
  return interpreters.find((each) => spawnSync(each, ['-c', 'import pandas']).status === 0);
}

/** Compared at least, and at most: from all frequencies and sources. */
const [seriesMin, seriesMax] = [200, 240];
/** For each series, at least. */
const questionsEach = 16;
/** Indexes with a base, at least. */
const basesMin = 200;
const seed = 2_026;

const frequencies = ['daily', 'weekly', 'monthly', 'quarterly', 'semiannual', 'annual'] as const;
const aggregates = ['avg', 'sum', 'first', 'last', 'min', 'max'] as const;
/** Each transform with its names: Almanac's and FRED's. */
const transforms: readonly (readonly string[])[] = [
  ['lin'],
  ['change', 'chg'],
  ['change_yoy', 'ch1'],
  ['pct_change', 'pch'],
  ['yoy', 'pc1'],
  ['mom'],
  ['annualised', 'pca'],
  ['log'],
  ['log_change', 'cch'],
  ['log_change_annualised', 'cca'],
  ['3ma'],
  ['index'],
  ['cumulative'],
  ['zscore'],
];
const transformNames = transforms.flat();

interface Question {
  transform: string;
  frequency?: string;
  aggregate?: string;
  incomplete?: true;
  base?: string;
  last?: number;
}

/** Date and digits; '' is published as missing. */
type Published = [date: string, digits: string][];
/** Null: the base of an index is not within the data, and the call is refused. */
type Expected = [date: string, digits: string][] | null;

interface Line {
  id: string;
  frequency: string;
  /** The parameter that selects one combination, with `&`; '' of a series without dimensions. */
  dims: string;
  /** `MM-DD`; null: calendar years. */
  fiscalYearEnd: string | null;
  published: Published;
}

/** Files of 01_core_series_pddl that are loaded once more, with another end of the year. Their annual values are compared. */
const fiscal = [
  { file: 'oil-prices__brent-daily.csv', frequency: 'daily', value: 'Price', end: '04-05' },
  { file: 'oil-prices__brent-weekly.csv', frequency: 'weekly', value: 'Price', end: '09-30' },
  { file: 'gold-prices__monthly.csv', frequency: 'monthly', value: 'Price', end: '06-30' },
  { file: 'bond-yields-us-10y__monthly.csv', frequency: 'monthly', value: 'Rate', end: '04-05' },
  { file: 'bond-yields-uk-10y__quarterly.csv', frequency: 'quarterly', value: 'Rate', end: '02-28' },
  { file: 'gold-prices__annual.csv', frequency: 'annual', value: 'Price', end: '03-31' },
] as const;
const fiscalPrefix = 'FISCAL.';

async function loadFiscal(instance: Instance, folder: string): Promise<void> {
  for (const { file, frequency, value, end } of fiscal)
    await ingest(instance, 'observations', path.join(folder, '01_core_series_pddl', file), {
      map: { date: 'Date', value },
      create: true,
      set: {
        series_id: `${fiscalPrefix}${frequency}.${end}`,
        ...{ frequency, fiscal_year_end: end, unit: 'As published', source: 'Fiscal years' },
      },
    });
}

export async function checkFrequencies({ instance, folder, seen }: Check): Promise<void> {
  const python = pandasPython();
  if (python === undefined) {
    process.stdout.write('  pandas is not installed, so frequencies are not compared with it.\n');
    return;
  }
  const newest = readdirSync(path.join(folder, '02_vintages_fred_md')).sort().at(-1);
  assert.ok(newest, 'there is a vintage of FRED-MD');
  await loadFredMd(instance, folder, newest);
  await loadFiscal(instance, folder);

  const lines = await linesOf(instance);
  const random = seeded(seed);
  const oracle = startOracle(python);
  const compared = { series: 0, questions: 0, values: 0, dims: 0, fiscal: 0, bases: 0, refused: 0 };
  const [alone, together] = [new Set<string>(), new Set<string>()];
  let mismatches = 0;
  try {
    const groupOf = ({ id, frequency, fiscalYearEnd }: Line) => (fiscalYearEnd === null ? frequency : id);
    for (const group of Map.groupBy(lines, groupOf).values()) {
      const hands = deal(group, random);
      for (const [i, line] of group.entries()) {
        const questions = (hands[i] ?? []).map((question) => withBase(question, line, random));
        const expected = await oracle.ask(line, questions);
        for (const [j, question] of questions.entries()) {
          const query = queryOf(question);
          const target = `/v1/series/${line.id}?${query}${limitOf(question)}${line.dims}`;
          const wanted = expected[j] ?? null;
          const problem =
            wanted === null
              ? await notRefused(instance, target)
              : difference((await series(instance, target)).data, wanted, digitsOf(question));
          if (problem !== null) {
            mismatches += 1;
            process.stdout.write(`  not pandas: ${line.id} by ${query}${line.dims}: ${problem}\n`);
          }
          (question.frequency === undefined ? alone : together).add(question.transform);
          compared.questions += 1;
          compared.values += wanted?.length ?? 0;
          compared.bases += question.base === undefined ? 0 : 1;
          compared.refused += wanted === null ? 1 : 0;
        }
        compared.series += 1;
        compared.dims += line.dims === '' ? 0 : 1;
        compared.fiscal += line.fiscalYearEnd === null ? 0 : 1;
      }
    }
  } finally {
    oracle.end();
  }
  assert.equal(mismatches, 0, 'answers are not those of pandas');
  assert.ok(compared.series >= seriesMin, `only ${compared.series} series were compared`);
  assert.ok(compared.dims > 0, 'no series with dimensions was compared');
  assert.equal(compared.fiscal, fiscal.length);
  assert.ok(compared.bases - compared.refused >= basesMin, `only ${compared.bases} indexes with a base`);
  assert.deepEqual([alone.size, together.size], [transformNames.length, transformNames.length]);
  seen(
    `frequencies and transforms are those of pandas: ${compared.series} series (${compared.dims} with dimensions, ${compared.fiscal} with fiscal ` +
      `years), ${compared.questions} questions (${compared.bases} indexes with a base, ${compared.refused} of them refused), ${compared.values} values`,
  );
}

/** The fault if a call is not refused for its base; null if it is refused. */
async function notRefused(instance: Instance, target: string): Promise<string | null> {
  const response = await instance.get(target);
  const text = await response.text();
  const isRefused = response.status === 400 && text.includes('"base\\" must be within the data');
  return isRefused ? null : `${response.status}, not 400 for the base: ${text.slice(0, 200)}`;
}

/** One in this many indexes has no base, so its first value is used. */
const baselessOneIn = 4;
const datesOfBase = [10, 7, 4] as const;

/** An index gets a base: a published date, or the month, quarter or year of one. */
function withBase(question: Question, { published }: Line, random: () => number): Question {
  if (question.transform !== 'index' || random() * baselessOneIn < 1) return question;
  const date = published[Math.floor(random() * published.length)]?.[0] ?? '';
  const length = datesOfBase[Math.floor(random() * (datesOfBase.length + 1))];
  const quarter = `${date.slice(0, 4)}-Q${Math.ceil(Number(date.slice(5, 7)) / 3)}`;
  return { ...question, base: length === undefined ? quarter : date.slice(0, length) };
}

/** `last` replaces `limit`. */
const limitOf = ({ last }: Question) => (last === undefined ? '&limit=100000' : '');

async function linesOf(instance: Instance): Promise<Line[]> {
  const lines: Line[] = [];
  const all = await allSeries(instance);
  const isFiscal = ({ id }: { id: string }) => id.startsWith(fiscalPrefix);
  for (const { id, frequency } of [...spread(all.filter((one) => !isFiscal(one))), ...all.filter(isFiscal)]) {
    const { dims, fiscalYearEnd } = await oneCombination(instance, id);
    const published = await publishedPoints(instance, id, dims);
    if (published.length >= 3) lines.push({ id, frequency, dims, fiscalYearEnd, published });
  }
  return lines;
}

function spread<Item>(all: readonly Item[]): Item[] {
  const step = Math.max(1, all.length / seriesMax);
  return all.filter((_, i) => i === 0 || Math.floor(i / step) > Math.floor((i - 1) / step));
}

async function allSeries(instance: Instance): Promise<{ id: string; frequency: string }[]> {
  const found: { id: string; frequency: string }[] = [];
  for (const frequency of [...frequencies, 'irregular']) {
    let cursor: string | null = '';
    while (cursor !== null) {
      const next: string = cursor === '' ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const page = (await json(instance, `/v1/catalog?frequency=${frequency}&limit=500${next}`)) as {
        data: { id: string }[];
        pagination: { next_cursor: string | null };
      };
      found.push(...page.data.map(({ id }) => ({ id, frequency })));
      cursor = page.pagination.next_cursor;
    }
  }
  return found;
}

/** The parameter for one value of each dimension, that of a newest point; and the end of the year. */
async function oneCombination(instance: Instance, id: string): Promise<Pick<Line, 'dims' | 'fiscalYearEnd'>> {
  const { data, meta } = await series(instance, `/v1/series/${id}?limit=1&sort=desc`);
  const dims = writeCombination(data[0]?.dims ?? {});
  return {
    dims: dims === '' ? '' : `&dims=${encodeURIComponent(dims)}`,
    fiscalYearEnd: meta['fiscal_year_end'] as string | null,
  };
}

async function publishedPoints(instance: Instance, id: string, dims: string): Promise<Published> {
  const target = `/v1/series/${id}?format=csv&include_missing=true&limit=100000${dims}`;
  const response = await instance.get(target);
  const text = await response.text();
  assert.equal(response.status, 200, text.slice(0, 300));
  const rows = parse<{ date: string; value: string }>(text, { columns: true });
  assert.equal(new Set(rows.map(({ date }) => date)).size, rows.length, `${target} is of one combination`);
  return rows.map(({ date, value }) => [date, value]);
}

/** The documented precision: all digits, a number of decimals, or a number of significant digits. */
type Digits = 'all' | { decimals: number } | { significant: number };

function digitsOf({ transform, frequency, aggregate }: Question): Digits {
  const name = transformOf(transform);
  if (!['lin', '3ma', 'change', 'change_yoy', 'cumulative'].includes(name)) return { significant: 10 };
  // The oracle rounds a mean of published values itself, by the decimals of its terms.
  if (frequency === undefined || aggregate !== 'avg' || name === 'lin') return 'all';
  return { decimals: name === '3ma' ? 10 : 12 };
}

/** In the dates, or else the first in a value; null if neither has one. */
function difference(found: readonly Point[], wanted: NonNullable<Expected>, digits: Digits): string | null {
  const [dates, wantedDates] = [found.map(({ date }) => date).join(), wanted.map(([date]) => date).join()];
  if (dates !== wantedDates) {
    const [own, other] = [new Set(dates.split(',')), new Set(wantedDates.split(','))];
    const [more, fewer] = [[...own.difference(other)], [...other.difference(own)]];
    return `${found.length} points, not ${wanted.length}; more: ${more.slice(0, 5).join()}; fewer: ${fewer.slice(0, 5).join()}`;
  }
  const i = wanted.findIndex(([, text], at) => !agrees(found[at]?.value ?? NaN, text, digits));
  return i === -1 ? null : `on ${found[i]?.date} ${found[i]?.value}, not ${wanted[i]?.[1]}`;
}

/** Whether a value is the expected one, rounded: at most half a unit of its last digit away, plus the error of a double. */
function agrees(value: number, text: string, digits: Digits): boolean {
  const wanted = Number(text);
  if (digits === 'all') return value === wanted;
  const size = Math.abs(wanted);
  if (size === 0) return value === 0;
  const decimals =
    'decimals' in digits ? digits.decimals : digits.significant - 1 - Math.floor(Math.log10(size));
  return Math.abs(value - wanted) <= 0.500001 * 10 ** -decimals + size * 4 * Number.EPSILON;
}

function startOracle(python: string) {
  const program = spawn(python, [path.join(import.meta.dirname, 'pandas-oracle.py')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const answers = createInterface({ input: program.stdout })[Symbol.asyncIterator]();
  return {
    async ask(
      { id, frequency, fiscalYearEnd, published }: Line,
      questions: readonly Question[],
    ): Promise<Expected[]> {
      const asked = { frequency, fiscal_year_end: fiscalYearEnd, points: published, questions };
      program.stdin.write(`${JSON.stringify(asked)}\n`);
      const answer = await answers.next();
      assert.ok(answer.done !== true, `pandas ended at ${id}`);
      return JSON.parse(answer.value) as Expected[];
    },
    end: () => program.stdin.end(),
  };
}

/** The name that documents and errors use, whichever was asked by. */
const transformOf = (name: string) => transforms.find((names) => names.includes(name))?.[0] ?? name;

/** As the parameters of a call. */
function queryOf(question: Question): string {
  return Object.entries(question)
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Numbers of at least 0 and less than 1, the same in every run (mulberry32). */
function seeded(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** One in this many questions has `last`, with at most this many points. */
const [lastOneIn, lastMax] = [5, 40];

/**
 * The questions for series of one frequency, a list for each: together all that apply, and for each series `questionsEach` at least. Series with
 * fiscal years get those about years.
 * @param random as of `seeded`
 */
function deal(group: readonly Line[], random: () => number): Question[][] {
  const { frequency: source = '', fiscalYearEnd = null } = group[0] ?? {};
  const isAsked = ({ frequency = source }: Question) => fiscalYearEnd === null || frequency === 'annual';
  const deck = shuffled(questionsOf(source, random).filter(isAsked), random);
  const size = Math.max(questionsEach, Math.ceil(deck.length / group.length));
  return group.map((_line, i) =>
    Array.from({ length: size }, (_, j): Question => {
      const question = deck[(i * size + j) % deck.length] as Question;
      return random() * lastOneIn < 1 ? { ...question, last: 1 + Math.floor(random() * lastMax) } : question;
    }),
  );
}

/** Every transform by each of its names alone, and by one of them with each frequency and aggregate, complete and incomplete. */
function questionsOf(source: string, random: () => number): Question[] {
  const alone = transformNames
    .filter((name) => applies(name, source))
    .map((transform): Question => ({ transform }));
  const lower = frequencies.slice(Math.max(1, frequencies.indexOf(source as 'daily') + 1));
  const together = lower.flatMap((frequency) =>
    aggregates.flatMap((aggregate) =>
      (source === 'irregular' ? [true] : [false, true]).flatMap((incomplete) =>
        transforms
          .map((names) => names[Math.floor(random() * names.length)] as string)
          .filter((name) => applies(name, frequency))
          .map((transform): Question => ({
            transform,
            frequency,
            aggregate,
            ...(incomplete && { incomplete }),
          })),
      ),
    ),
  );
  return [...alone, ...together];
}

function applies(name: string, frequency: string): boolean {
  const transform = transformOf(name);
  if (transform === 'mom') return ['daily', 'weekly', 'monthly', 'irregular'].includes(frequency);
  return frequency !== 'irregular' || !['annualised', 'log_change_annualised'].includes(transform);
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, order: random() }))
    .toSorted((a, b) => a.order - b.order)
    .map(({ item }) => item);
}
