// Limits the calls per second of one client at several gateways: with a fake Redis whose answers the test times, and with a real Redis.
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { openRedis, RedisUnavailable, type RedisLink } from '../../kernel/redis.ts';
import { until } from '../../test/run/until.ts';
import { silentLog, testRedisUrl } from '../../test/services/harness.ts';
import { startRedis } from '../../test/services/redis.ts';
import { RateLimiter } from './calls-per-second.ts';

const limit = 10;
const onRequest = 2 ** 30; // exchanges only when the test asks
const client = 'account:a';

/** A model of calls-per-second.lua. */
class Counts {
  readonly #calls = new Map<string, Map<string, number>>();

  run({ keys, args: [gateway = '', ...calls] }: Run): number[] {
    return keys.map((key, i) => {
      const byGateway = this.#calls.get(key) ?? new Map<string, number>();
      this.#calls.set(key, byGateway.set(gateway, Number(calls[i])));
      return [...byGateway].reduce((sum, [other, count]) => (other === gateway ? sum : sum + count), 0);
    });
  }
}

interface Run {
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** A gateway's connection to the counts. The test decides when a request runs, and whether it is then answered or lost. */
class Link implements Pick<RedisLink, 'isUsable' | 'isCluster' | 'clockOffsetMs' | 'run'> {
  isUsable = true;
  readonly isCluster = false;
  clockOffsetMs = 0;
  readonly sent: string[] = [];
  readonly #counts: Counts;
  #asked: Run = { keys: [], args: [] };
  #answers: number[] = [];
  #pending = Promise.withResolvers<unknown>();

  constructor(counts: Counts) {
    this.#counts = counts;
  }

  run(_script: unknown, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    this.#asked = { keys, args };
    this.#answers = [];
    this.sent.push(...keys);
    this.#pending = Promise.withResolvers();
    return this.#pending.promise;
  }

  /** Redis runs the pending request. */
  execute(): void {
    this.#answers = this.#counts.run(this.#asked);
  }

  answer(): void {
    this.#pending.resolve(this.#answers);
  }

  lose(): void {
    this.isUsable = false;
    this.#pending.reject(new RedisUnavailable('lost'));
  }
}

interface Gateway {
  link: Link;
  seconds: RateLimiter;
  /** Makes calls in one turn. @returns how many were allowed. */
  burst(calls: number): number;
  exchange(): Promise<void>;
}

class World {
  nowMs = 1_800_000_000_500;
  readonly gateways: readonly Gateway[];

