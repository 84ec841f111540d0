// The month's quota against a model: whatever gateways do and whatever fails, nobody is served above the limit, and in the end
// exactly the limit. MODEL_RUNS (default 12) is the number of histories.
import test from 'ava';
import fc from 'fast-check';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import type { Hold } from '../../gateway/quota/hold.ts';
import { selectUsed } from '../../accounts-api/usage/usage.sql.ts';
import { utcMonth } from '../../kernel/clock.ts';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import { startRedis, type PrivateRedis } from '../services/redis.ts';
import { connected, passLeases, startCountingGateway, type CountingGateway } from './months.ts';

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
  | { step: 'burst'; requests: number; calls: number; failEvery: number; hangEvery: number }
  | { step: 'end'; gateway: number; served: boolean }
  | { step: 'settle' | 'crash' | 'reports and dies' | 'is paused'; gateway: number }
  | { step: 'empty Redis' | 'restart Redis' | 'next month' | 'reclaim' }
  | { step: 'plan'; plan: 'free' | 'starter' };

const gatewayNo = fc.nat(gatewayCount - 1);
const of = <Name extends string>(...names: Name[]) => fc.constantFrom(...names);
const stepOf: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      step: of('burst'),
      requests: fc.integer({ min: 1, max: 250 }),
      calls: fc.integer({ min: 1, max: 5 }),
      failEvery: fc.integer({ min: 2, max: 12 }),
      hangEvery: fc.integer({ min: 2, max: 30 }),
    }),
  },
  { weight: 3, arbitrary: fc.record({ step: of('end'), gateway: gatewayNo, served: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ step: of('settle'), gateway: gatewayNo }) },
  {
    weight: 3,
    arbitrary: fc.record({ step: of('crash', 'reports and dies', 'is paused'), gateway: gatewayNo }),
  },
  { weight: 2, arbitrary: fc.record({ step: of('empty Redis', 'reclaim') }) },
  { weight: 1, arbitrary: fc.record({ step: of('restart Redis', 'next month') }) },
  { weight: 1, arbitrary: fc.record({ step: of('plan'), plan: of('free', 'starter') }) },
);

/** What clients saw, against what the limit allows. */
class History {
  plan = 'free';
  served = 0;
  /** Calls that a gateway had served and not reported when it crashed, or when its leases ended. */
  uncertain = 0;
  /** What was served and under way when the plan was last lowered: what was under way then may be served. */
  takenBefore = 0;
  readonly #gateways: CountingGateway[];
  readonly #client: Client;
  readonly #unsettled: number[];
  /** By gateway, the calls under way. */
  readonly #underWay: Hold[][];

  readonly #redisUrl: string | undefined;

  constructor(gateways: CountingGateway[], client: Client, redisUrl: string | undefined) {
    this.#gateways = gateways;
    this.#redisUrl = redisUrl;
    this.#client = client;
    this.#unsettled = gateways.map(() => 0);
    this.#underWay = gateways.map(() => []);
  }

  get limit(): number {
    return limits[this.plan] ?? Number.NaN;
  }

  /** @returns whether every request was served, failed by itself or hangs: none was refused. */
  async burst(requests: number, calls: number, failEvery: number, hangEvery: number): Promise<boolean> {
    const outcomes = await Promise.all(
      Array.from({ length: requests }, async (_, i) => {
        const at = i % this.#gateways.length;
        const { begin } = this.#gateways[at] as CountingGateway;
        const { hold } = await begin(this.#client.accountId, calls, this.limit);
        if (hold === null) return false;
        if (i % hangEvery === hangEvery - 1) this.#underWay[at]?.push(hold);
        else this.#end(at, hold, i % failEvery !== failEvery - 1);
        return true;
      }),
    );
    return !outcomes.includes(false);
  }

  /** Ends a call, as a gateway does: it completes no answer to one that others may have been granted. */
  #end(at: number, hold: Hold, asServed: boolean): void {
    const served = asServed && hold.isValid;
    hold.end(served);
    if (!served) return;
    this.served += hold.calls;
    this.#unsettled[at] = (this.#unsettled[at] ?? 0) + hold.calls;
  }

