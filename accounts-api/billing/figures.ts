// The state of billing for the operator, in /metrics and in `almanac check`.
import type { Metric } from '../../kernel/metrics/text.ts';
import type { Deps } from '../database.ts';
import { selectInboxFigures, type InboxFigures } from './inbox.sql.ts';
import { knownStatuses, liveStatuses } from './subscription-status.ts';

const latelyMs = 30 * 24 * 60 * 60_000;

/** The current figures. */
export function billingFigures({ db, clock }: Pick<Deps, 'db' | 'clock'>): Promise<InboxFigures> {
  const since = new Date(clock.now().getTime() - latelyMs);
  return selectInboxFigures(db, { known: knownStatuses, live: liveStatuses, since });
}

/**
 * Gauges of figures that are counted every few seconds. @param latest the last figures; undefined before the first count. @param now reads the
 * service's clock.
 */
export function gaugesOfBilling(latest: () => InboxFigures | undefined, now: () => Date): Metric[] {
  const gauge = (name: string, help: string, valueOf: (figures: InboxFigures) => number | null): Metric => ({
    name: `almanac_billing_${name}`,
    help,
    read() {
      const figures = latest();
      const value = figures === undefined ? null : valueOf(figures);
      return value === null ? [] : [{ value }];
    },
  });
  const age = (instant: Date | null) => instant && Math.max(0, (now().getTime() - instant.getTime()) / 1000);
  return [
    gauge(
      'events_waiting',
      'Stripe events whose customers have yet to be fetched.',
      ({ waiting }) => waiting,
    ),
    gauge('oldest_waiting_event_age_seconds', 'The age of the oldest of them.', ({ oldestWaitingAt }) =>
      age(oldestWaitingAt),
    ),
    gauge('last_event_age_seconds', 'The time since the last Stripe event.', ({ lastAt }) => age(lastAt)),
    gauge(
      'events_unread',
      'Stripe events of the last 30 days with an unknown format.',
      ({ unread }) => unread,
    ),
    gauge(
      'customers_parked',
      'Stripe customers who pay for a plan but have no account.',
      ({ parked }) => parked,
    ),
    gauge('customers_failing', 'Customers whose last fetch from Stripe failed.', ({ failing }) => failing),
    gauge('subscriptions_odd', 'Subscriptions whose status or price is not understood.', ({ odd }) => odd),
  ];
}

const waitsTooLongMs = 10 * 60_000;

/** The text of `almanac check`. @throws Error that names what the operator has to check. */
export async function describeBilling(deps: Pick<Deps, 'db' | 'clock'>): Promise<string> {
  const { waiting, parked, failing, odd, duplicates, unread, oldestWaitingAt, lastAt } =
    await billingFigures(deps);
  const isStuck =
    oldestWaitingAt !== null && deps.clock.now().getTime() - oldestWaitingAt.getTime() > waitsTooLongMs;
  const faults = [
    ...(isStuck
      ? [`${waiting} events wait, the oldest since ${oldestWaitingAt.toISOString()}: is a worker running?`]
      : []),
    ...(parked > 0 ? [`${parked} customers pay for a plan but have no account`] : []),
    ...(failing > 0 ? [`${failing} customers cannot be fetched from Stripe`] : []),
    ...(odd > 0 ? [`${odd} subscriptions have a status or a price that is not understood`] : []),
  ];
  // Not an error, as nothing records whether the operator has handled it.
  const refunds =
    duplicates === 0
      ? ''
      : `; ${duplicates} paid second subscriptions were cancelled within 30 days: check whether to refund them`;
  const odder = unread === 0 ? '' : `; ${unread} events with an unknown format arrived within 30 days`;
  if (faults.length > 0) throw new Error(`${faults.join('; ')}${refunds}${odder}; see docs/billing.md`);
  return `${waiting} events wait; the last came ${lastAt === null ? 'never' : lastAt.toISOString()}${refunds}${odder}`;
}
