// The lines that statistical offices put above each column.
import test from 'ava';
import { proposed } from '../../../test/ingest/proposing.ts';
import { centredGroup } from './header-lines.ts';

const months = Array.from({ length: 12 }, (_, at) => `2023-${String(at + 1).padStart(2, '0')}`);

const seriesOf = (head: string[][]) => {
  const rows = [...head, ...months.map((month, at) => [month, `${at}.5`, `${at + 40}.5`])];
  return proposed(rows).entry.series;
};

test('the units of the Bundesbank, the Banque de France and the Banco de México are those of their labelled line', (t) => {
  const bundesbank = seriesOf([
    ['', 'BBK01.A', 'BBK01.B'],
    ['', 'Zinssatz', 'Rendite'],
    ['Einheit', '%', '%'],
    ['Dimension', 'Eins', 'Eins'],
    ['Stand vom', '12.01.2024', '12.01.2024'],
  ]);
  t.is(bundesbank?.unit, '{line 3}');
  const france = seriesOf([
    ['Titre :', 'Taux', 'Encours'],
    ['Code série :', 'MIR1.M.FR', 'MIR1.M.GR'],
    ['Unité :', '%', 'Euros'],
    ['Magnitude :', 'Unités (0)', 'Millions (6)'],
    ['Source :', 'BDF', 'BDF'],
  ]);
  t.like(france, { unit: '{line 3}', name: '{line 1}', id: '{line 2}' });
  const mexico = seriesOf([
    ['Título', 'INPC', 'Subyacente'],
    ['Periodo disponible', 'Ene 2021 - Dic 2023', 'Ene 2021 - Dic 2023'],
    ['Cifra', 'Índices', 'Índices'],
    ['Unidad', 'Sin Unidad', 'Sin Unidad'],
  ]);
  t.is(mexico?.unit, '{line 4}');
});

test('of several lines of words without a known label, none is used for the units', (t) => {
  const head = [
    ['Month', 'Wheat', 'Maize'],
    ['', 'USD', 'EUR'],
  ];
  t.is(seriesOf(head)?.unit, '{line 2}');
  t.is(seriesOf([...head, ['', 'Chicago', 'Paris']])?.unit, undefined);
});

test('a column to the left of the first group may belong to it if its name recurs in a group', (t) => {
  const names = ['Year', 'Total', 'North', 'Total', 'North'];
  const values = [1, 2, 3, 4];
  t.deepEqual(centredGroup([['', '', 'Men', '', 'Women'], names], values), { group: 'Men', title: 'Total' });
  t.is(centredGroup([['', 'Men', '', 'Women', ''], names], values), null);
  t.is(
    centredGroup(
      [
        ['', '', 'Men', '', 'Women'],
        ['Year', 'All', 'North', 'South', 'North'],
      ],
      values,
    ),
    null,
  );
  t.is(centredGroup([names], values), null);
});

test('the line that names the dates and every column is that of the names, not one of a list above it', (t) => {
  const dates = ['2024-01-08', '2024-01-09', '2024-01-10', '2024-01-11'];
  const { entry } = proposed([
    ['id', 'label', 'description', 'source'],
    ['FXUSDCAD', 'USD/CAD', 'US dollar', 'Bank'],
    ['date', 'FXUSDCAD', '', ''],
    ...dates.map((date, at) => [date, `1.3${at}`, '', '']),
  ]);
  t.deepEqual([entry.header, entry.values], [3, 'FXUSDCAD']);
});

test('a line of tags or codes below that of the names is not one of names, and the names are no groups', (t) => {
  for (const codes of [
    ['#date', '#item+name', '#value'],
    ['DATE', 'ITEM', 'OBS'],
  ]) {
    const rows = months.map((month, at) => [month, at % 2 === 0 ? 'Rice' : 'Salt', `${at}.5`]);
    const { entry } = proposed([['date', 'commodity', 'price'], codes, ...rows]);
    t.deepEqual([entry.header, entry.values], [1, 'price'], codes.join());
  }
});

test('the periods of KOSIS across the columns are read in Korean, too', (t) => {
  const of = (...periods: string[]) =>
    proposed([
      ['항목', ...periods],
      ['총지수', '110.1', '110.3', '110.6', '110.9'],
      ['식료품', '113.2', '113.9', '114.1', '114.4'],
    ]).entry.series?.frequency;
  t.is(of('2021 년', '2022 년', '2023 년', '2024 년'), 'annual');
  t.is(of('2023.1/4', '2023.2/4', '2023.3/4', '2023.4/4'), 'quarterly');
  t.is(of('2023.1/4 분기', '2023.2/4 분기', '2023.3/4 분기', '2023.4/4 분기'), 'quarterly');
  t.is(of('2023.01 월', '2023.02 월', '2023.03 월', '2023.04 월'), 'monthly');
});