  /** Before the plan is changed. */
  changePlan(plan: 'free' | 'starter'): void {
    const underWay = this.#underWay.flat().reduce((sum, { calls }) => sum + calls, 0);
    if ((limits[plan] ?? 0) < this.limit) this.takenBefore = this.served + underWay;
    this.plan = plan;
  }

  endAll(at: number, asServed: boolean): void {
    for (const hold of this.#underWay[at]?.splice(0) ?? []) this.#end(at, hold, asServed);
  }

  async settle(at: number): Promise<void> {
    await this.#gateways[at]?.settle();
    this.#unsettled[at] = 0;
  }

  /** The gateway is gone, and its calls under way with it; what it had not reported is lost. */
  async crash(at: number): Promise<void> {
    this.#gateways[at]?.crash();
    this.forget(at);
    this.#underWay[at] = [];
    this.#gateways[at] = await startCountingGateway(service, this.#redisUrl);
  }

  /** Nobody knows by now what the gateway has served since its last report. */
  forget(at: number): void {
    this.uncertain += this.#unsettled[at] ?? 0;
    this.#unsettled[at] = 0;
  }

  nextMonth(): void {
    this.served = 0;
    this.uncertain = 0;
    this.takenBefore = 0;
    this.#unsettled.fill(0);
  }
}

/** @param paused a gateway that says nothing meanwhile; all others report. */
async function reclaim(
  gateways: readonly CountingGateway[],
  history: History,
  paused?: number,
): Promise<void> {
  for (const at of gateways.keys()) {
    if (at === paused) history.forget(at);
    else await history.settle(at);
  }
  await passLeases(service, gateways);
}

for (const [where, redisUrl] of [
  ['in Redis', () => redis.url],
  ['in processes', () => undefined],
] as const) {
  test.serial(
    `no history of bursts, failures, calls under way, crashes, pauses, Redis losses and month changes serves more or less than the limit, with allotments ${where}`,
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
          if (step.step === 'burst') {
            await history.burst(step.requests, step.calls, step.failEvery, step.hangEvery);
          } else if (step.step === 'end') history.endAll(step.gateway, step.served);
          else if (step.step === 'reports and dies') {
            await history.settle(step.gateway);
            await history.crash(step.gateway);
          } else if (step.step === 'is paused') await reclaim(gateways, history, step.gateway);
          else if (step.step === 'settle') await history.settle(step.gateway);
          else if (step.step === 'crash') await history.crash(step.gateway);
          else if (step.step === 'empty Redis') await redis.command('flushall');
          else if (step.step === 'restart Redis') await redis.restart();
          else if (step.step === 'reclaim') await reclaim(gateways, history);
          else if (step.step === 'plan') {
            history.changePlan(step.plan);
            await setPlan(service.deps, client.accountId, step.plan);
          } else {
            for (const at of gateways.keys()) {
              history.endAll(at, false);
              await history.settle(at);
            }
            const now = service.clock.now();
            service.clock.set(
              new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString(),
            );
            history.nextMonth();
            continue;
          }
          // A plan may have been changed to a lower one than was taken already; nothing more is taken then.
          const most = Math.max(history.limit + history.uncertain, history.takenBefore);
          if (history.served > most) throw new Error(`served ${history.served}, at most ${most}`);
        }
        for (const at of gateways.keys()) history.endAll(at, true);
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
    while (await history.burst(500, 1, Infinity, Infinity));
    await reclaim(gateways, history);
  }
  if (await history.burst(500, 1, Infinity, Infinity)) throw new Error('calls came back more than once');
  for (const at of gateways.keys()) await history.settle(at);
}
