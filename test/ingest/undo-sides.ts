// Applies the same loads, releases under embargo, retractions and changes of series to an installation and to the model, and reads the results of
// both: the stored history, and the answers of data-api by every id.
import { cancelRelease } from '../../ingest/publisher/releases/release-actions.ts';
import { declareBreak, removeBreak } from '../../ingest/history/series/break.ts';
import { deleteSeries, restoreSeries } from '../../ingest/history/series/delete.ts';
import { mergeSeries } from '../../ingest/history/series/merge.ts';
import { renameSeries } from '../../ingest/history/series/rename.ts';
import { setFacts } from '../../ingest/history/series/set.ts';
import { retract } from '../../ingest/history/retract/retract.ts';
import { IngestFailure } from '../../ingest/failure.ts';
import { addDays } from '../../kernel/dates.ts';
import { Failure } from '../../kernel/errors.ts';
import type { DataService } from '../services/data-service.ts';
import { fakeClock } from '../services/harness.ts';
import { daily, loadCsv } from './loading.ts';
import type { Releasing } from './releasing.ts';
import { csvOf, repeated, type WrittenFile, type WrittenLoad, type WrittenRow } from './undo-files.ts';
import { UndoModel, type ModelLoad } from './undo-model.ts';
import { SeriesModel } from './undo-series-model.ts';
import { historyOf, readStored } from './undo-stored.ts';
import {
  seriesChanged,
  seriesPerLoad,
  type ChangeStep,
  type EmbargoStep,
  type LoadStep,
  type MergeStep,
  type RepeatStep,
  type RetractStep,
  type Step,
  type WishedSeries,
} from './undo-steps.ts';
import type { State, States } from './vintages-model.ts';

/** The first day of a run: later than all days of earlier runs. */
const firstDayOf = (run: number): string => addDays('2024-03-01', 30 * (run - 1));
export const firstDay = firstDayOf(1);

/** Whether a step was refused, and whether that was expected. */
export interface Refused {
  found: boolean;
  expected: boolean;
}
const asExpected: Refused = { found: false, expected: false };

const otherUnit = 'Index 2020=100';

let runs = 0;

export class Sides {
  readonly #service: DataService;
  readonly #releasing: Releasing;
  readonly #model = new UndoModel();
  readonly #prefix = `UNDO.${++runs}`;
  readonly #firstDay = firstDayOf(runs);
  readonly #series = new SeriesModel(daily.unit);
  /** The loaded files. */
  readonly #files: WrittenFile[] = [];
  #pending: { releaseNo: number; at: string; file: WrittenLoad }[] = [];
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

  async apply(step: Step): Promise<Refused> {
    if (step.nextDay) await this.#begin(addDays(this.today, 1));
    if (step.kind === 'load') return this.#load(this.#fileOf(step));
    if (step.kind === 'repeat') return this.#repeat(step);
    if (step.kind === 'retract') return this.#retract(step);
    if (step.kind === 'embargo') return this.#accept(step);
    if (step.kind === 'cancel') return this.#cancel();
    if (step.kind === 'merge') return this.#merge(step);
    if (step.kind === 'evening') {
      await this.#release(`${this.today}T18:00:00Z`);
      return asExpected;
    }
    return this.#change(step);
  }

