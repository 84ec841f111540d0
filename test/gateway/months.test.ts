// The month's quota against a model: whatever gateways do and whatever fails, nobody is served above the limit, except for calls that a closed life
// reports late; in the end exactly the limit is served, and charged once. MODEL_RUNS (default 12) is the number of histories.
import { setImmediate as turn } from 'node:timers/promises';
import test from 'ava';
import fc from 'fast-check';
import { setPlan } from '../../accounts-api/operator/operator.ts';
import { selectUsed } from '../../accounts-api/usage/usage.sql.ts';
import type { Charge } from '../../gateway/heartbeat/blocks.ts';
import { utcMonth } from '../../kernel/clock.ts';
import { startAccountsService, type AccountsService, type Client } from '../services/accounts-service.ts';
import { until } from '../run/until.ts';
import {
  closeSilent,
  createWay,
  isValid,
  newDirectory,
  passSilently,
  startLife,
  type GatewayLife,
  type Way,
} from './lives.ts';

const runs = Number(process.env['MODEL_RUNS'] ?? 12);
const gatewayCount = 3;
const limits = { free: 1000, starter: 25_000 };
type Plan = keyof typeof limits;

let service: AccountsService;
test.before(async () => {
  service = await startAccountsService('2026-11-20T10:00:00.000Z');
});
test.after.always(() => service?.close());

type Step =
  | { step: 'burst'; requests: number; calls: number; failEvery: number; hangEvery: number }
  | { step: 'end'; gateway: number; served: boolean }
  | { step: 'reports' | 'crashes' | 'is away'; gateway: number }
  | { step: 'crashes, and a successor has its journal'; gateway: number }
  | { step: 'reports late'; gateway: number }
  | { step: 'next month' | 'closes the crashed' }
  | { step: 'plan'; plan: Plan };

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
  { weight: 2, arbitrary: fc.record({ step: of('reports'), gateway: gatewayNo }) },
  {
    weight: 4,
    arbitrary: fc.record({
      step: of('crashes', 'crashes, and a successor has its journal', 'is away', 'reports late'),
      gateway: gatewayNo,
    }),
  },
  { weight: 2, arbitrary: fc.record({ step: of('closes the crashed', 'next month') }) },
  { weight: 2, arbitrary: fc.record({ step: of('plan'), plan: of('free', 'starter') }) },
);

/** A gateway and its state in the model. */
interface Place {
  life: GatewayLife;
  way: Way;
  inFlight: Charge[];
  /** Served calls that may not be reported yet. */
  unreported: number;
  /** The same for lives that were closed meanwhile. */
  late: number;
}

async function startPlace(directory = newDirectory()): Promise<Place> {
  const way = createWay();
  const life = await startLife(service, { through: way.through, journalDirectory: directory });
  return { life, way, inFlight: [], unreported: 0, late: 0 };
}

/** The results for clients, compared with the limit. */
class History {
  plan: Plan = 'free';
  served = 0;
  /** Calls that were served but not reported when their life was closed: they may be served a second time. */
  late = 0;
  /** The number of these that will never be reported. */
  lost = 0;
  /** The calls served and in flight when the plan was last lowered: those in flight may still be served. */
  servedBefore = 0;
  readonly #client: Client;
  readonly #places: Place[];
  #crashed: GatewayLife[] = [];

  constructor(client: Client, places: Place[]) {
    this.#client = client;
    this.#places = places;
  }

  get limit(): number {
    return limits[this.plan];
  }

  get most(): number {
    return Math.max(this.limit + this.late, this.servedBefore + this.late);
  }

  get least(): number {
    return this.limit - this.late;
  }

  /** @returns the number of refused requests. */
  async burst(requests: number, calls: number, failEvery: number, hangEvery: number): Promise<number> {
    const refused = await Promise.all(
      Array.from({ length: requests }, async (_, i) => {
        const place = this.#at(i % gatewayCount);
        const { charge } = await place.life.begin(this.#client.accountId, calls);
        if (charge === null) return 1;
        if (i % hangEvery === hangEvery - 1) place.inFlight.push(charge);
        else this.#end(place, charge, i % failEvery !== failEvery - 1);
        return 0;
      }),
    );
    return refused.filter((each) => each === 1).length;
  }

  endAll(at: number, asServed: boolean): void {
    const place = this.#at(at);
    for (const charge of place.inFlight.splice(0)) this.#end(place, charge, asServed);
  }

  /** Ends a call like a gateway, which completes no answer if its calls may have been granted to others. */
  #end(place: Place, charge: Charge, asServed: boolean): void {
    const isServed = asServed && isValid(charge);
    charge.end(isServed);
    if (!isServed) return;
    this.served += charge.calls;
    place.unreported += charge.calls;
  }

