// Derives from an account's subscriptions the current plan, and whether its calls are served. The result depends only on Stripe's state and the
// clock, so neither the order nor the repetition of events matters.
import { instantText } from '../../kernel/clock.ts';
import type { EventData } from '../../kernel/events/catalogue.ts';
import type { Account } from '../models/account.ts';

/** The latest invoice of a subscription, in the format of answers. */
export interface Invoice {
  id: string;
  status: string | null;
  /** In the smallest unit of the currency. */
  amount_due: number;
  currency: string;
  hosted_invoice_url: string | null;
  /** ISO instant. */
  next_attempt_at: string | null;
  /** The number of attempts to pay it. */
  attempts: number;
}

/** A subscription, as fetched from Stripe and as stored. */
export interface Subscription {
  id: string;
  /** May be a status that is unknown here. */
  status: string;
  priceId: string;
  /** Null: the price belongs to no plan. */
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
  active: 'served', // includes one cancelled at the end of its period, and one whose collection is paused
  trialing: 'served',
  past_due: 'grace',
  unpaid: 'refused',
  paused: 'refused',
  incomplete: 'pending',
  incomplete_expired: 'ended',
  canceled: 'ended',
};
const order: readonly Meaning[] = ['served', 'grace', 'refused', 'pending', 'ended'];

/** Whether the status is known. A subscription with an unknown status is not served. */
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
 * The subscription that counts: one with a plan before one without; then a paid one before an unpaid one; of several live ones the oldest, of several
 * ended ones the newest. Null without any.
 */
export function currentOf<Some extends Subscription>(subscriptions: readonly Some[]): Some | null {
  const rank = (each: Some) => order.indexOf(meaningOf(each)) + (each.plan === null ? order.length : 0);
  const [first] = subscriptions.toSorted((a, b) => {
    const age = a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
    return rank(a) - rank(b) || (meaningOf(a) === 'ended' ? -age : age);
  });
  return first ?? null;
}

export interface Entitlement {
  /** Null: no subscription is live, so the account's own plan applies. */
  plan: string | null;
  state: Account['subscriptionState'];
}

/** The meaning of a subscription at an instant. @param current null: the account has none. */
export function entitlementOf(current: Subscription | null, now: Date): Entitlement {
  const meaning = current === null ? 'ended' : meaningOf(current);
  if (current === null || meaning === 'pending' || meaning === 'ended') return { plan: null, state: 'none' };
  const isServed = meaning === 'served' || (current.graceEndsAt !== null && now < current.graceEndsAt);
  return { plan: current.plan ?? 'free', state: isServed ? 'active' : 'inactive' };
}

/** The subscription state reported by events and in `GET /v1/account`. */
export type SubscriptionData = EventData<'subscription.updated'>;

export function subscriptionDataOf(
  account: Pick<Account, 'plan' | 'subscriptionState'>,
  current: Subscription | null,
): SubscriptionData {
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
