// Layouts with a row for each date, or for each date and region: one series, wide, long; with codes next to names, and flags next to values.
import { empty, textCell, type Cell, type Sheet } from '../office-file.ts';
import { noMarks, seriesOf, subjectsOf, valueCell, type Statistics, type Subject } from '../statistics.ts';

/** The title of the column of dates. */
function dateTitle({ dates, names, frequency, random }: Statistics): string {
  const [year, month, quarter, date] = names.columns;
  if (dates.title !== undefined) return dates.title;
  if (frequency === 'annual') return year;
  const own = frequency === 'monthly' ? month : frequency === 'quarterly' ? quarter : date;
  return random.pick([own, date]);
}

const downSheet = (rows: Cell[][], rest: Pick<Sheet, 'series'>): Sheet => ({
  table: { rows, merges: [], first: 1, isFreeOrder: true },
  questions: [],
  ...rest,
});

export function oneSeries(statistics: Statistics): Sheet {
  const [subject] = subjectsOf(statistics, 1, 1) as [Subject];
  const title = statistics.random.pick([statistics.names.columns[5], subject.measure]);
  const rows = statistics.periods.map((period, at) => [
    statistics.dates.write(period),
    cellAt(statistics, subject, at),
  ]);
  return downSheet([[dateTitle(statistics), title].map(textCell), ...rows], {
    series: [seriesOf(statistics, subject, [])],
  });
}

export const cellAt = (statistics: Statistics, { observations }: Subject, at: number): Cell =>
  valueCell(statistics, observations[at] ?? { value: null, flag: '', mark: '' });

export function wide(statistics: Statistics): Sheet {
  const subjects = subjectsOf(statistics, statistics.random.whole(2, 5), 1);
  const rows = statistics.periods.map((period, at) => [
    statistics.dates.write(period),
    ...subjects.map((subject) => cellAt(statistics, subject, at)),
  ]);
  return downSheet(
    [[dateTitle(statistics), ...subjects.map(({ measure }) => measure)].map(textCell), ...rows],
    {
      series: subjects.map((subject) => seriesOf(statistics, subject, [subject.measure])),
    },
  );
}

/** Rows in the order of regions or of dates. */
function longRows(
  statistics: Statistics,
  subjects: readonly Subject[],
  cells: (s: Subject, at: number) => Cell[],
): Cell[][] {
  const { periods, random } = statistics;
  if (random.chance(0.6)) return subjects.flatMap((subject) => periods.map((_, at) => cells(subject, at)));
  return periods.flatMap((_, at) => subjects.map((subject) => cells(subject, at)));
}

export function long(statistics: Statistics): Sheet {
  const subjects = subjectsOf(statistics, 1, statistics.random.whole(2, 5));
  const [region, value] = statistics.names.columns.slice(4);
  const isDateFirst = statistics.random.chance(0.6);
  const order = (date: Cell, name: Cell) => (isDateFirst ? [date, name] : [name, date]);
  const rows = longRows(statistics, subjects, (subject, at) => [
    ...order(statistics.dates.write(statistics.periods[at]!), textCell(subject.region)),
    cellAt(statistics, subject, at),
  ]);
  const header = [...order(textCell(dateTitle(statistics)), textCell(region ?? '')), textCell(value ?? '')];
  return downSheet([header, ...rows], {
    series: subjects.map((subject) => seriesOf(statistics, subject, [subject.region])),
  });
}

export function longMeasures(statistics: Statistics): Sheet {
  const subjects = subjectsOf(statistics, 2, statistics.random.whole(2, 3));
  const [region, value] = statistics.names.columns.slice(4);
  const rows = longRows(statistics, subjects, (subject, at) => [
    textCell(subject.measure),
    textCell(subject.region),
    statistics.dates.write(statistics.periods[at]!),
    cellAt(statistics, subject, at),
  ]);
  const header = ['Indicator', region ?? '', dateTitle(statistics), value ?? ''].map(textCell);
  return downSheet([header, ...rows], {
    series: subjects.map((subject) => seriesOf(statistics, subject, [subject.measure, subject.region])),
  });
}

