// The consequences of an attempt: when its message is sent again, and whether its endpoint is failing, throttled or disabled. The schedule is that of
// Standard Webhooks. All functions are pure.
import type { Sent } from './send.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;
const day = 24 * hour;

/** The waits after the first failure, the second, …; after one more failure the message has failed. 75 h 35 min 5 s in total. */
export const retryDelaysMs = [
  5 * second,
  5 * minute,
  30 * minute,
  2 * hour,
  5 * hour,
  10 * hour,
  14 * hour,
  20 * hour,
  24 * hour,
] as const;
const jitter = 0.1;
const retryAfterMaxMs = 24 * hour;
/** The answers of an overloaded host: nothing more is sent to it for a while. */
const throttling = [429, 502, 504];
const throttleMs = 30 * second;
const throttleMaxMs = hour;
const disableAfterMs = 5 * day;
/** Longer than any wait between two attempts: failures this far apart do not count as one continuous failure. */
const forgetAfterMs = 2 * day;

export interface Attempted {
  /** When it ended. */
  at: Date;
  sent: Sent;
  /** Failures in the message's current schedule, before this attempt. */
  failures: number;
}

export type Outcome = { status: 'delivered' | 'failed'; dueAt: null } | { status: 'pending'; dueAt: Date };

/** The outcome for the message. @param random from 0 to 1, for the jitter. */
export function outcomeOf({ at, sent, failures }: Attempted, random: number): Outcome {
  if (isSuccess(sent)) return { status: 'delivered', dueAt: null };
  const delayMs = retryDelaysMs[failures];
  if (delayMs === undefined || sent.status === 410) return { status: 'failed', dueAt: null };
  const spread = delayMs * (1 + jitter * (2 * random - 1));
  return {
    status: 'pending',
    dueAt: new Date(at.getTime() + Math.max(spread, Math.min(retryAfterMs(sent, at), retryAfterMaxMs))),
  };
}

export interface Health {
  failingSince: Date | null;
  lastFailedAt: Date | null;
  throttledUntil: Date | null;
}

/** The new health of the endpoint. `disable` is the reason if it is disabled now. */
export function healthAfter(
  before: Health,
  { at, sent }: Pick<Attempted, 'at' | 'sent'>,
): Health & { disable: 'failing' | 'gone' | null } {
  if (isSuccess(sent)) return { failingSince: null, lastFailedAt: null, throttledUntil: null, disable: null };
  const { failingSince, lastFailedAt } = before;
  const isContinued =
    failingSince !== null && lastFailedAt !== null && at.getTime() - lastFailedAt.getTime() <= forgetAfterMs;
  const since = isContinued ? failingSince : at;
  const isTooLong = at.getTime() - since.getTime() >= disableAfterMs;
  return {
    failingSince: since,
    lastFailedAt: at,
    throttledUntil: throttledUntil(before, sent, at),
    disable: sent.status === 410 ? 'gone' : isTooLong ? 'failing' : null,
  };
}

/** Whether the message was accepted: 2xx. */
export function isSuccess({ status }: Sent): boolean {
  return status !== null && status >= 200 && status < 300;
}

function throttledUntil({ throttledUntil: before }: Health, sent: Sent, at: Date): Date | null {
  if (sent.status === null || !throttling.includes(sent.status)) return before;
  const asked = Math.min(retryAfterMs(sent, at), throttleMaxMs);
  const until = new Date(at.getTime() + Math.max(asked, throttleMs));
  return before !== null && before > until ? before : until;
}

/** The delay that `Retry-After` requests, as seconds or a date; 0 without it. */
function retryAfterMs(sent: Sent, at: Date): number {
  if (sent.status === null || sent.retryAfter === undefined) return 0;
  const text = sent.retryAfter.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text) * second;
  const date = Date.parse(text);
  return Number.isNaN(date) ? 0 : Math.max(0, date - at.getTime());
}
