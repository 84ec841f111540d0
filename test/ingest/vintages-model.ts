// The expected state of a series database after any loads, kept as plain rows in memory: every field of every point, vintage and series.
// The only rule: a statement of a load about a point is valid until the next statement about it.

/** `value|status`; without a value, the point is published as missing. */
export type State = `${string}|${string}`;
/** Point (`date side`) → its stated value. */
export type States = ReadonlyMap<string, State>;

export interface Load {
  /** The day of publication. */
  vintage: string;
  /** Whether it is complete for each of its series, so that omitted points are deleted. */
  full: boolean;
  /** Series → its stated points; only series that the load mentions. */
  series: ReadonlyMap<string, States>;
}

/** A row of data.observations. Loads are numbered from 0 in the order of loading. */
export interface Row {
  point: string;
  published: string;
  superseded: string;
  load: number;
  endedBy: number | null;
  state: State;
}

export interface Counts {
  pointsNew: number;
  pointsRevised: number;
  pointsUnchanged: number;
  pointsDeleted: number;
}

/** A day of data.vintages: the changes between the end of the previous day and its own end. */
export interface Vintage extends Omit<Counts, 'pointsUnchanged'> {
  published: string;
  complete: boolean;
}

const never = 'infinity';

const changes = (counts: Omit<Counts, 'pointsUnchanged'>): boolean =>
  counts.pointsNew + counts.pointsRevised + counts.pointsDeleted > 0;

export class SeriesModel {
  rows: Row[] = [];
  /** The last load that changed a point. */
  version: number | undefined;
  /** The statements by load: the vintage, whether it was full, and the points. */
  readonly #statements: { vintage: string; full: boolean; states: States }[] = [];

  /** The days with changes or complete loads, derived only from the states of the days. */
  get vintages(): Vintage[] {
    const days = [...new Set(this.#statements.map(({ vintage }) => vintage))].toSorted();
    const counted = days.map((published, i): Vintage => {
      const before = i === 0 ? new Map<string, State>() : this.statesAt(days[i - 1] ?? '');
      const after = this.statesAt(published);
      return {
        published,
        complete: this.#statements.some(({ vintage, full }) => full && vintage === published),
        pointsNew: [...after.keys()].filter((point) => !before.has(point)).length,
        pointsRevised: [...after].filter(([point, state]) => before.has(point) && before.get(point) !== state)
          .length,
        pointsDeleted: [...before.keys()].filter((point) => !after.has(point)).length,
      };
    });
    return counted.filter((day) => day.complete || changes(day));
  }

  /** The points at the end of a day, according to the rows. */
  at(day: string): Map<string, Row> {
    // 'infinity' sorts behind every date.
    const current = this.rows.filter((row) => row.published <= day && row.superseded > day);
    return new Map(current.map((row) => [row.point, row]));
  }

  /** The same according to the statements: loads folded by vintage, then in the order of loading. */
  statesAt(day: string): Map<string, State> {
    const table = new Map<string, State>();
    const known = this.#statements.filter(({ vintage }) => vintage <= day);
    for (const { full, states } of known.toSorted((a, b) => a.vintage.localeCompare(b.vintage))) {
      if (full) table.clear();
      for (const [point, state] of states) table.set(point, state);
    }
    return table;
  }

  /** @param number of the load. */
  load(number: number, vintage: string, full: boolean, states: States): Counts {
    const counts = { pointsNew: 0, pointsRevised: 0, pointsUnchanged: 0, pointsDeleted: 0 };
    const current = this.at(vintage);
    for (const [point, state] of states) {
      const row = current.get(point);
      if (row?.state === state) counts.pointsUnchanged++;
      else {
        this.#change(number, vintage, point, state, row);
        if (row === undefined) counts.pointsNew++;
        else counts.pointsRevised++;
      }
    }
    for (const [point, row] of current)
      if (full && !states.has(point)) {
        this.#change(number, vintage, point, null, row);
        counts.pointsDeleted++;
      }
    if (changes(counts)) this.version = number;
    this.#statements.push({ vintage, full, states });
    return counts;
  }

  /** The row of data.series. */
  summary(): object {
    const dates = this.rows
      .filter((row) => row.superseded === never && !row.state.startsWith('|'))
      .map((row) => row.point.slice(0, 10))
      .toSorted();
    return {
      first_date: dates[0] ?? null,
      last_date: dates.at(-1) ?? null,
      observation_count: dates.length,
      last_updated: this.vintages.findLast(changes)?.published ?? null,
      data_version: this.version ?? null,
    };
  }

  #change(load: number, vintage: string, point: string, state: State | null, current: Row | undefined): void {
    const ends = this.#nextStatement(vintage, point);
    const isEnded = ends !== never;
    if (state !== null)
      this.rows.push({
        point,
        published: vintage,
        superseded: ends,
        load,
        endedBy: isEnded ? load : null,
        state,
      });
    if (current !== undefined) {
      const { superseded } = current;
      if (superseded > ends)
        this.rows.push({
          ...current,
          published: ends,
          superseded,
          load,
          endedBy: superseded === never ? null : load,
        });
      current.superseded = vintage;
      current.endedBy ??= load;
    }
    this.#merge(point);
  }

  /** Merges adjacent rows that state the same, as they would be one row after loads in order. */
  #merge(point: string): void {
    const shown = this.rows
      .filter((row) => row.point === point && row.published < row.superseded)
      .toSorted((a, b) => a.published.localeCompare(b.published));
    let previous: Row | undefined;
    for (const row of shown) {
      if (previous?.superseded === row.published && previous.state === row.state) {
        previous.superseded = row.superseded;
        previous.endedBy = row.endedBy;
        this.rows = this.rows.filter((each) => each !== row);
      } else previous = row;
    }
  }

  /** The first loaded vintage after the day with a statement about the point: a value, or that the point does not exist. */
  #nextStatement(vintage: string, point: string): string {
    const later = this.#statements.filter(
      (statement) => statement.vintage > vintage && (statement.full || statement.states.has(point)),
    );
    return later.map((statement) => statement.vintage).toSorted()[0] ?? never;
  }
}