  /** Makes the releases due until noon of the day, each at its instant. */
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
    // The statements of a file are only known at its instant: series may be merged until then, so that the file has a point twice.
    const read = due.map(({ releaseNo, file }) => ({ releaseNo, file, load: this.#read(file) }));
    const expected = read.filter(({ load }) => load !== null);
    if (released.join() !== expected.map(({ releaseNo }) => releaseNo).join())
      throw new Error(
        `released ${released.join()}, not ${expected.map(({ releaseNo }) => releaseNo).join()}`,
      );
    const numbers = await this.#loadsAfter(before);
    for (const [i, { file, load }] of expected.entries())
      if (load !== null) {
        this.#noteLoads(new Map([[numbers[i] ?? NaN, load]]));
        this.#files.push({ vintages: [file], hasColumn: false });
      }
  }

  #fileOf({ full, vintages: wished }: LoadStep): WrittenFile {
    const vintages = wished
      .map(([age, series]) => this.#written(full, addDays(this.today, -age), series))
      .filter(({ vintage, rows }) => vintage >= this.#firstDay && rows.length > 0)
      .toSorted((a, b) => a.vintage.localeCompare(b.vintage));
    return { vintages, hasColumn: vintages.length > 1 };
  }

  async #repeat(step: RepeatStep): Promise<Refused> {
    const file = this.#files.at(-1 - step.age);
    return file === undefined ? asExpected : this.#load(repeated(file, step));
  }

  async #load(file: WrittenFile): Promise<Refused> {
    const [first] = file.vintages;
    if (first === undefined) return asExpected;
    const before = await this.#newestLoad();
    const loads = file.vintages.map((load) => this.#read(load)).filter((load) => load !== null);
    const expected = loads.length < file.vintages.length;
    const found = await isRefused(() =>
      loadCsv(this.#releasing.database, csvOf(file), {
        ...{ create: true, set: daily, full: first.full, clock: fakeClock(this.#now) },
        ...(file.hasColumn ? {} : { vintage: first.vintage }),
      }),
    );
    if (!expected && !found) {
      const numbers = await this.#loadsAfter(before);
      this.#noteLoads(new Map(loads.map((load, i) => [numbers[i] ?? NaN, load])));
      this.#files.push(file);
    }
    return { found, expected };
  }

  /** Asserts that nothing of the load is visible before its instant. */
  async #accept({ full, tomorrow, series }: EmbargoStep): Promise<Refused> {
    const isTomorrow = tomorrow || this.#hour >= 'T18';
    const at = isTomorrow ? `${addDays(this.today, 1)}T06:00:00Z` : `${this.today}T18:00:00Z`;
    const file = this.#written(full, at.slice(0, 10), series);
    if (file.rows.length === 0) return asExpected;
    let releaseNo = NaN;
    const found = await isRefused(async () => {
      ({ releaseNo } = await this.#releasing.accept(csvOf({ vintages: [file], hasColumn: false }), at, {
        full,
      }));
    });
    if (!found) this.#pending.push({ releaseNo, at, file });
    return { found, expected: this.#read(file) === null };
  }

  async #cancel(): Promise<Refused> {
    const release = this.#pending.pop();
    if (release !== undefined)
      await cancelRelease(this.#releasing.database, release.releaseNo, this.#releasing.clock);
    return asExpected;
  }

  /** Cancels pending releases, as other runs use the installation afterwards. */
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

  async #change(step: ChangeStep): Promise<Refused> {
    const { kind, at, date } = step;
    const series = kind === 'restore' ? this.#series.restorable(this.#named(at)) : this.#named(at);
    const id = this.#series.presentId(series);
    const { database } = this.#releasing;
    if (kind === 'delete') {
      const found = await isRefused(() => deleteSeries(database, { id, ...this.#how }));
      return { found, expected: !this.#series.delete(series, this.today) };
    }
    if (kind === 'restore') {
      const found = await isRefused(() => restoreSeries(database, { id, ...this.#how }));
      return { found, expected: !this.#series.restore(series) };
    }
    if (kind === 'rename' || kind === 'rename back') {
      const [first] = this.#series.ids(series);
      const newId = kind === 'rename back' && first !== id ? (first ?? '') : `${series}.R${++this.#renames}`;
      const found = await isRefused(() => renameSeries(database, { id, newId, ...this.#how }));
      return { found, expected: !this.#series.rename(series, newId) };
    }
    const unit = this.#series.unit(series) === daily.unit ? otherUnit : daily.unit;
    const how = { id, from: date, facts: { unit }, ...this.#how };
    const changes = { set: setFacts, break: declareBreak, 'remove break': removeBreak };
    const found = await isRefused(() => changes[kind](database, how));
    return { found, expected: !this.#series.setUnit(step, series, unit, this.today) };
  }

  /** The merged points are a load of the other series. */
  async #merge({ at, by, prefer }: MergeStep): Promise<Refused> {
    const [old, other] = [this.#named(at), this.#named((at + by) % seriesChanged)];
    const [has, gets] = [this.#model.at(old, this.today), this.#model.at(other, this.today)];
    const differ = [...has].some(
      ([point, state]) => gets.has(point) && valueOf(gets.get(point) ?? '') !== valueOf(state),
    );
    const expected = !this.#series.mayMerge(old, other) || (prefer === undefined && differ);
    const [id, intoId] = [this.#series.presentId(old), this.#series.presentId(other)];
    const { database } = this.#releasing;
    let loadNo = NaN;
    const found = await isRefused(async () => {
      const preferred = prefer === undefined ? {} : { prefer };
      ({ loadNo } = await mergeSeries(database, { id, into: intoId, ...preferred, ...this.#how }));
    });
    if (found || expected) return { found, expected };
    const brought = [...has].filter(([point]) => prefer === 'old' || !gets.has(point));
    const series = new Map(brought.length === 0 ? [] : [[other, new Map(brought) as States]]);
    this.#model.load(new Map([[loadNo, { vintage: this.today, full: false, series }]]));
    this.#series.merge(old, other, this.today);
    return asExpected;
  }

  get #how() {
    return { seriesTimeZone: 'UTC', clock: fakeClock(this.#now), noGateway: true };
  }

  /** The name of a series in the model, which is its first id. */
  #named(at: number): string {
    return `${this.#prefix}.${at}`;
  }

  #noteLoads(loads: ReadonlyMap<number, ModelLoad>): void {
    for (const { series } of loads.values()) for (const id of series.keys()) this.#series.note(id);
    this.#model.load(loads);
  }

  /** A file without duplicate points. */
  #written(full: boolean, vintage: string, wished: WishedSeries): WrittenLoad {
    const points = new Set<string>();
    const rows: WrittenRow[] = [];
    for (const [at, { echoes, byAlias, states: requested }] of wished.entries()) {
      const [first] = this.#series.ids(this.#named(at));
      const id = byAlias ? (first ?? '') : this.#series.presentId(this.#named(at));
      const stated = this.#series.stated(this.#named(at));
      const shown = [...this.#model.at(stated, vintage)] as [string, State][];
      const echoed = shown.filter(([point]) => requested.get(point) !== '1|');
      for (const [point, state] of echoes && echoed.length > 0 ? echoed : requested) {
        if (points.has(`${stated} ${point}`)) continue;
        points.add(`${stated} ${point}`);
        rows.push({ id, point, state });
      }
    }
    return { full, vintage, rows };
  }

  /** The present statements of the file; null if it is refused because it names a deleted series or has a point twice. */
  #read({ full, vintage, rows }: WrittenLoad): ModelLoad | null {
    const series = new Map<string, Map<string, State>>();
    for (const { id, point, state } of rows) {
      const stated = this.#series.statedBy(id);
      const states = series.get(stated) ?? new Map<string, State>();
      if (this.#series.isDeleted(stated) || states.has(point)) return null;
      series.set(stated, states.set(point, state));
    }
    return { full, vintage, series };
  }

  /** The stored and the expected history of all series. */
  async stored(): Promise<{ found: unknown; expected: unknown }> {
    const days = daysUntil(this.#firstDay, addDays(this.today, 1));
    const expected = this.#model.series.map((series) => ({
      ...{ id: this.#series.presentId(series), ...this.#series.stored(series) },
      ...historyOf(
        days,
        days.map((day) => this.#model.at(series, day)),
      ),
    }));
    const ids = expected.map(({ id }) => id);
    const found = await readStored(this.#releasing.database, ids, days);
    return { found, expected: expected.toSorted((a, b) => (a.id < b.id ? -1 : 1)) };
  }

  /** The actual and the expected answers of data-api by each id of a series, for each day up to today. */
  async answers(at: number, last?: number): Promise<{ found: unknown; expected: unknown }> {
    const series = this.#named(at % seriesPerLoad);
    const days = daysUntil(this.#firstDay, this.today).slice(last === undefined ? 0 : -last);
    const asked = this.#series.ids(series).flatMap((id) => days.map((day) => [id, day] as const));
    const found = await Promise.all(asked.map(([id, day]) => this.#answer(id, day)));
    return { found, expected: asked.map(([id, day]) => this.#expectedAnswer(series, id, day)) };
  }

  async #answer(id: string, day: string): Promise<unknown> {
    const path = `/v1/series/${id}?vintage=${day}&include_missing=true&fields=date,dims,value,status`;
    const { status, json } = await this.#service.call(path);
    if (status !== 200) return { status };
    const { series, meta, data } = json as Body;
    return {
      ...{ status, series, renamedFrom: meta.renamed_from ?? null, unit: meta.unit },
      breaks: meta.breaks.map(({ date, from, to }) => ({ date, from: from.unit, to: to.unit })),
      data: data
        .map(({ date, dims, ...of }) => `${date} ${dims['side']}=${of.value ?? ''}|${of.status ?? ''}`)
        .toSorted(),
    };
  }

  #expectedAnswer(asked: string, id: string, day: string): unknown {
    const answering = this.#series.answering(asked, id, day);
    if (typeof answering === 'number') return { status: answering };
    const { series, id: present, ...facts } = answering;
    const data = [...this.#model.at(series, day)].map(([point, state]) => `${point}=${state}`).toSorted();
    return { status: 200, series: present, ...facts, data };
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

interface Body {
  series: string;
  meta: {
    renamed_from?: string;
    unit: string;
    breaks: { date: string; from: { unit: string }; to: { unit: string } }[];
  };
  data: {
    date: string;
    dims: Readonly<Record<string, string>>;
    value: number | null;
    status: string | null;
  }[];
}

const valueOf = (state: string): string => state.slice(0, state.indexOf('|'));

/** @throws every error other than a refusal. */
async function isRefused(work: () => Promise<unknown>): Promise<boolean> {
  try {
    await work();
    return false;
  } catch (error) {
    if (error instanceof IngestFailure || error instanceof Failure) return true;
    throw error;
  }
}

/** The day before the first day, and all days up to the last. */
function daysUntil(first: string, last: string): string[] {
  const days = [addDays(first, -1)];
  while ((days.at(-1) ?? last) < last) days.push(addDays(days.at(-1) ?? last, 1));
  return days;
}
