// What the changes of series leave: which series an id leads to on which day, which are deleted or merged, and their units. The points
// are in the model of loads, by the first id of each series.
import type { ChangeStep } from './undo-steps.ts';

/** Whose points an answer has, and what it says of the series. */
export interface Answering {
  /** The series whose points they are. */
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
  /** It is part of another series since that day. */
  merged: { into: string; on: string } | null;
  /** Of today. */
  unit: string;
  /** By date; `from` is the unit of the points before it. */
  breaks: { date: string; from: string; declaredOn: string }[];
}

export class SeriesModel {
  /** By the first id. */
  readonly #all = new Map<string, ModelSeries>();
  /** Of a series that a load creates. */
  readonly #firstUnit: string;

  constructor(firstUnit: string) {
    this.#firstUnit = firstUnit;
  }

  /** A load has created the series, unless it was there. */
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

  /** The series whose points a load states that names this one. */
  stated(series: string): string {
    return this.#all.get(series)?.merged?.into ?? series;
  }

  /** The same for an id in a file; it may be that of a series still to be created. */
  statedBy(id: string): string {
    const [series] = [...this.#all].find(([, { ids }]) => ids.includes(id)) ?? [id];
    return this.stated(series);
  }

  /** A series that can be restored: that one, or another if there is one. */
  restorable(series: string): string {
    const isGone = ([, { deletedOn, merged }]: [string, ModelSeries]) =>
      deletedOn !== null || merged !== null;
    const gone = [...this.#all].filter(isGone).map(([each]) => each);
    return gone.includes(series) ? series : (gone[0] ?? series);
  }

  /** The unit of today, or that of the series to come. */
  unit(series: string): string {
    return this.#all.get(series)?.unit ?? this.#firstUnit;
  }

  isDeleted(series: string): boolean {
    return this.#all.get(series)?.deletedOn != null;
  }

  /** As data.series has them: a merged series has the day of the merge as that of its deletion. */
  stored(series: string): { deleted_on: string | null; unit: string; breaks: string[] } {
    const { deletedOn, merged, unit, breaks } = this.#of(series);
    return {
      deleted_on: merged?.on ?? deletedOn,
      unit,
      breaks: breaks.map(({ date, from, declaredOn }) => [date, from, declaredOn].join()),
    };
  }

  /** What answers to an id of the series for a vintage, or with which status it is refused. */
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

  /** Makes the change, or leaves all as it is. @returns whether it is possible. */
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

  /** A merged series has its ids back. */
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

  /** Sets the unit, or declares that it is another one from a date on, or takes the break at the date back. */
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

  /** The series, if it is there by its present id. */
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
