// The catalogue and FRED's search for a word of very many series: only some are ranked, and each is listed once.
import test from 'ava';
import { startListService, type ListService } from '../services/list-service.ts';

const seriesTotal = 3_000;
let service: ListService;

test.before(async () => {
  service = await startListService();
  await service.pool.query(
    `insert into data.series (series_id, name, unit, frequency, source, category, tags)
     select 'M' || lpad(i::text, 4, '0'), case i when 2950 then 'Ubiquitous' when 2007 then 'The ubiquitous' else 'Output ' || i || ' of ubiquitous widgets' end, 'Index',
       case i % 2 when 0 then 'monthly' else 'annual' end, 'Bureau of Many', 'many', case i % 1000 when 7 then '{marked}'::text[] else '{}' end
     from generate_series(1, $1::integer) i`,
    [seriesTotal],
  );
  await service.pool.query('select data.refresh_search(array(select series_no from data.series))');
  await service.pool.query('analyze data.series, data.search_entries');
});
test.after.always(() => service.close());

const allIds = (path: string) => service.readPages(path, 'id', 700);

test('the pages contain every series once: first the ranked ones in order of relevance, then the others by id', async (t) => {
  const ids = await allIds('/v1/catalog?q=ubiquitous');
  t.is(ids.length, seriesTotal);
  t.is(new Set(ids).size, seriesTotal);
  t.is(ids[0], 'M2950');
  const ranked = await allIds('/v1/search?q=ubiquitous');
  t.true(ranked.length >= 1_000 && ranked.length < seriesTotal, String(ranked.length));
  t.deepEqual(new Set(ids.slice(0, ranked.length)), new Set(ranked));
  t.deepEqual(ids.slice(0, 20), ranked.slice(0, 20));
  const others = ids.slice(ranked.length);
  t.deepEqual(others, others.toSorted());
});

test('the series of a filter are ranked, however many others have the word', async (t) => {
  t.deepEqual(await allIds('/v1/catalog?q=ubiquitous&tag=marked'), ['M2007', 'M0007', 'M1007']);
  t.is((await allIds('/v1/catalog?q=ubiquitous&frequency=annual')).length, seriesTotal / 2);
  t.deepEqual(await allIds('/v1/catalog?q=ubiquitous&ids=M2999,M0003'), ['M0003', 'M2999']);
});

test('counts and facets include all matching series', async (t) => {
  for (const [filter, count] of [
    ['', seriesTotal],
    ['&frequency=annual', seriesTotal / 2],
    ['&category=many&tag=marked', 3],
    ['&ids=M0003', 1],
  ] as const) {
    t.is((await service.list(`/v1/catalog?q=ubiquitous&count_only=true${filter}`)).count, count, filter);
    const { pagination, meta } = await service.list(`/v1/catalog?q=ubiquitous&facets=true&limit=1${filter}`);
    t.like(pagination, { total: count }, filter);
    t.like(meta, { facets: { category: [{ value: 'many', count }] } }, filter);
  }
});

test('FRED’s search counts all series, lists each once, and has the best match first or last', async (t) => {
  const page = async (query: string) => {
    const { json } = await service.call(`/fred/series/search?search_text=ubiquitous&file_type=json&${query}`);
    return json as { count: number; seriess: { id: string }[] };
  };
  const pages = [await page('limit=1000'), await page('limit=1000&offset=1000'), await page('offset=2000')];
  const ids = pages.flatMap(({ seriess }) => seriess.map(({ id }) => id));
  t.is(pages[0]?.count, seriesTotal);
  t.is(new Set(ids).size, seriesTotal);
  t.is(ids[0], 'M2950');
  t.is((await page('sort_order=asc&offset=2999')).seriess[0]?.id, 'M2950');
});
