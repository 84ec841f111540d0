import test from 'ava';
import type { Queryable } from '../../kernel/database.ts';
import { createSeriesFacts } from './series-facts.ts';

/** A database with one series whose row version the test sets; statements answer when the test releases them. */
function heldDatabase() {
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
                .map((id) => ({ id, rowVersion: state.rowVersion, combinations: [] })) as object[] as Row[],
            ),
          fail: () => reject(new Error('the connection broke')),
        });
      }),
  };
  const names = () => statements.map(({ name }) => name);
  // A query is sent at the end of a turn of the event loop; two turns guarantee it.
  const settle = () => new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
  /** Answers the waiting queries, and all queries that follow from them. */
  async function run(): Promise<void> {
    await settle();
    for (let next = statements.shift(); next !== undefined; next = statements.shift()) {
      next.answer();
      await settle();
    }
  }
  return { database, state, statements, names, settle, run };
}

test('a cached series costs one small statement, shared by concurrent calls', async (t) => {
  const held = heldDatabase();
  const facts = createSeriesFacts(held.database);
  const first = facts.find('A', null);
  await held.run();
  const series = await first;
  const calls = [1, 2, 3].map(() => facts.find('A', null));
  await held.settle();
  t.deepEqual(held.names(), ['series_row_versions']);
  await held.run();
  for (const call of calls) t.is(await call, series);
});

test('a call is answered by a statement that began after the call arrived', async (t) => {
  const held = heldDatabase();
  const facts = createSeriesFacts(held.database);
  const first = facts.find('A', null);
  await held.run();
  await first;

  const early = facts.find('A', null);
  await held.settle();
  const late = facts.find('A', null); // arrives while the first query is running
  await held.settle();
  t.deepEqual(held.names(), ['series_row_versions']);
  held.statements.shift()?.answer();
  await held.settle();
  t.is((await early)?.rowVersion, '1');
  held.state.rowVersion = '2'; // a load commits
  await held.run();
  t.is((await late)?.rowVersion, '2');
});

test('a failure reaches the waiting calls, but not later ones', async (t) => {
  const held = heldDatabase();
  const facts = createSeriesFacts(held.database);
  const first = facts.find('A', null);
  await held.run();
  await first;
  const failing = facts.find('A', null);
  await held.settle();
  held.statements.shift()?.fail();
  await t.throwsAsync(failing, { message: 'the connection broke' });
  const next = facts.find('A', null);
  await held.run();
  t.is((await next)?.rowVersion, '1');
});

test('each vintage has its own facts, and missing series are not cached', async (t) => {
  const held = heldDatabase();
  const facts = createSeriesFacts(held.database);
  for (const [id, vintage, statement] of [
    ['A', '2024-01-01', 'series_at_vintage'],
    ['A', '2024-01-02', 'series_at_vintage'],
    ['A', null, 'series'],
    ['A', '2024-01-01', 'series_row_versions'],
    ['NONE', null, 'series'],
    ['NONE', null, 'series'],
  ] as const) {
    const asked = facts.find(id, vintage);
    await held.settle();
    t.deepEqual(held.names(), [statement]);
    await held.run();
    t.is((await asked)?.id, id === 'A' ? 'A' : undefined);
  }
});
