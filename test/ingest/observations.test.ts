import { gzipSync } from 'node:zlib';
import { Readable } from 'node:stream';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { IngestFailure } from '../../ingest/failure.ts';
import { createTestDatabase, silentLog } from '../harness.ts';
import { daily, fileOf, loadCsv, published, rowCounts, today } from './loading.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, {
  applicationName: 'test',
  statementTimeoutMs: 0,
});
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});

const monthly = { frequency: 'monthly', unit: 'Index', source: 'Test' };
const made = { create: true, set: daily };

async function failureOf(work: Promise<unknown>): Promise<IngestFailure> {
  try {
    await work;
  } catch (error) {
    if (error instanceof IngestFailure) return error;
    throw error;
  }
  throw new Error('the load should have failed');
}

test.serial('the same file twice changes nothing: no row, no version, no vintage', async (t) => {
  const csv = ['series_id,date,value', 'TWICE,2024-01-01,1.50', 'TWICE,2024-01-02,2'];
  const first = await loadCsv(database, csv, made);
  t.like(first, { rowsRead: 2, pointsNew: 2, pointsUnchanged: 0, rowsRejected: 0 });
  const before = [await rowCounts(database), await seriesRow('TWICE')];
  const second = await loadCsv(database, csv, made);
  t.like(second, { rowsRead: 2, pointsNew: 0, pointsRevised: 0, pointsUnchanged: 2, pointsDeleted: 0 });
  t.deepEqual([await rowCounts(database), await seriesRow('TWICE')], before);
});

test.serial('values keep the published digits, and the last day of the period dates them', async (t) => {
  const csv = [
    'Date,Value',
    '2024-01-01,18.930',
    '2024-02,.3',
    '2024-03-15,-.5',
    '2024-04-30,1e5',
    '2024-05,12345678901234567890.123456789',
  ];
  await loadCsv(database, csv, { create: true, set: { ...monthly, series_id: 'DIGITS' } });
  t.deepEqual(await published(database, 'DIGITS'), {
    '2024-01-31': '18.930',
    '2024-02-29': '0.3',
    '2024-03-31': '-0.5',
    '2024-04-30': '100000',
    '2024-05-31': '12345678901234567890.123456789',
  });
});

test.serial('quarters and years end with their last day, fiscal years with theirs', async (t) => {
  const set = { unit: 'Rupees', source: 'Test' };
  await loadCsv(database, 'date,value\n1947-01-01,1\n1947-Q2,2', {
    create: true,
    set: { ...set, frequency: 'quarterly', series_id: 'QUARTERS' },
  });
  t.deepEqual(Object.keys(await published(database, 'QUARTERS')), ['1947-03-31', '1947-06-30']);
  await loadCsv(database, 'date,value\n2023,1\n2024-06-30,2\n2024-07-01,3', {
    create: true,
    set: { ...set, frequency: 'annual', series_id: 'FISCAL', fiscal_year_end: '06-30' },
  });
  t.deepEqual(Object.keys(await published(database, 'FISCAL')), ['2023-06-30', '2024-06-30', '2025-06-30']);
});

test.serial('an empty value of a long file is published as missing, an empty row is no row', async (t) => {
  const summary = await loadCsv(
    database,
    ['series_id,date,value', 'HOLE,2024-01-01,', 'HOLE,2024-01-02,NA', ',,', '', 'HOLE,2024-01-03,7'],
    { ...made, missing: ['NA'] },
  );
  t.is(summary.rowsRead, 3);
  t.deepEqual(await published(database, 'HOLE'), {
    '2024-01-01': null,
    '2024-01-02': null,
    '2024-01-03': '7',
  });
  t.like(await seriesRow('HOLE'), {
    first_date: '2024-01-03',
    last_date: '2024-01-03',
    observation_count: 1,
  });
});

test.serial('an empty value of a wide file states nothing', async (t) => {
  const wide = ['sasdate,W.A,W.B', 'Transform:,5,5', '1/1/2024,1,10', '2/1/2024,,20', ',,'];
  const summary = await loadCsv(database, wide, {
    create: true,
    wide: true,
    set: monthly,
    skipRows: 1,
    dateFormat: 'M/D/YYYY',
  });
  t.like(summary, { rowsRead: 2, pointsNew: 3 });
  t.deepEqual(await published(database, 'W.A'), { '2024-01-31': '1' });
  t.deepEqual(await published(database, 'W.B'), { '2024-01-31': '10', '2024-02-29': '20' });
});

