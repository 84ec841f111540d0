import test from 'ava';
import fc from 'fast-check';
import { entryAt } from '../../../kernel/entries.ts';
import { layOutFan, type FanOptions } from './fan.ts';
import { bordersOf, changeAt, stepOf } from './heat-map.ts';
import { comparableUntil, rebasingsOf } from './comparable.ts';
import { revisionStatistics, verdictOf, type HorizonStatistics } from './statistics.ts';
import {
  changesOf,
  firstPrints,
  lifeOf,
  mostRevised,
  revisionCount,
  valueAt,
  type RevisionTable,
} from './table.ts';

const dateOf = (n: number): string => new Date(Date.UTC(2020, n + 1, 0)).toISOString().slice(0, 10);
const dayOf = (n: number): string => new Date(Date.UTC(2020, n + 1, 12)).toISOString().slice(0, 10);

function tableOf(rows: (number | null)[][]): RevisionTable {
  const vintages = Array.from({ length: rows[0]?.length ?? 0 }, (_, n) => dayOf(n));
  return { dates: rows.map((_, n) => dateOf(n)), vintages, rows };
}

/** Rows of equal length, values with gaps. */
const anyTable: fc.Arbitrary<RevisionTable> = fc
  .tuple(fc.integer({ min: 1, max: 12 }), fc.integer({ min: 1, max: 9 }))
  .chain(([dates, vintages]) =>
    fc.array(
      fc.array(
        fc.option(
          fc.integer({ min: -40, max: 40 }).map((n) => n / 4),
          { freq: 4 },
        ),
        {
          minLength: vintages,
          maxLength: vintages,
        },
      ),
      { minLength: dates, maxLength: dates },
    ),
  )
  .map(tableOf);

// The newest month of each vintage is its first print; the first vintage has three older months, too.
const published = tableOf([
  [10, 10, 10, 10],
  [11, 11, 12, 12],
  [20, 21, 21, 21.5],
  [null, 30, 28, 28],
  [null, null, 40, null],
  [null, null, null, 50],
]);

test('in the first vintage only the newest period is a first print, in later ones every added period', (t) => {
  t.deepEqual(firstPrints(published), [
    { dateNo: 2, vintageNo: 0, value: 20 },
    { dateNo: 3, vintageNo: 1, value: 30 },
    { dateNo: 4, vintageNo: 2, value: 40 },
    { dateNo: 5, vintageNo: 3, value: 50 },
  ]);
});

test('the changes of a vintage are its differences from the previous one, newest first', (t) => {
  t.deepEqual(changesOf(published, 0), []);
  t.deepEqual(changesOf(published, 2), [
    { dateNo: 4, before: null, after: 40 },
    { dateNo: 3, before: 30, after: 28 },
    { dateNo: 1, before: 11, after: 12 },
  ]);
  t.deepEqual(changesOf(published, 3)[1], { dateNo: 4, before: 40, after: null });
  t.is(revisionCount(published), 5);
  t.is(mostRevised(published), 3);
});

test('the life of a period has all its values, and its deletion', (t) => {
  t.deepEqual(lifeOf(published, 2), [
    { vintageNo: 0, value: 20 },
    { vintageNo: 1, value: 21 },
    { vintageNo: 3, value: 21.5 },
  ]);
  t.deepEqual(lifeOf(published, 4), [
    { vintageNo: 2, value: 40 },
    { vintageNo: 3, value: null },
  ]);
});

test('the life of a period determines every cell of its row', (t) => {
  fc.assert(
    fc.property(anyTable, (table) => {
      for (const [dateNo, row] of table.rows.entries()) {
        const steps = lifeOf(table, dateNo);
        const read = row.map((_, at) => steps.findLast(({ vintageNo }) => vintageNo <= at)?.value ?? null);
        t.deepEqual(read, [...row]);
      }
    }),
  );
});

