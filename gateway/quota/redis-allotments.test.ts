import test from 'ava';
import { fakeClock } from '../../test/services/harness.ts';
import type { RedisLink } from '../../kernel/redis.ts';
import { createRedisAllotments } from './redis-allotments.ts';

const month = { accountId: 'a', month: '2026-11-01' };

test('a top-up asks ahead for what a second will bring if calls go on coming, and for 1,000 at least', async (t) => {
  const clock = fakeClock('2026-11-20T12:00:00Z');
  let drawn = 0;
  const link: Pick<RedisLink, 'run' | 'clockOffsetMs'> = {
    clockOffsetMs: 0,
    run(_script, _key, [wanted = '']) {
      const [requests = 0, calls = 0] = wanted.split(' ').map(Number);
      drawn += requests * calls;
      return Promise.resolve(['one', [requests], 1e9, drawn, 0, 0]);
    },
  };
  const allotments = createRedisAllotments({
    redis: link as RedisLink,
    journal: { spent: () => undefined },
    clock,
    nowMs: () => clock.now().getTime(),
  });
  t.teardown(() => allotments.close());
  const credit = () => ({ allotment: 'one', granted: 1e9, elsewhere: 0, askedAtMs: clock.now().getTime() });

  await allotments.draw(month, [1], null, credit());
  clock.advance(100);
  t.is((await allotments.draw(month, [99], null)).ahead, 1_000);
  t.is((await allotments.draw(month, [500], null)).ahead, 6_000, '600 calls in 100 ms');
  await allotments.draw(month, [20], null, credit());
  clock.advance(1_000);
  t.is((await allotments.draw(month, [1_980], null)).ahead, 2_000, 'since the last top-up');
});
