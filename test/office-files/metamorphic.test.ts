// A change that preserves the meaning of a table preserves the result: the same series, ids and values, or a question.
import test from 'ava';
import { openDatabase } from '../../kernel/database.ts';
import { createTestDatabase, silentLog } from '../services/harness.ts';
import { changes, transposed, unchanged, type Changed } from './changes.ts';
import { differenceOf } from './compare.ts';
import { draftOf, type Draft } from './generate.ts';
import { published } from './publishing.ts';
import { judged, type Tried } from './try.ts';

const testDatabase = await createTestDatabase();
const database = openDatabase(testDatabase.url, silentLog, {
  applicationName: 'test',
  statementTimeoutMs: 0,
});
test.after.always(async () => {
  await database.close();
  await testDatabase.drop();
});

const publish = async ({ sheet }: Draft, { ending, content }: Changed): Promise<Tried> =>
  judged(sheet, await published(database, { name: `table${ending}`, content }));

const seeds = Array.from({ length: 24 }, (_, at) => at + 1001);
/** The seeds that are read right as plain CSV: changed files are compared with them. */
const bases: { draft: Draft; base: Tried }[] = [];

// One after the other: each has the lock of loads to the end of its transaction.
test.serial('most of the drawn tables are right as plain CSV', async (t) => {
  for (const seed of seeds) {
    const draft = draftOf(seed);
    const base = await publish(draft, unchanged(draft));
    if (base.verdict.startsWith('right')) bases.push({ draft, base });
  }
  t.true(bases.length >= seeds.length * 0.8, `${bases.length} of ${seeds.length}`);
});

for (const [name, change] of Object.entries(changes))
  test.serial(`${name}: the same series, ids and values, or a question`, async (t) => {
    let tried = 0;
    for (const { draft, base } of bases) {
      const changed = change(draft);
      if (changed === null) continue;
      const after = await publish(draft, changed);
      tried += 1;
      if (['asked', 'refused', 'right, asked'].includes(after.verdict)) continue;
      const difference = differenceOf(base.ran.stored, after.ran.stored);
      t.is(difference, '', `seed ${draft.seed}, ${draft.layout.name}: ${after.verdict} ${after.why}`);
    }
    t.true(tried > 0);
  });

test.serial('dates across instead of down: the same series and values, or a question', async (t) => {
  let tried = 0;
  for (const { draft } of bases) {
    const changed = transposed(draft);
    if (changed === null) continue;
    const { verdict, why } = await publish(draft, changed);
    tried += 1;
    t.true(!verdict.startsWith('WRONG'), `seed ${draft.seed}: ${verdict}: ${why}`);
  }
  t.true(tried > 0);
});
