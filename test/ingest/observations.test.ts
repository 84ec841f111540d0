import { Readable } from 'node:stream';
import test from 'ava';
import { daily, failureOf, loadCsv, openIngestDatabase, published, seriesRow } from './loading.ts';

const database = await openIngestDatabase(test);

const monthly = { frequency: 'monthly', unit: 'Index', source: 'Test' };
const made = { create: true, set: daily };

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

test.serial('an empty value of a long file is published as missing; an empty row is ignored', async (t) => {
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
  t.like(await seriesRow(database, 'HOLE'), {
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
  t.like(await seriesRow(database, 'Crude_Oil_petroleum_'), { name: 'Crude Oil (petroleum)' });
  t.like(await seriesRow(database, 'TEA.WORLD'), { name: 'Tea' });
});

test.serial('--create also reads the facts of a series from columns of the file', async (t) => {
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
  t.like(await seriesRow(database, 'SBP.X'), { name: 'Policy Rate', unit: 'Percent', frequency: 'monthly' });
  t.deepEqual(await published(database, 'SBP.X'), { '2024-03-31': '0.3' });
});

test.serial('other columns become dimensions, and each combination is a separate point', async (t) => {
  const header = 'series_id,date,side,currency,value,comment';
  const rows = ['FX,2024-01-01,buy,USD,1,x', 'FX,2024-01-01,sell,USD,2,', 'FX,2024-01-01,buy,EUR,3,'];
  await loadCsv(database, [header, ...rows], { ...made, ignore: ['comment'] });
  t.deepEqual(await published(database, 'FX'), {
    '2024-01-01 EUR buy': '3',
    '2024-01-01 USD buy': '1',
    '2024-01-01 USD sell': '2',
  });
  t.like(await seriesRow(database, 'FX'), { dimensions: ['side', 'currency'], observation_count: 3 });
  t.deepEqual(
    await database.query(
      'select dims from data.series_dims join data.series using (series_no) where series_id = $1 order by line_no',
      ['FX'],
    ),
    [
      { dims: { side: 'buy', currency: 'USD' } },
      { dims: { side: 'sell', currency: 'USD' } },
      { dims: { side: 'buy', currency: 'EUR' } },
    ],
  );

  const otherOrder = await loadCsv(database, 'series_id,date,currency,side,value\nFX,2024-01-01,USD,buy,1');
  t.is(otherOrder.pointsUnchanged, 1, 'the order of the columns does not matter');
  const without = await failureOf(loadCsv(database, 'series_id,date,value\nFX,2024-01-01,1'));
  t.regex(without.rejects[0]?.expected ?? '', /dimensions of the series \(side, currency\)/);
});

test.serial(
  'a file in UTF-16 with Windows line ends, decimal commas, groups and tags loads as it was meant',
  async (t) => {
    const lines = [
      'Série;Datum;Wert;Ort;Anmerkung',
      '#id;#date;#value;#loc;#meta',
      'ODDLY.PUBLISHED;31.01.2024;"1.234.567,50";Köln;"vorläufig;\r\n""amtlich"',
      'ODDLY.PUBLISHED;29.02.2024;-0,5;Köln;"\r\n"',
      'ODDLY.PUBLISHED;31.03.2024;k. A.;Bonn;',
      'ODDLY.PUBLISHED;30.04.2024;1,5.0;Bonn;',
      '',
    ];
    const utf16 = Buffer.from(`\ufeff${lines.join('\r\n')}`, 'utf16le');
    const options = {
      create: true,
      set: { frequency: 'monthly', unit: 'EUR', source: 'Test' },
      map: { series_id: 'Série', date: 'Datum', value: 'Wert', place: 'Ort' },
      skipRows: 1,
      ignore: ['Anmerkung'],
      dateFormat: 'DD.MM.YYYY',
      decimal: ',',
      thousands: '.',
      missing: ['k. A.'],
      skipInvalid: true,
    };
    const input = () => Readable.from([utf16.subarray(0, 101), utf16.subarray(101)]);
    const loaded = await loadCsv(database, '', { ...options, input: input() });
    t.like(loaded, { rowsRead: 4, pointsNew: 3, rowsRejected: 1 });
    // Each quoted cell has a line break, so the bad row begins on line 8 of the file.
    t.like(loaded.rejects[0], { line: 8, column: 'Wert', value: '1,5.0' });
    await t.throwsAsync(loadCsv(database, '', { ...options, input: input(), skipInvalid: false }), {
      message: /line 8, Wert: "1,5\.0", expected a number such as 1234,5/,
    });
    t.deepEqual(await published(database, 'ODDLY.PUBLISHED'), {
      '2024-01-31 Köln': '1234567.50',
      '2024-02-29 Köln': '-0.5',
      '2024-03-31 Bonn': null,
    });
  },
);
