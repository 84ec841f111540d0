import test from 'ava';
import type { Queryable } from '../../kernel/database.ts';
import { systemClock } from '../../kernel/clock.ts';
import { createSeriesFacts } from './series-cache.ts';

/** A database with one series whose row version the test sets; statements answer when the test releases them. */
function controlledDatabase() {
  const statements: { name: string; answer: () => void; fail: () => void }[] = [];
  const state = { rowVersion: '1' };
  const database: Queryable = {
    query: <Row extends object>(_text: string, values: readonly unknown[] = [], name = '') =>
      new Promise<Row[]>((resolve, reject) => {
        const ids = [values[0]].flat();
        statements.push({
          name,
          answer: () =>
            resolve(
              ids
                .filter((id) => id !== 'NONE')
                .map((id) => ({
                  id,
                  rowVersion: state.rowVersion,
                  combinations: [],
                  releases: [],
                })) as object[] as Row[],
            ),
          fail: () => reject(new Error('the connection broke')),
        });
      }),
  };
  const names = () => statements.map(({ name }) => name);
  // A query is sent at the end of a turn of the event loop; two turns guarantee it.
  const flush = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  /** Answers the waiting queries, and all queries that follow from them. */
  async function run(): Promise<void> {
    await flush();
    for (let next = statements.shift(); next !== undefined; next = statements.shift()) {
      next.answer();
      await flush();
    }
  }
  return { database, state, statements, names, flush, run };
}

test('a cached series costs one small statement, shared by concurrent calls', async (t) => {
  const controlled = controlledDatabase();
  const facts = createSeriesFacts(controlled.database, systemClock);
  const first = facts.find('A', null);
  await controlled.run();
  const series = await first;
  const calls = [1, 2, 3].map(() => facts.find('A', null));
  await controlled.flush();
  t.deepEqual(controlled.names(), ['series_row_versions']);
  await controlled.run();
  for (const call of calls) t.is(await call, series);
});

test('a call is answered by a statement that began after the call arrived', async (t) => {
  const controlled = controlledDatabase();
  const facts = createSeriesFacts(controlled.database, systemClock);
  const first = facts.find('A', null);
  await controlled.run();
  await first;

  const early = facts.find('A', null);
  await controlled.flush();
  const late = facts.find('A', null); // arrives while the first query is running
  await controlled.flush();
  t.deepEqual(controlled.names(), ['series_row_versions']);
  controlled.statements.shift()?.answer();
  await controlled.flush();
  t.is((await early)?.rowVersion, '1');
  controlled.state.rowVersion = '2'; // a load commits
  await controlled.run();
  t.is((await late)?.rowVersion, '2');
});

test('a failure reaches the waiting calls, but not later ones', async (t) => {
  const controlled = controlledDatabase();
  const facts = createSeriesFacts(controlled.database, systemClock);
  const first = facts.find('A', null);
  await controlled.run();
  await first;
  const failing = facts.find('A', null);
  await controlled.flush();
  controlled.statements.shift()?.fail();
  await t.throwsAsync(failing, { message: 'the connection broke' });
  const next = facts.find('A', null);
  await controlled.run();
  t.is((await next)?.rowVersion, '1');
});

test('each vintage has its own facts, and missing series are not cached', async (t) => {
  const controlled = controlledDatabase();
  const facts = createSeriesFacts(controlled.database, systemClock);
  for (const [id, vintage, statement] of [
    ['A', '2024-01-01', 'series_at_vintage'],
    ['A', '2024-01-02', 'series_at_vintage'],
    ['A', null, 'series'],
    ['A', '2024-01-01', 'series_row_versions'],
    ['NONE', null, 'series'],
    ['NONE', null, 'series'],
  ] as const) {
    const asked = facts.find(id, vintage);
    await controlled.flush();
    t.deepEqual(controlled.names(), [statement]);
    await controlled.run();
    t.is((await asked)?.id, id === 'A' ? 'A' : undefined);
  }
});
