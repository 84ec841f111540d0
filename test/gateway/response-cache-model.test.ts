// The response cache against a model, in virtual time: whatever is late, lost or stalled, no answer is older than a load that was reported as done
// before the call began. MODEL_RUNS (default 150) is the number of histories.
import test from 'ava';
import fc from 'fast-check';
import { happen, type History, type Series } from './response-cache-world.ts';

const runs = Number(process.env['MODEL_RUNS'] ?? 150);
const beforeMs = fc.nat(5_000);
const series = fc.constantFrom<Series>('A', 'B');

const call = fc.record({
  atMs: beforeMs,
  forMs: fc.oneof({ weight: 3, arbitrary: fc.nat(3) }, { weight: 1, arbitrary: fc.nat(400) }),
  series,
  how: fc.constantFrom('plain', 'plain', 'plain', 'with an ETag', 'with an ETag', 'HEAD', 'leaves'),
});
const load = fc.record({
  atMs: beforeMs,
  learnedAfterMs: fc.oneof(fc.nat(2), fc.nat(100)),
  of: fc.subarray<Series>(['A', 'B']),
});
const history: fc.Arbitrary<History> = fc.record({
  seed: fc.nat(),
  loads: fc
    .array(load, { maxLength: 12, size: 'max' })
    .map((loads) => loads.toSorted((one, other) => one.atMs - other.atMs)),
  calls: fc.array(call, { minLength: 60, maxLength: 200, size: 'max' }),
  stalls: fc.array(fc.record({ atMs: beforeMs, forMs: fc.nat(1_500) }), { maxLength: 3 }),
  clocks: fc.array(fc.record({ atMs: beforeMs, byMs: fc.integer({ min: -4_000, max: 4_000 }) }), {
    maxLength: 3,
  }),
  restarts: fc.array(
    fc.record({ atMs: beforeMs, instance: fc.nat(1), edition: fc.constantFrom('one', 'one', 'two') }),
    { maxLength: 2 },
  ),
  latencyMaxMs: fc.constantFrom(2, 20, 150, 600),
  lossPercent: fc.constantFrom(0, 0, 10, 40),
  stallPermille: fc.constantFrom(0, 0, 5, 30),
});

test('no call that begins after a load was reported as done gets an older answer, whatever is late, lost, stalled or moved', async (t) => {
  let [judged, hits, late] = [0, 0, 0];
  await fc.assert(
    fc.asyncProperty(history, async (each) => {
      const outcome = await happen(each);
      judged += outcome.judged.length;
      hits += outcome.judged.filter(({ isHit }) => isHit).length;
      late += outcome.judged.filter(({ needed }) => needed > 0).length;
      if (outcome.wrong.length > 0) throw new Error(outcome.wrong.join('\n'));
    }),
    { numRuns: runs, endOnFailure: true }, // shrinking would take minutes, and explain only the first wrong call
  );
  t.log(`${judged} answers, ${hits} from memory, ${late} after a load was reported`);
  t.true(hits > judged / 20, 'some were from memory');
  t.true(late > judged / 4, 'some had something to miss');
});

test('without disturbances, most answers are from the cache', async (t) => {
  const calls = fc.array(
    fc.record({
      atMs: fc.integer({ min: 100, max: 5_000 }),
      forMs: fc.nat(3),
      series,
      how: fc.constant('plain' as const),
    }),
    { minLength: 40, maxLength: 100, size: 'max' },
  );
  const calm = { loads: [], stalls: [], clocks: [], restarts: [], lossPercent: 0, stallPermille: 0 };
  await fc.assert(
    fc.asyncProperty(fc.nat(), calls, async (seed, drawn) => {
      // The first calls request a lease. An instance that was never asked does not state the validity of its answers, so none is cached.
      const first = [0, 20, 40].map((atMs) => ({
        atMs,
        forMs: 0,
        series: 'A' as const,
        how: 'plain' as const,
      }));
      const { judged } = await happen({ ...calm, seed, calls: [...first, ...drawn], latencyMaxMs: 3 });
      const missed = judged.filter(({ isHit }) => !isHit);
      t.true(judged.length >= drawn.length);
      if (missed.length > judged.length / 2)
        throw new Error(`${missed.length} of ${judged.length} were not from memory`);
    }),
    { numRuns: 20, endOnFailure: true },
  );
});
