// A model of changed series: the series that an id refers to on each day, deleted and merged series, and units. The points are in the model of loads,
// by the first id of each series.
import type { ChangeStep } from './undo-steps.ts';

/** The series whose points an answer has, and its facts in the answer. */
export interface Answering {
  /** The series of the points. */
  series: string;
  /** Its id in the answer. */
  id: string;
  renamedFrom: string | null;
  unit: string;
  breaks: { date: string; from: string; to: string }[];
}

interface ModelSeries {
  /** The last is the present one. */
  ids: string[];
  deletedOn: string | null;
  /** Set if it is part of another series, since that day. */
  merged: { into: string; on: string } | null;
  /** The present unit. */
  unit: string;
  /** By date; `from` is the unit of the points before it. */
  breaks: { date: string; from: string; declaredOn: string }[];
}

export class SeriesModel {
  /** By the first id. */
  readonly #all = new Map<string, ModelSeries>();
  /** The unit of series that a load creates. */
  readonly #firstUnit: string;

  constructor(firstUnit: string) {
    this.#firstUnit = firstUnit;
  }

  /** Records that a load has created the series, unless it existed. */
  note(series: string): void {
    if (this.#all.has(series)) return;
    this.#all.set(series, {
      ids: [series],
      ...{ deletedOn: null, merged: null, unit: this.#firstUnit, breaks: [] },
    });
  }

  has(series: string): boolean {
    return this.#all.has(series);
  }

  ids(series: string): readonly string[] {
    return this.#all.get(series)?.ids ?? [series];
  }

  presentId(series: string): string {
    return this.ids(series).at(-1) ?? series;
  }

  /** The series that receives the points of a load that names this one. */
  stated(series: string): string {
    return this.#all.get(series)?.merged?.into ?? series;
  }

  /** The same for an id in a file, which may be that of a series to be created. */
  statedBy(id: string): string {
    const [series] = [...this.#all].find(([, { ids }]) => ids.includes(id)) ?? [id];
    return this.stated(series);
  }

  /** A series that can be restored: this one, or another one if there is any. */
  restorable(series: string): string {
    const isDeletedOrMerged = ([, { deletedOn, merged }]: [string, ModelSeries]) =>
      deletedOn !== null || merged !== null;
    const candidates = [...this.#all].filter(isDeletedOrMerged).map(([each]) => each);
    return candidates.includes(series) ? series : (candidates[0] ?? series);
  }

  /** The present unit, or that of a series to be created. */
  unit(series: string): string {
    return this.#all.get(series)?.unit ?? this.#firstUnit;
  }

  isDeleted(series: string): boolean {
    return this.#all.get(series)?.deletedOn != null;
  }

  /** The facts as in data.series: the day of deletion of a merged series is that of the merge. */
  stored(series: string): { deleted_on: string | null; unit: string; breaks: string[] } {
    const { deletedOn, merged, unit, breaks } = this.#of(series);
    return {
      deleted_on: merged?.on ?? deletedOn,
      unit,
      breaks: breaks.map(({ date, from, declaredOn }) => [date, from, declaredOn].join()),
    };
  }

  /** The series that answers a request by this id for a vintage, or the status of the refusal. */
  answering(series: string, id: string, vintage: string): Answering | number {
    const asked = this.#all.get(series);
    if (asked === undefined) return 404;
    const now = this.stated(series);
    if (this.isDeleted(now)) return 410;
    const answering = asked.merged !== null && vintage < asked.merged.on ? series : now;
    const { unit, breaks } = this.#of(answering);
    const present = this.presentId(answering);
    const known = breaks.filter(({ declaredOn }) => declaredOn <= vintage);
    const last = breaks[known.length]?.from ?? unit;
    return {
      ...{ series: answering, id: present, renamedFrom: id === present ? null : id, unit: last },
      breaks: known.map(({ date, from }, i) => ({ date, from, to: known[i + 1]?.from ?? last })),
    };
  }

  /** Makes the change if it is possible. @returns whether it is. */
  rename(series: string, newId: string): boolean {
    const renamed = this.#served(series);
    if (renamed === undefined || renamed.ids.at(-1) === newId) return false;
    renamed.ids = [...renamed.ids.filter((each) => each !== newId), newId];
    return true;
  }

  delete(series: string, today: string): boolean {
    const deleted = this.#served(series);
    if (deleted === undefined) return false;
    deleted.deletedOn = today;
    return true;
  }

  /** Gives a merged series its ids back. */
  restore(series: string): boolean {
    const restored = this.#all.get(series);
    if (restored === undefined || (restored.deletedOn === null && restored.merged === null)) return false;
    restored.deletedOn = null;
    restored.merged = null;
    return true;
  }

  mayMerge(series: string, into: string): boolean {
    const [old, other] = [this.#served(series), this.#served(into)];
    if (old === undefined || other === undefined || old === other) return false;
    if (old.breaks.length > 0 || other.breaks.length > 0 || old.unit !== other.unit) return false;
    return ![...this.#all.values()].some(({ merged }) => merged?.into === series);
  }

  merge(series: string, into: string, today: string): void {
    this.#of(series).merged = { into, on: today };
  }

  /** Sets the unit, declares another unit from a date on, or removes the break at the date. */
  setUnit({ kind, date }: ChangeStep, series: string, unit: string, today: string): boolean {
    const changed = this.#served(series);
    if (changed === undefined) return false;
    const last = changed.breaks.at(-1);
    if (kind === 'remove break') {
      if (last?.date !== date) return false;
      changed.unit = last.from;
      changed.breaks.pop();
      return true;
    }
    if (kind === 'break') {
      if (last !== undefined && last.date >= date) return false;
      changed.breaks.push({ date, from: changed.unit, declaredOn: today });
    }
    changed.unit = unit;
    return true;
  }

  /** The series, if it exists by its present id. */
  #served(series: string): ModelSeries | undefined {
    const found = this.#all.get(series);
    return found?.deletedOn === null && found.merged === null ? found : undefined;
  }

  #of(series: string): ModelSeries {
    const found = this.#all.get(series);
    if (found === undefined) throw new Error(`the model has no series ${series}`);
    return found;
  }
}
