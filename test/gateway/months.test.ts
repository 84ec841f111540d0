// The month's quota against a model: whatever gateways do and whatever fails, nobody is served above the limit, and in the end
// exactly the limit. MODEL_RUNS (default 12) is the number of histories.
import test from 'ava';
import fc from 'fast-check';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { reclaimLostAllotments } from '../../accounts-api/quota/allotments.ts';
import { selectUsed } from '../../accounts-api/usage/usage.sql.ts';
import { utcMonth } from '../../kernel/clock.ts';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { connected, startCountingGateway, type CountingGateway } from './months.ts';

const runs = Number(process.env['MODEL_RUNS'] ?? 12);
const gatewayCount = 3;
const limits: Record<string, number> = { free: 1000, starter: 25_000 };

let service: AccountsService;
let redis: PrivateRedis;
test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
  redis = await startRedis();
});
test.after.always(async () => {
  await service?.close();
  await redis?.stop();
});

type Step =
  | { step: 'burst'; requests: number; calls: number; failEvery: number }
  | { step: 'settle' | 'crash'; gateway: number }
  | { step: 'empty Redis' | 'restart Redis' | 'next month' | 'reclaim' }
  | { step: 'plan'; plan: 'free' | 'starter' };

const gatewayNo = fc.nat(gatewayCount - 1);
const stepOf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      step: fc.constant('burst' as const),
      requests: fc.integer({ min: 1, max: 250 }),
      calls: fc.integer({ min: 1, max: 5 }),
      failEvery: fc.integer({ min: 2, max: 12 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ step: fc.constant('settle' as const), gateway: gatewayNo }) },
  { weight: 1, arbitrary: fc.record({ step: fc.constant('crash' as const), gateway: gatewayNo }) },
  { weight: 2, arbitrary: fc.record({ step: fc.constantFrom('empty Redis' as const, 'reclaim' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({ step: fc.constantFrom('restart Redis' as const, 'next month' as const) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      step: fc.constant('plan' as const),
      plan: fc.constantFrom('free' as const, 'starter' as const),
    }),
  },
);

/** What clients saw, against what the limit allows. */
class History {
  plan = 'free';
  served = 0;
  /** Of calls that a gateway took with it when it crashed: served but not reported, or failed but not given back. */
  uncertain = 0;
  readonly #gateways: CountingGateway[];
  readonly #client: Client;
  readonly #unsettled: { served: number; failed: number }[];

  readonly #redisUrl: string | undefined;

  constructor(gateways: CountingGateway[], client: Client, redisUrl: string | undefined) {
    this.#gateways = gateways;
    this.#redisUrl = redisUrl;
    this.#client = client;
    this.#unsettled = gateways.map(() => ({ served: 0, failed: 0 }));
  }

  get limit(): number {
    return limits[this.plan] ?? Number.NaN;
  }

  /** @returns whether every request was served or failed by itself: none was refused. */
  async burst(requests: number, calls: number, failEvery: number): Promise<boolean> {
    const outcomes = await Promise.all(
      Array.from({ length: requests }, async (_, i) => {
        const at = i % this.#gateways.length;
        const { month, journal } = this.#gateways[at] as CountingGateway;
        const take = await month.take(this.#client.accountId, calls, this.limit);
        if (!take.granted) return 0;
        const unsettled = this.#unsettled[at] ?? { served: 0, failed: 0 };
        const fails = i % failEvery === failEvery - 1;
        if (fails) journal.refund(this.#client.accountId, take.month, calls);
        unsettled[fails ? 'failed' : 'served'] += calls;
        return fails ? -1 : calls;
      }),
    );
    this.served += outcomes.reduce((sum, calls) => sum + Math.max(0, calls), 0);
    return outcomes.every((calls) => calls !== 0);
  }

  async settle(at: number): Promise<void> {
    await this.#gateways[at]?.settle();
    this.#unsettled[at] = { served: 0, failed: 0 };
  }

  async crash(at: number): Promise<void> {
    this.#gateways[at]?.crash();
    const { served, failed } = this.#unsettled[at] ?? { served: 0, failed: 0 };
    this.uncertain += served + failed;
    this.#unsettled[at] = { served: 0, failed: 0 };
    this.#gateways[at] = await startCountingGateway(service, this.#redisUrl);
  }

  nextMonth(): void {
    this.served = 0;
    this.uncertain = 0;
    for (const at of this.#unsettled.keys()) this.#unsettled[at] = { served: 0, failed: 0 };
  }
}

async function reclaim(gateways: readonly CountingGateway[], history: History): Promise<void> {
  for (const at of gateways.keys()) await history.settle(at); // every gateway alive reports within the time that is waited
  service.clock.advance(61_000);
  await reclaimLostAllotments(service.deps);
}

for (const [where, redisUrl] of [
  ['in Redis', () => redis.url],
  ['in processes', () => undefined],
] as const) {
  test.serial(
    `no history of bursts, failures, crashes, Redis losses and month changes serves more or less than the limit, with allotments ${where}`,
    async (t) => {
      await tryHistories(redisUrl());
      t.pass();
    },
  );
}

async function tryHistories(redisUrl: string | undefined): Promise<void> {
  let start = Date.parse('2026-11-20T10:00:00.000Z');
  await fc.assert(
    fc.asyncProperty(fc.array(stepOf, { minLength: 4, maxLength: 16 }), async (steps) => {
      service.clock.set(new Date(start).toISOString());
      const client = await service.newClient('free');
      const gateways = await Promise.all(
        Array.from({ length: gatewayCount }, () => startCountingGateway(service, redisUrl)),
      );
      const history = new History(gateways, client, redisUrl);
      try {
        for (const step of steps) {
          const before = history.served;
          if (step.step === 'burst') await history.burst(step.requests, step.calls, step.failEvery);
          else if (step.step === 'settle') await history.settle(step.gateway);
          else if (step.step === 'crash') await history.crash(step.gateway);
          else if (step.step === 'empty Redis') await redis.command('flushall');
          else if (step.step === 'restart Redis') await redis.restart();
          else if (step.step === 'reclaim') await reclaim(gateways, history);
          else if (step.step === 'plan') {
            history.plan = step.plan;
            await setPlan(service.deps, client.accountId, step.plan);
          } else {
            for (const at of gateways.keys()) await history.settle(at);
            const now = service.clock.now();
            service.clock.set(
              new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString(),
            );
            history.nextMonth();
            continue;
          }
          // A plan may have been changed to a lower one than was served already; nothing more is served then.
          const most = Math.max(history.limit + history.uncertain, before);
          if (history.served > most) throw new Error(`served ${history.served}, at most ${most}`);
        }
        await Promise.all(gateways.map(connected));
        await drained(history, gateways);
        const least = history.limit - history.uncertain;
        if (history.served < least) throw new Error(`served ${history.served}, at least ${least}`);
        const used = await selectUsed(service.deps.db, client.accountId, utcMonth(service.clock.now()));
        if (Math.abs(used - history.served) > history.uncertain) {
          throw new Error(`served ${history.served}, charged ${used}, uncertain ${history.uncertain}`);
        }
      } finally {
        for (const gateway of gateways) gateway.crash();
        start += 40 * 24 * 3600_000;
      }
    }),
    { numRuns: runs, endOnFailure: true, includeErrorInReport: true },
  );
}

/** Asks for single calls until none is granted any more, also after what was stranded has come back. */
async function drained(history: History, gateways: readonly CountingGateway[]): Promise<void> {
  for (let round = 0; round < 3; round += 1) {
    while (await history.burst(500, 1, Infinity));
    await reclaim(gateways, history);
  }
  if (await history.burst(500, 1, Infinity)) throw new Error('calls came back more than once');
  for (const at of gateways.keys()) await history.settle(at);
}
