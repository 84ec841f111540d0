import { gzipSync } from 'node:zlib';
import { Readable } from 'node:stream';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
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
  today,
} from './loading.ts';

const database = await openIngestDatabase(test);

const made = { create: true, set: daily };

test.serial('the same file twice changes nothing: no row, no version, no vintage', async (t) => {
  const csv = ['series_id,date,value', 'TWICE,2024-01-01,1.50', 'TWICE,2024-01-02,2'];
  const first = await loadCsv(database, csv, made);
  t.like(first, { rowsRead: 2, pointsNew: 2, pointsUnchanged: 0, rowsRejected: 0 });
  const before = [await rowCounts(database), await seriesRow(database, 'TWICE')];
  const second = await loadCsv(database, csv, made);
  t.like(second, { rowsRead: 2, pointsNew: 0, pointsRevised: 0, pointsUnchanged: 2, pointsDeleted: 0 });
  t.deepEqual([await rowCounts(database), await seriesRow(database, 'TWICE')], before);
});

test.serial('a file is loaded with the same result as a stream, in any order of dates', async (t) => {
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

test.serial('a dry run reports what would happen and stores nothing', async (t) => {
  const before = await rowCounts(database);
  const summary = await loadCsv(database, 'series_id,date,value\nDRY,2024-01-01,1', {
    ...made,
    dryRun: true,
  });
  t.like(summary, { pointsNew: 1 });
  t.deepEqual(await rowCounts(database), before);
});

test.serial(
  '--full deletes the points that the file omits as of the vintage, only in the series of the file',
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
    t.like(await seriesRow(database, 'FULL.A'), {
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

test.serial('a vintage can be a period, and must not be in the future', async (t) => {
  await loadCsv(database, 'series_id,date,value\nPERIOD,2024-01-01,1', { ...made, vintage: '2024-02' });
  t.like(await seriesRow(database, 'PERIOD'), { last_updated: '2024-02-29' });
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

test.serial('gzip is read whatever the name of the file; a truncated file stores nothing', async (t) => {
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

test.serial('a truncated input leaves nothing behind, and the next load works', async (t) => {
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

test.serial(
  'a confirmation covers a range of dates, interrupted only by points that the load omits',
  async (t) => {
    const rows = (days: number[]) => [
      'series_id,date,value',
      ...days.map((each) => `RUN,2024-01-0${each},${each}`),
    ];
    await loadCsv(database, rows([1, 2, 4, 5, 6]), { ...made, vintage: '2024-02-01' });
    await loadCsv(database, rows([1, 2, 4, 6]), { vintage: '2024-03-01' });
    t.deepEqual(
      await database.query(
        `select published_on, dates::text
         from data.confirmations join data.series_dims using (line_no) join data.series using (series_no) where series_id = 'RUN'`,
      ),
      [{ published_on: '2024-03-01', dates: '{[2024-01-01,2024-01-05),[2024-01-06,2024-01-07)}' }],
    );
  },
);

test.serial('every load is recorded with its source, its vintage and its result', async (t) => {
  const rows = ['REC,2024-01-01,1', 'REC,2024-01-02,2', 'REC,2024-01-03,3'];
  const file = fileOf(['series_id,date,value', ...rows]);
  await loadCsv(database, '', { ...made, input: file, vintage: '2024-02-01' });
  const changed = ['series_id,date,value', 'REC,2024-01-02,2', 'REC,2024-01-03,4', 'REC,2024-01-04,5'];
  await loadCsv(database, changed, { full: true, vintage: '2024-02-05' });
  await loadCsv(database, ['series_id,date,value', 'REC,2024-01-09,x', 'REC,2024-01-08,8'], {
    skipInvalid: true,
    sourceName: 'by hand',
  });
  await loadCsv(database, 'series_id,name\nREC,Record\nNEW.REC,Without facts', {
    dataset: 'series',
    skipInvalid: true,
  });
  const [first, ...others] = await database.query<object>(
    `select dataset, source_name, vintage, complete, concat_ws(' ', rows_read, points_new, points_revised, points_unchanged,
       points_deleted, rows_rejected) as counts
     from data.loads order by load_no desc limit 4`,
  );
  t.deepEqual(first, {
    dataset: 'series',
    source_name: '-',
    vintage: today,
    complete: false,
    counts: '2 0 1 0 0 1',
  });
  t.deepEqual(others.toReversed(), [
    {
      dataset: 'observations',
      source_name: file,
      vintage: '2024-02-01',
      complete: false,
      counts: '3 3 0 0 0 0',
    },
    {
      dataset: 'observations',
      source_name: '-',
      vintage: '2024-02-05',
      complete: true,
      counts: '3 1 1 1 1 0',
    },
    {
      dataset: 'observations',
      source_name: 'by hand',
      vintage: today,
      complete: false,
      counts: '2 1 0 0 0 1',
    },
  ]);
});

test.serial('concurrent loads run in turn: each sees the result of the previous one', async (t) => {
  const values = ['1', '2', '3', '4'];
  const summaries = await Promise.all(
    values.map((value) => loadCsv(database, `series_id,date,value\nTURN,2024-01-01,${value}`, made)),
  );
  t.deepEqual(summaries.map(({ pointsNew, pointsRevised }) => [pointsNew, pointsRevised]).sort(), [
    [0, 1],
    [0, 1],
    [0, 1],
    [1, 0],
  ]);
  t.is(Object.keys(await published(database, 'TURN')).length, 1);
});

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
