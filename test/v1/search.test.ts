import test from 'ava';
import { publicCaller, startDataService, type DataService } from '../services/data-service.ts';
import { makeSeries, publish } from './series-fixture.ts';

interface Result {
  type: string;
  id: string;
  name: string;
  unit: string | null;
  frequency: string | null;
  source: string | null;
  category: string | null;
  last_date: string | null;
  last_updated: string | null;
  match: string;
  score: number;
  matched: string[];
  highlight: string;
  excerpt: string | null;
}

interface Answer {
  success: boolean;
  data: Result[];
  count: number;
  pagination: { next_cursor: string | null; count: number };
  meta: { corrected: string | null; facets?: Record<string, { value: string; count: number }[]> };
  error: { code: string; message: string; param?: string };
}

let service: DataService;

test.before(async () => {
  service = await startDataService();
  const series = (id: string, name: string, more = {}) => makeSeries(service.pool, { id, name, ...more });
  await series('CPI', 'Consumer prices, all items', { category: 'prices/consumer', tags: ['inflation'] });
  await series('CPI.CORE', 'Consumer prices without food and energy', { category: 'prices/consumer' });
  await series('PPI', 'Producer price index', {
    category: 'prices',
    description: 'What makers of goods are paid.',
  });
  await series('UNRATE', 'Unemployment rate', { geography: 'Türkiye', frequency: 'quarterly' });
  await series('EXP.BR', 'Exports to São Paulo', { source: 'Customs', frequency: 'annual' });
  await series('XSS', 'Output of <b>sugar & salt</b>');
  await service.pool.query(
    `insert into data.commodity_items (item_id, name, name_local, unit, currency, category, frequency, source)
     values ('rice', 'Rice (basmati)', 'چاول', '1 Kg', 'PKR', 'cereals', 'monthly', 'Price Office')`,
  );
  await publish(service.pool, 'PPI', '2026-05-02', [{ date: '2026-03-31', value: '1' }]);
  await publish(service.pool, 'CPI', '2026-06-02', [{ date: '2026-04-30', value: '1' }]);
});

test.after.always(() => service.close());

async function search(parameters: Record<string, string>): Promise<Answer> {
  const path = `/v1/search?${String(new URLSearchParams(parameters))}`;
  return (await service.call(path, { identity: publicCaller })).json as Answer;
}

const idsOf = ({ data }: Answer) => data.map(({ id }) => id);
const idsFor = async (q: string) => idsOf(await search({ q }));

test('a hit reports its type, its source and why it matches, in the list envelope', async (t) => {
  const answer = await search({ q: 'producer' });
  t.true(answer.success);
  t.is(answer.count, 1);
  t.deepEqual(answer.pagination, { next_cursor: null, count: 1 });
  t.deepEqual(answer.data, [
    {
      type: 'series',
      id: 'PPI',
      name: 'Producer price index',
      unit: 'USD',
      frequency: 'monthly',
      source: 'Bureau of Examples',
      category: 'prices',
      last_date: '2026-03-31',
      last_updated: '2026-05-02',
      match: 'name_beginning',
      score: 0.85,
      matched: ['producer'],
      highlight: '<mark>Producer</mark> price index',
      excerpt: null,
    },
  ]);
});

test('an id in any letter case comes first, then entries that begin with it', async (t) => {
  const { data } = await search({ q: 'cpi' });
  t.deepEqual(
    data.map(({ id, match }) => [id, match]),
    [
      ['CPI', 'id'],
      ['CPI.CORE', 'id_beginning'],
    ],
  );
  t.deepEqual(await idsFor('CPI.core'), ['CPI.CORE']);
});

test('entries with every word come first, in any order, with any ending, in the name or other metadata', async (t) => {
  t.deepEqual((await idsFor('price consumer')).slice(0, 2), ['CPI', 'CPI.CORE']);
  t.deepEqual(await idsFor('makers'), ['PPI']);
  t.deepEqual(await idsFor('inflation'), ['CPI', 'CPI.CORE']);
});

