// Random histories of loads, retractions and other changes, played on two databases at once: complete on one, and on the other as if nothing had
// been published after a day. Hides how both get the same numbers of loads and the same instants.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import type { BulkPlace } from '../../kernel/settings/bulk-place.ts';
import { retract } from '../../ingest/history/retract/retract.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { addDays } from '../../kernel/dates.ts';
import { openDatabase, type Database } from '../../kernel/database.ts';
import { daily, loadCsv } from '../ingest/loading.ts';
import type { Load } from '../v1/every-dataset.ts';
import { startDataService, type DataService } from '../services/data-service.ts';
import { fakeClock, silentLog } from '../services/harness.ts';
import { Embargoes, isRefused, copyLoadNumber, type ReleaseTime, type Written } from './embargoes.ts';

const firstDay = '2024-04-18';
/** The tables whose rows have the day of their last change. */
const rowTables = [
  ...['data.trade', 'data.trade_commodities', 'data.auctions'],
  ...['data.securities', 'data.security_prices', 'data.security_trades'],
  ...['data.amcs', 'data.funds', 'data.navs', 'data.payouts', 'data.expenses', 'data.portfolio_lines'],
  'data.fund_figures',
];

/** Those that were known from the first day on; loads make the others. */
const known: readonly Load[] = [
  {
    dataset: 'series',
    lines: [
      'series_id,name,unit,frequency,source,category,tags',
      'CPI,Consumer prices,Index,monthly,Office,prices/consumer,prices',
      'PRICES,Prices,Index,quarterly,Bureau,prices,',
      'EMPTY,Nothing yet,USD,annual,Bureau,,',
    ],
  },
];

/** The dates that a series can have points at, and their dimension values. */
const plain = [
  ...['01', '02', '03', '06', '12'].map((month) => `CPI,2023-${month}`),
  ...['01', '02', '03', '04'].map((month) => `CPI,2024-${month}`),
  ...['2023-05-01', '2023-12-29', '2024-04-30'].map((date) => `BENCH,${date}`),
  ...['2023-12', '2024-03'].map((date) => `PRICES,${date}`),
];
const combined = ['2024-04-29', '2024-04-30', '2024-05-01'].flatMap((date) =>
  ['buy,Lahore', 'sell,Lahore', 'sell,Karachi'].map((dims) => `TRADES,${date},${dims}`),
);
const states = ['100.50,', '100.50,', '112,', '113.25,P', ','];

const anyRows = (points: readonly string[]) =>
  fc.uniqueArray(fc.tuple(fc.constantFrom(...points), fc.constantFrom(...states)), {
    ...{ minLength: 1, maxLength: points.length, selector: ([point]: [string, string]) => point },
  });
