// The pure parts of the series page: its state in the URL, the code and files of a view.
import { execFileSync } from 'node:child_process';
import test from 'ava';
import fc from 'fast-check';
import { citation, embedCode } from '../../dashboard/pages/series/exports.ts';
import {
  defaultSelection,
  lineCount,
  linesByDefault,
  type Dimension,
  type Selectable,
} from '../../dashboard/pages/series/default-view.ts';
import {
  dimsQuery,
  queryOfState,
  stateOf,
  type SeriesState,
} from '../../dashboard/pages/series/series-state.ts';
import { periodParam } from '../../dashboard/pages/series/api-query.ts';
import { decimalsFor } from '../../dashboard/pages/series/shown.ts';
import { samplesOf } from '../../dashboard/text/samples.ts';
import { combinationsThatPass, parseDims } from '../../data-api/series/dims.ts';
import { parsePeriod } from '../../kernel/dates.ts';
import { aggregates } from '../../domain/aggregates.ts';
import { linesMax } from '../../domain/chart/layout.ts';
import { transforms, type Transform } from '../../domain/transforms.ts';
import { periodEnd, type Frequency } from '../../domain/periods.ts';
import type { findSeries } from '../../data-api/series/stored/series.sql.ts';

const value = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom('a', 'B', '|', ',', ':', '\\', ' ', 'é', '&', "'", '"') }); // prettier-ignore
const name = fc.string({ minLength: 1, maxLength: 6, unit: fc.constantFrom('a', 'b', 'c', '_') });
const anyDims: fc.Arbitrary<Dimension[]> = fc
  .uniqueArray(name, { maxLength: 3 })
  .chain((names) =>
    fc.tuple(
      ...names.map((each) =>
        fc
          .uniqueArray(value, { minLength: 1, maxLength: 12 })
          .map((values) => ({ name: each, values, labels: {} })),
      ),
    ),
  );
const unranked = (dims: readonly Dimension[]): Selectable => ({ dims, newest_combinations: [] });
const day = fc.option(fc.constantFrom('2020-01-31', '2024-02-29'));

const anyState = anyDims.chain((dims) =>
  fc
    .record({
      keep: fc.array(fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }), {
        minLength: 3,
        maxLength: 3,
      }),
      frequency: fc.option(fc.constantFrom('weekly' as const)),
      aggregate: fc.option(fc.constantFrom(...aggregates.filter((each) => each !== 'avg'))),
      transform: fc.option(fc.constantFrom(...transforms)),
      base: day,
      vintage: day,
      from: day,
      to: day,
      isLog: fc.boolean(),
      view: fc.constantFrom('chart' as const, 'table' as const),
      language: fc.option(fc.constantFrom('R', 'curl')),
    })
    .map(({ keep, base, ...rest }) => {
      const some = Object.fromEntries(
        dims.map(({ name, values }, i) => {
          const filtered = values.filter((_, j) => keep[i]?.[j]);
          return [name, filtered.length === 0 ? values.slice(0, 1) : filtered];
        }),
      );
      const selected = lineCount(some) <= linesMax ? some : defaultSelection(unranked(dims));
      const aggregate = rest.frequency === null ? null : rest.aggregate;
      const state: SeriesState = {
        ...rest,
        aggregate,
        base: rest.transform === 'index' ? base : null,
        selected,
      };
      return { dims, state };
    }),
);

test('every state of the page is in its URL, and comes back from it', (t) => {
  fc.assert(
    fc.property(anyState, ({ dims, state }) => {
      const query = new URLSearchParams(queryOfState(state, unranked(dims)).toString());
      t.deepEqual(stateOf(query, unranked(dims), 'daily'), state);
    }),
  );
});

test('the state by default has an empty URL, and at most eight lines', (t) => {
  fc.assert(
    fc.property(anyDims, (dims) => {
      const state = stateOf(new URLSearchParams(), unranked(dims), 'daily');
      t.is(queryOfState(state, unranked(dims)).toString(), '');
      t.true(lineCount(state.selected) >= 1 && lineCount(state.selected) <= linesByDefault);
    }),
  );
});