test.serial('a wide column whose title is no series id gets one, and its title as its name', async (t) => {
  await loadCsv(database, 'Date,Crude Oil (petroleum),Tea\n2024-01,1,2', {
    create: true,
    wide: true,
    set: monthly,
    map: { 'TEA.WORLD': 'Tea' },
  });
  t.like(await seriesRow('Crude_Oil_petroleum_'), { name: 'Crude Oil (petroleum)' });
  t.like(await seriesRow('TEA.WORLD'), { name: 'Tea' });
});

test.serial(
  'every bad row is named by line, column, value and what was expected, and nothing is stored',
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

test.serial('two rows of one point are refused with both lines, in any order of the file', async (t) => {
  const failure = await failureOf(
    loadCsv(
      database,
      ['series_id,date,value', 'DUP,2024-01-02,1', 'DUP,2024-01-01,2', 'DUP,2024-01-02,1'],
      made,
    ),
  );
  t.like(failure.rejects[0], { line: 4, value: 'DUP, 2024-01-02' });
  t.regex(failure.rejects[0]?.expected ?? '', /line 2 is the same point/);
  t.deepEqual(await published(database, 'DUP'), {});
});

test.serial('a file is loaded as a stream is, in whatever order its dates come', async (t) => {
  const rows = [
    'UP,2024-01-01,1',
    'DOWN,2024-01-09,2',
    'UP,2024-01-03,',
    'DOWN,2024-01-08,4',
    'UP,2024-01-02,5',
  ];
  for (const [at, some] of [rows.slice(0, 3), rows].entries()) {
    const csv = ['series_id,date,value', ...some.map((row) => `FILE.${at}.${row}`)];
    const asStream = csv.map((row) => row.replace('FILE', 'STREAM'));
    const [{ seconds: _, rowsPerSecond: __, ...file }, { seconds: ___, rowsPerSecond: ____, ...stream }] = [
      await loadCsv(database, '', { ...made, input: fileOf(csv) }),
      await loadCsv(database, asStream, made),
    ];
    t.deepEqual(file, stream);
    for (const name of ['UP', 'DOWN']) {
      t.deepEqual(
        await published(database, `FILE.${at}.${name}`),
        await published(database, `STREAM.${at}.${name}`),
      );
      const [one, other] = await database.query<object>(
        `select first_date, last_date, observation_count, last_updated from data.series
         where series_id in ($1, $2)`,
        [`FILE.${at}.${name}`, `STREAM.${at}.${name}`],
      );
      t.deepEqual(one, other);
    }
  }
});

test.serial('a repeated point and a bad row of a file are both named, and nothing is stored', async (t) => {
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
  t.regex(failure.rejects[1]?.expected ?? '', /line 2 is the same point/);
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

test.serial('--full with --skip-invalid is refused: a skipped row would be deleted', async (t) => {
  const failure = await failureOf(loadCsv(database, 'date,value', { full: true, skipInvalid: true }));
  t.is(failure.code, 'usage');
});

test.serial('a dry run tells what would happen and stores nothing', async (t) => {
  const before = await rowCounts(database);
  const summary = await loadCsv(database, 'series_id,date,value\nDRY,2024-01-01,1', {
    ...made,
    dryRun: true,
  });
  t.like(summary, { pointsNew: 1 });
  t.deepEqual(await rowCounts(database), before);
});

test.serial(
  'an unknown series is refused without --create, and --create asks for what a series must have',
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
    t.is(await seriesRow('UNKNOWN'), undefined);
  },
);

test.serial('--create takes the facts of a series from columns of the file too', async (t) => {
  await loadCsv(
    database,
    'Series Key,Observation Date,Observation Value,Unit,Title\nSBP.X,31-Mar-2024,.3,Percent,Policy Rate',
    {
      create: true,
      set: { frequency: 'monthly', source: 'Test' },
      map: {
        series_id: 'Series Key',
        date: 'Observation Date',
        value: 'Observation Value',
        unit: 'Unit',
        name: 'Title',
      },
      dateFormat: 'D-MMM-YYYY',
    },
  );
  t.like(await seriesRow('SBP.X'), { name: 'Policy Rate', unit: 'Percent', frequency: 'monthly' });
  t.deepEqual(await published(database, 'SBP.X'), { '2024-03-31': '0.3' });
});

test.serial('other columns become dimensions, each combination a point of its own', async (t) => {
  const header = 'series_id,date,side,currency,value,comment';
  const rows = ['FX,2024-01-01,buy,USD,1,x', 'FX,2024-01-01,sell,USD,2,', 'FX,2024-01-01,buy,EUR,3,'];
  await loadCsv(database, [header, ...rows], { ...made, ignore: ['comment'] });
  t.deepEqual(await published(database, 'FX'), {
    '2024-01-01 EUR buy': '3',
    '2024-01-01 USD buy': '1',
    '2024-01-01 USD sell': '2',
  });
  t.like(await seriesRow('FX'), { dimensions: ['side', 'currency'], observation_count: 3 });
  t.deepEqual(
    await database.query(
      'select dims_no, dims from data.series_dims join data.series using (series_no) where series_id = $1 order by 1',
      ['FX'],
    ),
    [
      { dims_no: 0, dims: { side: 'buy', currency: 'USD' } },
      { dims_no: 1, dims: { side: 'sell', currency: 'USD' } },
      { dims_no: 2, dims: { side: 'buy', currency: 'EUR' } },
    ],
  );

  const otherOrder = await loadCsv(database, 'series_id,date,currency,side,value\nFX,2024-01-01,USD,buy,1');
  t.is(otherOrder.pointsUnchanged, 1, 'the order of the columns does not matter');
  const without = await failureOf(loadCsv(database, 'series_id,date,value\nFX,2024-01-01,1'));
  t.regex(without.rejects[0]?.expected ?? '', /dimensions of the series \(side, currency\)/);
});

test.serial('a column whose name cannot be a dimension is refused with the flag that helps', async (t) => {
  const failure = await failureOf(
    loadCsv(database, 'series_id,date,value,Country Name\nX,2024-01-01,1,PK', made),
  );
  t.regex(failure.message, /--map country_name="Country Name"/);
});

test.serial(
  '--full deletes what the file leaves out as of the vintage, and only in the series of the file',
  async (t) => {
    const csv = (rows: string[]) => ['series_id,date,value', ...rows];
    await loadCsv(database, csv(['FULL.A,2024-01-01,1', 'FULL.A,2024-01-02,2', 'FULL.B,2024-01-01,9']), {
      ...made,
      vintage: '2024-02-01',
    });
    const summary = await loadCsv(database, csv(['FULL.A,2024-01-01,1', 'FULL.A,2024-01-03,3']), {
      vintage: '2024-03-01',
      full: true,
    });
    t.like(summary, { pointsNew: 1, pointsUnchanged: 1, pointsDeleted: 1 });
    t.deepEqual(await published(database, 'FULL.A'), { '2024-01-01': '1', '2024-01-03': '3' });
    t.deepEqual(await published(database, 'FULL.A', '2024-02-29'), { '2024-01-01': '1', '2024-01-02': '2' });
    t.deepEqual(await published(database, 'FULL.B'), { '2024-01-01': '9' });
    t.like(await seriesRow('FULL.A'), {
      last_date: '2024-01-03',
      observation_count: 2,
      last_updated: '2024-03-01',
    });
  },
);

test.serial('a column that is empty in a --full wide file deletes all points of its series', async (t) => {
  const wide = { wide: true, full: true };
  await loadCsv(database, 'date,E.A,E.B\n2024-01-01,1,2', { ...made, ...wide, vintage: '2024-02-01' });
  const summary = await loadCsv(database, 'date,E.A,E.B\n2024-01-01,1,', { ...wide, vintage: '2024-03-01' });
  t.like(summary, { pointsDeleted: 1, pointsUnchanged: 1 });
  t.deepEqual(await published(database, 'E.B'), {});
});

test.serial('a vintage may be a period, and none may lie in the future', async (t) => {
  await loadCsv(database, 'series_id,date,value\nPERIOD,2024-01-01,1', { ...made, vintage: '2024-02' });
  t.like(await seriesRow('PERIOD'), { last_updated: '2024-02-29' });
  const failure = await failureOf(loadCsv(database, 'series_id,date,value', { vintage: '2024-07-01' }));
  t.regex(failure.message, new RegExp(`future: today is ${today}`));
});

test.serial('a vintage column loads every vintage of the file, whatever the order of its rows', async (t) => {
  const csv = [
    'series_id,date,value,vintage',
    'MANY,2024-01-01,3,2024-04-01',
    'MANY,2024-01-01,1,2024-02-01',
    'MANY,2024-01-02,5,2024-03-01',
    'MANY,2024-01-01,2,2024-03-01',
  ];
  t.like(await loadCsv(database, csv, made), { rowsRead: 4, pointsNew: 2, pointsRevised: 2 });
  t.deepEqual(await published(database, 'MANY', '2024-02-15'), { '2024-01-01': '1' });
  t.deepEqual(await published(database, 'MANY', '2024-03-15'), { '2024-01-01': '2', '2024-01-02': '5' });
  t.deepEqual(await published(database, 'MANY'), { '2024-01-01': '3', '2024-01-02': '5' });
  t.like(await loadCsv(database, csv), { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 4 });
});

test.serial('gzip is read whatever the file is called, and a cut file stores nothing', async (t) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));
  const whole = gzipSync('series_id,date,value\nZIP,2024-01-01,1\n');
  writeFileSync(path.join(folder, 'whole.csv'), whole);
  writeFileSync(path.join(folder, 'cut.csv.gz'), whole.subarray(0, whole.length - 12));
  await loadCsv(database, '', { ...made, input: path.join(folder, 'whole.csv') });
  t.deepEqual(await published(database, 'ZIP'), { '2024-01-01': '1' });
  const failure = await failureOf(loadCsv(database, '', { ...made, input: path.join(folder, 'cut.csv.gz') }));
  t.is(failure.code, 'invalid_file');
  t.regex(failure.message, /damaged or cut short/);
});