/** How many days after the step before it. */
export const later = fc.constantFrom(0, 0, 1, 2, 5);
const anyLoad = fc.record({
  later,
  kind: fc.constant('load' as const),
  /** How many days before its loading it was published. */
  age: fc.constantFrom(0, 0, 0, 1, 3, 7),
  full: fc.boolean(),
  hasDims: fc.boolean(),
  plain: anyRows(plain),
  combined: anyRows(combined),
});
export const anyRetraction = fc.record({
  later,
  kind: fc.constant('retract' as const),
  /** How many loads before the newest. */
  age: fc.nat(4),
  erase: fc.constantFrom(false, false, false, true),
});
const entries = ['cpi-1', 'cpi-2', 'prices-1', 'other-1'];
const anyEntry = fc.tuple(
  fc.constantFrom(...entries),
  fc.constantFrom('Consumer prices,Office', 'Prices,Bureau', 'Others,Elsewhere'),
  fc.constantFrom('2024-04-15 08:00', '2024-04-19', '2024-04-25 08:30', '2024-05-06 14:00', '2024-06-20'),
  fc.constantFrom(',,', 'monthly,released,high', 'quarterly,delayed,', ',cancelled,low'),
  fc.constantFrom('', 'CPI', 'PRICES;CPI', 'EMPTY'),
);
/** The calendar has no vintages: a load of it is published when it is loaded. */
const anyCalendar = fc.record({
  later,
  kind: fc.constant('calendar' as const),
  entries: fc.uniqueArray(anyEntry, { minLength: 1, maxLength: 4, selector: ([id]) => id }),
});
/** Files of facts. Each replaces the facts of an earlier file. */
const facts = (['A', 'B', 'C'] as const).flatMap((version) => [
  { dataset: 'series', csv: ['series_id,name,unit', `CPI,Consumer prices ${version},Unit ${version}`] },
  {
    dataset: 'series',
    csv: ['series_id,name,description,tags', `TRADES,Trades ${version},As in ${version},${version};trades`],
  },
  {
    dataset: 'dimension-labels',
    csv: [
      'series_id,dimension,value,label',
      `TRADES,city,Lahore,Lahore ${version}`,
      'TRADES,side,buy,Bought',
    ],
  },
  {
    dataset: 'footnotes',
    csv: ['series_id,date,mark,text', `CPI,,*,Of the series ${version}`, `CPI,2023-12,${version},Of a point`],
  },
]);
const anyFacts = fc.record({ later, kind: fc.constant('facts' as const), file: fc.constantFrom(...facts) });
const anyReleaseTime = fc.oneof(
  { weight: 3, arbitrary: fc.record({ days: fc.constantFrom(0, 0, 1, 2, 6) }) },
  { weight: 1, arbitrary: fc.record({ entry: fc.constantFrom(...entries) }) },
);
/** Accepted on the day of the step, and published at its instant; dimension values are those that are known. */
const anyEmbargo = fc.record({
  later,
  kind: fc.constant('embargo' as const),
  releaseTime: anyReleaseTime,
  of: fc.oneof({ weight: 3, arbitrary: anyLoad }, anyFacts, anyCalendar),
});
/** To and fro between the two ids. */
const anyRename = fc.record({
  later,
  kind: fc.constant('rename' as const),
  ids: fc.constantFrom(['PRICES', 'PRICES2'], ['PRICES2', 'PRICES']),
});
export const anyHistory = fc.record({
  steps: fc
    .tuple(
      anyLoad,
      fc.array(
        fc.oneof(
          ...[
            { weight: 3, arbitrary: anyLoad },
            { weight: 1, arbitrary: anyRetraction },
            { weight: 2, arbitrary: anyEmbargo },
          ],
          ...[
            { weight: 2, arbitrary: anyFacts },
            { weight: 1, arbitrary: anyRename },
            { weight: 2, arbitrary: anyCalendar },
          ],
        ),
        { minLength: 6, maxLength: 15 },
      ),
    )
    .map(([first, others]) => [first, ...others]),
  /** The pinned day, in days after the first. */
  pinnedAfter: fc.nat(14),
});
type Known = typeof anyHistory extends fc.Arbitrary<infer Each> ? Each : never;
/** A load of rows of another table. @property age as of a load of points; by default it was published on the day of the step. */
export type RowStep = { later: number; kind: 'rows'; age?: number } & Load;
type Step = Known['steps'][number] | RowStep;
type EmbargoedLoad = Extract<Step, { kind: 'embargo' }>['of'];
export interface History {
  steps: readonly Step[];
  pinnedAfter: number;
  /** The loads of the first day; by default, metadata of series. */
  known?: readonly Load[];
}

/** One of the two installations. */
interface Side {
  service: DataService;
  database: Database;
}

export interface Sides {
  /** It has everything. */
  whole: DataService;
  /** It has nothing that was published after the day. */
  cut: DataService;
  day: string;
  /** The present day of the former. */
  today: string;
  /** Commits the release that the former has prepared all the time. */
  release(): Promise<void>;
  close(): Promise<void>;
}

