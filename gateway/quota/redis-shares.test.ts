import test from 'ava';
import { fakeClock } from '../../test/services/harness.ts';
import { RedisUnavailable, type RedisLink } from '../../kernel/redis.ts';
import { createShares } from './redis-shares.ts';

const month = { accountId: 'a', month: '2026-11-01' };
const none = { served: 0, putBack: 0 };

function setUp() {
  const clock = fakeClock('2026-11-20T12:00:00Z');
  const away = () => Promise.reject(new RedisUnavailable('there is no Redis here'));
  const redis = { run: away, ask: away } as unknown as RedisLink;
  const spent: [allotment: string, calls: number][] = [];
  const journal = {
    spent: (_account: string, _month: string, allotment: string, calls: number) =>
      void spent.push([allotment, calls]),
  };
  return { shares: createShares({ redis, journal, nowMs: () => clock.now().getTime() }), spent };
}

test('draws under way by one share are one share of the allotment that has followed, and its ends are added up', (t) => {
  const { shares, spent } = setUp();
  const first = shares.drawn(shares.of(month), 0, none, 'one');
  // Both were asked before it was known that another allotment has begun.
  const [a, b] = [shares.drawn(first, 0, none, 'two'), shares.drawn(first, 0, none, 'two')];
  t.not(a, first);
  t.is(a, b);
  t.is(shares.of(month), a);
  shares.begin(a, 2);
  a.spend(1);
  b.putBack(1);
  t.deepEqual([a.ended, a.underWay], [{ served: 1, putBack: 1 }, 0]);
  t.deepEqual(spent, [['two', 1]]);
  shares.close();
});

test('an allotment that another share has drawn from meanwhile is no reason to join that share', (t) => {
  const { shares } = setUp();
  const first = shares.drawn(shares.of(month), 0, none, 'one');
  shares.retire(first);
  const other = shares.drawn(shares.of(month), 0, none, 'two');
  const moved = shares.drawn(first, 0, none, 'two');
  t.not(moved, other, 'Redis knows them by two tokens');
  t.is(moved.token, first.token);
  shares.close();
});
