// An installation and the model that are told the same: loads, releases under embargo, retractions, and changes of series; and what each
// says then: the stored history, and the answers of data-api by every id.
import { cancelRelease } from '../../ingest/publisher/operate.ts';
import { deleteSeries, restoreSeries } from '../../ingest/series/delete.ts';
import { renameSeries } from '../../ingest/series/rename.ts';
import { retract } from '../../ingest/undo/retract.ts';
import { IngestFailure } from '../../ingest/load/failure.ts';
import { addDays } from '../../kernel/dates.ts';
import { Failure } from '../../kernel/errors.ts';
import type { DataService } from '../services/data-service.ts';
import { fakeClock } from '../services/harness.ts';
import { daily, loadCsv } from './loading.ts';
import type { Releasing } from './releasing.ts';
import { UndoModel, type ModelLoad } from './undo-model.ts';
import {
  seriesPerLoad,
  type ChangeStep,
  type EmbargoStep,
  type LoadStep,
  type RetractStep,
  type Step,
  type WishedSeries,
} from './undo-steps.ts';
import type { State, States } from './vintages-model.ts';

/** The first day on which anything can be published in a run: later than all days of the runs before, as a day of a retraction concerns all loads. */
const firstDayOf = (run: number): string => addDays('2024-03-01', 30 * (run - 1));
export const firstDay = firstDayOf(1);

/** Whether a step was refused, and whether it should have been. */
export interface Refused {
  found: boolean;
  expected: boolean;
}
const asExpected: Refused = { found: false, expected: false };

let runs = 0;

export class Sides {
  readonly #service: DataService;
  readonly #releasing: Releasing;
  readonly #model = new UndoModel();
  readonly #prefix = `UNDO.${++runs}`;
  readonly #firstDay = firstDayOf(runs);
  /** The series of the model → all of its ids; the last is the present one. The model has it by the first. */
  readonly #ids = new Map<string, string[]>();
  readonly #deleted = new Map<string, string>();
  #pending: { releaseNo: number; at: string; load: ModelLoad }[] = [];
  #renames = 0;
  today = addDays(this.#firstDay, 3);
  #hour = 'T12:00:00Z';

  constructor(service: DataService, releasing: Releasing) {
    this.#service = service;
    this.#releasing = releasing;
    this.#setClocks();
  }

  get #now(): string {
    return this.today + this.#hour;
  }

