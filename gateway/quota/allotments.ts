// Takes calls of a month from an allotment: calls that accounts-api has charged to the month in advance. Hides the top-ups, and that
// some are made before calls are lacking. The holders store the allotments, in Redis or in this process (redis-allotments.ts,
// process-allotments.ts).
import { type Clock, nextUtcMonthText, utcMonth } from '../../kernel/clock.ts';
import type { Log } from '../../kernel/log/log.ts';
import type { Accounts } from '../accounts.ts';
import { createAccountsCache } from './accounts-cache.ts';
import type { Hold } from './hold.ts';

/** What requests were given of a month. */
export interface Grant {
  /** For each request its calls, or null: a request gets all its calls or none. */
  holds: readonly (Hold | null)[];
  /** Null: unlimited. */
  limit: number | null;
  /** Calls used this month, with those under way and these; null if unknown. */
  used: number | null;
  /** ISO instant. */
  resetsAt: string;
  /** Calls are under way, or held by other gateways: some may come back soon. */
  mayCome: boolean;
}

/** The account and month of an allotment. */
export interface AccountMonth {
  accountId: string;
  /** `YYYY-MM-01`, UTC. */
  month: string;
}

export function keyOf({ accountId, month }: AccountMonth): string {
  return `${accountId} ${month}`;
}

/** How fast an allotment is drawn from. */
export interface Pace {
  /** When it was last topped up for this gateway, and how many calls were drawn since. */
  toppedUpAtMs: number;
  drawnSince: number;
}

/** The number of calls expected in `ms`, at the rate since the last top-up. */
export function expectedIn(ms: number, { drawnSince, toppedUpAtMs }: Pace, nowMs: number): number {
  return Math.floor((drawnSince * ms) / Math.max(1, nowMs - toppedUpAtMs));
}

/** The result of a draw. */
export interface Drawn {
  /** The id of the allotment. */
  allotment: string;
  /** For each request its calls, or null. */
  holds: readonly (Hold | null)[];
  /** The total ever granted to the allotment, as far as its holder knows. */
  granted: number;
  /** The calls that are left in it. */
  left: number;
  /** If fewer are left, it is topped up before a call needs it, so that none waits. 0: it is not. */
  low: number;
  /** The total used of the month. */
  used: number;
  /** How many calls a top-up may grant at once, including the lacking ones. */
  ahead: number;
  /** If a request was given nothing: whether calls of the allotment are under way. */
  mayCome: boolean;
}

/** The result of a top-up. */
export interface Credit {
  allotment: string;
  /** The total ever granted to the allotment. */
  granted: number;
  /** Calls charged to the month outside the allotment. */
  elsewhere: number;
  /** `nowMs` when it was asked for: the gateway's lease counts from then. */
  askedAtMs: number;
}

export interface Holder {
  readonly name: 'redis' | 'process';
  /** Draws the calls of each request, and begins an allotment if there is none. @throws RedisUnavailable. */
  draw(month: AccountMonth, wanted: readonly number[], limit: number | null, credit?: Credit): Promise<Drawn>;
  /** Removes an allotment that accounts-api has closed. @throws RedisUnavailable. */
  discard(month: AccountMonth, allotment: string): Promise<void>;
}

export interface Allotments {
  /**
   * Takes the calls of each request, where there are enough. @param limit of the account's plan.
   * @throws RedisUnavailable; Failure unavailable.
   */
  take(accountId: string, wanted: readonly number[], limit: number | null): Promise<Grant>;
  /** Resolves when no early top-up is under way. Each is bounded. */
  allToppedUp(): Promise<void>;
}

export interface AllotmentsOptions {
  accounts: Pick<Accounts, 'topUp'>;
  clock: Clock;
  log: Log;
  /** The clock of the leases; `performance.now()` by default. */
  nowMs?: () => number;
}

