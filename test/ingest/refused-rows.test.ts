import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'csv-parse/sync';
import test from 'ava';
import {
  daily,
  failureOf,
  fileOf,
  loadCsv,
  openIngestDatabase,
  published,
  rowCounts,
  seriesRow,
} from './loading.ts';

const database = await openIngestDatabase(test);

const monthly = { frequency: 'monthly', unit: 'Index', source: 'Test' };
const made = { create: true, set: daily };

test.serial(
  'every bad row is reported by line, column, value and expectation, and nothing is stored',
  async (t) => {
    await loadCsv(database, 'series_id,date,value\nBAD,2024-01-01,1', made);
    const before = await rowCounts(database);
    const failure = await failureOf(
      loadCsv(
        database,
        [
          'series_id,date,value',
          'BAD,2024-01-02,2',
          'BAD,2024-02-30,3',
          'BAD,2024-01-03,#N/A',
          'GOOD?,2024-01-03,4',
          'BAD,2024-01-04',
          '"BAD","2024-01-05","two\nlines"',
          'BAD,2024-01-06,NaN',
        ],
        { ...made, create: false, set: {} },
      ),
    );
    t.is(failure.code, 'invalid_rows');
    t.is(failure.rowsRejected, 6);
    t.deepEqual(
      failure.rejects.map(({ line, column, value }) => [line, column, value]),
      [
        [3, 'date', '2024-02-30'],
        [4, 'value', '#N/A'],
        [5, 'series_id', 'GOOD?'],
        [6, 'row', 'BAD,2024-01-04'],
        [7, 'value', 'two\nlines'],
        [9, 'value', 'NaN'],
      ],
    );
    t.regex(failure.rejects[0]?.expected ?? '', /daily series: YYYY-MM-DD/);
    t.regex(failure.rejects[1]?.expected ?? '', /--missing "#N\/A"/);
    t.regex(failure.message, /6 rows are not valid; nothing was stored/);
    t.deepEqual(await rowCounts(database), before);
  },
);

test.serial('two rows of one point are refused with both lines, in any order', async (t) => {
  const failure = await failureOf(
    loadCsv(
      database,
      ['series_id,date,value', 'DUP,2024-01-02,1', 'DUP,2024-01-01,2', 'DUP,2024-01-02,1'],
      made,
    ),
  );
  t.like(failure.rejects[0], { line: 4, value: 'DUP, 2024-01-02' });
  t.regex(failure.rejects[0]?.expected ?? '', /line 2 has the same series, date and dimensions/);
  t.deepEqual(await published(database, 'DUP'), {});
});

test.serial('a repeated point and a bad row are both reported, and nothing is stored', async (t) => {
  const before = await rowCounts(database);
  const csv = [
    'series_id,date,value',
    'TOP,2024-01-01,1',
    'TOP,2024-01-02,x',
    'TOP,2024-01-03,3',
    'TOP,2024-01-01,1',
  ];
  const failure = await failureOf(loadCsv(database, '', { ...made, input: fileOf(csv) }));
  t.deepEqual(
    failure.rejects.map(({ line, column }) => [line, column]),
    [
      [3, 'value'],
      [5, 'row'],
    ],
  );
  t.regex(failure.rejects[1]?.expected ?? '', /line 2 has the same series, date and dimensions/);
  t.deepEqual(await rowCounts(database), before);
});

test.serial('two days of one month are one point of a monthly series', async (t) => {
  const failure = await failureOf(
    loadCsv(database, 'date,value\n2024-01-01,1\n2024-01-02,2', {
      create: true,
      set: { ...monthly, series_id: 'MONTH' },
    }),
  );
  t.like(failure.rejects[0], { line: 3, value: 'MONTH, 2024-01-31' });
});

test.serial('--skip-invalid stores the good rows and reports all bad ones in a file', async (t) => {
  const reportFile = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'rejects.csv');
  const bad = Array.from({ length: 30 }, (_, at) => `SKIP,2024-01-02,"x,${at}"`);
  const summary = await loadCsv(
    database,
    ['series_id,date,value', 'SKIP,2024-01-01,1', ...bad, 'SKIP,2024-01-01,2'],
    {
      ...made,
      skipInvalid: true,
      reportFile,
    },
  );
  t.like(summary, { rowsRead: 32, pointsNew: 1, rowsRejected: 31 });
  t.is(summary.rejects.length, 20);
  t.deepEqual(await published(database, 'SKIP'), { '2024-01-01': '1' });
  const report = readFileSync(reportFile, 'utf8').trimEnd().split('\n');
  t.is(report.length, 32);
  t.is(report[1], '3,value,"x,0","a number such as 1234.5, or an empty cell for missing"');
});

