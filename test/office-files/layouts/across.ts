// Layouts with periods in the titles of the columns, or with the year and the part of the year in separate cells.
import { truthDate } from '../date-forms.ts';
import { empty, textCell, type Cell, type Merge, type Sheet } from '../office-file.ts';
import type { Period } from '../periods.ts';
import { noMarks, seriesOf, subjectsOf, valueCell, type Statistics, type Subject } from '../statistics.ts';
import { englishSpellings, monthNames } from '../words/months.ts';
import { cellAt } from './plain.ts';

const subjectTitle = ({ random, names }: Statistics) =>
  random.pick([names.columns[4], 'Item', 'Country', '']);

/** Items down, periods across; with a code or a unit next to the name. */
export function across(statistics: Statistics): Sheet {
  const { random, periods, dates } = statistics;
  const subjects = subjectsOf(statistics, 1, random.whole(3, 5));
  const beside = random.pick(['', '', 'Code', 'Unit']);
  const besideCells = (at: number) =>
    beside === '' ? [] : [textCell(beside === 'Unit' ? 'Persons' : `K${at + 11}`)];
  const title = subjectTitle(statistics);
  const header = [
    textCell(beside !== '' && title === '' ? 'Item' : title),
    ...(beside === '' ? [] : [textCell(beside)]),
    ...periods.map((period) => dates.write(period)),
  ];
  const rows = subjects.map((subject, row) => [
    textCell(subject.region),
    ...besideCells(row),
    ...periods.map((_, at) => cellAt(statistics, subject, at)),
  ]);
  return {
    table: { rows: [header, ...rows], merges: [], first: 1, isFreeOrder: true },
    series: subjects.map((subject, at) =>
      seriesOf(statistics, subject, [[subject.region, ...(beside === 'Code' ? [`K${at + 11}`] : [])]]),
    ),
    questions: [],
  };
}

/** `2019, Flag, 2020, Flag`: a column of flags behind each period. */
export function flagsAcross(given: Statistics): Sheet {
  const statistics: Statistics = { ...given, marks: { ...noMarks, flags: ['p', 'e'] } };
  const { random, periods, dates } = statistics;
  const bare = { ...statistics, marks: { ...statistics.marks, put: (number: string) => number } };
  const subjects = subjectsOf(statistics, 1, random.whole(3, 5));
  const flagTitle = random.pick(['Flag', 'Flags', '']);
  const header = [
    textCell(statistics.names.columns[4]),
    ...periods.flatMap((p) => [dates.write(p), textCell(flagTitle)]),
  ];
  const rows = subjects.map((subject) => [
    textCell(subject.region),
    ...periods.flatMap((_, at) => [
      cellAt(bare, subject, at),
      textCell(subject.observations[at]?.flag ?? ''),
    ]),
  ]);
  return {
    table: { rows: [header, ...rows], merges: [], first: 1, isFreeOrder: true },
    series: subjects.map((subject) => seriesOf(statistics, subject, [subject.region])),
    questions: [],
  };
}

/** The names of the parts of a year, in the language or as codes. */
function partNames(statistics: Statistics): string[] {
  const { random, language, frequency } = statistics;
  if (frequency === 'quarterly')
    return random.pick([
      ['Q1', 'Q2', 'Q3', 'Q4'],
      ['I', 'II', 'III', 'IV'],
      ['1st quarter', '2nd quarter', '3rd quarter', '4th quarter'],
      ['Q01', 'Q02', 'Q03', 'Q04'],
    ]);
  const { long, short } = monthNames(language);
  const own = [[...long], [...long], [...short]];
  const general = [...englishSpellings.map((names) => [...names]), monthCodes('M')];
  return random.pick(random.chance(0.75) ? own : general);
}

const monthCodes = (letter: string) =>
  Array.from({ length: 12 }, (_, at) => `${letter}${String(at + 1).padStart(2, '0')}`);

