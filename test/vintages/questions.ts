// Every question about the vintages of a series at a moment: the answers of data-api's own functions and statements, and those of a replay.
import { Conditions, readListPage } from '../../data-api/list.sql.ts';
import { pageQueryOf, readPage } from '../../data-api/series/series-read.ts';
import type { SeriesRequest } from '../../data-api/series/series-request.ts';
import { findSeries, type Series } from '../../data-api/series/stored/series.sql.ts';
import { vintagesList } from '../../data-api/series/vintages.sql.ts';
import { triangleRows } from '../../data-api/triangle/cells.ts';
import { readVintageDays } from '../../data-api/triangle/revisions.sql.ts';
import type { Queryable } from '../../kernel/database.ts';
import { createCursors } from '../../kernel/http/cursor.ts';
import { replay, type Moment, type Replayed, type Step } from './replay.ts';

const sides = ['buy', 'sell'];
const dates = ['2024-01-01', '2024-01-02'];
/** The points of a series: two periods of each of two values of its dimension. */
export const points = sides.flatMap((side) => dates.map((date) => ({ date, side })));

export const dateOf = (day: number): string => `2024-03-${String(day + 1).padStart(2, '0')}`;

/** Question → answer. */
export type Answers = Record<string, unknown>;

const cursors = createCursors('of no page');
const ofAll: SeriesRequest = {
  ...{ from: '0001-01-01', to: '9999-12-31', sort: 'asc', limit: undefined, cursor: undefined },
  ...{ format: 'json', fields: ['date', 'dims', 'value', 'published_on'], filter: new Map() },
  ...{ vintage: null, version: null, release: 'current', wanted: 'all', transform: null, base: null },
  ...{ frequency: null, aggregate: 'avg', incomplete: false, last: null },
};
const ofBuy = new Map([['side', new Set(['buy'])]]);

/** The current answer of data-api. */
export async function answersOf(database: Queryable, id: string, day: number): Promise<Answers> {
  const series = await findSeries(database, id, null, new Date());
  if (series === undefined) return { exists: false };
  const read = async (of: Series, request: Partial<SeriesRequest>) => {
    const pageQuery = pageQueryOf(of, { ...ofAll, ...request }, cursors);
    const { points: found } = await readPage({ database, cursors }, pageQuery, null, {
      limit: 100,
      last: null,
    });
    return found.dates
      .map((date, i) => [date, sideOf(of, found.lineNos[i]), found.values[i], found.publishedOn[i]].join(' '))
      .toSorted();
  };
  const ofVintage = async (at: number): Promise<[string, unknown][]> => {
    const vintage = dateOf(at);
    const known = await findSeries(database, id, vintage, new Date());
    if (known === undefined) throw new Error(`${id} is gone`);
    return [
      [`vintage ${at}`, await read(known, { vintage })],
      [`vintage ${at}, side buy`, await read(known, { vintage, filter: ofBuy })],
    ];
  };
  const [latest, buy, first, vintages, triangle, ...ofVintages] = await Promise.all([
    read(series, {}),
    read(series, { filter: ofBuy }),
    read(series, { release: 'first' }),
    vintagesOf(database, series),
    triangleOf(database, series),
    ...Array.from({ length: day + 1 }, (_, at) => ofVintage(at)),
  ]);
  const { firstDate, lastDate, observationCount, lastUpdated } = series;
  return {
    ...{ exists: true, latest, 'latest, side buy': buy },
    'first release': first.map((point) => point.split(' ', 3).join(' ')),
    ...{ vintages, triangle, facts: [firstDate, lastDate, observationCount, lastUpdated] },
    ...Object.fromEntries(ofVintages.flat()),
  };
}

async function vintagesOf(database: Queryable, { seriesNo }: Series): Promise<unknown> {
  const { rows } = await readListPage(database, vintagesList, {
    where: new Conditions().and(seriesNo, (p) => `v.series_no = ${p}`),
    fields: ['vintage', 'points_new', 'points_revised', 'points_deleted'],
    ...{ sort: 'vintage', after: null, limit: 100 },
  });
  return rows.map((row) =>
    [row['vintage'], row['points_new'], row['points_revised'], row['points_deleted']].join(' '),
  );
}

async function triangleOf(database: Queryable, series: Series): Promise<unknown> {
  const vintages = await readVintageDays(database, series.seriesNo, series.version);
  const lineNos = series.combinations.map(({ lineNo }) => lineNo);
  const asked = { series, lineNos, from: '0001-01-01', to: '9999-12-31', vintages, version: series.version };
  const rows = await Array.fromAsync(triangleRows(database, asked));
  const shown = rows.map(
    ({ lineNo, date, cells }) =>
      `${date} ${sideOf(series, lineNo)} ${cells.map((cell) => cell ?? '-').join('|')}`,
  );
  return { vintages, rows: shown.toSorted() };
}

const sideOf = ({ combinations }: Series, lineNo: number | undefined): string | undefined =>
  combinations.find((each) => each.lineNo === lineNo)?.dims['side'];

/** The expected answer. */
export function expectedOf(steps: readonly Step[], moment: Moment): Answers {
  const replayed = replay(steps, moment);
  if (!replayed.exists) return { exists: false };
  const { tables, vintages, first } = replayed;
  const latest = textsAt(replayed, moment.day);
  const isBuy = (text: string) => text.includes(' buy ');
  const values = [...(tables.at(-1) ?? [])].filter(([, value]) => value !== null);
  const withValue = values.map(([point]) => points[point]?.date).toSorted();
  return {
    ...{ exists: true, latest, 'latest, side buy': latest.filter(isBuy) },
    'first release': [...first].map(([point, value]) => `${nameOf(point)} ${value ?? ''}`).toSorted(),
    vintages: vintages.map(([day, ...counts]) => [dateOf(day), ...counts].join(' ')),
    triangle: {
      vintages: vintages.map(([day]) => dateOf(day)),
      rows: points
        .flatMap((_, point) => {
          const cells = vintages.map(([day]) => tables[day]?.get(point));
          const texts = cells.map((cell) => (cell === undefined ? '-' : (cell ?? '')));
          return texts.every((text) => text === '-') ? [] : [`${nameOf(point)} ${texts.join('|')}`];
        })
        .toSorted(),
    },
    facts: [withValue[0] ?? null, withValue.at(-1) ?? null, values.length, latestOf(vintages)],
    ...Object.fromEntries(
      tables.flatMap((_, day) => {
        const shown = textsAt(replayed, day);
        return [
          [`vintage ${day}`, shown],
          [`vintage ${day}, side buy`, shown.filter(isBuy)],
        ];
      }),
    ),
  };
}

const latestOf = (vintages: Replayed['vintages']): string | null => {
  const last = vintages.at(-1);
  return last === undefined ? null : dateOf(last[0]);
};

const nameOf = (point: number): string => `${points[point]?.date} ${points[point]?.side}`;

function textsAt({ tables, since }: Replayed, day: number): string[] {
  return [...(tables[day] ?? [])]
    .map(([point, value]) => `${nameOf(point)} ${value ?? ''} ${dateOf(since[day]?.get(point) ?? -1)}`)
    .toSorted();
}
