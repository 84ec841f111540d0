import test from 'ava';
import { propose } from './propose.ts';
import { about, sampleOf } from '../../test/ingest/proposing.ts';

test('SDMX-CSV is read by its column names, without a guess', (t) => {
  const header = ['DATAFLOW', 'FREQ', 'CURRENCY', 'TIME_PERIOD', 'OBS_VALUE', 'OBS_STATUS', 'UNIT_MEASURE'];
  const row = (currency: string, period: string) => [
    'ECB:EXR(1.0)',
    'M',
    currency,
    period,
    '1.5',
    'A',
    'EUR',
  ];
  const { entry } = propose(
    sampleOf([header, row('USD', '2024-01'), row('USD', '2024-02'), row('GBP', '2024-01')]),
    about,
  );
  t.like(entry, {
    date: { column: 'TIME_PERIOD' },
    values: 'OBS_VALUE',
    dimensions: { currency: 'CURRENCY' },
    status: 'OBS_STATUS',
    series: { id: 'EXR', frequency: '{FREQ}', unit: '{UNIT_MEASURE}', source: 'ECB' },
  });
  t.is(entry.guessed, undefined);
});

test('in SDMX-CSV series of another scale have another id; deletions, and periods of years that begin in another month, are refused', (t) => {
  const header = [
    'DATAFLOW',
    'ACTION',
    'FREQ',
    'AREA',
    'TIME_PERIOD',
    'OBS_VALUE',
    'UNIT_MULT',
    'REPORTING_YEAR_START_DAY',
  ];
  const table = (period: (at: number) => string, mult: (at: number) => string, start = '', action = 'I') => {
    const rows = [0, 1, 2, 3].map((at) => ['A:B(1.0)', at === 2 ? action : 'I', 'Q', 'RO', period(at), '1.5', mult(at), start]); // prettier-ignore
    return propose(sampleOf([header, ...rows]), about).entry;
  };
  const quarter = (at: number) => `2024-Q${at + 1}`;
  const table6 = table(quarter, () => '6');
  t.is(table6.series?.id, 'B');
  t.is(table(quarter, (at) => (at < 2 ? '6' : '9')).series?.id, 'B.{UNIT_MULT}');
  t.is(table(quarter, (at) => (at < 2 ? '6' : '')).series?.id, 'B');
  t.regex(table(quarter, () => '6', '', 'D').skip ?? '', /ACTION D delete points/);
  t.regex(table(quarter, () => '6', '--07-01').skip ?? '', /"2024-Q1" is of a year that begins on 07-01/);
  t.deepEqual(
    table(quarter, () => '6', '--01-01'),
    table6,
  );
  t.is(
    table(
      (at) => `2024-0${at + 1}`,
      () => '6',
      '--07-01',
    ).skip,
    undefined,
  );
});

test('the dimensions and flags of Eurostat, whose ids are in lower case, are read as others are; names of codes are not dimensions', (t) => {
  const header = ['DATAFLOW', 'LAST UPDATE', 'freq', 'unit', 'geo', 'Geopolitical entity', 'TIME_PERIOD', 'OBS_VALUE', 'OBS_FLAG', 'CONF_STATUS']; // prettier-ignore
  const row = (unit: string, geo: string, quarter: string) => ['ESTAT:UNE_RT_Q(1.0)', '14/06/24 11:00:00', 'Q', unit, geo, `Land ${geo}`, quarter, '7.9', 'p', '']; // prettier-ignore
  const rows = ['2023-Q1', '2023-Q2'].flatMap((quarter) => [row('PC_ACT', 'IT', quarter), row('THS', 'IT', quarter), row('PC_ACT', 'MT', quarter)]); // prettier-ignore
  const { entry } = propose(sampleOf([header, ...rows]), about);
  t.like(entry, {
    dimensions: { geo: 'geo' },
    status: 'OBS_FLAG',
    series: { id: 'UNE_RT_Q.{unit}', frequency: '{freq}', unit: '{unit}' },
  });
  t.is(entry.guessed, undefined);
  const ofOneUnit = propose(sampleOf([header, ...rows.filter((each) => each[3] === 'PC_ACT')]), about).entry;
  t.deepEqual(ofOneUnit.dimensions, { geo: 'geo' });
  t.like(ofOneUnit.series, { id: 'UNE_RT_Q', unit: '{unit}' });
});
