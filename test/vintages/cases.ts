// All cases: sequences of steps that a publisher can make with one series, one step a day.
//
// A step is a load of today, full or partial; one of an earlier day (late), or of the day before all others (a backfill); one under embargo
// until tomorrow morning; the last file once more; or the retraction of an earlier load, where a second retraction undoes the first. A load
// states each of four points, two periods of two dimension values, or not.
//
// Five steps are all permutations of five of these seven kinds; up to four, a kind may also be repeated.
//
// Omitted, because equal to another case:
// - The values 1 and 2 of a point change places, as the product only asks whether two are equal. So its first is 1.
// - The two dimension values change places. (In the layer that has every content: elsewhere both are there.)
// - Points next to others: the value of a point depends on its stated values and on the loads, not on the values of other points. So each
//   history that a point can have is in a series with three others, not with all others. Two steps have all contents.
// - A first step of an earlier day is a load of today by another name of its day.
// - A load that states nothing about a series is not a step of it: its sequence is a shorter one.
// - Sequences of fewer steps are the beginnings of longer ones, and are checked as such.
import { dayOf, releaseDayOf, type Content, type Step } from './replay.ts';

/** A step before its content is chosen. `again`: the last file. */
type Form =
  | { kind: 'load'; full: boolean; vintage: number; embargoed: boolean; again: boolean }
  | { kind: 'retract'; of: number };

export type Case = readonly Step[];

const backfilledDay = 1;

interface Kinds {
  /** Which earlier days are loaded late: that of the last step, or all. */
  late: 'last' | 'all';
  /** How often a sequence has one kind of step at most. */
  repeated: number;
  /** Whether loads of earlier days, backfills and embargoes are complete too. */
  fullToo: boolean;
}

/** The forms that the next step can have. */
function* nextForms(before: readonly Form[], { late, fullToo }: Kinds): Generator<Form> {
  const today = dayOf(before.length);
  const load = (full: boolean, vintage: number, other: { embargoed?: true; again?: true } = {}): Form => ({
    ...{ kind: 'load', full, vintage, embargoed: false, again: false },
    ...other,
  });
  yield load(false, today);
  yield load(true, today);
  const fulls = fullToo ? [false, true] : [false];
  for (const full of fulls) yield load(full, releaseDayOf(before.length), { embargoed: true });
  if (before.length === 0) return;
  for (const full of fulls) {
    yield load(full, backfilledDay);
    for (let at = late === 'all' ? 0 : before.length - 1; at < before.length; at += 1)
      yield load(full, dayOf(at));
  }
  const last = before.findLast((form) => form.kind === 'load');
  if (last?.kind === 'load') yield load(last.full, today, { again: true });
  for (const [of, form] of before.entries()) if (form.kind === 'load') yield { kind: 'retract', of };
}

/** @param at which step it is. */
function kindOf(form: Form, at: number): string {
  if (form.kind === 'retract') return 'retracted';
  if (form.again) return 'identical';
  if (form.embargoed) return 'embargoed';
  if (form.vintage === backfilledDay) return 'backfilled';
  if (form.vintage < dayOf(at)) return 'late';
  return form.full ? 'full' : 'partial';
}

function* sequences(length: number, kinds: Kinds, before: readonly Form[] = []): Generator<Form[]> {
  if (before.length === length) yield [...before];
  else
    for (const form of nextForms(before, kinds)) {
      const kind = kindOf(form, before.length);
      if (before.filter((other, at) => kindOf(other, at) === kind).length < kinds.repeated)
        yield* sequences(length, kinds, [...before, form]);
    }
}

const statesContent = (form: Form): boolean => form.kind === 'load' && !form.again;

/** The value of a point in each of the loads: a letter for each. */
type History = string;

/** All histories of the letters, the first value being 1. `x` is a value other than that of the load before. */
function historiesOf(letters: string, loads: number): History[] {
  let histories = [''];
  for (let i = 0; i < loads; i += 1)
    histories = histories.flatMap((before) =>
      letters.split('').map((letter) => before + (letter === 'x' ? (i % 2) + 1 : letter)),
    );
  return letters.includes('x') ? histories : histories.filter((history) => !/^[^1]*2/.test(history));
}

/** @param four histories, one of each point. */
const contentsOf = (four: readonly History[], loads: number): Content[] =>
  Array.from({ length: loads }, (_, load) => four.map((history) => history[load] ?? '.').join(''));

/** Contents of each load such that each history of a point is in one of the series, and no load states nothing. */
function packed(letters: string, loads: number): Content[][] {
  const always = '1'.repeat(loads);
  const histories = historiesOf(letters, loads).filter((history) => !isEmpty(history));
  // Neighbours are alike, so the four are from all quarters.
  const quarter = Math.ceil(histories.length / 4);
  const left = histories.toSorted(
    (a, b) => (histories.indexOf(a) % quarter) - (histories.indexOf(b) % quarter),
  );
  const all: Content[][] = [];
  while (left.length > 0) {
    const four = [...left.splice(0, 4), always, always, always].slice(0, 4);
    if (contentsOf(four, loads).some(isEmpty)) left.unshift(...four.splice(3, 1, always));
    all.push(contentsOf(four, loads));
  }
  return all;
}

/** Contents of each load such that all histories of each point meet all of the others, but for those with the sides exchanged. */
function crossed(letters: string, loads: number): Content[][] {
  const histories = historiesOf(letters, loads);
  const ofSide = histories.flatMap((first) => histories.map((second) => [first, second]));
  return ofSide.flatMap((buy, i) => ofSide.slice(i).map((sell) => contentsOf([...buy, ...sell], loads)));
}

const isEmpty = (content: Content): boolean => /^\.*$/.test(content);

function withContents(forms: readonly Form[], contents: readonly Content[]): Case | null {
  const left = [...contents];
  const steps: Step[] = [];
  let last: Content = '';
  for (const form of forms) {
    if (form.kind === 'retract') {
      steps.push(form);
      continue;
    }
    const { again, ...load } = form;
    if (!again) last = left.shift() ?? '';
    if (isEmpty(last)) return null;
    steps.push({ ...load, content: last });
  }
  return steps;
}

interface Layer {
  length: number;
  kinds: Kinds;
  letters: string;
  contents: (letters: string, loads: number) => Content[][];
}

const layers: readonly Layer[] = [
  { length: 5, kinds: { late: 'last', fullToo: false, repeated: 1 }, letters: '.x', contents: packed },
  { length: 4, kinds: { late: 'last', fullToo: false, repeated: 9 }, letters: '.12', contents: packed },
  { length: 3, kinds: { late: 'all', fullToo: true, repeated: 9 }, letters: '.12m', contents: packed },
  { length: 2, kinds: { late: 'all', fullToo: false, repeated: 9 }, letters: '.12', contents: crossed },
];

/** The cases of each layer. Those of fewer steps are the beginnings of the others. */
export function* allCases(): Generator<Case> {
  for (const { length, kinds, letters, contents } of layers) {
    const byLoads = Array.from({ length: length + 1 }, (_, loads) => contents(letters, loads));
    for (const forms of sequences(length, kinds))
      for (const content of byLoads[forms.filter(statesContent).length] ?? []) {
        const steps = withContents(forms, content);
        if (steps !== null) yield steps;
      }
  }
}
