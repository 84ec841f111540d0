// The entries that data.refresh_search writes, on a real database; and the check that runs at the end of every test database.
import test from 'ava';
import pg from 'pg';
import { createTestDatabase } from '../services/harness.ts';
import { refreshSearch, staleEntries } from './search-entries.ts';
import { createBench, type Bench } from './bench.ts';

let database: { url: string; drop(): Promise<void> };
let client: pg.Client;
let db: Bench;
test.before(async () => {
  database = await createTestDatabase();
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
  db = createBench(client);
});
test.after.always(async () => {
  await client?.end();
  await database?.drop();
});

/** The entry after a refresh: id, name and the other words. */
async function found(): Promise<unknown[]> {
  await refreshSearch(client);
  return db.values(
    `select id, name, trim(regexp_replace(facts, ' +', ' ', 'g')) from data.search_entries order by id`,
  );
}

const words = () => db.values('select word from data.search_terms order by 1');

test.serial('a series is found by its name, its geography, its tags and its earlier ids', (t) =>
  db.undone(async () => {
    await db.insert('data.series', { series_no: '1', name: 'Consumer prices', tags: '{cpi}' });
    t.deepEqual(await found(), [['A', 'Consumer prices', 'cpi']]);
    await db.run(`update data.series set name = 'Living costs', geography = 'PK'`);
    t.deepEqual(await found(), [['A', 'Living costs', 'PK cpi']]);
    await db.run(`insert into data.series_aliases (alias, series_no) values ('A', 1)`);
    await db.run(`update data.series set series_id = 'B'`);
    t.deepEqual(await found(), [['B', 'Living costs', 'PK cpi A']]);
  }),
);

test.serial(
  'a deleted series is not found, a restored one is again, and one that is gone leaves no entry',
  (t) =>
    db.undone(async () => {
      await db.insert('data.series', { series_no: '1' });
      await db.insert('data.series', { series_no: '2', series_id: 'B' });
      await refreshSearch(client);
      await db.run(`update data.series set deleted_on = '2024-01-01' where series_no = 1`);
      t.deepEqual(await found(), [['B', 'A', '']]);
      await db.run('update data.series set deleted_on = null');
      t.is((await found()).length, 2);
      await db.run('delete from data.series where series_no = 1');
      await db.run('select data.refresh_search(array[1])');
      t.deepEqual(await found(), [['B', 'A', '']]);
    }),
);

test.serial('a series is found by the values of its dimensions and by their labels', (t) =>
  db.undone(async () => {
    await db.insert('data.series', { series_no: '1', dimensions: '{city}' });
    await db.insert('data.series_dims', { line_no: '1', series_no: '1', dims: '{"city": "Lahore"}' });
    t.deepEqual(await found(), [['A', 'A', 'Lahore']]);
    await db.insert('data.dimension_labels', { series_no: '1', label: 'Karachi' });
    t.deepEqual(await found(), [['A', 'A', 'Karachi Lahore']]);
    await db.run(`update data.dimension_labels set label = 'Karāchī'`);
    t.deepEqual(await found(), [['A', 'A', 'Karāchī Lahore']]);
  }),
);

test.serial('a series that gets an item is found as that item, with the facts of its own row', (t) =>
  db.undone(async () => {
    await db.insert('data.series', { series_id: 'commodity.wheat' });
    await refreshSearch(client);
    await db.insert('data.commodity_items');
    await db.run(`update data.series set geography = 'PK'`);
    t.deepEqual(await found(), [['wheat', 'Wheat', 'commodity.wheat price PK']]);
  }),
);

test.serial(
  'ids and names weigh more than the rest, in any spelling, and filters are words of their own',
  (t) =>
    db.undone(async () => {
      await db.insert('data.series', { series_id: 'CPI.PK', name: 'Prices, Café', source: 'Bureau' });
      await refreshSearch(client);
      t.deepEqual(
        await db.values(
          `select id_text, name_text, words @@ 'price:A' and words @@ 'bureau:B' and words @@ ''':source:Bureau''',
           words @@ 'bureau:A'
         from data.search_entries`,
        ),
        [['cpi pk', 'prices cafe', true, false]],
      );
    }),
);

test.serial('the words of names, also of earlier ones, are stored to correct typing errors', (t) =>
  db.undone(async () => {
    await db.insert('data.series', { name: 'Wheat and rice, 2024 a1b2' });
    await refreshSearch(client);
    t.deepEqual(
      await db.values(
        'select word, array(select unnest(near) collate "C" order by 1) from data.search_terms order by 1',
      ),
      [
        ['rice', ['ice', 'rce', 'ric', 'rice', 'rie']],
        ['wheat', ['heat', 'weat', 'what', 'whea', 'wheat', 'whet']],
      ],
    );
    await db.run(`update data.series set name = 'Maize'`);
    await refreshSearch(client);
    t.deepEqual(await words(), ['maize', 'rice', 'wheat']);
  }),
);

test.serial('more series than a part are all found, and a refresh writes only the entries that differ', (t) =>
  db.undone(async () => {
    await db.run(
      `insert into data.series (series_id, name, unit, frequency, source)
       select 'S' || i, 'Alike', 'Index', 'daily', 'Tests' from generate_series(1, 10001) i`,
    );
    t.is((await found()).length, 10_001);
    const before = await db.values('select ctid::text from data.search_entries order by id');
    await db.run(
      `update data.series set licence = 'open', unit = case series_id when 'S7' then 'USD' else unit end`,
    );
    await refreshSearch(client);
    const after = await db.values('select ctid::text from data.search_entries order by id');
    t.is(after.filter((place, i) => place !== before[i]).length, 1);
  }),
);

for (const [what, change, expected] of [
  ['a new series', `insert into data.series (series_id, name, unit, frequency, source) values ('B', 'B', 'Index', 'daily', 'T')`, 'series B is not found'],
  ['a new name', `update data.series set name = 'New'`, 'series A is found by what it was'],
  ['a deletion', `update data.series set deleted_on = '2024-01-01'`, 'series A is found and should not be'],
  ['a label', `insert into data.dimension_labels values (1, 'city', 'K', 'Karachi')`, 'series A is found by what it was'],
  ['dimension values', `insert into data.series_dims values (2, 1, '{"city": "K"}')`, 'series A is found by what it was'],
  ['an earlier id', `insert into data.series_aliases (alias, series_no) values ('C', 1)`, 'series A is found by what it was'],
  ['words', `update data.search_entries set words = ''`, 'series A has other words'],
  ['a count', `update data.facet_counts set series = 2 where facet = 'frequency'`, 'frequency monthly has another count'],
  ['a word', `delete from data.search_terms`, 'wheat is not corrected'],
] as const)
  test.serial(`${what} without a refresh is found by the check at the end of each test`, (t) =>
    db.undone(async () => {
      await db.insert('data.series', { series_no: '1', name: 'Wheat', dimensions: '{city}' });
      await refreshSearch(client);
      t.deepEqual(await staleEntries(client), []);
      await db.run(change);
      t.is((await staleEntries(client))[0], expected);
    }),
  ); // prettier-ignore
