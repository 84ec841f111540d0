// Accounts whose plan changes again and again while they call as much as their month allows, and more.
import { setTimeout as pause } from 'node:timers/promises';
import type { Deps } from '../../../accounts-api/database.ts';
import { setPlan } from '../../../accounts-api/operator/operator.ts';
import type { Caller, Question } from '../calls.ts';
import { tenantLimits } from '../cluster.ts';
import type { Load, LoadOptions } from '../load.ts';
import type { Random } from '../random.ts';

/** A change of an account's limit. Times are `performance.now()`: from the first on the new one may apply, from the second on it does. */
export interface LimitChange {
  accountId: string;
  limit: number;
  startedAtMs: number;
  answeredAtMs: number;
}

export interface Tenants extends Load {
  readonly changes: readonly LimitChange[];
  /** Changes that failed, and were asked for again. */
  readonly repeated: number;
}

const callersEach = 3;
const betweenCallsMsMax = 100;
const betweenChangesMs = { least: 1_500, most: 8_000 };
const againAfterMs = 100;

/** @param deps as of an operator's command. */
export function startTenants(
  { clients, gateways, random }: LoadOptions,
  { who, question, deps }: { who: readonly Caller[]; question: Question; deps: Deps },
): Tenants {
  const changes: LimitChange[] = [];
  const state = { isRunning: true, repeated: 0 };
  const ended = new AbortController();

  async function callOn(tenant: Caller, own: Random): Promise<void> {
    while (state.isRunning) {
      await clients.ask(own.pick(gateways), tenant, question, [402]);
      await pause(own.between(0, betweenCallsMsMax));
    }
  }

  async function change({ accountId }: Caller, plan: keyof typeof tenantLimits): Promise<void> {
    const startedAtMs = performance.now();
    while (
      !(await setPlan(deps, accountId, plan).then(
        () => true,
        () => false,
      ))
    ) {
      state.repeated += 1;
      await pause(againAfterMs);
    }
    changes.push({ accountId, limit: tenantLimits[plan], startedAtMs, answeredAtMs: performance.now() });
  }

  async function changeOn(tenant: Caller, own: Random): Promise<void> {
    const plans = Object.keys(tenantLimits) as (keyof typeof tenantLimits)[];
    let present: keyof typeof tenantLimits = 'free';
    for (;;) {
      const ms = own.between(betweenChangesMs.least, betweenChangesMs.most);
      const isRunning = await pause(ms, true, { signal: ended.signal }).catch(() => false);
      if (!isRunning) return;
      present = own.pick(plans.filter((plan) => plan !== present));
      await change(tenant, present);
    }
  }

  const work = who.flatMap((tenant) => [
    ...Array.from({ length: callersEach }, () => callOn(tenant, random.fork())),
    changeOn(tenant, random.fork()),
  ]);
  return {
    changes,
    get repeated() {
      return state.repeated;
    },
    async stop() {
      state.isRunning = false;
      ended.abort();
      await Promise.all(work);
    },
  };
}
