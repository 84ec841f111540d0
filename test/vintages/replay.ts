// The state of a series after a publisher's list of steps, by replaying the list for each question. It shares no code with the product. The only
// rule: a day shows the loads active on it, in the order of their vintages, and those of one vintage in the order of loading.

/** One letter per point: `.` is not stated, `m` is published as missing, and any other is its value. */
export type Content = string;

/** Days are numbers. */
export type Step =
  | { kind: 'load'; full: boolean; vintage: number; content: Content; embargoed: boolean }
  /** Retracts the load of that step; a second retraction makes it active again. */
  | { kind: 'retract'; of: number };

/** A step happens at noon of its day. The first day has only backfills. */
export const dayOf = (step: number): number => step + 2;
/** A load under embargo is released in the morning of the day after. */
export const releaseDayOf = (step: number): number => dayOf(step) + 1;

export interface Moment {
  /** The number of steps done. */
  stepsDone: number;
  day: number;
}

/** The values that a day shows, by point; null if it has no value. */
type Table = ReadonlyMap<number, string | null>;

export interface Replayed {
  /** Whether anything of it was ever loaded. */
  exists: boolean;
  /** The values that each day shows, from day 0 up to the day of the moment. */
  tables: Table[];
  /** By day: since which day the point has been shown without a change. */
  since: ReadonlyMap<number, number>[];
  /** The days that changed something, and how many points: day, new, revised, deleted. */
  vintages: [number, number, number, number][];
  /** The first published value of each point. */
  first: Table;
}

export function replay(steps: readonly Step[], { stepsDone, day: today }: Moment): Replayed {
  const known = steps.slice(0, stepsDone);
  const exists = known.some((step, at) => isLoaded(step, at, today));
  const tables = Array.from({ length: today + 1 }, (_, day) => shownOn(known, day, today));
  const since: Map<number, number>[] = [];
  const vintages: Replayed['vintages'] = [];
  const first = new Map<number, string | null>();
  for (const [day, table] of tables.entries()) {
    const before = tables[day - 1] ?? new Map<number, string | null>();
    const isNew = [...table.keys()].filter((point) => !before.has(point)).length;
    const isRevised = [...table].filter(([point, value]) => before.has(point) && before.get(point) !== value);
    const deletedCount = [...before.keys()].filter((point) => !table.has(point)).length;
    if (isNew + isRevised.length + deletedCount > 0)
      vintages.push([day, isNew, isRevised.length, deletedCount]);
    since.push(
      new Map(
        [...table].map(([point, value]) => [
          point,
          before.has(point) && before.get(point) === value ? (since.at(-1)?.get(point) ?? day) : day,
        ]),
      ),
    );
    for (const [point, value] of table) if ((first.get(point) ?? null) === null) first.set(point, value);
  }
  return { exists, tables, since, vintages, first };
}

const isLoaded = (step: Step, at: number, today: number): boolean =>
  step.kind === 'load' && !(step.embargoed && releaseDayOf(at) > today);

function shownOn(steps: readonly Step[], day: number, today: number): Table {
  const table = new Map<number, string | null>();
  const active = steps.flatMap((step, at) => {
    if (!isLoaded(step, at, today) || step.kind === 'retract' || step.vintage > day) return [];
    const retractions = steps.filter(
      (other, when) => other.kind === 'retract' && other.of === at && dayOf(when) <= day,
    );
    return retractions.length % 2 === 1 ? [] : [step];
  });
  for (const { full, content } of active.toSorted((a, b) => a.vintage - b.vintage)) {
    if (full) table.clear();
    for (const [point, letter] of content.split('').entries())
      if (letter !== '.') table.set(point, letter === 'm' ? null : letter);
  }
  return table;
}
