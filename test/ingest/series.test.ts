import test from 'ava';
import { daily, loadCsv, openIngestDatabase, rejectsOf, rowCounts, seriesRow } from './loading.ts';

const database = await openIngestDatabase(test);

const series = { dataset: 'series' };
const header = 'series_id,name,unit,frequency,source';

test.serial('series are created and changed by id; the same file again changes nothing', async (t) => {
  const csv = [
    `${header},tags,decimals,description`,
    'CPI,Consumer prices,Index,Monthly,Office,"prices; ""cost"" of living;",2,"Two\nlines, and a \\ slash"',
    'GDP,Output,Rupees,quarterly,Office,,,',
  ];
  t.like(await loadCsv(database, csv, series), { rowsRead: 2, pointsNew: 2 });
  t.like(await seriesRow(database, 'CPI'), {
    frequency: 'monthly',
    tags: ['prices', '"cost" of living'],
    decimals: 2,
    description: 'Two\nlines, and a \\ slash',
  });
  const before = [await rowCounts(database), await seriesRow(database, 'CPI')];
  t.like(await loadCsv(database, csv, series), { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 2 });
  t.deepEqual([await rowCounts(database), await seriesRow(database, 'CPI')], before);
});

test.serial('a column that the file lacks stays unchanged, and an empty cell clears its value', async (t) => {
  await loadCsv(database, [`${header},geography,category`, 'KEEP,Name,Index,daily,Office,PK,Prices'], series);
  const before = await seriesRow(database, 'KEEP');
  t.like(await loadCsv(database, 'series_id,Name,geography\nKEEP,New name,', series), { pointsRevised: 1 });
  const after = await seriesRow(database, 'KEEP');
  t.like(after, { name: 'New name', geography: null, category: 'Prices', unit: 'Index' });
  t.true(
    Number(after?.['data_version']) > Number(before?.['data_version']) &&
      Number(after?.['row_version']) > Number(before?.['row_version']),
    'readers must see a new version',
  );
});

test.serial(
  'a new series without its required metadata is refused, as is every cell of the wrong type',
  async (t) => {
    const before = await rowCounts(database);
    t.deepEqual(await rejectsOf(loadCsv(database, 'series_id,name\nNEW.ONE,Name', series)), [
      [2, 'frequency', ''],
    ]);
    const rows = [
      'A B,Name,Index,daily,Office',
      'OK,,Index,daily,Office',
      'OK,Name,Index,hourly,Office',
      `OK,${'x'.repeat(501)},Index,daily,Office`,
    ];
    t.deepEqual(
      (await rejectsOf(loadCsv(database, [header, ...rows], series))).map(([line, column]) => [line, column]),
      [
        [2, 'series_id'],
        [3, 'name'],
        [4, 'frequency'],
        [5, 'name'],
      ],
    );
    t.deepEqual(await rejectsOf(loadCsv(database, [header, 'TWO,N,I,daily,O', 'TWO,N,I,daily,O'], series)), [
      [3, 'series_id', 'TWO'],
    ]);
    t.deepEqual(await rowCounts(database), before);
  },
);

test.serial('the frequency of a series with observations cannot change', async (t) => {
  await loadCsv(database, 'series_id,date,value\nDATED,2024-01-01,1', { create: true, set: daily });
  t.deepEqual(await rejectsOf(loadCsv(database, 'series_id,frequency\nDATED,monthly', series)), [
    [2, 'frequency', 'monthly'],
  ]);
});

test.serial('a column that series do not have is refused, unless it is ignored', async (t) => {
  const csv = [`${header},colour`, 'BLUE,Name,Index,daily,Office,blue'];
  await t.throwsAsync(loadCsv(database, csv, series), { message: /no column colour/ });
  t.like(await loadCsv(database, csv, { ...series, ignore: ['colour'] }), { pointsNew: 1 });
});

test.serial('options for observations are refused for series', async (t) => {
  await t.throwsAsync(loadCsv(database, header, { ...series, full: true, vintage: '2024-01-01' }), {
    message: /--full, --vintage: not for series/,
  });
});

test.serial('an unknown dataset is refused with the names of the existing ones', async (t) => {
  await t.throwsAsync(loadCsv(database, 'a', { dataset: 'funds?' }), {
    message: /there are series, observations/,
  });
});
