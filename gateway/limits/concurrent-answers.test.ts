// Concurrent answers of an account, at one gateway and at several.
import test from 'ava';
import { openRedis } from '../../kernel/redis.ts';
import { until } from '../../test/run/until.ts';
import { silentLog } from '../../test/services/harness.ts';
import { startRedis } from '../../test/services/redis.ts';
import { ConcurrencyLimiter, type Answer } from './concurrent-answers.ts';

const neverLate = () => undefined;

test('a waiting call begins when a slot becomes free, after those that arrived earlier', async (t) => {
  const answers = new ConcurrencyLimiter({ redis: undefined, withinMs: 60_000, log: silentLog });
  t.teardown(() => answers.close());
  const [first, second] = [answers.begin('a', 2, neverLate), answers.begin('a', 2, neverLate)] as Answer[];
  const order: string[] = [];
  const third = Promise.resolve(answers.begin('a', 2, neverLate)).then(
    (answer) => (order.push('third'), answer),
  );
  const fourth = Promise.resolve(answers.begin('a', 2, neverLate)).then(
    (answer) => (order.push('fourth'), answer),
  );
  first?.end();
  first?.end(); // frees one slot, not two
  t.not(await third, null);
  t.deepEqual(order, ['third']);
  t.is(await fourth, null, 'no second place became free');
  second?.end();
  (await third)?.end();
  t.false(answers.begin('a', 1, neverLate) instanceof Promise);
});

test('long answers count at all gateways; those of a gateway that is gone count for at most two seconds', async (t) => {
  const server = await startRedis();
  t.teardown(() => server.stop());
  const [here, there] = await Promise.all(
    [1, 2].map(async () => {
      const redis = openRedis(server.url, silentLog);
      await redis.opened();
      const answers = new ConcurrencyLimiter({ redis, withinMs: 60_000, log: silentLog });
      t.teardown(async () => {
        await answers.close();
        redis.close();
      });
      return answers;
    }),
  );
  if (here === undefined || there === undefined) throw new Error('There are two.');
  const begin = (answers: typeof here) => answers.begin('a', 2, neverLate);
  const running = [begin(here), begin(here)] as Answer[];
  const isFull = async () => {
    const answer = await begin(there);
    answer?.end();
    return answer === null;
  };
  await until('the other gateway counts them', isFull);
  for (const answer of running) answer.end();
  await until('the other gateway no longer counts them', async () => !(await isFull()));
  await until('the other gateway counts those of two that are gone', async () => {
    const [seconds] = (await server.command('time')) as string[];
    await server.command('hset', 'almanac:answers', 'one', `${seconds}000 {"a":1,"b":7}`);
    await server.command('hset', 'almanac:answers', 'two', `${seconds}000 {"a":1}`);
    return isFull();
  });
  await until('they have expired', async () => !(await isFull()));
  await until(
    'they are deleted',
    async () => String(await server.command('hkeys', 'almanac:answers')) === '',
  );
  t.false(await isFull());
});

test('an answer that exceeds its deadline is reported once, and occupies its slot until it has ended', async (t) => {
  const answers = new ConcurrencyLimiter({ redis: undefined, withinMs: 1, log: silentLog });
  t.teardown(() => answers.close());
  const late: string[] = [];
  const answer = answers.begin('a', 1, () => late.push('first')) as Answer;
  await until('it is late', () => late.length > 0);
  t.is(await answers.begin('a', 1, neverLate), null, 'looked at again meanwhile');
  t.deepEqual(late, ['first']);
  answer.end();
  t.false(answers.begin('a', 1, neverLate) instanceof Promise);
});
