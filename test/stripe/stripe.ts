// A stateful fake of Stripe for tests and the demo: its API over HTTP, its events, its clock, and the actions of payers and operators.
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Stripe } from 'stripe';
import { recordSecret } from '../run/traces.ts';
import type { MovableClock } from '../services/harness.ts';
import * as billing from './billing.ts';
import * as checkout from './checkout.ts';
import { createDeliveries, type Webhook } from './delivery.ts';
import * as invoices from './invoices.ts';
import { addPrice, type NewPrice } from './prices.ts';
import { createTraps } from './http/requests.ts';
import { createStripeServer, type SeenRequest } from './http/server.ts';
import * as subscriptions from './subscriptions.ts';
import { step } from './time.ts';
import {
  copy,
  createWorld,
  emit,
  findObject,
  liveCustomer,
  type Card,
  type Retries,
  type World,
} from './world.ts';

export type { Answer, Delivery, Forgery, Webhook } from './delivery.ts';
export type { Fault } from './http/requests.ts';

export interface StripeOptions {
  /** The services' own clock, so that both move together. */
  clock: MovableClock;
  webhook?: Webhook;
  /** Every other key is refused. */
  apiKey?: string;
  livemode?: boolean;
  /** Default: again after 3, 5 and 7 days, then `unpaid`. */
  retries?: Retries;
  port?: number;
}

export type FakeStripe = Awaited<ReturnType<typeof startStripe>>;

/**
 * Starts it on 127.0.0.1. Objects that members return are copies; ids that name nothing throw Stripe's own error.
 * `close` throws if the fake itself has failed meanwhile.
 */
export async function startStripe(options: StripeOptions) {
  const { clock, livemode = false, retries = { afterDays: [3, 5, 7], outcome: 'unpaid' } } = options;
  const world = createWorld({ clock, livemode, retries });
  const apiKey = recordSecret(options.apiKey ?? `sk_${livemode ? 'live' : 'test'}_${world.newId('key')}`);
  const deliveries = createDeliveries(world, options.webhook);
  const traps = createTraps();
  const requests: SeenRequest[] = [];
  const mistakes: unknown[] = [];
  const catchUp = (): void => {
    while (step(world, clock.now().getTime(), deliveries.due) !== undefined);
  };
  const server = createStripeServer({ world, apiKey, traps, catchUp, requests, mistakes });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  world.url = `http://127.0.0.1:${port}`;

  return {
    url: world.url,
    apiKey,
    clientConfig: { host: '127.0.0.1', port, protocol: 'http' as const },
    requests,
    events: world.events,
    deliveries: deliveries.records,
    fail: traps.fail,
    clearFaults: traps.clearFaults,
    delayRequests: traps.delayRequests,
    undelivered: deliveries.undelivered,
    deliver: deliveries.deliver,
    deliverPending: deliveries.deliverPending,
    drop: deliveries.drop,
    sign: deliveries.sign,
    setWebhook: deliveries.setWebhook,
    idle: deliveries.idle,
    ...acts(world, catchUp),
    ...reads(world, catchUp),
    /** Moves the clock; on its way all that is due happens at its instant, with its deliveries in automatic mode. */
    async advance(milliseconds: number): Promise<void> {
      const target = clock.now().getTime() + milliseconds;
      await deliveries.idle();
      for (;;) {
        const at = step(world, target, deliveries.due);
        if (at === undefined) break;
        if (at > clock.now().getTime()) clock.set(new Date(at).toISOString());
        await deliveries.idle();
      }
      clock.set(new Date(target).toISOString());
    },
    async close(): Promise<void> {
      await deliveries.close();
      const closed = once(server, 'close');
      server.close();
      server.closeAllConnections();
      await closed;
      if (mistakes.length > 0) throw new AggregateError(mistakes, 'The fake of Stripe has failed.');
    },
  };
}

