// The refusals of a load as one table: the file, the options, and each refusal by line, column, value and expectation.
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import test from 'ava';
import type { IngestFailureCode } from '../../ingest/failure.ts';
import type { LoadOptions } from '../../ingest/load/store/load-options.ts';
import { daily, failureOf, loadCsv, openIngestDatabase, rowCounts, today } from './loading.ts';

type Reject = [line: number, column: string, value: string, expected: RegExp];
interface Refusal {
  csv: string | readonly string[];
  options?: Partial<LoadOptions>;
  /** Every refused row; the other rows of the file are valid. */
  rejects?: Reject[];
  code?: IngestFailureCode;
  message?: RegExp;
}

const database = await openIngestDatabase(test);
const made = { create: true, set: daily };
const annual = { frequency: 'annual', unit: 'Index', source: 'Test', fiscal_year_end: '06-30' };

test.before(async () => {
  await loadCsv(database, 'series_id,date,value\nKNOWN,2024-01-01,1', made);
  await loadCsv(database, 'series_id,date,value,side\nSIDED,2024-01-01,1,buy', made);
  await loadCsv(database, 'series_id,date,value\nFISCAL,2023,1', { create: true, set: annual });
});

const long = 'series_id,date,value';
const sided = `${long},side`;
const folder = mkdtempSync(path.join(tmpdir(), 'almanac-test-'));

function packageOf(resource: object, name: string): string {
  const file = path.join(folder, `${name}.json`);
  writeFileSync(path.join(folder, 'data.csv'), `${long}\nKNOWN,2024-01-02,1`);
  const resources = [{ name: 'data', path: 'data.csv', ...resource }];
  writeFileSync(file, JSON.stringify({ name: 'p', resources }));
  return file;
}

function event(line: string): string {
  const lines = ['BEGIN:VEVENT', 'UID:r', 'SUMMARY:X', 'DTSTART:20240302T060000Z', line, 'END:VEVENT'];
  return ['BEGIN:VCALENDAR', 'VERSION:2.0', ...lines, 'END:VCALENDAR', ''].join('\r\n');
}

const value = /^a number such as 1234.5, or an empty cell for missing$/;
const dimension = /^the value of a dimension: 1 to 200 characters, none of them a control character$/;
const vintage = /^the day on which the value was published, not in the future$/;
const status = /^an observation status of at most 16 characters$/;
const dailyDate = /^the date of a point of a daily series: YYYY-MM-DD \(other forms: --date-format\)$/;
const exists = /^a series that exists; --create makes new ones$/;

