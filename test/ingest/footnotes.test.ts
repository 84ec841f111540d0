import test from 'ava';
import { daily, failureOf, loadCsv, openIngestDatabase, rejectsOf } from './loading.ts';

const database = await openIngestDatabase(test);
const footnotes = { dataset: 'footnotes' };
const header = 'series_id,date,dims,mark,text';

test.before(async () => {
  const facts = 'series_id,name,unit,frequency,source,fiscal_year_end';
  const series = ['M', 'Q', 'D', 'A'].map(
    (id) =>
      `${id},${id},Index,${{ M: 'monthly', Q: 'quarterly', D: 'daily', A: 'annual' }[id]},Office,${id === 'A' ? '06-30' : ''}`,
  );
  await loadCsv(database, [facts, ...series], { dataset: 'series' });
  const sides = [
    'series_id,date,value,side,city',
    'TRADES,2024-01-02,1,buy,Lahore',
    'TRADES,2024-01-02,2,sell,Karachi',
  ];
  await loadCsv(database, sides, { create: true, set: { ...daily, name: 'Trades' } });
});

const stored = (id: string) =>
  database.query<{ date: string; dims: object; mark: string; text: string }>(
    `select nullif(date, '-infinity') as date, dims, mark, text from data.footnotes join data.series using (series_no)
     where series_id = $1 order by date nulls first, mark`,
    [id],
  );

test.serial('a note applies to the series, or to the point whose day or period it names', async (t) => {
  const csv = [
    header,
    'M,,,1,On the series',
    'M,2024-02,,,On a month',
    'M,2024-03-15,,2,On the month of a day',
    'Q,2024-Q1,,,On a quarter',
    'D,2024-02-29,,,On a day',
    'A,2023,,,On the fiscal year that ends in it',
  ];
  t.like(await loadCsv(database, csv, footnotes), { pointsNew: 6, pointsDeleted: 0 });
  t.deepEqual(await stored('M'), [
    { date: null, dims: {}, mark: '1', text: 'On the series' },
    { date: '2024-02-29', dims: {}, mark: '', text: 'On a month' },
    { date: '2024-03-31', dims: {}, mark: '2', text: 'On the month of a day' },
  ] as never);
  t.deepEqual(
    (await Promise.all(['Q', 'D', 'A'].map(stored))).map(([note]) => note?.date),
    ['2024-03-31', '2024-02-29', '2023-06-30'],
  );
  t.like(await loadCsv(database, csv, footnotes), {
    pointsNew: 0,
    pointsRevised: 0,
    pointsUnchanged: 6,
    pointsDeleted: 0,
  });
});

test.serial('a file states all notes of its series, and does not affect those of others', async (t) => {
  await loadCsv(database, [header, 'M,,,1,Old', 'M,2024-01,,,Older', 'Q,,,1,Kept'], footnotes);
  const summary = await loadCsv(database, [header, 'M,,,1,New', 'M,2024-02,,,Newer'], footnotes);
  t.like(summary, { pointsNew: 1, pointsRevised: 1, pointsDeleted: 1 });
  t.deepEqual(
    (await stored('M')).map(({ text }) => text),
    ['New', 'Newer'],
  );
  t.deepEqual(
    (await stored('Q')).map(({ text }) => text),
    ['Kept'],
  );
});

test.serial('a row without text states that the series has no notes', async (t) => {
  await loadCsv(database, [header, 'M,,,1,One', 'M,2024-01,,,Two'], footnotes);
  const none = ['series_id,text', 'M,'];
  t.like(await loadCsv(database, none, footnotes), {
    rowsRead: 1,
    pointsNew: 0,
    pointsUnchanged: 0,
    pointsDeleted: 2,
  });
  t.deepEqual(await stored('M'), []);
  t.like(await loadCsv(database, none, footnotes), { pointsNew: 0, pointsUnchanged: 0, pointsDeleted: 0 });
});

