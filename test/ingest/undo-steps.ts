// The random steps of the oracle: loads, also under embargo, retractions, and changes of series.
import fc from 'fast-check';
import type { State, States } from './vintages-model.ts';

const points = ['2024-01-01 buy', '2024-01-02 buy', '2024-01-04 buy', '2024-01-02 sell'];
const states: State[] = ['1|', '1|', '2|', '2|', '|', '1|p'];
export const seriesPerLoad = 8;
/** Only the first of them are changed, so that the changes interact. */
export const seriesChanged = 3;

const anyStates: fc.Arbitrary<States> = fc
  .uniqueArray(fc.tuple(fc.constantFrom(...points), fc.constantFrom(...states)), {
    selector: ([point]) => point,
  })
  .map((entries) => new Map(entries));

/** `echoes`: restates the state of its day except for some points. `byAlias`: named by its first id, which may be that of a merged series. */
const anySeries = fc.array(fc.record({ echoes: fc.boolean(), byAlias: fc.boolean(), states: anyStates }), {
  minLength: seriesPerLoad,
  maxLength: seriesPerLoad,
});
export type WishedSeries = typeof anySeries extends fc.Arbitrary<infer Series> ? Series : never;

/** Mostly today, as several loads of one day are the difficult case. */
const anyAge = fc.oneof(fc.constant(0), fc.nat(4));

const common = { nextDay: fc.boolean() };
const anyLoad = fc.record({
  ...common,
  kind: fc.constant('load' as const),
  full: fc.boolean(),
  /** Each with its age in days. A file with several has a column of vintages. */
  vintages: fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.tuple(anyAge, anySeries), { minLength: 1, maxLength: 1 }) },
    {
      weight: 1,
      arbitrary: fc.uniqueArray(fc.tuple(fc.nat(4), anySeries), {
        minLength: 2,
        maxLength: 3,
        selector: ([age]) => age,
      }),
    },
  ),
});
/** Loads a file again, completely or in part; by chance no two files would state the same. */
const anyRepetition = fc.record({
  ...common,
  kind: fc.constant('repeat' as const),
  /** How many files before the newest. */
  age: fc.oneof(fc.constant(0), fc.nat(3)),
  omits: fc.constantFrom(...(['nothing', 'nothing', 'nothing', 'a vintage', 'rows'] as const)),
  /** With a column of vintages; otherwise only its last vintage. */
  hasColumn: fc.boolean(),
});
const anyRetraction = fc.record({
  ...common,
  kind: fc.constant('retract' as const),
  erase: fc.oneof({ weight: 3, arbitrary: fc.constant(false) }, { weight: 1, arbitrary: fc.constant(true) }),
  /** How many loads before the newest. */
  age: fc.nat(5),
});
/** Due this evening or, if that is past, tomorrow morning. */
const anyEmbargo = fc.record({
  ...common,
  kind: fc.constant('embargo' as const),
  tomorrow: fc.boolean(),
  full: fc.boolean(),
  series: anySeries,
});
/** Moves the clock to the evening and makes the due releases. */
const anyEvening = fc.record({ nextDay: fc.constant(false), kind: fc.constant('evening' as const) });
const anyCancellation = fc.record({ ...common, kind: fc.constant('cancel' as const) });
/** The dates at which units can change. */
const breakDates = ['2024-01-02', '2024-01-04'];
const anyChange = fc.record({
  ...common,
  kind: fc.constantFrom(
    ...(['rename', 'rename back', 'delete', 'restore', 'restore', 'set', 'break', 'remove break'] as const),
  ),
  at: fc.nat(seriesChanged - 1),
  /** The date of a break. */
  date: fc.constantFrom(...breakDates),
});
const anyMerge = fc.record({
  ...common,
  kind: fc.constant('merge' as const),
  at: fc.nat(seriesChanged - 1),
  /** Into the next of the changed series, or the one after it. */
  by: fc.integer({ min: 1, max: seriesChanged - 1 }),
  prefer: fc.constantFrom(undefined, 'old' as const, 'into' as const),
});

export type LoadStep = typeof anyLoad extends fc.Arbitrary<infer Step> ? Step : never;
export type RepeatStep = typeof anyRepetition extends fc.Arbitrary<infer Step> ? Step : never;
export type RetractStep = typeof anyRetraction extends fc.Arbitrary<infer Step> ? Step : never;
export type EmbargoStep = typeof anyEmbargo extends fc.Arbitrary<infer Step> ? Step : never;
export type ChangeStep = typeof anyChange extends fc.Arbitrary<infer Step> ? Step : never;
export type MergeStep = typeof anyMerge extends fc.Arbitrary<infer Step> ? Step : never;

/** Only loads and retractions, as in many runs. */
const anyLoading = fc.oneof(
  { weight: 3, arbitrary: anyLoad },
  { weight: 2, arbitrary: anyRepetition },
  { weight: 3, arbitrary: anyRetraction },
);
const anyChanging = fc.oneof(
  { weight: 4, arbitrary: anyLoad },
  { weight: 2, arbitrary: anyRepetition },
  { weight: 3, arbitrary: anyRetraction },
  { weight: 4, arbitrary: anyChange },
  { weight: 4, arbitrary: anyMerge },
);
const anyStep = fc.oneof(
  { weight: 5, arbitrary: anyLoading },
  { weight: 4, arbitrary: anyChanging },
  { weight: 3, arbitrary: anyEmbargo },
  { weight: 1, arbitrary: anyEvening },
  { weight: 1, arbitrary: anyCancellation },
);
export type Step = typeof anyStep extends fc.Arbitrary<infer Each> ? Each : never;

const one = (step: fc.Arbitrary<Step>): fc.Arbitrary<Step[]> => step.map((each) => [each]);
/** Erasures, and retractions that are retracted at once: no load stays inactive, which would cause older vintages to be folded again. */
const anyUndoing = fc.oneof(
  one(anyLoad),
  one(anyRepetition),
  anyRetraction.map((step): Step[] => (step.erase ? [step] : [step, { ...step, nextDay: false, age: 0 }])),
);

/** A file, the same file again, and the retraction of one of the two. */
const anyRepeating = fc.oneof(
  one(anyLoad),
  fc.tuple(anyRepetition, anyRetraction).map(([repetition, retraction]): Step[] => [
    { ...repetition, age: 0 },
    { ...retraction, age: Math.max(1, retraction.age) },
  ]),
);

const sequenceOf = (steps: fc.Arbitrary<Step[]>, maxLength: number): fc.Arbitrary<Step[]> =>
  fc
    .tuple(anyLoad, fc.array(steps, { minLength: maxLength / 2, maxLength: maxLength - 1 }))
    .map(([first, others]) => [first, ...others.flat()]);
export const anySteps: fc.Arbitrary<Step[]> = fc.oneof(
  sequenceOf(one(anyLoading), 10),
  sequenceOf(anyUndoing, 10),
  sequenceOf(anyRepeating, 8),
  sequenceOf(one(anyChanging), 12),
  sequenceOf(one(anyStep), 14),
);