/** Actions of payers, the operator and Stripe itself. Each first advances the world to the present, and returns a copy. */
function acts(world: World, catchUp: () => void) {
  const now = <In extends unknown[], Out>(act: (...given: In) => Out) => {
    return (...given: In): Out => {
      catchUp();
      return copy(act(...given));
    };
  };
  const session = (id: string) => findObject(world.sessions, 'checkout.session', id);
  const subscription = (id: string) => findObject(world.subscriptions, 'subscription', id);
  const invoice = (id: string) => findObject(world.invoices, 'invoice', id);
  return {
    addPrice: now((price: NewPrice) => addPrice(world, price)),
    /** The payer pays on the page of Checkout. `paid` false: by a delayed method, see `resolveDelayedPayment`. */
    completeCheckout: now((id: string, payment: checkout.Payment = {}) => {
      const done = session(id);
      checkout.complete(world, done, payment);
      const made = subscription(done.subscription as string);
      return {
        session: done,
        customer: liveCustomer(world, made.customer as string),
        subscription: made,
        invoice: invoice(made.latest_invoice as string),
      };
    }),
    resolveDelayedPayment: now((id: string, succeeded: boolean) => {
      checkout.resolveDelayedPayment(world, session(id), succeeded);
      return session(id);
    }),
    setCard: (customerId: string, card: Card): void => void world.cards.set(customerId, card),
    changePlan: now((id: string, priceId: string) => billing.changePlan(world, subscription(id), priceId)),
    cancelAtPeriodEnd: now((id: string, cancel: boolean = true) =>
      subscriptions.cancelAtPeriodEnd(world, subscription(id), cancel),
    ),
    cancelNow: now((id: string) => subscriptions.cancelNow(world, subscription(id))),
    pay: now((id: string) => invoices.payWithNewCard(world, invoice(id))),
    /** A subscription without Checkout; `paid` false leaves it incomplete. */
    subscribe: now(({ paid = true, ...wanted }: subscriptions.NewSubscription & { paid?: boolean }) => {
      liveCustomer(world, wanted.customer);
      if (paid) world.cards.set(wanted.customer, 'works');
      return billing.begin(world, wanted, paid);
    }),
    failPayment: now((id: string) => billing.failPayment(world, subscription(id))),
    retryPayment: now((id: string) => billing.retry(world, subscription(id))),
    markUncollectible: now((id: string) => invoices.giveUp(world, invoice(id), 'uncollectible')),
    voidInvoice: now((id: string) => invoices.giveUp(world, invoice(id), 'void')),
    pause: now((id: string) => subscriptions.pause(world, subscription(id))),
    resume: now((id: string) => billing.resume(world, subscription(id))),
    /** Overwrites fields of any object, such as a status that nobody knows; with `eventType`, an event reports it. */
    override(id: string, fields: Record<string, unknown>, eventType?: Stripe.Event['type']): void {
      catchUp();
      const stores: Map<string, object>[] = [
        world.customers,
        world.sessions,
        world.subscriptions,
        world.invoices,
        world.prices,
        world.products,
      ];
      const object = stores.map((store) => store.get(id)).find((found) => found !== undefined);
      if (!object) throw new Error(`Nothing has the id ${id}.`);
      Object.assign(object, fields);
      if (eventType !== undefined) emit(world, eventType, object);
    },
  };
}

/** The state of now, as copies. */
function reads(world: World, catchUp: () => void) {
  const read = <T>(store: Map<string, T>, kind: string, id: string): T => {
    catchUp();
    return copy(findObject(store, kind, id));
  };
  return {
    customer: (id: string) => read(world.customers, 'customer', id),
    session: (id: string) => read(world.sessions, 'checkout.session', id),
    subscription: (id: string) => read(world.subscriptions, 'subscription', id),
    invoice: (id: string) => read(world.invoices, 'invoice', id),
    /** The id of the price that a lookup key names. */
    priceOf(lookupKey: string): string {
      const found = [...world.prices.values()].find((price) => price.lookup_key === lookupKey);
      if (!found) throw new Error(`No price has the lookup key ${lookupKey}.`);
      return found.id;
    },
    customers: () => [...world.customers.values()].map(copy),
    sessions: () => [...world.sessions.values()].map(copy),
    subscriptionsOf(customerId: string): Stripe.Subscription[] {
      catchUp();
      return [...world.subscriptions.values()].filter(({ customer }) => customer === customerId).map(copy);
    },
  };
}