test('the changes from vintage to vintage add up to every vintage', (t) => {
  fc.assert(
    fc.property(anyTable, (table) => {
      const state = table.rows.map((row) => entryAt(row, 0));
      for (let at = 1; at < table.vintages.length; at += 1) {
        for (const { dateNo, before, after } of changesOf(table, at)) {
          t.is(state[dateNo], before);
          state[dateNo] = after;
        }
        t.deepEqual(
          state,
          table.rows.map((row) => entryAt(row, at)),
        );
      }
    }),
  );
});

/** The same figures by other means: the textbook sums of squares, over pairs collected vintage by vintage. */
function statisticsByHand({ rows, vintages }: RevisionTable, after: number | 'latest') {
  const pairs: [first: number, later: number][] = [];
  const last = vintages.length - 1;
  let newestOfFirst = -1;
  for (const [n, row] of rows.entries()) if (row[0] !== null) newestOfFirst = n;
  for (let vintage = 0; vintage <= last; vintage += 1) {
    for (const [n, row] of rows.entries()) {
      const isFirst = row[vintage] !== null && row.slice(0, vintage).every((value) => value === null);
      if (!isFirst || (vintage === 0 && n !== newestOfFirst)) continue;
      const until = after === 'latest' ? last : vintage + after;
      const later = row[until];
      if (until === vintage || until > last || later === null || later === undefined) continue;
      pairs.push([entryAt(row, vintage) ?? 0, later]);
    }
  }
  const differences = pairs.map(([first, later]) => later - first);
  const n = differences.length;
  const sum = differences.reduce((a, b) => a + b, 0);
  const squares = differences.reduce((a, b) => a + b * b, 0);
  const variance = n < 2 ? 0 : (squares - (sum * sum) / n) / (n - 1);
  return {
    count: n,
    mean: sum / n,
    t: variance < 1e-12 ? null : sum / n / Math.sqrt(variance / n),
    meanSize: differences.map(Math.abs).reduce((a, b) => a + b, 0) / n,
    sizeMost: Math.max(...differences.map(Math.abs)),
    revisedUp: differences.filter((each) => each > 0).length,
  };
}

test('the statistics of every horizon equal those of an independent computation', (t) => {
  const isNear = (a: number, b: number) => Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(a));
  fc.assert(
    fc.property(anyTable, (table) => {
      fc.pre(rebasingsOf(table).length === 0);
      const found = new Map(revisionStatistics(table).map((each) => [each.horizon, each]));
      for (const horizon of [1, 2, 3, 5, 12, 'latest'] as const) {
        const expected = statisticsByHand(table, horizon);
        const { count, mean, t: ratio, meanSize, largest, revisedUp } = found.get(horizon) ?? { count: 0 };
        if (count !== expected.count) return false;
        if (count === 0) continue;
        if (!isNear(mean ?? 0, expected.mean) || !isNear(meanSize ?? 0, expected.meanSize)) return false;
        if (Math.abs(largest ?? 0) !== expected.sizeMost || revisedUp !== expected.revisedUp) return false;
        if ((ratio === null) !== (expected.t === null) || !isNear(ratio ?? 0, expected.t ?? 0)) return false;
      }
      return true;
    }),
    { numRuns: 500 },
  );
  t.pass();
});

test('three releases by hand: mean, t, size, largest and direction', (t) => {
  const table = tableOf([
    [1, 2, 2, 2],
    [null, 5, 8, 8],
    [null, null, 9, 7],
    [null, null, null, 4],
  ]);
  const [one, , , latest] = revisionStatistics(table);
  t.deepEqual(
    { ...one, t: one?.t?.toFixed(4) },
    { horizon: 1, count: 3, mean: 2 / 3, t: '0.4588', meanSize: 2, largest: 3, revisedUp: 2 },
  );
  t.like(latest, { horizon: 'latest', count: 3, mean: 2 / 3 });
});

const monthsOfIndex = 40;
const rebasedAt = 25;

/**
 * A monthly index with one decimal: each vintage adds a month and revises the one before, up and down in turn. From one vintage on, all of
 * it is in another base.
 */