/** A code before the name of each region; some codes look like numbers, dates or missing values. */
export function codeAndName(statistics: Statistics): Sheet {
  const { random, names } = statistics;
  const subjects = subjectsOf(statistics, 1, random.whole(3, 5));
  const codes = random.pick([
    ['NA', 'NO', 'NG', 'NE', 'NP'],
    ['00601', '00602', '01001', '01003', '02013'],
    ['1E5', '2E1', '3A4', '4B7', '5C2'],
    ['R01', 'R02', 'R03', 'R04', 'R05'],
    ['101', '102', '103', '104', '105'],
    ['1-2', '3-4', '5-6', '7-8', '9-10'],
    ['TRUE', 'FALSE', 'MAYBE', 'T4', 'T5'],
  ]);
  const codeOf = new Map(subjects.map(({ region }, at) => [region, codes[at] ?? '']));
  const [region = '', value = ''] = names.columns.slice(4);
  const rows = longRows(statistics, subjects, (subject, at) => [
    textCell(codeOf.get(subject.region) ?? ''),
    textCell(subject.region),
    statistics.dates.write(statistics.periods[at]!),
    cellAt(statistics, subject, at),
  ]);
  const header = [`${region} code`, region, dateTitle(statistics), value].map(textCell);
  return downSheet([header, ...rows], {
    series: subjects.map((subject) =>
      seriesOf(statistics, subject, [[codeOf.get(subject.region) ?? '', subject.region]]),
    ),
  });
}

/** A column of flags next to each column of values. */
export function flagColumns(given: Statistics): Sheet {
  const statistics: Statistics = { ...given, marks: { ...noMarks, flags: ['p', 'e'] } };
  const subjects = subjectsOf(statistics, statistics.random.whole(1, 3), 1);
  const suffix = statistics.random.pick([' flag', '_flag', ' Flag', ' status']);
  const bare = { ...statistics, marks: { ...statistics.marks, put: (number: string) => number } };
  const rows = statistics.periods.map((period, at) => [
    statistics.dates.write(period),
    ...subjects.flatMap((subject) => [
      cellAt(bare, subject, at),
      textCell(subject.observations[at]?.flag ?? ''),
    ]),
  ]);
  const titles = subjects.flatMap(({ measure }) => [textCell(measure), textCell(measure + suffix)]);
  return downSheet([[textCell(dateTitle(statistics)), ...titles], ...rows], {
    series: subjects.map((subject) =>
      seriesOf(statistics, subject, subjects.length === 1 ? [] : [subject.measure]),
    ),
  });
}

/** A column of statuses next to the value, as in most long files. */
export function statusColumn(given: Statistics): Sheet {
  const statistics: Statistics = { ...given, marks: { ...noMarks, flags: ['p', 'e', 'b'] } };
  const bare = { ...statistics, marks: { ...statistics.marks, put: (number: string) => number } };
  const subjects = subjectsOf(statistics, 1, statistics.random.whole(2, 4));
  const [region, value] = statistics.names.columns.slice(4);
  const title = statistics.random.pick(['Status', 'Flag', 'OBS_STATUS', 'Flags']);
  const rows = longRows(statistics, subjects, (subject, at) => [
    textCell(subject.region),
    statistics.dates.write(statistics.periods[at]!),
    cellAt(bare, subject, at),
    textCell(subject.observations[at]?.flag ?? ''),
  ]);
  const header = [region ?? '', dateTitle(statistics), value ?? '', title].map(textCell);
  return downSheet([header, ...rows], {
    series: subjects.map((subject) => seriesOf(statistics, subject, [subject.region])),
  });
}

/** Price and volume, the volume with its magnitude: `1.2M`, `950.5K`. */
export function magnitudes(given: Statistics): Sheet {
  const statistics: Statistics = { ...given, marks: noMarks };
  const { random } = statistics;
  const [price] = subjectsOf(statistics, 1, 1) as [Subject];
  const volumes = statistics.periods.map(() => ({
    digits: random.whole(10_001, 99_999),
    letter: random.pick(['K', 'M', 'M', 'K', 'B']),
  }));
  const zeros = { K: 1, M: 4, B: 7 } as const;
  const volume: Subject = {
    measure: 'Volume',
    region: '',
    observations: volumes.map(({ digits, letter }) => ({
      value: String(digits) + '0'.repeat(zeros[letter as keyof typeof zeros]),
      ...{ flag: '', mark: '' },
    })),
  };
  const rows = statistics.periods.map((period, at) => {
    const { digits = 0, letter = '' } = volumes[at] ?? {};
    const text = `${Math.floor(digits / 100)}.${String(digits % 100).padStart(2, '0')}${letter}`;
    return [statistics.dates.write(period), cellAt(statistics, price, at), textCell(text)];
  });
  return {
    ...downSheet([[dateTitle(statistics), 'Close', 'Volume'].map(textCell), ...rows], {
      series: [seriesOf(statistics, price, ['Close']), seriesOf(statistics, volume, ['Volume'])],
    }),
    questions: ['numbers'],
  };
}

/** A column of values that is nearly empty, and one without a title. */
export function sparse(statistics: Statistics): Sheet {
  const sheet = wide(statistics);
  for (const row of sheet.table.rows) row.push(empty);
  return sheet;
}
