// Random loads, releases under embargo, retractions, merges and other changes of series, compared with a model that stores every statement of every
// load: the state of each series on each day, the changes of each vintage, the facts of the series, and the answers by each of its ids.
import assert from 'node:assert/strict';
import test from 'ava';
import fc from 'fast-check';
import { startDataService } from '../services/data-service.ts';
import { startReleasing } from './releasing.ts';
import { Sides, firstDay } from './undo-sides.ts';
import { anySteps, seriesChanged, seriesPerLoad, type Step } from './undo-steps.ts';

const start = `${firstDay}T12:00:00Z`;
const service = await startDataService(start);
const releasing = startReleasing(test, service.databaseUrl, start);
test.after.always(() => service.close());

/** Makes the steps on both sides and compares them after each: everything stored, and the answers about one series; in the end, about all. */
async function agree(steps: readonly Step[]): Promise<void> {
  const sides = new Sides(service, releasing);
  try {
    for (const [i, step] of steps.entries()) {
      const refused = await sides.apply(step);
      assert.equal(refused.found, refused.expected, `step ${i}, ${step.kind}, is refused`);
      const stored = await sides.stored();
      assert.deepEqual(stored.found, stored.expected, `after step ${i}, ${step.kind}`);
      const answers = await sides.answers(i % seriesChanged, 2);
      assert.deepEqual(answers.found, answers.expected, `the answers after step ${i}, ${step.kind}`);
    }
    for (let at = 0; at < seriesPerLoad; at++) {
      const { found, expected } = await sides.answers(at);
      assert.deepEqual(found, expected, 'the answers in the end');
    }
  } finally {
    await sides.end();
  }
}

/**
 * A failure is reported with its seed and path as soon as it is found, as shrinking may exceed the time limit of the test. ORACLE_REPLAY=seed/path
 * shrinks it.
 */
const replay = /^(-?\d+)\/([\d:]+)$/.exec(process.env['ORACLE_REPLAY'] ?? '');
const howLong: fc.Parameters<unknown> = {
  includeErrorInReport: true,
  ...(replay === null
    ? { numRuns: Number(process.env['ORACLE_RUNS'] ?? 20), endOnFailure: true }
    : { seed: Number(replay[1]), path: replay[2] ?? '' }),
};

test.serial(
  'after any loads, embargoes, retractions, renames, merges, breaks and deletions, every series on every day equals the fold of the loads active on it',
  async (t) => {
    await fc.assert(fc.asyncProperty(anySteps, agree), howLong);
    t.pass();
  },
);