test('entries with most of the words follow, then those with one, and each names the words', async (t) => {
  const { data } = await search({ q: 'consumer energy sugar' });
  t.deepEqual(
    data.map(({ id, match, matched }) => [id, match, matched]),
    [
      ['CPI.CORE', 'some_words', ['consumer', 'energy']],
      ['CPI', 'some_words', ['consumer']],
      ['XSS', 'some_words', ['sugar']],
    ],
  );
});

test('words such as "of" are not searched for', async (t) => {
  t.deepEqual(await idsFor('the rate of unemployment'), ['UNRATE']);
});

test('matches outside the name are shown', async (t) => {
  const { data } = await search({ q: 'makers of producer' });
  t.is(data[0]?.highlight, '<mark>Producer</mark> price index');
  t.regex(data[0]?.excerpt ?? '', /What <mark>makers<\/mark> of goods/);
});

test('a query in another language of the EU has the same hits as the English term', async (t) => {
  for (const q of ['Arbeitslosenquote', 'taux de chômage', 'tasa de desempleo', 'stopa bezrobocia'])
    t.is((await idsFor(q))[0], 'UNRATE', q);
});

test('a query is corrected only if that gives more hits, and a known term is never corrected', async (t) => {
  const house = await search({ q: 'output house' });
  t.is(house.meta.corrected, null);
  t.is(house.data[0]?.id, 'XSS');
  const answer = await search({ q: 'consumr zzyzx' });
  t.is(answer.meta.corrected, 'consumer zzyzx');
  t.deepEqual(idsOf(answer), ['CPI', 'CPI.CORE']);
});

test('a name that begins with the query comes before one that has its words, and that before other mentions', async (t) => {
  t.deepEqual(await idsFor('prices'), ['CPI', 'CPI.CORE', 'PPI', 'rice']);
});

test('the beginning of the last word is enough', async (t) => {
  t.deepEqual(await idsFor('unemployme'), ['UNRATE']);
  t.deepEqual(await idsFor('rate unempl'), ['UNRATE']);
});

test('accents and letter case do not matter, and other scripts are found', async (t) => {
  t.deepEqual(await idsFor('SAO paulo'), ['EXP.BR']);
  t.deepEqual(await idsFor('turkiye'), ['UNRATE']);
  t.deepEqual(await idsFor('چاول'), ['rice']);
});

test('one typing error in a word of four letters or more is tolerated, and the answer names the correction', async (t) => {
  for (const typed of ['unemploment', 'unemploymeent', 'unemplayment', 'unemplyoment', 'nuemployment']) {
    const answer = await search({ q: `${typed} rate` });
    t.deepEqual(idsOf(answer), ['UNRATE'], typed);
    t.is(answer.meta.corrected, 'unemployment rate');
  }
  t.deepEqual(await idsFor('UNRTAE'), ['UNRATE']);
  t.deepEqual(await idsFor('umemploymnt'), ['UNRATE']);
  t.is((await search({ q: 'unemployment' })).meta.corrected, null);
});

test('a query without any match finds nothing', async (t) => {
  t.deepEqual((await search({ q: 'zzyzx quuxly' })).data, []);
});

test('a commodity is found once, and not also as the series with its prices', async (t) => {
  const { data } = await search({ q: 'rice' });
  t.deepEqual(
    data.map(({ type, id, unit }) => [type, id, unit]),
    [['commodity', 'rice', '1 Kg']],
  );
  t.deepEqual(await idsFor('commodity.rice'), ['rice']);
});

test('hits can be filtered by type, frequency, source and category, including its subcategories', async (t) => {
  t.deepEqual(idsOf(await search({ q: 'prices', type: 'commodity' })), ['rice']);
  t.deepEqual(idsOf(await search({ q: 'prices', category: 'prices' })), ['CPI', 'CPI.CORE', 'PPI']);
  t.deepEqual(idsOf(await search({ q: 'cpi', category: 'prices/consumer', frequency: 'annual' })), []);
  t.deepEqual(idsOf(await search({ q: 'exports', source: 'Customs', frequency: 'annual' })), ['EXP.BR']);
  t.deepEqual(idsOf(await search({ q: 'exports', source: `Customs' | 'x` })), []);
});

