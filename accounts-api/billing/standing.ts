// What the subscriptions of an account mean for it: the plan in force, and whether its calls are served.
// Hides the table of Stripe's statuses. It depends on nothing but what Stripe says and the clock, so neither the order of events nor
// their repetition matters.
import { instantText } from '../../kernel/clock.ts';
import type { EventData } from '../../kernel/events/catalogue.ts';
import type { Account } from '../models/account.ts';

/** The latest invoice of a subscription, as shown. */
export interface Invoice {
  id: string;
  status: string | null;
  /** In the smallest unit of the currency. */
  amount_due: number;
  currency: string;
  hosted_invoice_url: string | null;
  /** ISO instant. */
  next_attempt_at: string | null;
  /** Attempts to pay it. */
  attempts: number;
}

/** A subscription, as fetched from Stripe and as stored. */
export interface Subscription {
  id: string;
  /** One that we do not know is possible. */
  status: string;
  priceId: string;
  /** Null: no plan has the price. */
  plan: string | null;
  createdAt: Date;
  currentPeriodEnd: Date | null;
  cancelsAt: Date | null;
  /** Until when it is served although a payment is due; null if the status is not `past_due`. */
  graceEndsAt: Date | null;
  invoice: Invoice | null;
}

type Meaning = 'served' | 'grace' | 'refused' | 'pending' | 'ended';

const meanings: Readonly<Record<string, Meaning>> = {
  active: 'served', // also one that is cancelled, until its period ends, and one whose collection is paused
  trialing: 'served',
  past_due: 'grace',
  unpaid: 'refused',
  paused: 'refused',
  incomplete: 'pending',
  incomplete_expired: 'ended',
  canceled: 'ended',
};
const order: readonly Meaning[] = ['served', 'grace', 'refused', 'pending', 'ended'];

/** Whether the status is one that we know. Others are refused: what is not understood is not served. */
export function isKnown({ status }: Pick<Subscription, 'status'>): boolean {
  return Object.hasOwn(meanings, status);
}

export const knownStatuses = Object.keys(meanings);

function meaningOf({ status }: Pick<Subscription, 'status'>): Meaning {
  return isKnown({ status }) ? (meanings[status] ?? 'refused') : 'refused';
}

/** Whether Stripe charges for it, now or once it is paid again. */
export function isLive(subscription: Pick<Subscription, 'status'>): boolean {
  return ['served', 'grace', 'refused'].includes(meaningOf(subscription));
}

/** Whether its first payment can still be made. */
export function isPending(subscription: Pick<Subscription, 'status'>): boolean {
  return meaningOf(subscription) === 'pending';
}

export const liveStatuses = knownStatuses.filter((status) => isLive({ status }));

/**
 * The subscription that counts: one with a plan before one without; then one that is paid before one that is not; of several live ones
 * the oldest, of several that have ended the newest. Null without any.
 */
export function currentOf<Some extends Subscription>(subscriptions: readonly Some[]): Some | null {
  const rank = (each: Some) => order.indexOf(meaningOf(each)) + (each.plan === null ? order.length : 0);
  const [first] = subscriptions.toSorted((a, b) => {
    const age = a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
    return rank(a) - rank(b) || (meaningOf(a) === 'ended' ? -age : age);
  });
  return first ?? null;
}

export interface Standing {
  /** Null: the account's own plan, as no subscription is live. */
  plan: string | null;
  state: Account['subscriptionState'];
}

/** What a subscription means at an instant. @param current null: the account has none. */
export function standingOf(current: Subscription | null, now: Date): Standing {
  const meaning = current === null ? 'ended' : meaningOf(current);
  if (current === null || meaning === 'pending' || meaning === 'ended') return { plan: null, state: 'none' };
  const isServed = meaning === 'served' || (current.graceEndsAt !== null && now < current.graceEndsAt);
  return { plan: current.plan ?? 'free', state: isServed ? 'active' : 'inactive' };
}

/** What is told of an account's subscription: by events, and in `GET /v1/account`. */
export type Told = EventData<'subscription.updated'>;

export function toldOf(
  account: Pick<Account, 'plan' | 'subscriptionState'>,
  current: Subscription | null,
): Told {
  const text = (instant: Date | null) => instant && instantText(instant);
  return {
    plan: account.plan,
    state: account.subscriptionState,
    status: current?.status ?? null,
    current_period_end: text(current?.currentPeriodEnd ?? null),
    cancels_at: text(current?.cancelsAt ?? null),
    grace_ends_at: text(current?.graceEndsAt ?? null),
  };
}