/** Plays the history on two new databases. */
export async function play(history: History): Promise<Sides> {
  const [whole, cut] = [await startSide(), await startSide()];
  const close = async () => {
    for (const { service, database } of [whole, cut]) {
      await database.close();
      await service.close();
    }
  };
  try {
    const played = await playOn(whole, cut, history);
    return {
      ...played,
      async close() {
        await played.release();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function playOn(
  whole: Side,
  cut: Side,
  { steps, pinnedAfter, known: first = known }: History,
): Promise<Omit<Sides, 'close'>> {
  const day = addDays(firstDay, pinnedAfter);
  for (const { database } of [whole, cut]) {
    const clock = fakeClock(`${firstDay}T12:00:00Z`);
    for (const { dataset, lines, options } of first)
      await loadCsv(database, lines, { dataset, clock, ...options });
    await date(database, `${firstDay}T12:00:00Z`);
  }
  const embargoes = new Embargoes({ whole: whole.database, cut: cut.database, day }, date);
  const order = new CombinationOrder();
  let today = firstDay;
  for (const step of steps) {
    today = addDays(today, step.later);
    await embargoes.makeUntil(`${today}T12:00:00Z`);
    if (step.kind !== 'embargo') await applyToBoth(step, { whole, cut, order, today, day });
    else if (order.knows(step.of))
      await embargoes.accept(
        writtenOf(step.of, releasedOn(step.releaseTime, today)),
        step.releaseTime,
        today,
      );
  }
  const last = today > day ? today : day;
  await embargoes.makeUntil(`${last}T12:00:00Z`);
  const setClocks = (now: string) => {
    whole.service.clock.set(now);
    cut.service.clock.set(last > day ? `${day}T23:59:59.999Z` : now);
  };
  setClocks(`${last}T12:00:00Z`);
  await dateAsOf(whole.database, cut.database, day);
  await embargoes.prepare(last);
  const release = async () => {
    const at = await embargoes.release();
    if (at === undefined) return;
    setClocks(at.toISOString());
    await dateAsOf(whole.database, cut.database, day);
  };
  return { whole: whole.service, cut: cut.service, day, today: last, release };
}

async function applyToBoth(
  step: Exclude<Step, { kind: 'embargo' }>,
  {
    whole,
    cut,
    order,
    today,
    day,
  }: { whole: Side; cut: Side; order: CombinationOrder; today: string; day: string },
): Promise<void> {
  // An erasure after the day changes the past without being a publication, so these histories contain none.
  const publishedOn = step.kind === 'load' || step.kind === 'rows' ? addDays(today, -(step.age ?? 0)) : today;
  const isErasure = step.kind === 'retract' && step.erase && today > day;
  if (isErasure || !order.preservesOrder(step, publishedOn <= day)) return;
  await copyLoadNumber(whole.database, cut.database);
  const refused = await isRefused(() => applyStep(whole.database, step, today));
  if (publishedOn <= day && (await isRefused(() => applyStep(cut.database, step, today))) !== refused)
    throw new Error(`${JSON.stringify(step)} is refused on one side alone`);
  for (const { database } of [whole, cut]) await date(database, `${today}T12:00:00Z`);
}

/** The day of the release; undefined for an entry of the calendar, which loads can move. */
const releasedOn = (releaseTime: ReleaseTime, today: string): string | undefined =>
  'days' in releaseTime ? addDays(today, releaseTime.days) : undefined;

const places = new WeakMap<DataService, BulkPlace>();

/** Where the service reads bulk files. @param service one of `play`. */
export function bulkPlaceOf(service: DataService): BulkPlace {
  const place = places.get(service);
  if (place === undefined) throw new Error('This service has no bulk files.');
  return place;
}

async function startSide(): Promise<Side> {
  const bulkPlace = { directory: mkdtempSync(path.join(tmpdir(), 'almanac-bulk-')) };
  const service = await startDataService(undefined, undefined, { bulkPlace });
  places.set(service, bulkPlace);
  return { service, database: openDatabase(service.databaseUrl, silentLog, { applicationName: 'test' }) };
}

/**
 * Combinations of dimension values are in the order in which an installation first had them. If a load dated after the day adds some first, and
 * a load dated before the day follows it, the order differs from that of an installation which never had the first load.
 */
class CombinationOrder {
  readonly #before = new Set<string>();
  readonly #after = new Set<string>();

  /** Whether the load brings no combination that is new, whenever it is made. */
  knows(step: EmbargoedLoad): boolean {
    return (
      step.kind !== 'load' || !step.hasDims || combinationsOf(step).every((dims) => this.#before.has(dims))
    );
  }

  /** Whether the step leaves the order as it would be. */
  preservesOrder(step: Step, isBefore: boolean): boolean {
    if (step.kind !== 'load' || !step.hasDims) return true;
    const named = combinationsOf(step);
    if (isBefore && named.some((dims) => this.#after.has(dims))) return false;
    for (const dims of named)
      if (isBefore) this.#before.add(dims);
      else if (!this.#before.has(dims)) this.#after.add(dims);
    return true;
  }
}

const combinationsOf = (step: LoadStep): string[] =>
  step.combined.map(([point]) => point.slice('TRADES,2024-04-29,'.length));

async function applyStep(
  database: Database,
  step: Exclude<Step, { kind: 'embargo' }>,
  today: string,
): Promise<void> {
  const clock = fakeClock(`${today}T12:00:00Z`);
  if (step.kind === 'rename') {
    const [id = '', newId = ''] = step.ids;
    await renameSeries(database, { id, newId, seriesTimeZone: 'UTC', clock, noGateway: true });
  } else if (step.kind === 'retract') {
    const found = await loadBefore(database, step.age);
    const how = { seriesTimeZone: 'UTC', clock, noGateway: true, erase: step.erase };
    if (found !== undefined) await retract(database, { loadNo: found.load_no, ...how });
  } else {
    const { dataset, lines, options } = writtenOf(step, today);
    await loadCsv(database, lines, { dataset, clock, ...options });
  }
}

/** The load of a step. @param day on which it is published, unless it is of an earlier vintage; undefined: it is of no earlier one. */
function writtenOf(step: EmbargoedLoad | RowStep, day: string | undefined): Written {
  if (step.kind === 'calendar') return { dataset: 'calendar', lines: calendarOf(step) };
  if (step.kind === 'facts') return { dataset: step.file.dataset, lines: step.file.csv };
  const { age = 0 } = step;
  const vintage = age === 0 || day === undefined ? {} : { vintage: addDays(day, -age) };
  if (step.kind === 'rows') {
    const { dataset, lines, options } = step;
    return { dataset, lines, options: { ...vintage, ...options } };
  }
  return {
    dataset: 'observations',
    lines: csvOf(step),
    options: { create: true, full: step.full, set: daily, ...vintage },
  };
}

type LoadStep = Extract<Step, { kind: 'load' }>;

function csvOf(step: LoadStep): string[] {
  return step.hasDims
    ? ['series_id,date,side,city,value,status', ...step.combined.map((row) => row.join(','))]
    : ['series_id,date,value,status', ...step.plain.map((row) => row.join(','))];
}

function calendarOf({ entries: stated }: Extract<Step, { kind: 'calendar' }>): string[] {
  const header =
    'release_id,title,source,release_at,frequency,status,importance,series_ids,time_zone,reference_period';
  return [header, ...stated.map((cells) => `${cells.join(',')},Asia/Karachi,2024-04`)];
}

/** A load that was published: of as many before the newest. */
async function loadBefore(database: Database, age: number) {
  const [row] = await database.query<{ load_no: number; dataset: string }>(
    `select load_no, dataset from data.loads where retracts is null order by load_no desc offset $1 limit 1`,
    [age],
  );
  return row;
}

/** Sets the times that the database took from its own clock to the instant. */
async function date(database: Database, at: string): Promise<void> {
  await database.query(`update data.loads set loaded_at = $1 where loaded_at > '2025-01-01'`, [at]);
  for (const table of ['data.series', 'data.securities'])
    await database.query(`update ${table} set created_at = $1 where created_at > '2025-01-01'`, [at]);
  await database.query(`update data.series set updated_at = $1 where updated_at > '2025-01-01'`, [at]);
  await database.transaction(async (on) => {
    // Otherwise triggers date these rows anew.
    await on.query(`set local session_replication_role = replica`);
    await on.query(`update data.commodity_cities set created_at = $1 where created_at > '2025-01-01'`, [at]);
    for (const table of rowTables)
      await on.query(`update ${table} set updated_on = $1 where updated_on > '2025-01-01'`, [
        at.slice(0, 10),
      ]);
  });
}

/** If only the calendar of a series changed after the day, its last change counts as the end of that day: earlier changes are not stored. */
async function dateAsOf(whole: Database, cut: Database, day: string): Promise<void> {
  const end = `${day}T23:59:59.999999Z`;
  const rows = await whole.query<{ id: string }>(
    `select coalesce((select f.content ->> 'series_id' from data.former_facts f
         where f.series_no = s.series_no and f.replaced_on > $2::date and f.kind = 'series' order by f.replaced_on limit 1), s.series_id) as id
     from data.series s, lateral (select min(f.updated_at) as at from data.former_facts f
       where f.series_no = s.series_no and f.replaced_on > $2::date) changed
     where s.updated_at > $1::timestamptz and coalesce(changed.at, 'infinity') > $1::timestamptz`,
    [end, day],
  );
  await cut.query(
    'update data.series set updated_at = $1, row_version = row_version + 1 where series_id = any($2)',
    [end, rows.map(({ id }) => id)],
  );
  // A reader pinned to the day has received no update after it, not even of earlier vintages.
  await cut.query('delete from data.updates where at > $1::timestamptz', [end]);
}