/** A top-up that was asked for while calls were still left. */
interface EarlyTopUp {
  readonly allotment: string;
  /** The total granted before it. */
  readonly seen: number;
  readonly done: Promise<void>;
}

/** The allotments of one holder. Concurrent takes for one account are not allowed. */
export function createAllotments(
  holder: Holder,
  { accounts, clock, log, nowMs = () => performance.now() }: AllotmentsOptions,
): Allotments {
  const early = createAccountsCache<EarlyTopUp>();
  const underWay = new Set<Promise<void>>();

  async function topUp(month: AccountMonth, { allotment, granted: seen, ahead }: Drawn, calls: number) {
    const askedAtMs = nowMs();
    const asked = { ...month, holder: holder.name, allotment, seen, calls, ahead };
    const { granted, elsewhere, limit, held, closed } = await accounts.topUp(asked);
    if (closed) await holder.discard(month, allotment);
    const credit: Credit | undefined = closed ? undefined : { allotment, granted, elsewhere, askedAtMs };
    return { credit, limit, held };
  }

  /** Once for each total granted: if it fails, the first call that lacks calls asks again, and says why it cannot be served. */
  function topUpEarly(month: AccountMonth, drawn: Drawn): void {
    const { allotment, granted: seen } = drawn;
    if (earlyTopUp(month, drawn) !== undefined) return;
    const done = topUp(month, drawn, 1)
      .then(async ({ credit, limit }) => void (credit && (await holder.draw(month, [], limit, credit))))
      .catch((error: unknown) => log.debug({ err: error }, 'an allotment was not topped up early'))
      .finally(() => underWay.delete(done));
    underWay.add(done);
    early.set(keyOf(month), { allotment, seen, done });
  }

  /** The early top-up that was begun when as much was granted. */
  function earlyTopUp(month: AccountMonth, { allotment, granted }: Drawn): EarlyTopUp | undefined {
    const latest = early.get(keyOf(month));
    return latest?.allotment === allotment && latest.seen === granted ? latest : undefined;
  }

  return {
    async take(accountId, wanted, limit) {
      const now = clock.now();
      const month = { accountId, month: utcMonth(now) };
      const holds: (Hold | null)[] = wanted.map(() => null);
      let bound = limit;
      /** Draws for the requests that have nothing yet. */
      async function draw(credit?: Credit): Promise<Drawn> {
        const lacking = indexesOf(holds);
        const drawn = await holder.draw(
          month,
          lacking.map((i) => wanted[i] ?? 0),
          bound,
          credit,
        );
        for (const [n, i] of lacking.entries()) holds[i] = drawn.holds[n] ?? null;
        return drawn;
      }
      try {
        let drawn = await draw();
        let mayCome = false;
        const begun = holds.includes(null) ? earlyTopUp(month, drawn) : undefined;
        if (begun !== undefined) {
          await begun.done;
          drawn = await draw();
        }
        while (holds.includes(null)) {
          const { allotment, granted: seen, left } = drawn;
          const calls = Math.max(1, indexesOf(holds).reduce((sum, i) => sum + (wanted[i] ?? 0), 0) - left);
          const { credit, ...state } = await topUp(month, drawn, calls);
          bound = state.limit;
          drawn = await draw(credit);
          mayCome = state.held || drawn.mayCome;
          // Otherwise it was topped up, but others drew the calls first, or it does not suffice: top up again.
          if (credit !== undefined && credit.granted <= seen && drawn.allotment === allotment) break;
        }
        if (drawn.left < drawn.low) topUpEarly(month, drawn);
        return { holds, limit: bound, used: drawn.used, resetsAt: nextUtcMonthText(now), mayCome };
      } catch (error) {
        for (const hold of holds) hold?.end(false);
        throw error;
      }
    },
    async allToppedUp() {
      await Promise.all(underWay);
    },
  };
}

function indexesOf(holds: readonly (Hold | null)[]): number[] {
  return holds.flatMap((hold, i) => (hold === null ? [i] : []));
}
