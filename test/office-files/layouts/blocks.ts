// Layouts with a block of metadata above the data, a line for each fact and a column for each series: ABS, RBA, ONS.
import { empty, textCell, type Cell, type Sheet } from '../office-file.ts';
import { seriesOf, subjectsOf, type Statistics, type Subject } from '../statistics.ts';
import { monthNames } from '../words/months.ts';
import { cellAt } from './plain.ts';

const frequencyWords = { annual: 'Annual', quarterly: 'Quarterly', monthly: 'Monthly' } as Record<
  string,
  string
>;
const month = (date: string) => `${monthNames('en').short[Number(date.slice(5, 7)) - 1]}-${date.slice(0, 4)}`;

const idsOf = ({ random }: Statistics, count: number, letters: string) =>
  Array.from(
    { length: count },
    (_, at) => `${letters}${random.whole(1000, 8999) * 100 + at}${random.pick(['A', 'C', 'K', 'X'])}`,
  );

function block(
  statistics: Statistics,
  lines: readonly (readonly [string, ...string[]])[],
  subjects: readonly Subject[],
): Cell[][] {
  return [
    ...lines.map((line) => line.map(textCell)),
    ...statistics.periods.map((period, at) => [
      statistics.dates.write(period),
      ...subjects.map((subject) => cellAt(statistics, subject, at)),
    ]),
  ];
}

/** The Australian Bureau of Statistics: names above, labels next to them, `Series ID` on the last line. */
export function abs(statistics: Statistics): Sheet {
  const { random, periods, frequency } = statistics;
  const subjects = subjectsOf(statistics, random.whole(2, 4), 1);
  const ids = idsOf(statistics, subjects.length, 'A');
  const units = subjects.map(() => random.pick(['Percent', '$ Millions', 'Number', '000']));
  const same = (text: string) => subjects.map(() => text);
  const lines: [string, ...string[]][] = [
    ['', ...subjects.map(({ measure }) => `${measure} ;  Persons ;`)],
    ['Unit', ...units],
    ['Series Type', ...same('Original')],
    ['Data Type', ...same('FLOW')],
    ['Frequency', ...same(frequencyWords[frequency] ?? '')],
    ['Collection Month', ...same('3')],
    ['Series Start', ...same(month(periods[0]?.last ?? ''))],
    ['Series End', ...same(month(periods.at(-1)?.last ?? ''))],
    ['No. Obs', ...same(String(periods.length))],
    ['Series ID', ...ids],
  ];
  const multipliers: Record<string, number> = { '$ Millions': 6, '000': 3 };
  return {
    table: { rows: block(statistics, lines, subjects), merges: [], first: lines.length, isFreeOrder: true },
    series: subjects.map((subject, at) => {
      const unit = units[at] ?? '';
      const multiplier = multipliers[unit];
      return seriesOf(statistics, subject, [[subject.measure, ids[at] ?? '']], {
        ...(multiplier === undefined ? { unit } : { unit_multiplier: multiplier }),
      });
    }),
    questions: [],
  };
}

/** The Reserve Bank of Australia: a title, then `Title`, `Description`, `Units` … `Series ID`. */
export function rba(statistics: Statistics): Sheet {
  const { random, frequency } = statistics;
  const subjects = subjectsOf(statistics, random.whole(2, 4), 1);
  const ids = idsOf(statistics, subjects.length, 'GRC');
  const unit = random.pick(['Per cent', 'Index', 'Per cent per annum']);
  const same = (text: string) => subjects.map(() => text);
  const names = subjects.map(({ measure }) => measure);
  const lines: [string, ...string[]][] = [
    ['G1 CONSUMER PRICE INFLATION', ...same('')],
    ['Title', ...names],
    ['Description', ...names.map((name) => `${name}; original`)],
    ['Frequency', ...same(frequencyWords[frequency] ?? '')],
    ['Type', ...same('Original')],
    ['Units', ...same(unit)],
    ['', ...same('')],
    ['', ...same('')],
    ['Source', ...same('ABS / RBA')],
    ['Publication date', ...same('31-Jul-2026')],
    ['Series ID', ...ids],
  ];
  return {
    table: { rows: block(statistics, lines, subjects), merges: [], first: lines.length, isFreeOrder: true },
    series: subjects.map((subject, at) =>
      seriesOf(statistics, subject, [[subject.measure, ids[at] ?? '']], { unit }),
    ),
    questions: [],
  };
}

/** The Office for National Statistics: one series, or a few, with `Title`, `CDID` and the dates of releases above. */
export function ons(statistics: Statistics): Sheet {
  const { random } = statistics;
  const subjects = subjectsOf(statistics, random.whole(1, 3), 1);
  const ids = subjects.map((_, at) => `D7${random.pick(['G', 'B', 'K'])}${at + 1}`);
  const same = (text: string) => subjects.map(() => text);
  const lines: [string, ...string[]][] = [
    ['Title', ...subjects.map(({ measure }) => `${measure}: all items`)],
    ['CDID', ...ids],
    ['Source dataset ID', ...same('MM23')],
    ['PreUnit', ...same('')],
    ['Unit', ...same('%')],
    ['Release Date', ...same('19-06-2026')],
    ['Next release', ...same('17 July 2026')],
    ['Important Notes', ...same('')],
  ];
  return {
    table: { rows: block(statistics, lines, subjects), merges: [], first: lines.length, isFreeOrder: true },
    series: subjects.map((subject, at) =>
      seriesOf(statistics, subject, subjects.length === 1 ? [] : [[subject.measure, ids[at] ?? '']], {
        unit: '%',
      }),
    ),
    questions: [],
  };
}

/** Units in a line below the names; the unit of each is stated there alone. */
export function unitLine(statistics: Statistics): Sheet {
  const { random, periods, names } = statistics;
  const subjects = subjectsOf(statistics, random.whole(2, 4), 1);
  const units = subjects.map(() => random.pick(['%', 'tonnes', 'index 2015=100', 'persons']));
  const rows = [
    [names.columns[3], ...subjects.map(({ measure }) => measure)].map(textCell),
    [empty, ...units.map(textCell)],
    ...periods.map((period, at) => [
      statistics.dates.write(period),
      ...subjects.map((subject) => cellAt(statistics, subject, at)),
    ]),
  ];
  return {
    table: { rows, merges: [], first: 2, isFreeOrder: true },
    series: subjects.map((subject, at) =>
      seriesOf(statistics, subject, [subject.measure], { unit: units[at] ?? '' }),
    ),
    questions: [],
  };
}
