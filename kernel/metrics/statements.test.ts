import fc from 'fast-check';
import test from 'ava';
import { shapeOf, watchStatements } from './statements.ts';
import { inCall } from '../tracing/call-context.ts';
import { createLog } from '../log/log.ts';

test('the shape of a statement contains no values, but its parameters and names', (t) => {
  t.is(
    shapeOf("select a1, \"k2\" from t9\n  where hash = 'ab''c' and n in (1, 2.5, 1e5) and id = $12"),
    'select a1, "k2" from t9 where hash = ? and n in (?, ?, ?) and id = $12',
  );
  t.is(
    shapeOf("insert into t values (E'it\\'s', $$x y$$, $tag$ 'z' $tag$)"),
    'insert into t values (?, ?, ?)',
  );
  t.is(shapeOf("select 'never ended"), 'select ?');
  t.is(shapeOf(`select ${'a, '.repeat(1_000)}b`).length, 1_002);
});

test('text in any of the quoted forms of PostgreSQL is not in the shape', (t) => {
  const secret = 'SECRET';
  fc.assert(
    fc.property(fc.array(fc.string()), fc.string(), (before, after) => {
      const quoted = [...before, `${after}${secret}`].map((text) => `'${text.replaceAll("'", "''")}'`);
      return !shapeOf(`select ${quoted.join(' , ')}`).includes(secret);
    }),
  );
  t.pass();
});

function watchAt(slowMs: number) {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line) as Record<string, unknown>);
  const watch = watchStatements({ log: createLog('test', 'warn', { write }), slowMs, waiting: () => 3 });
  return { lines, watch };
}

/** Takes longer than this many ms, by the clock that the watch reads. */
async function longerThan(ms: number): Promise<void> {
  const until = performance.now() + ms;
  while (performance.now() <= until) await new Promise((resolve) => setImmediate(resolve));
}

test('a statement that takes longer than the setting is logged with its call, also if it fails', async (t) => {
  const { lines, watch } = watchAt(1);
  await inCall({ requestId: 'r-1' }, () => watch.run("select '5'", 'five', () => longerThan(1)));
  const failing = watch.run('select', undefined, async () => {
    await longerThan(1);
    throw new Error('cancelled');
  });
  await t.throwsAsync(failing, { message: 'cancelled' });
  t.like(lines[0], {
    ...{ level: 40, event: 'slow_statement', request_id: 'r-1', statement: 'five', sql: 'select ?' },
    waited_behind: 3,
  });
  t.true(Number(lines[0]?.['duration_ms']) >= 1);
  t.is(lines[1]?.['request_id'], undefined);
  t.is(lines.length, 2);
  t.is(watch.slow, 2);
});

test('a statement that is not slow is counted but not logged; with 0, none is logged', async (t) => {
  const [quick, off] = [watchAt(600_000), watchAt(0)];
  for (const { lines, watch } of [quick, off]) {
    t.is(await watch.run('select', undefined, () => longerThan(1).then(() => 'rows')), 'rows');
    t.deepEqual(lines, []);
    t.is(watch.slow, 0);
    t.is(
      watch.time.durations.reduce((sum, count) => sum + count),
      1,
    );
    t.true(watch.time.seconds > 0.001);
  }
});