test('a filter that matches no entry finds nothing, at any length', async (t) => {
  for (const filter of ['source', 'category'])
    for (const text of ['🎉'.repeat(900), 'x'.repeat(2_000), 'é'.repeat(1_018), 'é'.repeat(1_022)])
      t.deepEqual(idsOf(await search({ q: 'prices', [filter]: text })), [], `${filter} ${text.length}`);
});

test('facets count the hits by type, frequency, source and category', async (t) => {
  const { meta } = await search({ q: 'prices', facets: 'true', limit: '1' });
  t.deepEqual(meta.facets?.['type'], [
    { value: 'series', count: 3 },
    { value: 'commodity', count: 1 },
  ]);
  t.deepEqual(meta.facets?.['category'], [
    { value: 'prices/consumer', count: 2 },
    { value: 'cereals', count: 1 },
    { value: 'prices', count: 1 },
  ]);
});

test('pages put together are the whole list, in the same order, also of a corrected query, and each reports it', async (t) => {
  const queries: Record<string, string>[] = [
    { q: 'prices' },
    { q: 'prices', sort: 'updated' },
    { q: 'pricse' },
  ];
  for (const parameters of queries) {
    const answer = await search(parameters);
    const whole = idsOf(answer);
    t.is(whole.length, 4);
    t.is(answer.meta.corrected, parameters['q'] === 'pricse' ? 'price' : null);
    const paged: string[] = [];
    let cursor: string | null = null;
    do {
      const page: Answer = await search({
        ...parameters,
        limit: '1',
        ...(cursor === null ? {} : { cursor }),
      });
      t.is(page.meta.corrected, answer.meta.corrected);
      paged.push(...idsOf(page));
      cursor = page.pagination.next_cursor;
    } while (cursor !== null);
    t.deepEqual(paged, whole);
  }
});

test('sort=updated puts the latest publications first, and entries without one last', async (t) => {
  t.deepEqual(idsOf(await search({ q: 'prices', sort: 'updated' })).slice(0, 2), ['CPI', 'PPI']);
});

test('the highlight is safe to show as HTML', async (t) => {
  const { data } = await search({ q: 'salt' });
  t.is(data[0]?.highlight, 'Output of &lt;b&gt;sugar &amp; <mark>salt</mark>&lt;/b&gt;');
});

test('a query that is missing, too long or without a letter, and a foreign cursor, are refused by name', async (t) => {
  const bad: [Record<string, string>, string, string][] = [
    [{}, 'invalid_parameter', 'q'],
    [{ q: '!!!' }, 'invalid_parameter', 'q'],
    [{ q: 'x'.repeat(201) }, 'invalid_parameter', 'q'],
    [{ q: 'cpi', type: 'bond' }, 'invalid_parameter', 'type'],
    [{ q: 'cpi', facets: 'yes' }, 'invalid_parameter', 'facets'],
    [{ q: 'cpi', cursor: 'abc' }, 'invalid_cursor', 'cursor'],
  ];
  for (const [parameters, code, param] of bad) {
    const { error } = await search(parameters);
    t.is(error.code, code, JSON.stringify(parameters));
    t.is(error.param, param);
  }
});

test('no query breaks the search, whatever its signs', async (t) => {
  for (const q of [
    `'`,
    `a'b`,
    `\\`,
    'a:*',
    'a & b',
    '!a',
    '(a',
    'a <-> b',
    '%',
    'é',
    'a'.repeat(198),
    "x\\'y",
    '1e5',
    'http://a.b/c',
  ]) {
    const answer = await search({ q: `${q} x` });
    t.true(answer.success, q);
  }
});