  async report(at: number): Promise<void> {
    await this.#at(at).life.flushJournal();
    Object.assign(this.#at(at), { unreported: 0, late: 0 });
  }

  /** Calls in flight are cut; unreported ones are lost, unless a successor has the journal. */
  async crash(at: number, hasSuccessor: boolean): Promise<void> {
    const { life, unreported, late } = this.#at(at);
    await turn(); // calls served in an earlier turn are on the disk
    const journal = life.crash();
    await passSilently(service, [life], 15_100); // so that its lease is not used
    if (!hasSuccessor) {
      this.late += unreported;
      this.lost += unreported + late;
      this.#crashed.push(life);
    }
    this.#places[at] = await startPlace(hasSuccessor ? journal : undefined);
    await this.report(at);
  }

  async closeCrashed(): Promise<void> {
    await closeSilent(service, this.#crashed.splice(0));
  }

  /** Is silent for two minutes and then closed; its calls in flight end before or after that. */
  async beAway(at: number, endsBefore: boolean): Promise<void> {
    const place = this.#at(at);
    place.way.cut();
    if (endsBefore) this.endAll(at, true);
    this.late += place.unreported;
    await closeSilent(service, [place.life]);
    place.way.mend();
    this.endAll(at, true);
    place.late += place.unreported;
    place.unreported = 0;
  }

  async changePlan(plan: Plan): Promise<void> {
    const inFlight = this.#places.flatMap((place) => place.inFlight);
    const servedOrInFlight = this.served + inFlight.reduce((sum, { calls }) => sum + calls, 0);
    if (limits[plan] < this.limit) this.servedBefore = servedOrInFlight;
    await setPlan(service.deps, this.#client.accountId, plan);
    this.plan = plan;
  }

  async nextMonth(): Promise<void> {
    for (const at of this.#places.keys()) {
      this.endAll(at, false);
      await this.report(at);
    }
    const now = service.clock.now();
    service.clock.set(new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1)).toISOString());
    Object.assign(this, { served: 0, late: 0, lost: 0, servedBefore: 0 });
  }

  /** Serves all calls that are freed in the end. */
  async serveTheRest(): Promise<void> {
    for (const at of this.#places.keys()) this.endAll(at, true);
    await until('the whole limit is served', async () => {
      while ((await this.burst(300, 1, Infinity, Infinity)) === 0);
      for (const at of this.#places.keys()) await this.report(at);
      await this.closeCrashed();
      return this.served >= this.least;
    });
    while ((await this.burst(30, 1, Infinity, Infinity)) < 30);
    for (const at of this.#places.keys()) await this.report(at);
  }

  async used(): Promise<number> {
    return selectUsed(service.deps.db, this.#client.accountId, utcMonth(service.clock.now()));
  }

  crashAll(): void {
    for (const { life } of this.#places) life.crash();
  }

  #at(at: number): Place {
    return this.#places[at] as Place;
  }
}

async function run(history: History, step: Step): Promise<void> {
  if (step.step === 'burst') await history.burst(step.requests, step.calls, step.failEvery, step.hangEvery);
  else if (step.step === 'end') history.endAll(step.gateway, step.served);
  else if (step.step === 'reports') await history.report(step.gateway);
  else if (step.step === 'crashes') await history.crash(step.gateway, false);
  else if (step.step === 'is away') await history.beAway(step.gateway, false);
  else if (step.step === 'reports late') await history.beAway(step.gateway, true);
  else if (step.step === 'plan') await history.changePlan(step.plan);
  else if (step.step === 'next month') await history.nextMonth();
  else if (step.step === 'crashes, and a successor has its journal') await history.crash(step.gateway, true);
  else await history.closeCrashed();
}

test('no history of bursts, failures, calls under way, crashes, absences, plans and months serves above the limit but for what is reported late, nor charges other than what was served', async (t) => {
  let start = Date.parse('2026-11-20T10:00:00.000Z');
  const property = fc.asyncProperty(fc.array(stepOf, { minLength: 4, maxLength: 16 }), async (steps) => {
    service.clock.set(new Date(start).toISOString());
    const client = await service.newClient('free');
    const places = await Promise.all(Array.from({ length: gatewayCount }, () => startPlace()));
    const history = new History(client, places);
    try {
      for (const step of steps) {
        await run(history, step);
        if (history.served > history.most)
          throw new Error(`served ${history.served}, at most ${history.most}`);
      }
      await history.serveTheRest();
      const { served, most, lost } = history;
      if (served > most) throw new Error(`served ${served} in the end, at most ${most}`);
      const used = await history.used();
      if (used > served || used < served - lost)
        throw new Error(`served ${served}, charged ${used}, lost ${lost}`);
    } finally {
      history.crashAll();
      await passSilently(
        service,
        places.map(({ life }) => life),
        15_100,
      );
      start += 400 * 24 * 3600_000;
    }
  });
  await fc.assert(property, { numRuns: runs, endOnFailure: true, includeErrorInReport: true });
  t.pass();
});
