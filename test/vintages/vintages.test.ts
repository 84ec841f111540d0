// A tenth of all cases of vintages (run.ts plays all): after each step every question is asked as of every day.
import test from 'ava';
import { createTestDatabase } from '../services/harness.ts';
import { allCases } from './cases.ts';
import { play } from './play.ts';

test('of a tenth of all sequences of up to five loads and retractions, each day shows what a replay shows', async (t) => {
  const { url, drop } = await createTestDatabase();
  t.teardown(drop);
  const cases = [...allCases()].filter((_, i) => i % 10 === 3);
  const { faults, moments } = await play(url, cases);
  t.deepEqual(faults, []);
  t.true(moments > cases.length);
});