function indexTable(factor: number, revised: (dateNo: number) => number = (n) => (n % 2 === 0 ? 0.1 : -0.1)) {
  const rounded = (value: number): number => Number(value.toFixed(1));
  const rows = Array.from({ length: monthsOfIndex }, (_, dateNo) =>
    Array.from({ length: monthsOfIndex }, (_none, vintageNo) => {
      if (vintageNo < dateNo) return null;
      const published = rounded(100 + dateNo * 0.7 + (vintageNo > dateNo ? revised(dateNo) : 0));
      return vintageNo < rebasedAt ? published : rounded(published * factor);
    }),
  );
  return tableOf(rows);
}

test('a change of base is not a revision: earlier values are compared with the newest value in the same base', (t) => {
  const plain = revisionStatistics(indexTable(1)).at(-1);
  for (const factor of [0.5, 0.847, 1.2, 1000]) {
    const table = indexTable(factor);
    const [rebasing, ...others] = rebasingsOf(table);
    t.is(rebasing?.vintageNo, rebasedAt, `${factor}`);
    t.true(Math.abs((rebasing?.factor ?? 0) / factor - 1) < 0.01);
    t.deepEqual(others, []);
  }
  const table = indexTable(0.847);
  const statistics = revisionStatistics(table);
  t.is(verdictOf(statistics)?.lean, 'none');
  const latest = statistics.at(-1);
  t.is(
    latest?.count,
    (plain?.count ?? 0) - 1,
    'the month that was new before the change has no later value in its base',
  );
  t.true(Math.abs(latest?.largest ?? 1) < 0.25);
  for (const { horizon, largest } of statistics) t.true(Math.abs(largest) < 0.25, `${horizon}`);
});

test('a declared change of unit is not a revision of the periods that it covers', (t) => {
  const rows = indexTable(1).rows.map((row, dateNo) =>
    row.map((value, vintageNo) =>
      value === null || dateNo < 22 || vintageNo < rebasedAt ? value : value * 1000,
    ),
  );
  const breaks = [{ date: dateOf(22), declaredOn: dayOf(rebasedAt) }];
  t.is(Math.round(revisionStatistics(tableOf(rows)).at(-1)?.largest ?? 0), 116_783, 'undeclared, it is one');
  const table = { ...tableOf(rows), breaks };
  const until = comparableUntil(table);
  t.deepEqual([until(21, 21), until(22, 22), until(22, rebasedAt)], [39, rebasedAt - 1, 39]);
  const largest = revisionStatistics(table).map((each) => each.largest);
  t.true(
    largest.every((each) => Math.abs(each) < 200),
    String(largest),
  );
  // It was declared only after the vintage that shows it, by the four periods since 21.
  const rowsSince21 = rows.map((row, dateNo) =>
    dateNo === 21 ? row.map((value, no) => (value === null || no < rebasedAt ? value : value * 1000)) : row,
  );
  const late = { ...tableOf(rowsSince21), breaks: [{ date: dateOf(21), declaredOn: dayOf(30) }] };
  t.is(comparableUntil(late)(22, 22), rebasedAt - 1);
});

test('revisions are not mistaken for a change of base, however many there are', (t) => {
  t.deepEqual(rebasingsOf(indexTable(1)), []);
  // Each vintage revises all of its months by amounts of their own, or by the same last digit.
  const amounts = [(n: number, v: number) => ((n * 7 + v * 3) % 11) - 5, (_n: number, v: number) => v * 0.1];
  for (const amount of amounts) {
    const rows = Array.from({ length: 12 }, (_, n) =>
      Array.from({ length: 12 }, (_none, v) => (v < n ? null : Number((90 + n + amount(n, v)).toFixed(1)))),
    );
    t.deepEqual(rebasingsOf(tableOf(rows)), []);
  }
});