test.serial('no cell of a bad row runs as a formula when a spreadsheet opens the report', async (t) => {
  const reportFile = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'rejects.csv');
  const bad = ['=cmd()', '@SUM(A1)', '＝1+1', '"+1\r=1+1"'];
  await loadCsv(database, ['series_id,date,value', ...bad.map((text) => `SKIP,2024-01-03,${text}`)], {
    ...made,
    skipInvalid: true,
    reportFile,
  });
  const rows = parse(readFileSync(reportFile, 'utf8'), { record_delimiter: ['\r\n', '\n', '\r'] });
  t.deepEqual(
    rows.slice(1).map((row) => row[2]),
    ["'=cmd()", "'@SUM(A1)", "'＝1+1", "'+1\r=1+1"],
  );
});

test.serial('all of many bad rows are counted, a thousand are stored and twenty shown', async (t) => {
  const bad = Array.from({ length: 1_005 }, (_, at) => `MUCH,2024-01-01,x${at}`);
  const failure = await failureOf(loadCsv(database, ['series_id,date,value', ...bad], made));
  t.is(failure.rowsRejected, 1_005);
  t.is(failure.rejects.length, 1_000);
  t.is(failure.message.split('\n').length, 1 + 20 + 1);
  t.regex(failure.message, /^1005 rows are not valid[^]*"x19"[^]*\n  and 985 more$/);
  const one = await failureOf(loadCsv(database, 'series_id,date,value\nMUCH,2024-01-01,x', made));
  t.regex(one.message, /^1 row is not valid; nothing was stored\.\n  line 2, value: "x", expected a number/);
});

test.serial('--full with --skip-invalid is refused: a skipped row would be deleted', async (t) => {
  const failure = await failureOf(loadCsv(database, 'date,value', { full: true, skipInvalid: true }));
  t.is(failure.code, 'usage');
});

test.serial(
  'an unknown series is refused without --create, and --create requires the mandatory facts',
  async (t) => {
    const csv = 'series_id,date,value\nUNKNOWN,2024-01-01,1';
    t.like((await failureOf(loadCsv(database, csv))).rejects[0], {
      line: 2,
      column: 'series_id',
      value: 'UNKNOWN',
    });
    const incomplete = await failureOf(loadCsv(database, csv, { create: true, set: { unit: 'Index' } }));
    t.is(incomplete.code, 'usage');
    t.regex(incomplete.message, /lacks frequency, source/);
    t.is(await seriesRow(database, 'UNKNOWN'), undefined);
  },
);

test.serial('a column whose name cannot be a dimension is refused with the option that helps', async (t) => {
  const failure = await failureOf(
    loadCsv(database, 'series_id,date,value,Country Name\nX,2024-01-01,1,PK', made),
  );
  t.regex(failure.message, /--map 'country_name=Country Name'/);
});

test.serial('an incomplete row does not describe a new series: its next row does', async (t) => {
  const csv = [
    'series_id,date,value,unit,frequency,source',
    'CUT,2024-01-01',
    'CUT,2024-01-02,2,Index,daily,Test',
  ];
  const loaded = await loadCsv(database, csv, { create: true, skipInvalid: true });
  t.deepEqual(
    loaded.rejects.map(({ line, column }) => [line, column]),
    [[2, 'row']],
  );
  t.deepEqual(await published(database, 'CUT'), { '2024-01-02': '2' });
});

test.serial('a load that stores no row counts none', async (t) => {
  await loadCsv(database, 'series_id,date,value\nNOTHING,2024-01-01,1', made);
  const counts = await loadCsv(database, 'series_id,date,value\nNOTHING,2024-02-30,1', { skipInvalid: true });
  t.like(counts, {
    rowsRead: 1,
    rowsRejected: 1,
    pointsNew: 0,
    pointsRevised: 0,
    pointsUnchanged: 0,
    pointsDeleted: 0,
  });
});
