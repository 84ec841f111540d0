// The series that a load may write: ids, frequencies and dimensions, looked up once and cached; created with --create. Also numbers the
// lines. The cache is bounded, whatever the number of series.
import type { Transaction } from '../../../kernel/database.ts';
import type { Frequency } from '../../../domain/periods.ts';
import { entryAt, memberOf } from '../../../kernel/entries.ts';
import { isSeriesId } from '../../../domain/series-id.ts';
import type { SeriesMetadata } from '../../datasets/metadata.ts';
import { refreshSearch } from '../store/after-series-change.sql.ts';
import { UnusedFacts } from './unused-facts.ts';
import {
  deleteSeriesWithoutDims,
  findDims,
  findLastLineNo,
  findPresentIds,
  findSeries,
  insertDims,
  insertSeries,
  nameDimensions,
  type SeriesRow,
} from './series-directory.sql.ts';

/** Why a row is rejected: the fault, and what is expected instead. */
interface Misfit {
  readonly column: string;
  readonly value: string;
  readonly expected: string;
}

export interface KnownSeries {
  readonly id: string;
  readonly seriesNo: number;
  readonly frequency: Frequency;
  readonly fiscalYearEnd: string;
  /** No point of the series was ever published. */
  readonly fresh: boolean;
  /** Why the points of this file do not fit the series; null if they do. */
  readonly misfit: Misfit | null;
  /** The dimension values, joined in the file's order → their combination. */
  readonly dims: Map<string, Combination>;
}

/** The observations of a series for one combination of dimension values (`line_no` in the schema). Not a line of the file. */
export interface Combination {
  readonly lineNo: number;
  /** The vintage, if the file has a column for it, and the date of its last point so far; '' before the first. */
  lastPlace: string;
}

const separator = '\u001f';

export class SeriesDirectory {
  readonly #on: Transaction;
  /** The file's dimensions, in file order. */
  readonly #dimensions: readonly string[];
  readonly #create: boolean;
  readonly #rememberedMax: number;
  #known = new Map<string, KnownSeries | null>();
  #remembered = 0;
  #newDims: { seriesNo: number; lineNo: number; values: readonly string[]; isOfNewSeries: boolean }[] = [];
  /** The highest line number of all series; 0 before the first look-up. */
  #lastLineNo = 0;
  #unnamed = new Set<number>();
  /** The series that this load has created and that have no combination yet. */
  readonly #created = new Set<number>();
  readonly #facts: UnusedFacts;

  /**
   * @param facts the constants for new series.
   * @param rememberedMax the series and combinations to cache; a hundred thousand take about 100 MB.
   */
  constructor(
    on: Transaction,
    dimensions: readonly string[],
    create: boolean,
    facts: SeriesMetadata = {},
    rememberedMax = 100_000,
  ) {
    this.#facts = new UnusedFacts(on, 'series', facts);
    this.#on = on;
    this.#rememberedMax = rememberedMax;
    this.#dimensions = dimensions;
    this.#create = create;
  }