test('a bias is reported from t = 2 and from eight periods on, and most of the revision once it reaches half', (t) => {
  const of = (count: number, t: number | null, mean = 1): HorizonStatistics[] => [
    { horizon: 1, count, mean, t, meanSize: 0.4, largest: 1, revisedUp: 1 },
    { horizon: 2, count, mean, t, meanSize: 0.5, largest: 1, revisedUp: 1 },
    { horizon: 'latest', count, mean, t, meanSize: 1, largest: 1, revisedUp: 1 },
  ];
  const leanOf = (statistics: HorizonStatistics[]) => verdictOf(statistics)?.lean;
  t.is(leanOf(of(7, 9)), 'unknown');
  t.is(leanOf(of(8, 1.99)), 'none');
  t.is(leanOf(of(8, 2)), 'up');
  t.is(leanOf(of(8, -2, -1)), 'down');
  t.is(leanOf(of(8, null)), 'up');
  t.is(leanOf(of(8, null, 0)), 'none');
  t.is(verdictOf(of(8, 2))?.mostWithin, 2);
  t.is(verdictOf([]), undefined);
});

test('the borders of the colours are rising 1, 2 or 5 times powers of ten, and steps are symmetric', (t) => {
  fc.assert(
    fc.property(anyTable, (table) => {
      const borders = bordersOf(
        table,
        table.dates.map((_, n) => n),
      );
      t.is(borders.length, 4);
      for (const [i, border] of borders.entries()) {
        t.true(i === 0 || border > entryAt(borders, i - 1));
        t.regex(border.toExponential(), /^[125]e/);
        t.is(stepOf(border, borders), i + 1);
        t.is(stepOf(-border, borders), -i - 1);
      }
      t.is(stepOf(0, borders), 0);
    }),
  );
});

test('a cell reports its change since the first print or the previous vintage, and none if it is not published', (t) => {
  t.is(changeAt(published, 2, 3, 'first'), 1.5);
  t.is(changeAt(published, 2, 3, 'before'), 0.5);
  t.is(changeAt(published, 3, 1, 'first'), 0);
  t.is(changeAt(published, 4, 3, 'first'), null);
  const again = tableOf([[1, null, 4]]);
  t.is(changeAt(again, 0, 2, 'before'), 3);
});

const options: FanOptions = {
  frequency: 'monthly',
  fromNo: 0,
  width: 600,
  height: 300,
  marginLeft: 40,
  marginRight: 60,
  shows: 'values',
  unit: '',
};

test('every value of every vintage is inside the frame, and each vintage has a path', (t) => {
  fc.assert(
    fc.property(anyTable, fc.constantFrom('values' as const, 'distance' as const), (table, shows) => {
      const fan = layOutFan(table, { ...options, shows });
      t.is(fan.paths.length, table.vintages.length);
      for (let dateNo = 0; dateNo < table.dates.length; dateNo += 1) {
        const x = fan.xOf(dateNo);
        t.true(x >= fan.frame.left - 1e-6 && x <= fan.frame.right + 1e-6);
        for (let vintageNo = 0; vintageNo < table.vintages.length; vintageNo += 1) {
          const value = fan.shownAt(dateNo, vintageNo);
          if (value === null) continue;
          const y = fan.y(value);
          t.true(y >= fan.frame.top - 1e-6 && y <= fan.frame.bottom + 1e-6);
        }
      }
      t.notRegex(fan.paths.join(''), /NaN|Infinity/);
    }),
    { numRuns: 200 },
  );
});

test('the distance of the newest vintage is zero everywhere, and that of each other vintage is its difference', (t) => {
  const fan = layOutFan(published, { ...options, shows: 'distance' });
  for (let dateNo = 0; dateNo < published.dates.length; dateNo += 1) {
    const latest = valueAt(published, dateNo, 3);
    t.is(fan.shownAt(dateNo, 3), latest === null ? null : 0);
  }
  t.is(fan.shownAt(3, 1), 2);
  t.is(fan.shownAt(4, 2), null, 'the newest vintage does not have it');
});