const refusals: Record<string, Refusal> = {
  'a row with fewer or more cells than the header': {
    csv: [long, 'KNOWN,2024-01-02', 'KNOWN,2024-01-02,1,2', 'KNOWN,2024-01-03,1,,'],
    rejects: [
      [2, 'row', 'KNOWN,2024-01-02', /^3 cells, as in the header$/],
      [3, 'row', 'KNOWN,2024-01-02,1,2', /^3 cells, as in the header$/],
    ],
  },
  'a series that does not exist, an invalid date and an invalid value': {
    csv: [long, 'UNKNOWN,2024-01-02,1', 'KNOWN,2024-02-30,1', 'KNOWN,2024-02,1', 'KNOWN,2024-01-02,one'],
    rejects: [
      [2, 'series_id', 'UNKNOWN', exists],
      [3, 'date', '2024-02-30', dailyDate],
      [4, 'date', '2024-02', dailyDate],
      [5, 'value', 'one', value],
    ],
  },
  'a day of publication that lies in the future, also as the end of a period, or is no day': {
    csv: [
      `${long},vintage`,
      `KNOWN,2024-01-02,1,${today}`,
      'KNOWN,2024-01-03,1,2024-07-01',
      'KNOWN,2024-01-04,1,2024-07',
      'KNOWN,2024-01-05,1,2024-06',
      'KNOWN,2024-01-06,1,',
      'KNOWN,2024-01-07,1,soon',
    ],
    rejects: [
      [3, 'vintage', '2024-07-01', vintage],
      [4, 'vintage', '2024-07', vintage],
      [6, 'vintage', '', vintage],
      [7, 'vintage', 'soon', vintage],
    ],
  },
  'a vintage column together with --vintage': {
    csv: `${long},Published\nKNOWN,2024-01-02,1,2024-02-01`,
    options: { vintage: '2024-02-01', map: { vintage: 'Published' } },
    code: 'usage',
    message: /The file has a vintage column \("Published"\): leave out --vintage\./,
  },
  'a --vintage in the future': {
    csv: `${long}\nKNOWN,2024-01-02,1`,
    options: { vintage: '2024-07-01' },
    code: 'usage',
    message: /The vintage 2024-07-01 is in the future: today is 2024-06-30/,
  },
  'a --vintage that is no date': {
    csv: `${long}\nKNOWN,2024-01-02,1`,
    options: { vintage: 'May' },
    code: 'usage',
    message: /The vintage May is not a date/,
  },
  'a dimension value with control characters, too long or empty': {
    csv: [
      sided,
      'SIDED,2024-01-02,1,bu\u001fy',
      'SIDED,2024-01-02,1,bu\u007fy',
      'SIDED,2024-01-02,1,bu\u0000y',
      'SIDED,2024-01-02,1,"bu\ny"',
      `SIDED,2024-01-02,1,${'b'.repeat(200)}`,
      `SIDED,2024-01-02,1,${'b'.repeat(201)}`,
      'SIDED,2024-01-02,1, ',
    ],
    rejects: [
      [2, 'side', 'bu\u001fy', dimension],
      [3, 'side', 'bu\u007fy', dimension],
      [4, 'side', 'bu\u0000y', dimension],
      [5, 'side', 'bu\ny', dimension],
      [8, 'side', `${'b'.repeat(200)}…`, dimension],
      [9, 'side', '', dimension],
    ],
  },
  'an observation status of more than 16 characters, or with control characters': {
    csv: [
      `${long},status`,
      `KNOWN,2024-01-02,1,${'p'.repeat(16)}`,
      `KNOWN,2024-01-03,1,${'p'.repeat(17)}`,
      'KNOWN,2024-01-04,1,p\u0007',
    ],
    rejects: [
      [3, 'status', 'p'.repeat(17), status],
      [4, 'status', 'p\u0007', status],
    ],
  },
  'a file with other dimensions than its series has': {
    csv: [sided, 'KNOWN,2024-01-02,1,buy'],
    rejects: [
      [
        2,
        'header',
        'side',
        /^the dimensions of the series \(no dimensions\), not those of the file \(side\)$/,
      ],
    ],
  },
  'a file without the dimensions that its series has': {
    csv: [long, 'SIDED,2024-01-02,1'],
    rejects: [
      [2, 'header', '', /^the dimensions of the series \(side\), not those of the file \(no dimensions\)$/],
    ],
  },
  'facts of new series without --create': {
    csv: `${long}\nKNOWN,2024-01-02,1`,
    options: { set: { unit: 'Index' } },
    code: 'usage',
    message: /--set unit describes new series and needs --create/,
  },
  'a fact of a new series that is not of its kind': {
    csv: `${long}\nNEW,2024-01-02,1`,
    options: { create: true, set: { ...daily, frequency: 'hourly' } },
    code: 'usage',
    message: /--set frequency=hourly: .*daily.* is expected/,
  },
  'two columns of one name': {
    csv: `${long},Value\nKNOWN,2024-01-02,1,2`,
    code: 'invalid_file',
    message: /Two columns of the file are value \(the second is "Value"\)/,
  },
  'a column that --set gives too': {
    csv: `${long}\nKNOWN,2024-01-02,1`,
    options: { set: { value: '1' } },
    code: 'usage',
    message: /value is both a column of the file and a constant of --set/,
  },
  'an --ignore of a column that is not there': {
    csv: `${long}\nKNOWN,2024-01-02,1`,
    options: { ignore: ['note'] },
    code: 'usage',
    message: /The file has no column "note"; its columns are series_id, date, value/,
  },
  'a wide file with two columns of one series': {
    csv: 'date,A B,A_B\n2024-01-02,1,2',
    options: { ...made, wide: true },
    code: 'usage',
    message: /The columns "A B" and "A_B" both give the series A_B: rename one with --map/,
  },
  'a wide file with a column that gives no series id': {
    csv: 'date,???\n2024-01-02,1',
    options: { ...made, wide: true },
    code: 'usage',
    message:
      /^"\?\?\?" gives no series id: set one with --map ID="\?\?\?", or exclude the column with --ignore '\?\?\?'\.$/,
  },
  'a wide file with only dates': {
    csv: 'date\n2024-01-02',
    options: { wide: true },
    code: 'invalid_file',
    message: /names no series besides the date/,
  },
  'a wide file of series that do not exist, or have dimensions: once, on the line of the header': {
    csv: 'Title\ndate,KNOWN,UNKNOWN,SIDED\n2024-01-02,1,2,3\n2024-01-03,1,2,3',
    options: { wide: true, headerLine: 2 },
    rejects: [
      [2, 'UNKNOWN', 'UNKNOWN', exists],
      [2, 'SIDED', '', /^the dimensions of the series \(side\), not those of the file \(no dimensions\)$/],
    ],
  },
  'a wide file with a bad value, a bad date (once a row) or too few cells': {
    csv: 'date,KNOWN,FISCAL\n2024-01-02,x,y\nJanuary,1,2\n2024-01-04,1',
    options: { wide: true },
    rejects: [
      [2, 'KNOWN', 'x', value],
      [2, 'FISCAL', 'y', value],
      [3, 'date', 'January', dailyDate],
      [4, 'row', '2024-01-04,1', /^3 cells, as in the header$/],
    ],
  },
  'a wide file with a date twice: each repeated value, by its line and column': {
    csv: ['date,KNOWN,FISCAL', '2024-01-02,1,', '2024-01-02,2,', '2023,,3', '2023,,4'],
    options: { wide: true },
    rejects: [
      [
        3,
        'KNOWN',
        'KNOWN, 2024-01-02',
        /^one row per observation; line 2 has the same series, date and dimensions/,
      ],
      [
        5,
        'FISCAL',
        'FISCAL, 2023-06-30',
        /^one row per observation; line 4 has the same series, date and dimensions/,
      ],
    ],
  },
  ...Object.fromEntries(
    ['date', 'value', 'vintage'].map((name): [string, Refusal] => [
      `a wide file with --set ${name}`,
      {
        csv: 'Day,KNOWN\n2024-01-02,1',
        options: { wide: true, set: { [name]: '1' } },
        code: 'usage',
        message: new RegExp(`--set ${name} cannot be used with a wide file`),
      },
    ]),
  ),
  'a wide file with a --set status of more than 16 characters': {
    csv: 'date,KNOWN\n2024-01-02,1',
    options: { wide: true, set: { status: 'p'.repeat(17) } },
    code: 'usage',
    message: /--set status: at most 16 characters/,
  },
  'a wide file with a dimension of control characters': {
    csv: 'date,SIDED\n2024-01-02,1',
    options: { wide: true, set: { side: 'a\tb' } },
    code: 'usage',
    message: /--set side: the value of a dimension has 1 to 200 characters/,
  },
  'a wide file with a dimension of more than 200 characters': {
    csv: 'date,SIDED\n2024-01-02,1',
    options: { wide: true, set: { side: 'b'.repeat(201) } },
    code: 'usage',
    message: /--set side: the value of a dimension has 1 to 200 characters/,
  },
  'one sign for decimals and for thousands': {
    csv: `${long}\nKNOWN,2024-01-02,1`,
    options: { decimal: ',', thousands: ',' },
    code: 'usage',
    message: /cannot be the same/,
  },
  'an invalid decimal sign': {
    csv: `${long}\nKNOWN,2024-01-02,1`,
    options: { decimal: ';' },
    code: 'usage',
    message: /The decimal separator must be \. or , and not ;/,
  },
  'an invalid sign of thousands': {
    csv: `${long}\nKNOWN,2024-01-02,1`,
    options: { thousands: 'x' },
    code: 'usage',
    message: /The thousands separator must be one of/,
  },
  ...Object.fromEntries(
    Object.entries({
      'DD/MM/DD': /names the day twice/,
      'DD/MM': /has no year/,
      'DD/YYYY': /has a day but no month/,
    }).map(([dateFormat, message]): [string, Refusal] => [
      `the date format ${dateFormat}`,
      { csv: `${long}\nKNOWN,2024-01-02,1`, options: { dateFormat }, code: 'usage', message },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries<Partial<LoadOptions>>({
      '--prefix is for wide files': { prefix: 'A.' },
      '--delimiter must be the one character': { delimiter: '"' },
      '--delimiter must be the one character between the cells': { delimiter: ';;' },
    }).map(([message, options]): [string, Refusal] => [
      `options that cannot be: ${JSON.stringify(options)}`,
      { csv: `${long}\nKNOWN,2024-01-02,1`, options, code: 'usage', message: new RegExp(message) },
    ]),
  ),
  ...Object.fromEntries(
    Object.entries<Partial<LoadOptions>>({
      '--wide': { wide: true },
      '--full': { full: true },
      '--create': { create: true },
      '--vintage': { vintage: today },
    }).map(([flag, options]): [string, Refusal] => [
      `${flag} for a dataset without points`,
      {
        csv: 'series_id,name\nKNOWN,Known',
        options: { dataset: 'series', ...options },
        code: 'usage',
        message: new RegExp(`^${flag}: not for series, only for observations`),
      },
    ]),
  ),
  '--wide for prices of commodities': {
    csv: 'item,city,date,price\ntea,lahore,2024-01,1',
    options: { dataset: 'commodity-prices', wide: true },
    code: 'usage',
    message: /^--wide: not for commodity-prices, only for observations and nav\.$/,
  },
  'another fiscal year, or frequency, of a series with points': {
    csv: ['series_id,frequency,fiscal_year_end', 'FISCAL,annual,12-31', 'KNOWN,weekly,'],
    options: { dataset: 'series' },
    rejects: [
      [
        3,
        'frequency',
        'weekly',
        /^daily, the present value: it cannot change, because the dates of observations depend on it$/,
      ],
      [
        2,
        'fiscal_year_end',
        '12-31',
        /^06-30, the present value: it cannot change, because the dates of observations depend on it$/,
      ],
    ],
  },
  'no fiscal year for a series that is dated by one': {
    csv: ['series_id,fiscal_year_end', 'FISCAL,'],
    options: { dataset: 'series' },
    rejects: [
      [
        2,
        'fiscal_year_end',
        '',
        /^06-30, the present value: it cannot change, because the dates of observations depend on it$/,
      ],
    ],
  },
  'a fiscal year for a series that has points by calendar years': {
    csv: ['series_id,fiscal_year_end', 'KNOWN,06-30', 'FISCAL,06-30'],
    options: { dataset: 'series' },
    rejects: [
      [
        2,
        'fiscal_year_end',
        '06-30',
        /^nothing, the present value: it cannot change, because the dates of observations depend on it$/,
      ],
    ],
  },
  ...Object.fromEntries(
    ['RRULE:FREQ=MONTHLY', 'RDATE:20240402T060000Z,20240502T060000Z'].map((line): [string, Refusal] => [
      `an event that repeats by ${line}`,
      {
        csv: event(line),
        options: { dataset: 'calendar', set: { source: 'Office' } },
        code: 'invalid_file',
        message: /The event that begins on line 3 repeats by a rule/,
      },
    ]),
  ),
  'a header beyond the end of the file': {
    csv: 'series_id,date,value',
    options: { headerLine: 99 },
    code: 'invalid_file',
    message: /The file ends before line 99, its header: correct --header-line/,
  },
  'a package whose file has no header': {
    csv: '',
    options: { input: packageOf({ dialect: { header: false } }, 'headless') },
    code: 'usage',
    message: /The resource data has no header line/,
  },
  'a package whose resource is two files': {
    csv: '',
    options: { input: packageOf({ path: ['data.csv', 'more.csv'] }, 'split') },
    code: 'usage',
    message: /The resource data is not one file/,
  },
  'a package without the resource that is named': {
    csv: '',
    options: { input: packageOf({}, 'other'), resource: 'rates' },
    code: 'usage',
    message: /The package has data, and no rates/,
  },
  'a package with a format of dates that cannot be read': {
    csv: '',
    options: {
      input: packageOf({ schema: { fields: [{ name: 'date', type: 'date', format: '%H:%d' }] } }, 'hours'),
    },
    code: 'usage',
    message: /The date format %H:%d is not supported/,
  },
};

for (const [what, { csv, options, rejects = [], code = 'invalid_rows', message = /./ }] of Object.entries(
  refusals,
)) {
  test.serial(`refused, with nothing kept: ${what}`, async (t) => {
    const before = await everything();
    const failure = await failureOf(loadCsv(database, csv, options));
    t.is(failure.code, code, failure.message);
    t.regex(failure.message, message);
    t.deepEqual(
      failure.rejects.map((reject) => [reject.line, reject.column, reject.value]),
      rejects.map(([line, column, text]) => [line, column, text]),
    );
    for (const [at, [, , , expected]] of rejects.entries())
      t.regex(failure.rejects[at]?.expected ?? '', expected);
    t.is(failure.rowsRejected, rejects.length);
    t.deepEqual(await everything(), before);
  });
}

test.serial(
  'a series without points can get another fiscal year, and one with points only its present one',
  async (t) => {
    const facts = 'series_id,frequency,fiscal_year_end,name,unit,source';
    const load = (rows: string[]) => loadCsv(database, [facts, ...rows], { dataset: 'series' });
    await load(['YOUNG,annual,06-30,N,I,S']);
    t.like(await load(['YOUNG,annual,03-31,N,I,S', 'FISCAL,annual,06-30,Fiscal,Index,Test']), {
      pointsNew: 0,
      rowsRejected: 0,
    });
    const rows = await database.query<object>(
      `select series_id, fiscal_year_end from data.series where series_id in ('YOUNG', 'FISCAL') order by 1 desc`,
    );
    t.deepEqual(rows, [
      { series_id: 'YOUNG', fiscal_year_end: '03-31' },
      { series_id: 'FISCAL', fiscal_year_end: '06-30' },
    ]);
  },
);

test.serial('dimension values that contain the separator never become one combination', async (t) => {
  const rows = ['TWO,2024-01-02,1,a\u001fb,c', 'TWO,2024-01-02,2,a,b\u001fc'];
  const failure = await failureOf(loadCsv(database, [`${long},one,two`, ...rows], made));
  t.deepEqual(
    failure.rejects.map(({ line, column }) => [line, column]),
    [
      [2, 'one'],
      [3, 'two'],
    ],
  );
});

/** Every row of series and releases, and the row counts of all other tables. */
async function everything(): Promise<object> {
  const series = await database.query<object>('select * from data.series order by series_no');
  const [others] = await database.query<object>(
    'select (select count(*) from data.loads) as loads, (select count(*) from data.releases) as releases',
  );
  return { series, ...others, ...(await rowCounts(database)) };
}