test.serial('dates are read by the options', async (t) => {
  const csv = ['Series,Month,text', 'M,02/2024,Noted'];
  const map = { series_id: 'Series', date: 'Month' };
  await loadCsv(database, csv, { ...footnotes, map, dateFormat: 'MM/YYYY' });
  t.deepEqual(
    (await stored('M')).map(({ date }) => date),
    ['2024-02-29'],
  );
});

test.serial(
  'notes that apply to no point of their series are refused, line by line, and nothing is stored',
  async (t) => {
    const csv = [
      header,
      'NONE,2024-01,,,x',
      'M,2024,,,a year in a monthly series',
      'D,2024-02,,,a month in a daily series',
      'M,someday,,,x',
      'TRADES,2024-01-02,side:lend,,x',
      'TRADES,2024-01-02,sides:buy,,x',
      'TRADES,2024-01-02,"side:buy,city:Karachi",,no point has both',
      'TRADES,2024-01-02,side,,x',
      'M,2024-01,side:buy,,x',
      `M,2024-02,,,${'x'.repeat(2_001)}`,
      'M,2024-03,,12345678901234567,x',
      'M,2024-04,,1,once',
      'M,2024-04-30,,1,twice',
    ];
    const refused = await rejectsOf(loadCsv(database, csv, footnotes));
    t.deepEqual(
      refused.map(([line, column]) => [line, column]).sort(([a], [b]) => Number(a) - Number(b)),
      [
        [2, 'series_id'],
        [3, 'date'],
        [4, 'date'],
        [5, 'date'],
        [6, 'dims'],
        [7, 'dims'],
        [8, 'dims'],
        [9, 'dims'],
        [10, 'dims'],
        [11, 'text'],
        [12, 'mark'],
        [14, 'series_id, date, dims, mark'],
      ],
    );
    const { message } = await failureOf(loadCsv(database, [header, 'M,2024,,,x'], footnotes));
    t.regex(message, /line 2, date: "2024", expected the date of a point of a monthly series: YYYY-MM/);
    t.deepEqual(await stored('TRADES'), []);
  },
);

test.serial('notes of a series that does not exist are all refused for that reason', async (t) => {
  const csv = [header, 'NONE,2024-01,,,x', 'NONE,2024-02,,,y', 'NONE,,,,z'];
  const { rejects } = await failureOf(loadCsv(database, csv, footnotes));
  t.deepEqual(
    rejects.toSorted((a, b) => a.line - b.line).map(({ line, column, expected }) => [line, column, expected]),
    [2, 3, 4].map((line) => [line, 'series_id', 'a series that exists']),
  );
});

test.serial('bad notes cannot be skipped: notes that the file lacks are deleted', async (t) => {
  await loadCsv(database, [header, 'M,,,1,One', 'M,,,2,Two'], footnotes);
  const bad = [header, 'M,,,1,New', `M,,,2,${'x'.repeat(2_001)}`];
  const { code, message } = await failureOf(loadCsv(database, bad, { ...footnotes, skipInvalid: true }));
  t.is(code, 'usage');
  t.regex(message, /--skip-invalid/);
  t.deepEqual((await stored('M')).length, 2);
});

test.serial('a note can apply to the points with some dimension values', async (t) => {
  const csv = [header, 'TRADES,2024-01-02,side:buy,,a', 'TRADES,,"side:sell,city:Karachi",,b'];
  t.like(await loadCsv(database, csv, footnotes), { pointsNew: 2 });
  t.deepEqual(
    (await stored('TRADES')).map(({ dims }) => dims),
    [{ side: 'sell', city: 'Karachi' }, { side: 'buy' }],
  );
});

test.serial(
  'a file without the column of texts is refused: it would delete every note of its series',
  async (t) => {
    const { message } = await failureOf(
      loadCsv(database, ['series_id,note', 'M,x'], { ...footnotes, ignore: ['note'] }),
    );
    t.regex(message, /has no column text/);
  },
);