test.serial('an input that breaks off midway leaves nothing behind, and the next load works', async (t) => {
  const before = await rowCounts(database);
  async function* breaking() {
    yield Buffer.from('series_id,date,value\n');
    for (let at = 0; at < 40; at++)
      yield Buffer.from(
        Array.from({ length: 2_000 }, (_, row) => `BREAK.${at},${day(row)},${row}\n`).join(''),
      );
    throw new Error('the line went dead');
  }
  const work = loadCsv(database, '', { ...made, input: Readable.from(breaking()) });
  await t.throwsAsync(work, { message: 'the line went dead' });
  t.deepEqual(await rowCounts(database), before);
  t.like(await loadCsv(database, 'series_id,date,value\nAFTER,2024-01-01,1', made), { pointsNew: 1 });
});

test.serial('a load whose server connection is cut leaves nothing behind', async (t) => {
  const before = await rowCounts(database);
  async function* endless() {
    yield Buffer.from('series_id,date,value\n');
    for (let at = 0; ; at++) {
      yield Buffer.from(Array.from({ length: 2_000 }, (_, row) => `CUT.${at},${day(row)},${row}\n`).join(''));
      if (at === 30)
        await database.query(
          `select pg_terminate_backend(pid) from pg_locks
           where locktype = 'advisory' and objid = 4115202 and pid <> pg_backend_pid()
             and database = (select oid from pg_database where datname = current_database())`,
        );
    }
  }
  await t.throwsAsync(loadCsv(database, '', { ...made, input: Readable.from(endless()) }));
  t.deepEqual(await rowCounts(database), before);
});