test('of more lines than are shown by default, those with the newest values are shown, in the order of the series', (t) => {
  const values = 'ABCDEFGHIJK'.split('');
  const country = { name: 'country', values, labels: {} };
  const newest = 'KJIHGFEC'.split('').map((each) => ({ country: each, side: 'sell' }));
  const of = (...dims: Dimension[]) => defaultSelection({ dims, newest_combinations: newest });
  t.deepEqual(of(country), { country: 'CEFGHIJK'.split('') });
  const side = { name: 'side', values: ['buy', 'sell', 'swap'], labels: {} };
  t.deepEqual(of(country, side), { country: ['K'], side: side.values });
});

test('a URL that names what the series does not have shows what it has by default', (t) => {
  const dims = [{ name: 'side', values: ['buy', 'sell'], labels: {} }];
  const query = new URLSearchParams(
    'dims=side:nothing,city:Lahore&frequency=daily&aggregate=sum&transform=magic&from=yesterday&vintage=2020&log=1',
  );
  t.deepEqual(
    stateOf(query, unranked(dims), 'daily'),
    stateOf(new URLSearchParams(), unranked(dims), 'daily'),
  );
});

test('a URL shows lower frequencies than that of the series alone, and transforms that are defined at the one shown', (t) => {
  const at = (query: string, published: Frequency) =>
    stateOf(new URLSearchParams(query), unranked([]), published);
  t.is(at('frequency=quarterly', 'monthly').frequency, 'quarterly');
  for (const published of ['quarterly', 'annual', 'irregular'] as const)
    t.is(at('frequency=quarterly&aggregate=sum', published).frequency, null, published);
  t.is(at('frequency=quarterly&aggregate=sum', 'annual').aggregate, null);
  t.is(at('transform=mom', 'monthly').transform, 'mom');
  t.is(at('transform=mom&frequency=quarterly', 'monthly').transform, null);
});

test('the dims of a call select the same combinations in the API as the chips do', (t) => {
  fc.assert(
    fc.property(anyState, ({ dims, state }) => {
      const combinations = dims.reduce<Record<string, string>[]>(
        (all, { name, values }) => all.flatMap((each) => values.map((one) => ({ ...each, [name]: one }))),
        [{}],
      );
      const series = {
        dimensions: dims.map(({ name }) => name),
        combinations: combinations.map((each, lineNo) => ({ lineNo, dims: each })),
      } as unknown as NonNullable<Awaited<ReturnType<typeof findSeries>>>;
      const passed = combinationsThatPass(series, parseDims(dimsQuery(state.selected, dims)));
      const selected = combinations.flatMap((each, lineNo) =>
        Object.entries(each).every(([name, one]) => state.selected[name]?.includes(one)) ? lineNo : [],
      );
      t.deepEqual(passed, selected);
    }),
  );
});

const call = {
  origin: 'https://api.example.org',
  id: 'UEMP.DURATION',
  query: { from: '2005-01', dims: 'side:buy|sell,city:O\'Neill "x" $HOME `id`', transform: 'yoy' },
};
const addressIn = (code = '') => /https:[^"]+/.exec(code)?.[0] ?? '';

test('every sample asks for the view, and none has a key', (t) => {
  for (const { language, code } of samplesOf(call)) {
    const query = new URL(addressIn(code)).searchParams;
    t.is(query.get('dims'), call.query.dims);
    t.is(query.get('from'), '2005-01');
    t.is(query.get('format'), ['curl', 'JavaScript'].includes(language) ? null : 'csv');
    t.notRegex(code, /pk_live/);
  }
});

test('a shell reads the sample of curl as one header and one URL, and no language reads anything in a URL', (t) => {
  const [curl] = samplesOf(call);
  const echoed = execFileSync('sh', ['-c', curl?.code.replace(/^curl/, "printf '%s\\n'") ?? ''], {
    env: { ALMANAC_KEY: 'the key' },
    encoding: 'utf8',
  });
  t.deepEqual(echoed.trimEnd().split('\n'), ['-H', 'X-API-Key: the key', addressIn(curl?.code)]);
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme', minLength: 1 }), (text) => {
      const [sample] = samplesOf({ ...call, query: { dims: text } });
      t.notRegex(addressIn(sample?.code), /["'`$\\\s<>|]/);
      t.is(new URL(addressIn(sample?.code)).searchParams.get('dims'), text.toWellFormed());
    }),
  );
});