/** Years down, months or quarters across; sometimes the year's average behind them. */
export function yearGrid(statistics: Statistics): Sheet {
  const { random, periods, names } = statistics;
  const [subject] = subjectsOf(statistics, 1, 1) as [Subject];
  const parts = partNames(statistics);
  const years = [...new Set(periods.map(({ year }) => year))];
  const sum = random.chance(0.35) ? random.pick([names.total, names.average, 'Annual']) : '';
  const header = [names.columns[0], ...parts, ...(sum === '' ? [] : [sum])].map(textCell);
  const rows = years.map((year) => {
    const cells = periods.flatMap((period, at) =>
      period.year === year ? [cellAt(statistics, subject, at)] : [],
    );
    const total = valueCell(statistics, { value: sumOf(subject, periods, year), flag: '', mark: '' });
    return [{ text: String(year), number: year }, ...cells, ...(sum === '' ? [] : [total])];
  });
  return {
    table: { rows: [header, ...rows], merges: [], first: 1, isFreeOrder: true },
    series: [seriesOf(statistics, subject, [])],
    questions: sum === '' ? [] : ['sums'],
  };
}

/** Months or quarters down, years across; sometimes the year's total below them. */
export function partGrid(statistics: Statistics): Sheet {
  const { random, periods, names, frequency } = statistics;
  const [subject] = subjectsOf(statistics, 1, 1) as [Subject];
  const years = [...new Set(periods.map(({ year }) => year))];
  const sum = random.chance(0.35) ? random.pick([names.total, names.average, 'Annual']) : '';
  const [, month, quarter] = names.columns;
  const header = [
    textCell(random.pick([frequency === 'quarterly' ? quarter : month, ''])),
    ...years.map((year): Cell => ({ text: String(year), number: year })),
  ];
  const rows = partNames(statistics).map((part, place) => [
    textCell(part),
    ...years.map((year) => {
      const at = periods.findIndex((period) => period.year === year && period.part === place + 1);
      return at < 0 ? empty : cellAt(statistics, subject, at);
    }),
  ]);
  const sums = years.map((year) =>
    valueCell(statistics, { value: sumOf(subject, periods, year), flag: '', mark: '' }),
  );
  return {
    table: {
      rows: [header, ...rows, ...(sum === '' ? [] : [[textCell(sum), ...sums]])],
      ...{ merges: [], first: 1, isFreeOrder: true },
    },
    series: [seriesOf(statistics, subject, [])],
    questions: sum === '' ? [] : ['sums'],
  };
}

/** The text of a year's sum, without decimals. */
function sumOf({ observations }: Subject, periods: readonly Period[], year: number): string {
  const sum = observations.reduce(
    (all, { value }, at) => (periods[at]?.year === year ? all + Number(value ?? 0) : all),
    0,
  );
  return String(Math.round(sum));
}

/** The year and the month, or quarter, in two columns; the year in every row, or only in the first of its rows, merged in a workbook. */
export function yearAndPart(statistics: Statistics): Sheet {
  const { random, periods, names, frequency } = statistics;
  const subjects = subjectsOf(statistics, random.whole(1, 3), 1);
  const isOnce = random.chance(0.4);
  const parts = random.chance(0.25)
    ? Array.from({ length: 12 }, (_, at) => String(at + 1))
    : partNames(statistics);
  const merges: Merge[] = [];
  const rows = periods.map((period, at) => {
    const isFirst = at === 0 || periods[at - 1]?.year !== period.year;
    const rowsOfYear = periods.filter(({ year }) => year === period.year).length;
    if (isOnce && isFirst && rowsOfYear > 1) merges.push([at + 1, 0, at + rowsOfYear, 0]);
    const year: Cell = isOnce && !isFirst ? empty : { text: String(period.year), number: period.year };
    const part = parts[period.part - 1] ?? '';
    return [year, textCell(part), ...subjects.map((subject) => cellAt(statistics, subject, at))];
  });
  const [year, month, quarter] = names.columns;
  const header = [
    year,
    frequency === 'quarterly' ? quarter : month,
    ...subjects.map(({ measure }) => measure),
  ];
  return {
    table: { rows: [header.map(textCell), ...rows], merges, first: 1, isFreeOrder: !isOnce },
    series: subjects.map((subject) =>
      seriesOf(statistics, subject, subjects.length === 1 ? [] : [subject.measure]),
    ),
    questions: [],
  };
}