test.serial('a load tells the running services once it is committed', async (t) => {
  const heard: string[] = [];
  await database.transaction(async (listener) => {
    listener.client.on('notification', ({ payload }) => heard.push(payload ?? ''));
    await listener.query('listen almanac_data');
    await listener.query('commit');
    await loadCsv(database, 'series_id,date,value\nTOLD,2024-01-01,1', { ...made, dryRun: true });
    await loadCsv(database, 'series_id,date,value\nTOLD,2024-01-01,1', made);
    await listener.query('begin');
    await listener.query('unlisten almanac_data');
  });
  const [load] = await database.query<{ load_no: number }>('select max(load_no) as load_no from data.loads');
  t.deepEqual(heard, [String(load?.load_no)]);
});

test.serial(
  'a confirmation covers a run of dates, broken only by a point that the load leaves out',
  async (t) => {
    const rows = (days: number[]) => [
      'series_id,date,value',
      ...days.map((each) => `RUN,2024-01-0${each},${each}`),
    ];
    await loadCsv(database, rows([1, 2, 4, 5, 6]), { ...made, vintage: '2024-02-01' });
    await loadCsv(database, rows([1, 2, 4, 6]), { vintage: '2024-03-01' });
    t.deepEqual(
      await database.query(
        `select published_on, dates::text from data.confirmations join data.series using (series_no) where series_id = 'RUN'`,
      ),
      [{ published_on: '2024-03-01', dates: '{[2024-01-01,2024-01-05),[2024-01-06,2024-01-07)}' }],
    );
  },
);

test.serial('progress counts the rows and bytes of a file up to its end', async (t) => {
  const file = path.join(mkdtempSync(path.join(tmpdir(), 'almanac-test-')), 'x.csv');
  const text = `series_id,date,value\n${Array.from({ length: 9 }, (_, at) => `PROG,2024-01-0${at + 1},1\n`).join('')}`;
  writeFileSync(file, text);
  const steps: [number, number, number?][] = [];
  await loadCsv(database, '', { ...made, input: file, onProgress: (...step) => steps.push(step) });
  t.deepEqual(steps.at(-1), [9, text.length, text.length]);
});

function day(number: number): string {
  return new Date(Date.UTC(2010, 0, 1 + number)).toISOString().slice(0, 10);
}

async function seriesRow(seriesId: string): Promise<Record<string, unknown> | undefined> {
  const [row] = await database.query<Record<string, unknown>>(
    'select * from data.series where series_id = $1',
    [seriesId],
  );
  return row;
}
