// Automatic events at Stripe: each happens at its instant, in order, when the clock reaches it.
import { advanceDraft, endTrial, expire, renew } from './billing.ts';
import { expireSession } from './checkout.ts';
import { attempt } from './invoices.ts';
import { cancelNow, daySeconds, itemOf, subscriptionOf } from './subscriptions.ts';
import { emit, type World } from './world.ts';

/** The first payment has to be made within this time. */
const incompleteSeconds = 23 * 3_600;
const trialWarningSeconds = 3 * daySeconds;

export interface Due {
  /** Unix seconds. */
  at: number;
  run(): void;
}

/** All pending events. Every `run` changes the state that made it due, so that it happens once. */
function waiting(world: World): Due[] {
  return [...ofSessions(world), ...ofSubscriptions(world), ...ofInvoices(world)];
}

function* ofSessions(world: World): Generator<Due> {
  for (const session of world.sessions.values())
    if (session.status === 'open')
      yield { at: session.expires_at, run: () => void expireSession(world, session) };
}

function* ofSubscriptions(world: World): Generator<Due> {
  for (const subscription of world.subscriptions.values()) {
    if (subscription.ended_at !== null) continue;
    const { id, status, cancel_at: cancelAt, trial_end: trialEnd } = subscription;
    if (cancelAt !== null) yield { at: cancelAt, run: () => void cancelNow(world, subscription) };
    if (status === 'incomplete')
      yield { at: subscription.created + incompleteSeconds, run: () => expire(world, subscription) };
    if (status === 'trialing' && trialEnd !== null) {
      if (!world.trialEndsSent.has(id))
        yield {
          at: trialEnd - trialWarningSeconds,
          run() {
            world.trialEndsSent.add(id);
            emit(world, 'customer.subscription.trial_will_end', subscription);
          },
        };
      yield { at: trialEnd, run: () => endTrial(world, subscription) };
    }
    if (status === 'active' || status === 'past_due' || status === 'unpaid')
      yield { at: itemOf(subscription).current_period_end, run: () => void renew(world, subscription) };
  }
}

function* ofInvoices(world: World): Generator<Due> {
  for (const invoice of world.invoices.values()) {
    const subscription = world.subscriptions.get(subscriptionOf(invoice));
    if (!subscription) continue;
    if (invoice.status === 'draft' && invoice.automatically_finalizes_at !== null)
      yield {
        at: invoice.automatically_finalizes_at,
        run: () => advanceDraft(world, subscription, invoice),
      };
    if (invoice.status === 'open' && invoice.next_payment_attempt !== null)
      yield {
        at: invoice.next_payment_attempt,
        run: () => void attempt(world, invoice, { automatic: true }),
      };
  }
}

/** Runs the next event due until then (Unix ms), at its instant. @returns that instant (ms); undefined if no event is due. */
export function step(world: World, untilMs: number, others: () => Iterable<Due>): number | undefined {
  let next: Due | undefined;
  for (const due of [...waiting(world), ...others()])
    if (due.at * 1000 <= untilMs && (!next || due.at < next.at)) next = due;
  if (!next) return undefined;
  world.instant = next.at * 1000;
  try {
    next.run();
  } finally {
    world.instant = undefined;
  }
  return next.at * 1000;
}