test('a view of more points than a page of JSON asks for all of them', (t) => {
  const limitOf = (pointCount: number, position: number) =>
    new URL(addressIn(samplesOf({ ...call, pointCount })[position]?.code)).searchParams.get('limit');
  t.deepEqual(
    [1_000, 1_001, 1_000_000].map((count) => limitOf(count, 0)),
    [null, '1001', '100000'],
  );
  t.is(limitOf(1_001, 1), null, 'CSV without a limit is the whole selection');
});

test('a window is written as periods that begin and end with it', (t) => {
  const frequencies: Frequency[] = ['monthly', 'quarterly', 'semiannual', 'daily'];
  for (const frequency of frequencies) {
    const date = periodEnd('2023-08-17', frequency);
    t.is(parsePeriod(periodParam(date, frequency))?.to, date, frequency);
  }
  t.is(periodParam('2023-06-30', 'annual'), '2023-06-30', 'a fiscal year ends within a year');
});

test('the code of an embed shows the public chart, and escapes names', (t) => {
  const code = embedCode('https://almanac.example', { id: 'A.B', name: 'Prices "now" <b>' }, 'side:buy');
  t.regex(code, /src="https:\/\/almanac\.example\/v1\/catalog\/A\.B\/chart\.svg\?dims=side%3Abuy"/);
  t.regex(code, /alt="Prices &#34;now&#34; &#60;b&#62;"/);
});

test('a citation names the source, the day of the data and the day of reading', (t) => {
  const entry = { id: 'CPI', name: 'Consumer prices', source: 'Office' };
  const now = new Date('2026-11-23T06:00:00Z');
  const url = 'https://almanac.example/series/CPI';
  t.is(
    citation(entry, { vintage: null, last_updated: '2026-10-15' }, url, now),
    'Office: Consumer prices [CPI], released 15 Oct 2026. Retrieved from Almanac, https://almanac.example/series/CPI, 23 Nov 2026.',
  );
  t.regex(
    citation(entry, { vintage: '2024-01-05', last_updated: '2024-01-01' }, url, now),
    /as published by 5 Jan 2024/,
  );
});

test('a day of the URL that does not exist is ignored', (t) => {
  const state = stateOf(new URLSearchParams('base=2024-99-99&vintage=2024-02-30&from=0000-01-01'), unranked([]), 'monthly'); // prettier-ignore
  t.deepEqual([state.base, state.vintage, state.from], [null, null, null]);
});

test('values have the digits that were published, and computed ones enough to distinguish them', (t) => {
  const decimals = (values: number[], transform: Transform | null = null, aggregate?: 'avg' | 'sum') =>
    decimalsFor({ transform, ...(aggregate && { aggregate }) }, [
      { points: values.map((each) => ({ date: '2024-01-31', value: each })) },
    ]);
  t.is(decimals([1.0843, 1.1]), 4);
  t.is(decimals([2.5e-7]), 8);
  t.is(decimals([1.08433333333, 1.1], null, 'avg'), 4);
  t.is(decimals([285.41333333333], null, 'avg'), 2);
  t.is(decimals([12_345, 12_346], null, 'avg'), 0);
  t.is(decimals([0.0012, -0.0008], 'change'), 4);
  t.is(decimals([8.93333333333], 'yoy'), 2);
  t.is(decimals([0.00312345678], 'log_change'), 4);
  t.is(decimals([0, 2], 'yoy'), 2);
});