  #setClocks(): void {
    this.#releasing.clock.set(this.#now);
    this.#service.clock.set(this.#now);
  }

  async take(step: Step): Promise<Refused> {
    if (step.nextDay) await this.#begin(addDays(this.today, 1));
    if (step.kind === 'load') return this.#load(step);
    if (step.kind === 'retract') return this.#retract(step);
    if (step.kind === 'embargo') return this.#accept(step);
    if (step.kind === 'cancel') return this.#cancel();
    if (step.kind === 'evening') {
      await this.#release(`${this.today}T18:00:00Z`);
      return asExpected;
    }
    return this.#change(step);
  }

  /** Releases what is due until the noon of the day, each at its instant. */
  async #begin(day: string): Promise<void> {
    await this.#release(`${this.today}T18:00:00Z`);
    this.today = day;
    await this.#release(`${day}T06:00:00Z`);
    this.#hour = 'T12:00:00Z';
    this.#setClocks();
  }

  async #release(at: string): Promise<void> {
    this.#hour = at.slice(10);
    this.#setClocks();
    const due = this.#pending.filter((each) => each.at === at);
    this.#pending = this.#pending.filter((each) => each.at !== at);
    const before = await this.#newestLoad();
    const released: number[] = [];
    for (let made = await this.#releasing.makeNext(); made.result !== 'none';) {
      if (made.result === 'released') released.push(...made.releases.map(({ releaseNo }) => releaseNo));
      made = await this.#releasing.makeNext();
    }
    const expected = due.filter(({ load }) => !this.#namesDeleted(load));
    if (released.join() !== expected.map(({ releaseNo }) => releaseNo).join())
      throw new Error(
        `released ${released.join()}, not ${expected.map(({ releaseNo }) => releaseNo).join()}`,
      );
    const numbers = await this.#loadsAfter(before);
    for (const [i, { load }] of expected.entries()) this.#noteLoads(new Map([[numbers[i] ?? NaN, load]]));
  }

  async #load({ full, vintages }: LoadStep): Promise<Refused> {
    const loads = vintages
      .map(([age, series]) => this.#written(full, addDays(this.today, -age), series))
      .filter(({ load }) => load.vintage >= this.#firstDay && load.series.size > 0)
      .toSorted((a, b) => a.load.vintage.localeCompare(b.load.vintage));
    const [first] = loads;
    if (first === undefined) return asExpected;
    const isMany = loads.length > 1;
    const before = await this.#newestLoad();
    const expected = loads.some(({ load }) => this.#namesDeleted(load));
    const found = await isRefused(() =>
      loadCsv(this.#releasing.database, csvOf(loads, isMany), {
        ...{ create: true, set: daily, full, clock: fakeClock(this.#now) },
        ...(isMany ? {} : { vintage: first.load.vintage }),
      }),
    );
    if (!expected && !found) {
      const numbers = await this.#loadsAfter(before);
      this.#noteLoads(new Map(loads.map(({ load }, i) => [numbers[i] ?? NaN, load])));
    }
    return { found, expected };
  }

  /** Nothing of the load can be seen before its instant. */
  async #accept({ full, tomorrow, series }: EmbargoStep): Promise<Refused> {
    const isTomorrow = tomorrow || this.#hour >= 'T18';
    const at = isTomorrow ? `${addDays(this.today, 1)}T06:00:00Z` : `${this.today}T18:00:00Z`;
    const written = this.#written(full, at.slice(0, 10), series);
    const { load } = written;
    if (load.series.size === 0) return asExpected;
    let releaseNo = NaN;
    const found = await isRefused(async () => {
      ({ releaseNo } = await this.#releasing.accept(csvOf([written], false), at, { full }));
    });
    if (!found) this.#pending.push({ releaseNo, at, load });
    return { found, expected: this.#namesDeleted(load) };
  }

  async #cancel(): Promise<Refused> {
    const release = this.#pending.pop();
    if (release !== undefined)
      await cancelRelease(this.#releasing.database, release.releaseNo, this.#releasing.clock);
    return asExpected;
  }

  /** Cancels what is pending, as others of these use the installation after it. */
  async end(): Promise<void> {
    while (this.#pending.length > 0) await this.#cancel();
  }

  async #retract({ age, erase }: RetractStep): Promise<Refused> {
    const number = this.#model.numbers.at(-1 - age);
    if (number === undefined) return asExpected;
    const expected = this.#model.refusal(number, erase) !== null;
    let own = NaN;
    const found = await isRefused(async () => {
      ({ loadNo: own } = await retract(this.#releasing.database, { loadNo: number, erase, ...this.#how }));
    });
    if (!found && !expected) this.#model.retract(number, own, this.today, erase);
    return { found, expected };
  }

  async #change({ kind, at }: ChangeStep): Promise<Refused> {
    const series = `${this.#prefix}.${at}`;
    const ids = this.#ids.get(series) ?? [];
    const id = ids.at(-1) ?? series;
    const isThere = ids.length > 0;
    const isDeleted = this.#deleted.has(series);
    const { database } = this.#releasing;
    if (kind === 'delete' || kind === 'restore') {
      const isDeletion = kind === 'delete';
      const found = await isRefused(() =>
        (isDeletion ? deleteSeries : restoreSeries)(database, { id, ...this.#how }),
      );
      const expected = !isThere || isDeleted === isDeletion;
      if (!expected && isDeletion) this.#deleted.set(series, this.today);
      else if (!expected) this.#deleted.delete(series);
      return { found, expected };
    }
    const newId = kind === 'rename back' && ids.length > 1 ? (ids[0] ?? '') : `${series}.R${++this.#renames}`;
    const expected = !isThere || isDeleted || newId === id;
    const found = await isRefused(() => renameSeries(database, { id, newId, ...this.#how }));
    if (!expected) this.#ids.set(series, [...ids.filter((each) => each !== newId), newId]);
    return { found, expected };
  }

  get #how() {
    return { seriesTimeZone: 'UTC', clock: fakeClock(this.#now), noGateway: true };
  }

  #namesDeleted = ({ series }: ModelLoad): boolean => [...series.keys()].some((id) => this.#deleted.has(id));

  #noteLoads(loads: ReadonlyMap<number, ModelLoad>): void {
    for (const { series } of loads.values())
      for (const id of series.keys()) if (!this.#ids.has(id)) this.#ids.set(id, [id]);
    this.#model.load(loads);
  }

  /** The load as the model has it, and the ids by which the file names its series. */
  #written(full: boolean, vintage: string, wished: WishedSeries): WrittenLoad {
    const named = new Map<string, string>();
    const series = wished.map(({ echoes, byAlias, states: said }, at): [string, States] => {
      const id = `${this.#prefix}.${at}`;
      const ids = this.#ids.get(id) ?? [id];
      named.set(id, (byAlias ? ids[0] : ids.at(-1)) ?? id);
      const shown = [...this.#model.at(id, vintage)] as [string, State][];
      const echoed = shown.filter(([point]) => said.get(point) !== '1|');
      return [id, echoes && echoed.length > 0 ? new Map(echoed) : said];
    });
    return { load: { vintage, full, series: new Map(series.filter(([, said]) => said.size > 0)) }, named };
  }

  /** The stored history of all series, and what it should be. */
  async stored(): Promise<{ found: unknown; expected: unknown }> {
    const days = daysUntil(this.#firstDay, addDays(this.today, 1));
    const present = (id: string): string => this.#ids.get(id)?.at(-1) ?? id;
    const [row] = await this.#releasing.database.query<{ found: unknown }>(everythingSql, [
      this.#model.series.map(present),
      days,
    ]);
    const expected = this.#model.series.map((id) => {
      const tables = days.map((day) => this.#model.at(id, day));
      const vintages = days.flatMap((day, i) =>
        changeOf(day, tables[i - 1] ?? new Map(), tables[i] ?? new Map()),
      );
      const dates = [...(tables.at(-1) ?? [])]
        .filter(([, state]) => !state.startsWith('|'))
        .map(([point]) => point.slice(0, 10))
        .toSorted();
      return {
        ...{ id: present(id), deleted_on: this.#deleted.get(id) ?? null },
        tables: tables.map((table) => [...table].map(([point, state]) => `${point}=${state}`).toSorted()),
        vintages,
        last_updated: vintages.at(-1)?.slice(0, 10) ?? null,
        observation_count: dates.length,
        ...{ first_date: dates[0] ?? null, last_date: dates.at(-1) ?? null },
      };
    });
    return { found: row?.found, expected: expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
  }

  /** What data-api answers by each id of a series for each of the days up to today, and what it should. */
  async answers(at: number, last?: number): Promise<{ found: unknown; expected: unknown }> {
    const series = `${this.#prefix}.${at % seriesPerLoad}`;
    const days = daysUntil(this.#firstDay, this.today).slice(last === undefined ? 0 : -last);
    const asked = (this.#ids.get(series) ?? [series]).flatMap((id) => days.map((day) => [id, day] as const));
    const found = await Promise.all(asked.map(([id, day]) => this.#answer(id, day)));
    return { found, expected: asked.map(([id, day]) => this.#expectedAnswer(series, id, day)) };
  }

  async #answer(id: string, day: string): Promise<unknown> {
    const path = `/v1/series/${id}?vintage=${day}&include_missing=true&fields=date,dims,value,status`;
    const { status, json } = await this.#service.call(path);
    if (status !== 200) return { status };
    const { series, meta, data } = json as Body;
    return {
      ...{ status, series, renamed_from: meta.renamed_from ?? null },
      data: data
        .map(({ date, dims, ...of }) => `${date} ${dims['side']}=${of.value ?? ''}|${of.status ?? ''}`)
        .toSorted(),
    };
  }

  #expectedAnswer(series: string, id: string, day: string): unknown {
    const present = this.#ids.get(series)?.at(-1);
    if (present === undefined) return { status: 404 };
    if (this.#deleted.has(series)) return { status: 410 };
    const table = [...this.#model.at(series, day)].map(([point, state]) => `${point}=${state}`);
    return { status: 200, series: present, renamed_from: id === present ? null : id, data: table.toSorted() };
  }

  async #newestLoad(): Promise<number> {
    const [row] = await this.#releasing.database.query<{ newest: number }>(
      'select coalesce(max(load_no), 0) as newest from data.loads',
    );
    return row?.newest ?? 0;
  }

  async #loadsAfter(load: number): Promise<number[]> {
    const rows = await this.#releasing.database.query<{ load_no: number }>(
      'select load_no from data.loads where load_no > $1 order by load_no',
      [load],
    );
    return rows.map(({ load_no }) => load_no);
  }
}

interface WrittenLoad {
  load: ModelLoad;
  named: ReadonlyMap<string, string>;
}

interface Body {
  series: string;
  meta: { renamed_from?: string };
  data: {
    date: string;
    dims: Readonly<Record<string, string>>;
    value: number | null;
    status: string | null;
  }[];
}

/** @throws whatever is no refusal. */
async function isRefused(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    if (error instanceof IngestFailure || error instanceof Failure) return true;
    throw error;
  }
}

function changeOf(day: string, before: Map<string, string>, after: Map<string, string>): string[] {
  const added = [...after.keys()].filter((point) => !before.has(point)).length;
  const revised = [...after].filter(
    ([point, state]) => before.has(point) && before.get(point) !== state,
  ).length;
  const deleted = [...before.keys()].filter((point) => !after.has(point)).length;
  return added + revised + deleted === 0 ? [] : [[day, added, revised, deleted].join()];
}

/** The day before the first, the first, and so on until the last. */
function daysUntil(first: string, last: string): string[] {
  const days = [addDays(first, -1)];
  while ((days.at(-1) ?? last) < last) days.push(addDays(days.at(-1) ?? last, 1));
  return days;
}

const everythingSql = `
  select coalesce(json_agg(json_build_object('id', series_id, 'deleted_on', deleted_on,
      'tables', (select json_agg(points order by day) from (
        select day, coalesce(json_agg(concat(o.date, ' ', d.dims->>'side', '=', o.value, '|', o.status)
            order by concat(o.date, ' ', d.dims->>'side', '=', o.value, '|', o.status) collate "C")
          filter (where o.date is not null), '[]') as points
        from unnest($2::date[]) day
        left join (data.observations o join data.series_dims d using (series_no, dims_no))
          on o.series_no = series.series_no and o.published_on <= day and o.superseded_on > day
        group by day) t),
      'vintages', (select coalesce(json_agg(concat_ws(',', published_on, n, r, d) order by published_on), '[]') from (
        select published_on, sum(points_new) as n, sum(points_revised) as r, sum(points_deleted) as d
        from data.vintages where series_no = series.series_no group by published_on
        having sum(points_new + points_revised + points_deleted) > 0) v),
      'last_updated', last_updated, 'observation_count', observation_count, 'first_date', first_date, 'last_date', last_date
    ) order by series_id collate "C"), '[]') as found
  from data.series where series_id = any($1)`;

function csvOf(loads: readonly WrittenLoad[], isMany: boolean): string[] {
  const rows = loads.flatMap(({ load: { vintage, series }, named }) =>
    [...series].flatMap(([id, said]) =>
      [...said].map(([point, state]) =>
        [named.get(id), ...point.split(' '), ...state.split('|'), ...(isMany ? [vintage] : [])].join(','),
      ),
    ),
  );
  return [`series_id,date,side,value,status${isMany ? ',vintage' : ''}`, ...rows];
}
