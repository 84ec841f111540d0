// The state of the fake of Stripe: its objects, its clock, and the events that changes of objects cause.
import { randomBytes } from 'node:crypto';
import { Stripe } from 'stripe';
import type { MovableClock } from '../services/harness.ts';
import { noSuch } from './http/errors.ts';

export type Card = 'works' | 'declines' | 'none';

/** When a failed payment is tried again, in days after the failure before, and the outcome after the last failure. */
export interface Retries {
  afterDays: number[];
  outcome: 'canceled' | 'unpaid' | 'past_due';
}

/** Every object is complete: it is checked against the whole type of the SDK. */
export interface World {
  clock: MovableClock;
  livemode: boolean;
  retries: Retries;
  url: string;
  /** The instant (ms) of the current change, if it was due before now. */
  instant: number | undefined;
  /** The request that causes the current events. */
  request: Stripe.Event.Request | null;
  products: Map<string, Stripe.Product>;
  prices: Map<string, Stripe.Price>;
  customers: Map<string, Stripe.Customer | Stripe.DeletedCustomer>;
  cards: Map<string, Card>;
  sessions: Map<string, Stripe.Checkout.Session>;
  lineItems: Map<string, Stripe.LineItem[]>;
  /** The properties that a session will give its subscription. */
  plannedSubscriptions: Map<string, { metadata: Record<string, string>; trialDays: number }>;
  subscriptions: Map<string, Stripe.Subscription>;
  trialEndsSent: Set<string>;
  invoices: Map<string, Stripe.Invoice>;
  portals: Map<string, Stripe.BillingPortal.Session>;
  events: Stripe.Event[];
  /** Called with every new event. */
  onEvent: (event: Stripe.Event) => void;
  newId(prefix: string): string;
}

export function createWorld(options: { clock: MovableClock; livemode: boolean; retries: Retries }): World {
  // Ids of two fakes never meet, although their tests may share a database.
  const own = randomBytes(6).toString('hex');
  let count = 0;
  return {
    ...options,
    url: '',
    instant: undefined,
    request: null,
    products: new Map(),
    prices: new Map(),
    customers: new Map(),
    cards: new Map(),
    sessions: new Map(),
    lineItems: new Map(),
    plannedSubscriptions: new Map(),
    subscriptions: new Map(),
    trialEndsSent: new Set(),
    invoices: new Map(),
    portals: new Map(),
    events: [],
    onEvent: () => undefined,
    newId: (prefix) => `${prefix}_${own}${String((count += 1)).padStart(8, '0')}`,
  };
}

/** Unix seconds. */
export const now = (world: World): number =>
  Math.floor((world.instant ?? world.clock.now().getTime()) / 1000);

/** A copy as it goes over the wire. */
export const copy = <T>(object: T): T => JSON.parse(JSON.stringify(object)) as T;

/** The one place with a cast: an event is one of 250 types, and `type` and `object` choose it. */
export function emit(world: World, type: Stripe.Event['type'], object: object, previous?: object): void {
  const base: Stripe.EventBase = {
    id: world.newId('evt'),
    object: 'event',
    api_version: Stripe.API_VERSION,
    created: now(world),
    data: { object: copy(object), ...(previous && { previous_attributes: copy(previous) }) },
    livemode: world.livemode,
    pending_webhooks: 0,
    request: world.request,
    type,
  };
  const event = base as Stripe.Event;
  world.events.push(event);
  world.onEvent(event);
}

/** Sets `fields` and emits the event, whose `previous_attributes` are the top-level fields that differ. If nothing differs, there is no event. */
export function change<T extends object>(
  world: World,
  object: T,
  fields: Partial<T>,
  type: Stripe.Event['type'],
): T {
  const previous: Partial<T> = {};
  for (const name of Object.keys(fields) as (keyof T)[])
    if (JSON.stringify(object[name]) !== JSON.stringify(fields[name])) previous[name] = object[name];
  if (Object.keys(previous).length === 0) return object;
  const before = copy(previous);
  Object.assign(object, fields);
  emit(world, type, object, before);
  return object;
}

/** The object with this id, or Stripe's error about it. */
export function findObject<T>(objects: Map<string, T>, kind: string, id: string, param?: string): T {
  const found = objects.get(id);
  if (found === undefined) throw noSuch(kind, id, param);
  return found;
}

/** A customer that has not been deleted. */
export function liveCustomer(world: World, id: string, param?: string): Stripe.Customer {
  const found = findObject(world.customers, 'customer', id, param);
  if (found.deleted === true) throw noSuch('customer', id, param);
  return found;
}

/** The id of a reference, which is an id or a whole object. */
export const idOf = (reference: string | { id: string } | null | undefined): string =>
  typeof reference === 'string' ? reference : (reference?.id ?? '');

/** A list as it is inside an object. */
export const listOf = <T>(data: T[], url: string): Stripe.ApiList<T> => ({
  object: 'list',
  data,
  has_more: false,
  url,
});