  /**
   * Clears the cache if it is large. Call it between batches, as a batch relies on what it has looked up.
   * @returns whether it was cleared.
   */
  async makeSpace(): Promise<boolean> {
    if (this.#remembered <= this.#rememberedMax) return false;
    await this.writeNewDims();
    this.#known = new Map();
    this.#unnamed = new Set();
    this.#remembered = 0;
    return true;
  }

  /** The series; null if it does not exist; undefined if `learn` has not looked it up. */
  get(id: string): KnownSeries | null | undefined {
    return this.#known.get(id);
  }

  /**
   * Looks up the ids, present or earlier, and creates missing series if the load may. No other statement of the transaction may be running.
   * @param metadataOf the facts of a series to create; null if they are incomplete (its rows are rejected).
   */
  async learn(ids: readonly string[], metadataOf: (id: string) => SeriesMetadata | null): Promise<void> {
    const presentIds = await findPresentIds(this.#on, ids.filter(isSeriesId));
    const present = [...new Set(ids.map((id) => presentIds.get(id) ?? id))];
    // A series has one entry for all its ids in the file: its combinations are numbered there.
    await this.#learnPresent(
      present.filter((id) => (this.#known.get(id) ?? null) === null),
      metadataOf,
    );
    for (const [alias, id] of presentIds) this.#known.set(alias, this.#known.get(id) ?? null);
    this.#remembered += ids.length;
  }

  async #learnPresent(
    ids: readonly string[],
    metadataOf: (id: string) => SeriesMetadata | null,
  ): Promise<void> {
    if (this.#lastLineNo === 0) this.#lastLineNo = await findLastLineNo(this.#on);
    const missing = new Set(ids);
    const found = await findSeries(this.#on, ids.filter(isSeriesId));
    for (const row of found) missing.delete(row.series_id);
    if (this.#create) {
      await this.#facts.compare(found.map((row) => row.series_id));
      const made = [...missing]
        .filter(isSeriesId)
        .map(metadataOf)
        .filter((metadata) => metadata !== null);
      const rows = made.length === 0 ? [] : await insertSeries(this.#on, made);
      for (const row of rows) {
        missing.delete(row.series_id);
        this.#created.add(row.series_no);
        found.push(row);
      }
    }
    for (const id of missing) this.#known.set(id, null);
    await this.#remember(found);
  }

  /** Notes on constants that had no effect, because the series exist with other facts. */
  notes(): string[] {
    return this.#facts.notes();
  }

  async #remember(rows: readonly SeriesRow[]): Promise<void> {
    if (rows.length === 0) return;
    const older = rows.map((row) => row.series_no).filter((seriesNo) => !this.#created.has(seriesNo));
    const combinations = Map.groupBy(
      older.length === 0 ? [] : await findDims(this.#on, older),
      (row) => row.series_no,
    );
    for (const row of rows) {
      const stored = combinations.get(row.series_no) ?? [];
      const misfit = row.is_deleted
        ? { column: 'series_id', value: row.series_id, expected: notDeleted(row.series_id) }
        : stored.length === 0
          ? null
          : this.#misfit(row.dimensions);
      const dims = new Map<string, Combination>();
      for (const { dims: values, line_no } of misfit === null ? stored : [])
        dims.set(this.#dimensions.map((name) => memberOf(values, name)).join(separator), {
          lineNo: line_no,
          lastPlace: '',
        });
      if (stored.length === 0 && this.#dimensions.length > 0) this.#unnamed.add(row.series_no);
      this.#remembered += dims.size;
      this.#known.set(row.series_id, {
        id: row.series_id,
        seriesNo: row.series_no,
        frequency: row.frequency,
        fiscalYearEnd: row.fiscal_year_end ?? '12-31',
        fresh: row.fresh,
        misfit,
        dims,
      });
    }
  }

  #misfit(dimensions: readonly string[]): Misfit | null {
    const own = new Set(dimensions);
    if (own.size === this.#dimensions.length && this.#dimensions.every((name) => own.has(name))) return null;
    const list = (names: readonly string[]) => (names.length === 0 ? 'no dimensions' : names.join(', '));
    return {
      column: 'header',
      value: this.#dimensions.join(', '),
      expected: `the dimensions of the series (${list(dimensions)}), not those of the file (${list(this.#dimensions)})`,
    };
  }

  /** The combination of dimension values, given in the file's order; a new one gets the next number. */
  combination(series: KnownSeries, values: readonly string[]): Combination {
    const key = values.length === 1 ? entryAt(values, 0) : values.join(separator);
    let found = series.dims.get(key);
    if (found === undefined) {
      this.#lastLineNo += 1;
      const lineNo = this.#lastLineNo;
      found = { lineNo, lastPlace: '' };
      series.dims.set(key, found);
      const isOfNewSeries = this.#created.delete(series.seriesNo);
      this.#newDims.push({ seriesNo: series.seriesNo, lineNo, values: [...values], isOfNewSeries });
      this.#remembered++;
    }
    return found;
  }

  /** Stores the new combinations. No other statement of the transaction may be running. */
  async writeNewDims(): Promise<void> {
    const rows = this.#newDims;
    if (rows.length === 0) return;
    this.#newDims = [];
    const unnamed = rows.map((row) => row.seriesNo).filter((seriesNo) => this.#unnamed.delete(seriesNo));
    if (unnamed.length > 0) await nameDimensions(this.#on, unnamed, this.#dimensions);
    await insertDims(
      this.#on,
      rows.map((row) => row.seriesNo),
      rows.map((row) => row.lineNo),
      rows.map((row) =>
        JSON.stringify(Object.fromEntries(this.#dimensions.map((name, at) => [name, row.values[at]]))),
      ),
    );
    // Updates the search index for new series, and for new dimension values.
    const found = rows.filter(({ isOfNewSeries }) => isOfNewSeries || this.#dimensions.length > 0);
    if (found.length > 0) await refreshSearch(this.#on, [...new Set(found.map((row) => row.seriesNo))]);
  }

  /** Stores the remaining combinations, and deletes the series that were created only for rejected rows. */
  async finish(): Promise<void> {
    await this.writeNewDims();
    if (this.#created.size > 0) await deleteSeriesWithoutDims(this.#on, [...this.#created]);
  }
}

/** What to load instead of a deleted series. */
export const notDeleted = (id: string): string =>
  `a series that is not deleted; restore it with "almanac series restore ${id}"`;