  constructor(count: number) {
    const counts = new Counts();
    this.gateways = Array.from({ length: count }, () => {
      const link = new Link(counts);
      const options = { redis: link, log: silentLog, nowMs: () => this.nowMs, exchangeEveryMs: onRequest };
      const seconds = new RateLimiter({ ...options, gateways: () => count });
      return {
        ...{ link, seconds },
        burst: (calls) => allowedOf(seconds, client, calls),
        async exchange() {
          const exchanged = seconds.exchange();
          link.execute();
          link.answer();
          await exchanged;
        },
      };
    });
  }
}

function allowedOf(seconds: RateLimiter, key: string, calls: number): number {
  let allowed = 0;
  for (let i = 0; i < calls; i += 1) allowed += Number(seconds.countCall(key, limit).allowed);
  return allowed;
}

const two = (world = new World(2)) => [...world.gateways, world] as unknown as [Gateway, Gateway, World];

test('a single gateway allows the limit, and reports the remaining calls and the time until the reset', (t) => {
  let nowMs = 7_250;
  const seconds = new RateLimiter({
    redis: undefined,
    gateways: () => 1,
    log: silentLog,
    nowMs: () => nowMs,
  });
  t.deepEqual(seconds.countCall(client, 2), { allowed: true, remaining: 1, resetMs: 750 });
  nowMs = 7_999;
  t.deepEqual(seconds.countCall(client, 2), { allowed: true, remaining: 0, resetMs: 1 });
  t.deepEqual(seconds.countCall(client, 2), { allowed: false, remaining: 0, resetMs: 1 });
  t.true(seconds.countCall('account:b', 2).allowed, 'another client');
  nowMs = 8_000;
  t.deepEqual(seconds.countCall(client, 2), { allowed: true, remaining: 1, resetMs: 1000 });
});

test('gateways that exchange between calls allow the limit together', async (t) => {
  const [one, other] = two();
  t.is(one.burst(6), 6);
  await one.exchange();
  t.is(other.burst(1), 1);
  await other.exchange();
  t.is(other.seconds.countCall(client, limit).remaining, 2);
  t.is(other.burst(limit), 2);
  await other.exchange();
  t.is(one.burst(1), 1, 'it arrived within an exchange');
  await one.exchange();
  t.is(one.burst(limit), 0);
});

test('while an exchange is running, calls are answered at once', async (t) => {
  const [one, other] = two();
  one.burst(6);
  await one.exchange();
  other.burst(1);
  const exchanged = other.seconds.exchange();
  t.is(other.burst(2), 2);
  other.link.execute();
  other.link.answer();
  await exchanged;
  t.is(other.burst(limit), 1);
});

test('while Redis does not answer, a gateway allows its share of the limit; once Redis recovers, it allows all of it', async (t) => {
  const world = new World(3);
  const [one, other] = two(world);
  t.is(other.burst(4), 4);
  const stalled = other.seconds.exchange();
  other.link.execute();
  other.link.lose();
  await stalled;
  t.is(other.burst(limit), 0, 'its part is a third of the limit, rounded up');
  t.is(allowedOf(other.seconds, 'account:b', limit), 4);
  other.link.isUsable = true;
  t.is(other.burst(limit), 0, 'it has not answered this gateway yet');
  await other.exchange();
  t.is(other.burst(2), 2);
  await other.exchange();
  t.is(one.burst(1), 1);
  await one.exchange();
  t.is(one.burst(limit), 3, 'what was sent twice counts once');
});

test('the counts of the others from before a failure of Redis still count', async (t) => {
  const [one, other] = two();
  one.burst(8);
  await one.exchange();
  other.burst(1);
  await other.exchange();
  other.link.isUsable = false;
  t.is(other.burst(limit), 1);
});

test('the counters of a past second are deleted and not sent', async (t) => {
  const [one, other, world] = two();
  t.is(one.burst(limit), limit);
  await one.exchange();
  t.is(other.burst(limit), limit);
  world.nowMs += 500;
  await other.exchange();
  t.deepEqual(other.link.sent, []);
  t.is(other.burst(1), 1);
  await other.exchange();
  t.is(one.seconds.countCall(client, limit).remaining, limit - 1);
  t.is(other.burst(limit), limit - 1);
  t.is(new Set([...one.link.sent, ...other.link.sent]).size, 2, 'a key for each second');
});

test('an answer that arrives after its second has ended does not count in the next', async (t) => {
  const [one, other, world] = two();
  one.burst(limit);
  await one.exchange();
  other.burst(1);
  const exchanged = other.seconds.exchange();
  world.nowMs += 500;
  t.is(other.burst(1), 1);
  other.link.execute();
  other.link.answer();
  await exchanged;
  t.is(other.burst(limit), limit - 1);
});

test('a second does not restart when the clock is set back slightly; a clock that is set back further limits nobody for longer', (t) => {
  const [one, , world] = two();
  world.nowMs += 500;
  t.is(one.burst(limit), limit);
  world.nowMs -= 5;
  t.like(one.seconds.countCall(client, limit), { allowed: false, resetMs: 1000 });
  world.nowMs -= 3_600_000;
  t.is(one.burst(limit), limit);
});

test('gateways with different clocks count in the seconds of Redis', async (t) => {
  const [one, other, world] = two();
  one.burst(limit);
  await one.exchange();
  world.nowMs += 7_000;
  other.link.clockOffsetMs = -7_000;
  other.burst(1);
  await other.exchange();
  t.is(other.burst(limit), 0);
});

/** A gateway that exchanges continuously on its own timer. */
function exchangingGateway(
  t: ExecutionContext,
  gateways: () => number,
  onExchange: () => void = () => undefined,
): { seconds: RateLimiter; sent: string[][] } {
  const counts = new Counts();
  const sent: string[][] = [];
  const run = (_script: unknown, keys: readonly string[], args: readonly string[]) => {
    sent.push(keys.map((key) => key.split(':').slice(3).join(':')));
    onExchange();
    return Promise.resolve(counts.run({ keys, args }));
  };
  const redis = { isUsable: true, isCluster: false, clockOffsetMs: 0, run };
  const midSecond = middleOfSecond();
  const options = { redis, gateways, log: silentLog, nowMs: () => midSecond, exchangeEveryMs: 1 };
  const seconds = new RateLimiter(options);
  t.teardown(() => seconds.close());
  return { seconds, sent };
}

test('a gateway that runs alone exchanges nothing until another one runs; it then also sends its earlier counts', async (t) => {
  let running = 1;
  const { seconds, sent } = exchangingGateway(t, () => running);
  const other = exchangingGateway(t, () => 2);
  seconds.countCall(client, limit);
  other.seconds.countCall(client, limit);
  await until('the other gateway has exchanged', () => other.sent.length > 0);
  t.deepEqual(sent, []);
  running = 2;
  seconds.countCall('account:b', limit);
  await until('it has exchanged both', () => new Set(sent.flat()).size === 2);
  t.deepEqual(new Set(sent.flat()), new Set([client, 'account:b']));
});

test('the counts of clients near their limit are in each exchange, all others in every fourth', async (t) => {
  const { seconds, sent } = exchangingGateway(t, () => 3, countBoth);
  function countBoth(): void {
    if (sent.length > 7) return;
    seconds.countCall('near', 1_000);
    seconds.countCall('far', 1_000);
  }
  for (let i = 0; i < 200; i += 1) seconds.countCall('near', 1_000);
  countBoth();
  await until('there were eight exchanges', () => sent.length === 8);
  const [one, both] = [['near'], ['far', 'near']];
  t.deepEqual(sent, [one, one, one, both, one, one, one, both]);
});

test('closing sends the counts that an exchange in flight lacks', async (t) => {
  const { seconds, sent } = exchangingGateway(
    t,
    () => 1,
    () => void (sent.length === 1 && seconds.countCall('account:b', limit)),
  );
  seconds.countCall(client, limit);
  void seconds.exchange();
  await seconds.close();
  t.deepEqual(sent, [[client], ['account:b']]);
});

const steps = ['take', 'send', 'run', 'answer', 'lose'] as const;

test('however calls and exchanges of three gateways interleave, a second allows the limit plus the calls between two exchanges', async (t) => {
  const step = fc.record({
    at: fc.integer({ min: 0, max: 2 }),
    what: fc.constantFrom('take', 'take', 'take', ...steps),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 120 }), async (all) => {
      const { gateways } = new World(3);
      const states = gateways.map(() => new GatewayState());
      const total = () => states.reduce((sum, { allowed }) => sum + allowed, 0);
      for (const { at, what } of all) {
        const [gateway, state] = [gateways[at] as Gateway, states[at] as GatewayState];
        const before = total();
        const refused = await state.go(gateway, what);
        if (refused && state.isExact) t.true(before >= limit, 'nobody is refused within the limit');
      }
      const unsent = states.map(({ unsentAtLastTake }) => unsentAtLastTake).sort((a, b) => b - a);
      t.true(total() <= limit + (unsent[0] ?? 0) + (unsent[1] ?? 0));
    }),
    { numRuns: 500 },
  );
});

