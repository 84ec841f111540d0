// Takes the calls of a request from the month of its account, and charges them if they are served; nothing else in the gateway does. Hides
// where they come from: the block that is held, a block asked for now, or what QUOTA_OUTAGE allows while accounts-api is away.
import type { ServerResponse } from 'node:http';
import { utcMonth, type Clock } from '../../kernel/clock.ts';
import { Failure } from '../../kernel/errors.ts';
import { whenClosed, type Call } from '../call.ts';
import type { Blocks, Charge } from './blocks.ts';
import { calendarMonth, type CalendarMonth } from './calendar-month.ts';
import type { Outage } from './outage.ts';

/** What a request was given. */
export interface Take {
  /** The number of calls requested. */
  readonly calls: number;
  /** Null: the month has too few. */
  readonly charge: Charge | null;
  /** Null: unlimited. */
  readonly limit: number | null;
  /** Calls used this month, with those under way, and these if granted; null if unknown. */
  readonly used: number | null;
  readonly month: CalendarMonth;
  /** The whole seconds until the month ends, rounded up; at least 1. */
  readonly resetSeconds: number;
}

export interface Month {
  /** Takes calls from the account's month, all or none; at once if they are held. @throws Failure unavailable. */
  take(accountId: string, calls: number): Take | Promise<Take>;
}

export interface MonthOptions {
  blocks: Pick<Blocks, 'draw' | 'drawLater' | 'state'>;
  outage: Outage;
  clock: Clock;
}

export function createMonth({ blocks, outage, clock }: MonthOptions): Month {
  function takeOf(
    calls: number,
    charge: Charge | null,
    state: { limit: number | null; used: number | null },
    now: Date,
  ): Take {
    const month = calendarMonth(charge?.month ?? utcMonth(now));
    const resetSeconds = Math.max(1, Math.ceil((month.resetsAtMs - now.getTime()) / 1000));
    return { calls, charge, limit: state.limit, used: state.used, month, resetSeconds };
  }

  async function takeLater(accountId: string, month: string, calls: number): Promise<Take> {
    try {
      const hold = await blocks.drawLater(accountId, month, calls);
      outage.isOver(accountId);
      return takeOf(
        calls,
        hold,
        hold ?? blocks.state(accountId, month) ?? { limit: 0, used: 0 },
        clock.now(),
      );
    } catch (error) {
      const charge = error instanceof Failure ? outage.take(accountId, month, calls) : undefined;
      if (charge === undefined) throw error;
      const limit = blocks.state(accountId, month)?.limit ?? null;
      return takeOf(calls, charge, { limit, used: null }, clock.now());
    }
  }

  return {
    take(accountId, calls) {
      const now = clock.now();
      const month = utcMonth(now);
      const hold = blocks.draw(accountId, month, calls);
      return hold === undefined ? takeLater(accountId, month, calls) : takeOf(calls, hold, hold, now);
    },
  };
}

/** Charges the call when its response has closed; if it was not served, the next call can have what it took. */
export function chargeCall(call: Call, response: ServerResponse, { charge, month }: Take): void {
  if (charge === null) return;
  call.charge = charge;
  call.chargedMonth = month;
  whenClosed(call, response, () => charge.end(isServed(response)));
}

/** Whether the client received a complete 2xx or 304: only then is a call billed. */
export function isServed({ writableFinished, statusCode }: ServerResponse): boolean {
  return writableFinished && ((statusCode >= 200 && statusCode < 300) || statusCode === 304);
}
