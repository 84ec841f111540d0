// A model of the state of every series on every day, after any loads and retractions: it stores all statements of all loads, and folds them for each
// query. The only rule: a day shows the loads that are active on it, in the order of their vintages, then of loading.
import type { States } from './vintages-model.ts';

export interface ModelLoad {
  /** The day of publication. */
  vintage: string;
  /** Whether it is complete for each of its series. */
  full: boolean;
  /** Series → the points that it states. */
  series: ReadonlyMap<string, States>;
}

interface StoredLoad extends ModelLoad {
  /** The number of the file, common to all its loads. */
  file: number;
  /** The days on which it is not active: from the first, up to but not including the last, or for ever. */
  inactivePeriods: { from: string; until: string }[];
  isErased: boolean;
}

/** A retraction of a file; of several retractions, the newest counts. */
interface Retraction {
  file: number;
  isErasing: boolean;
}

export type Refusal = 'erased' | 'retraction' | 'not in force' | 'retracted already';

const forEver = 'infinity';

export class UndoModel {
  /** By the number of the load in the database. */
  readonly #loads = new Map<number, StoredLoad>();
  readonly #retractions = new Map<number, Retraction>();

  get numbers(): number[] {
    return [...this.#loads.keys(), ...this.#retractions.keys()].toSorted((a, b) => a - b);
  }

  get series(): string[] {
    return [...new Set([...this.#loads.values()].flatMap((load) => [...load.series.keys()]))].toSorted();
  }

  /** The state of a series at the end of a day. */
  at(id: string, day: string): Map<string, string> {
    const table = new Map<string, string>();
    const active = [...this.#loads]
      .toSorted(([a], [b]) => a - b)
      .map(([, load]) => load)
      .filter(
        ({ vintage, isErased, inactivePeriods }) =>
          vintage <= day &&
          !isErased &&
          !inactivePeriods.some(({ from, until }) => from <= day && day < until),
      );
    for (const { full, series } of active.toSorted((a, b) => a.vintage.localeCompare(b.vintage))) {
      const states = series.get(id);
      if (states === undefined) continue;
      if (full) table.clear();
      for (const [point, state] of states) table.set(point, state);
    }
    return table;
  }

  /** @param loads of a file, by their numbers. */
  load(loads: ReadonlyMap<number, ModelLoad>): void {
    const file = Math.min(...loads.keys());
    for (const [number, load] of loads)
      this.#loads.set(number, { ...load, file, inactivePeriods: [], isErased: false });
  }

  /** Why the load cannot be retracted; null if it can. */
  refusal(number: number, erases: boolean): Refusal | null {
    const retraction = this.#retractions.get(number);
    const file = retraction?.file ?? this.#loads.get(number)?.file;
    const loads = this.#ofFile(file);
    if (loads.some(({ isErased }) => isErased)) return 'erased';
    if (retraction !== undefined) {
      if (erases) return 'retraction';
      const newest = [...this.#retractions].filter(([, other]) => other.file === file).map(([each]) => each);
      return Math.max(...newest) === number ? null : 'not in force';
    }
    return isOut(loads) && !erases ? 'retracted already' : null;
  }

  /** @param number of the load. @param own of the retraction. */
  retract(number: number, own: number, today: string, erases: boolean): void {
    const file = this.#retractions.get(number)?.file ?? this.#loads.get(number)?.file;
    if (file === undefined) throw new Error(`there is no load ${number}`);
    const loads = this.#ofFile(file);
    const wasOut = isOut(loads);
    this.#retractions.set(own, { file, isErasing: erases });
    for (const load of loads) {
      if (erases) load.isErased = true;
      else if (wasOut)
        load.inactivePeriods = load.inactivePeriods
          .map(({ from, until }) => ({ from, until: until === forEver ? today : until }))
          .filter(({ from, until }) => from < until);
      else load.inactivePeriods.push({ from: today, until: forEver });
    }
  }

  #ofFile(file: number | undefined): StoredLoad[] {
    return [...this.#loads.values()].filter((load) => load.file === file);
  }
}

const isOut = (loads: readonly StoredLoad[]): boolean =>
  loads.some(({ inactivePeriods }) => inactivePeriods.some(({ until }) => until === forEver));