/** The state of a gateway that the property refers to. */
class GatewayState {
  allowed = 0;
  /** Whether its last exchange was answered. */
  isExact = true;
  /** The number of allowed calls that no answered exchange included, when the last call was allowed. */
  unsentAtLastTake = 0;
  #included = 0;
  #inFlight: { exchanged: Promise<void>; includes: number; hasRun: boolean } | undefined;

  /** @returns whether a call was refused. */
  async go({ link, seconds }: Gateway, what: (typeof steps)[number]): Promise<boolean> {
    if (what === 'take') return !this.#take(seconds.countCall(client, limit).allowed);
    if (what === 'send' && this.#inFlight === undefined && this.allowed > this.#included) {
      link.isUsable = true;
      this.#inFlight = { exchanged: seconds.exchange(), includes: this.allowed, hasRun: false };
    } else if (what === 'run' && this.#inFlight?.hasRun === false) {
      link.execute();
      this.#inFlight.hasRun = true;
    } else if (what === 'answer' && this.#inFlight?.hasRun === true) {
      link.answer();
      await this.#inFlight.exchanged;
      this.#included = this.#inFlight.includes;
      this.isExact = true;
      this.#inFlight = undefined;
    } else if (what === 'lose' && this.#inFlight !== undefined) {
      link.lose();
      await this.#inFlight.exchanged;
      this.isExact = false;
      this.#inFlight = undefined;
    }
    return false;
  }