test('for a word of very many entries, a thousand are listed, none of them twice', async (t) => {
  await service.pool.query(`select data.store_search(array(
    select row('fund', 'f' || i, 'Fund ' || i || ' ubiquitous', null, null, null, null, '', null, null, null)::data.search_document
    from generate_series(1, 30000) i))`);
  const paged: string[] = [];
  let cursor: string | null = null;
  do {
    const page: Answer = await search({
      q: 'ubiquitous',
      limit: '400',
      ...(cursor === null ? {} : { cursor }),
    });
    paged.push(...idsOf(page));
    cursor = page.pagination.next_cursor;
  } while (cursor !== null);
  t.is(paged.length, 1_000);
  t.is(new Set(paged).size, 1_000);
  t.is((await idsFor('29999 ubiquitous'))[0], 'f29999');
  t.deepEqual(idsOf(await search({ q: 'ubiquitous', type: 'series' })), []);
});

test('with statistics of the entries, the beginning of a common word and unknown words have the same hits as without', async (t) => {
  const entry = `select row('fund', 'p' || i, case i % 50 when 0 then 'Pluviometric record ' else 'Pluvious record ' end || i, null, null,
    null, null, '', null, null, null)::data.search_document from generate_series(1, 3000) i`;
  await service.pool.query(`select data.store_search(array(${entry}))`);
  const queries = ['pluvi 2950', 'pluviome', 'pluvious', 'record pluvio', 'pluviometric 2950 qqqq zzzz', '2951 pluvious', 'frequ']; // prettier-ignore
  const found = async () =>
    Promise.all(queries.map(async (q) => (await search({ q, limit: '1000' })).data.map(({ id }) => id)));
  const without = await found();
  await service.pool.query('analyze data.search_entries');
  const withStatistics = await found();
  const firsts = ['p2950', 'p50', 'p1', 'p1', 'p2950', 'p2951'];
  t.deepEqual(
    withStatistics.map(([first]) => first),
    [...firsts, undefined],
  );
  t.is(withStatistics[1]?.length, 60);
  t.deepEqual(withStatistics.map((ids) => ids.length), without.map((ids) => ids.length)); // prettier-ignore
});

test('the score falls with the kind of match, and every hit of a kind has the same', async (t) => {
  const kinds = ['id', 'name', 'id_beginning', 'name_beginning', 'name_words', 'name_synonyms', 'words', 'name_words_begun', 'words_begun', 'some_words']; // prettier-ignore
  const scores = new Map<string, number>();
  for (const q of [
    'cpi',
    'producer price index',
    'cpi.c',
    'consumer pri',
    'energy prices',
    'consumer prices all',
    'jobless rate',
    'makers',
    'items consu',
    'mak',
    'sugar energy',
  ]) {
    const { data } = await search({ q });
    for (const { match, score } of data)
      if (match !== 'some_words') t.is(scores.get(match) ?? score, score, match);
    for (const { match, score } of data) scores.set(match, score);
    t.deepEqual(
      data.map(({ score }) => score),
      data.map(({ score }) => score).toSorted((a, b) => b - a),
      q,
    );
  }
  const seen = kinds.flatMap((kind) => scores.get(kind) ?? []);
  t.is(seen.length, kinds.length, `every kind is seen: ${[...scores.keys()].join(', ')}`);
  t.deepEqual(
    [...new Set(seen)].toSorted((a, b) => b - a),
    seen,
  );
});

test('words that are names of JavaScript are words like others', async (t) => {
  await makeSeries(service.pool, { id: 'BUILT', name: 'Constructor of prototypes' });
  for (const q of ['constructor', 'constructor prototypes', 'constructor hasownproperty', 'konstructor']) {
    const { status, json } = await service.call(`/v1/search?q=${encodeURIComponent(q)}`, {
      identity: publicCaller,
    });
    t.is(status, 200, q);
    t.true(
      (json as Answer).data.some(({ id }) => id === 'BUILT'),
      q,
    );
  }
});