/** Measures over regions: two rows of titles, the first stated once, merged in a workbook. */
export function twoHeaders(statistics: Statistics): Sheet {
  const { random, periods, dates, names, frequency } = statistics;
  const count = random.whole(2, 3);
  const subjects = subjectsOf(statistics, 2, count);
  const upper = subjects.map(({ measure }, at) => textCell(at % count === 0 ? measure : ''));
  const lower = subjects.map(({ region }) => textCell(region));
  const date = textCell(frequency === 'annual' ? names.columns[0] : names.columns[3]);
  const isDateAbove = random.chance(0.5);
  return {
    table: {
      rows: [
        [isDateAbove ? date : empty, ...upper],
        [isDateAbove ? empty : date, ...lower],
        ...periods.map((period, at) => [
          dates.write(period),
          ...subjects.map((s) => cellAt(statistics, s, at)),
        ]),
      ],
      merges: [
        [0, 1, 0, count],
        [0, count + 1, 0, 2 * count],
      ],
      first: 2,
      isFreeOrder: true,
    },
    series: subjects.map((subject) => seriesOf(statistics, subject, [subject.measure, subject.region])),
    questions: [],
  };
}

/** Years over months or quarters, items down: BEA and many workbooks. */
export function yearsOverParts(statistics: Statistics): Sheet {
  const { random, periods, names } = statistics;
  const subjects = subjectsOf(statistics, 1, random.whole(2, 4));
  const parts = partNames(statistics);
  const isRepeated = random.chance(0.4);
  const merges: Merge[] = [];
  const years = periods.map(({ year }, at) => {
    const isFirst = at === 0 || periods[at - 1]?.year !== year;
    const columns = periods.filter((period) => period.year === year).length;
    if (isFirst && !isRepeated && columns > 1) merges.push([0, at + 1, 0, at + columns]);
    return isFirst || isRepeated ? { text: String(year), number: year } : empty;
  });
  const rows = subjects.map((subject) => [
    textCell(subject.region),
    ...periods.map((_, at) => cellAt(statistics, subject, at)),
  ]);
  const lower = [textCell(names.columns[4]), ...periods.map(({ part }) => textCell(parts[part - 1] ?? ''))];
  return {
    table: { rows: [[empty, ...years], lower, ...rows], merges, first: 2, isFreeOrder: true },
    series: subjects.map((subject) => seriesOf(statistics, subject, [subject.region])),
    questions: [],
  };
}

/** A total behind the last month of each year, in the column of months. */
export function totalsBetween(statistics: Statistics): Sheet {
  const { periods, names, random } = statistics;
  const [subject] = subjectsOf(statistics, 1, 1) as [Subject];
  const parts = partNames(statistics);
  const rows = periods.flatMap((period, at) => {
    const year = { text: String(period.year), number: period.year };
    const row = [year, textCell(parts[period.part - 1] ?? ''), cellAt(statistics, subject, at)];
    if (period.part !== parts.length) return [row];
    const sum = valueCell(statistics, { value: sumOf(subject, periods, period.year), flag: '', mark: '' });
    return [row, [year, textCell(names.total), sum]];
  });
  const header = [names.columns[0], names.columns[1], random.pick([subject.measure, names.columns[5]])];
  return {
    table: { rows: [header.map(textCell), ...rows], merges: [], first: 1, isFreeOrder: true },
    series: [seriesOf(statistics, subject, [])],
    questions: ['sums'],
  };
}

/** Fiscal year and calendar year of the same row side by side. */
export function twoYears(statistics: Statistics): Sheet {
  const { periods, random } = statistics;
  const subjects = subjectsOf(statistics, random.whole(1, 2), 1);
  const rows = periods.map((period, at) => [
    { text: String(period.year), number: period.year },
    textCell(`FY${period.year - 1}/${String(period.year % 100).padStart(2, '0')}`),
    ...subjects.map((subject) => cellAt(statistics, subject, at)),
  ]);
  return {
    table: {
      rows: [
        ['Calendar year', 'Fiscal year', ...subjects.map(({ measure }) => measure)].map(textCell),
        ...rows,
      ],
      ...{ merges: [], first: 1, isFreeOrder: true },
    },
    series: subjects.map(({ measure, observations }) => ({
      labels: subjects.length === 1 ? [] : [[measure]],
      points: periods.map((period, at) => ({
        ...truthDate(period, statistics.dates),
        within: 'year' as const,
        value: observations[at]?.value ?? null,
        ...(observations[at]?.flag !== '' && observations[at]?.flag !== undefined && { isFlagged: true }),
      })),
      facts: { frequency: 'annual' as const },
    })),
    questions: ['dates'],
  };
}