  #take(isAllowed: boolean): boolean {
    if (isAllowed) {
      this.allowed += 1;
      this.unsentAtLastTake = this.allowed - this.#included;
    }
    return isAllowed;
  }
}

// Over a real Redis the clock is stopped, so that no second ends while a test runs.
async function realGateway(t: ExecutionContext, url: string, midSecond: number): Promise<RateLimiter> {
  const redis = openRedis(url, silentLog);
  const seconds = new RateLimiter({ redis, gateways: () => 2, log: silentLog, nowMs: () => midSecond });
  t.teardown(async () => {
    await seconds.close();
    redis.close();
  });
  await redis.opened();
  return seconds;
}

const middleOfSecond = () => Math.floor(Date.now() / 1000) * 1000 + 500;

/** Two gateways; the second counts the calls of the first. */
async function connectedPair(t: ExecutionContext, url: string): Promise<[RateLimiter, RateLimiter]> {
  const midSecond = middleOfSecond();
  const [one, other] = [await realGateway(t, url, midSecond), await realGateway(t, url, midSecond)];
  await untilShared(one, other);
  return [one, other];
}

/** Resolves once a gateway counts calls of another. Each attempt uses a new client, as Redis may be slow on a busy machine. */
async function untilShared(one: RateLimiter, other: RateLimiter): Promise<void> {
  await until('a gateway counts calls of another', async () => {
    const key = crypto.randomUUID();
    one.countCall(key, limit);
    await one.exchange();
    other.countCall(key, limit);
    await other.exchange();
    return other.countCall(key, limit).remaining === limit - 3;
  });
}

test('gateways exchange on their own through Redis, which stores no counter for long', async (t) => {
  const redis = await startRedis();
  t.teardown(() => redis.stop());
  const [one, other] = await connectedPair(t, redis.url);
  t.is(allowedOf(one, client, 4), 4);
  t.true(other.countCall(client, limit).allowed);
  await until('the other gateway counts them', () => other.countCall(client, limit).remaining <= limit - 6);
  await until('the first gateway is refused', () => !one.countCall(client, limit).allowed);
  const keys = (await redis.command('keys', 'almanac:rate:*')) as string[];
  for (const key of keys) t.not(Number(await redis.command('pttl', key)), -1, `${key} expires`);
});

for (const [how, fail] of [
  ['stalled', 'stall'],
  ['dead', 'kill'],
] as const) {
  test(`while Redis is ${how}, a gateway allows its part; counts are shared again when Redis is back`, async (t) => {
    const redis = await startRedis();
    t.teardown(() => redis.stop());
    const [one, other] = await connectedPair(t, redis.url);
    await redis[fail]();
    await until('the part is a half', () => allowedOf(one, crypto.randomUUID(), 2 * limit) === limit / 2);
    if (how === 'stalled') redis.goOn();
    else await redis.restart();
    await t.notThrowsAsync(untilShared(one, other));
  });
}

test('a Redis that was never reachable locks nobody out', async (t) => {
  const seconds = await realGateway(t, 'redis://127.0.0.1:1', middleOfSecond());
  t.is(allowedOf(seconds, client, 2 * limit), limit / 2);
});

test('the counts of many clients are exchanged together', async (t) => {
  const [one, other] = await connectedPair(t, testRedisUrl());
  const clients = Array.from({ length: 250 }, () => crypto.randomUUID());
  for (const each of clients) t.true(one.countCall(each, limit).allowed);
  let calls = 0;
  await until('the other gateway counts all of them', () => {
    calls += 1;
    const remaining = clients.map((each) => other.countCall(each, 1_000).remaining);
    return remaining.every((count) => count === 1_000 - 1 - calls);
  });
});
