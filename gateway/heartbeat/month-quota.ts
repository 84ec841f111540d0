// Reserves the calls of a request from its account's month and charges them if they are served; no other file does. The calls come from the granted
// block, from a block requested now, or from QUOTA_OUTAGE while accounts-api is unavailable.
import type { ServerResponse } from 'node:http';
import { utcMonth, type Clock } from '../../kernel/clock.ts';
import { Failure } from '../../kernel/errors.ts';
import { isServed } from '../billed-calls.ts';
import { whenClosed, type Call } from '../call.ts';
import type { Blocks, Charge } from './blocks.ts';
import { calendarMonth, type CalendarMonth } from './calendar-month.ts';
import type { Outage } from './quota-outage.ts';

/** The result of a reservation. */
export interface Reservation {
  /** The number of calls requested. */
  readonly calls: number;
  /** Null: the month has too few. */
  readonly charge: Charge | null;
  /** Null: unlimited. */
  readonly limit: number | null;
  /** Calls used this month, including calls in flight and, if granted, these; null if unknown. */
  readonly used: number | null;
  readonly month: CalendarMonth;
  /** The whole seconds until the month ends, rounded up; at least 1. */
  readonly resetSeconds: number;
}

export type Month = ReturnType<typeof createMonth>;

export function createMonth(
  blocks: Pick<Blocks, 'draw' | 'drawLater' | 'state'>,
  outage: Outage,
  clock: Clock,
) {
  function reservationOf(
    calls: number,
    charge: Charge | null,
    state: { limit: number | null; used: number | null },
    now: Date,
  ): Reservation {
    const month = calendarMonth(charge?.month ?? utcMonth(now));
    const resetSeconds = Math.max(1, Math.ceil((month.resetsAtMs - now.getTime()) / 1000));
    return { calls, charge, limit: state.limit, used: state.used, month, resetSeconds };
  }

  async function reserveLater(accountId: string, month: string, calls: number): Promise<Reservation> {
    try {
      const drawn = await blocks.drawLater(accountId, month, calls);
      outage.endOutage(accountId);
      return reservationOf(
        calls,
        drawn,
        drawn ?? blocks.state(accountId, month) ?? { limit: 0, used: 0 },
        clock.now(),
      );
    } catch (error) {
      const charge = error instanceof Failure ? outage.reserve(accountId, month, calls) : undefined;
      if (charge === undefined) throw error;
      const limit = blocks.state(accountId, month)?.limit ?? null;
      return reservationOf(calls, charge, { limit, used: null }, clock.now());
    }
  }

  return {
    /** Reserves calls from the account's month, all or none; at once if the block has them. @throws Failure unavailable. */
    reserve(accountId: string, calls: number): Reservation | Promise<Reservation> {
      const now = clock.now();
      const month = utcMonth(now);
      const drawn = blocks.draw(accountId, month, calls);
      return drawn === undefined
        ? reserveLater(accountId, month, calls)
        : reservationOf(calls, drawn, drawn, now);
    },
  };
}

/** Charges the call when its response has closed. If it was not served, its reservation is freed for the next call. */
export function chargeCall(call: Call, response: ServerResponse, { charge, month }: Reservation): void {
  if (charge === null) return;
  call.charge = charge;
  call.chargedMonth = month;
  whenClosed(call, response, () => charge.end(isServed(response)));
}
