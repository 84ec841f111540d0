// Events to the operator's address: signed by the SDK's helper, sent on the test's request or at once, with every attempt recorded.
import { Stripe } from 'stripe';
import { flag, list, text } from './http/form.ts';
import { createdFits, names, page, type Route } from './http/route.ts';
import type { Due } from './time.ts';
import { copy, findObject, now, type World } from './world.ts';

export interface Webhook {
  url: string;
  secret: string;
  /** held: the test delivers. automatic: at once, and again by the clock until a 2xx answer. */
  mode?: 'held' | 'automatic';
}

/** The parts of a delivery that a forger changes. */
export interface Forgery {
  secret?: string;
  /** Positive: an old timestamp. Negative: a future one. */
  ageSeconds?: number;
  /** Changes the body after it was signed. */
  body?: (signed: string) => string;
  /** Changes the event before it is signed. */
  change?: (event: Stripe.Event) => void;
  scheme?: 'v0';
  /** The whole Stripe-Signature header; null: no header. */
  header?: string | null;
}

/** @property status 0 if there was no answer; then `error` says why. */
export interface Answer {
  status: number;
  body: string;
  error?: string;
}

export interface Delivery {
  eventId: string;
  /** Unix seconds. */
  at: number;
  status: number;
  error?: string;
}

export type Deliveries = ReturnType<typeof createDeliveries>;

/** Waits after each failed attempt, three days in all. */
const retrySeconds = [300, 1_800, 7_200, 18_000, 36_000, 72_000, 86_400];
const answerTimeoutMs = 30_000;

export function createDeliveries(world: World, initial?: Webhook) {
  let webhook = initial;
  const waiting = new Set<string>();
  const retries = new Map<string, { at: number; failures: number }>();
  const records: Delivery[] = [];
  const inFlight = new Set<Promise<unknown>>();
  const closing = new AbortController();

  function eventOf(given: Stripe.Event | string): Stripe.Event {
    const id = typeof given === 'string' ? given : given.id;
    const found = world.events.find((event) => event.id === id);
    if (!found) throw new Error(`No event has the id ${id}.`);
    return found;
  }

  function sign(given: Stripe.Event | string, forgery: Forgery = {}) {
    if (!webhook) throw new Error('The fake of Stripe has no webhook: call setWebhook first.');
    const event = copy(eventOf(given));
    forgery.change?.(event);
    const payload = JSON.stringify(event, null, 2); // Stripe indents by two
    const header =
      forgery.header !== undefined
        ? forgery.header
        : Stripe.webhooks.generateTestHeaderString({
            payload,
            secret: forgery.secret ?? webhook.secret,
            timestamp: Math.floor(world.clock.now().getTime() / 1000) - (forgery.ageSeconds ?? 0),
            ...(forgery.scheme && { scheme: forgery.scheme }),
          });
    return {
      url: webhook.url,
      body: forgery.body?.(payload) ?? payload,
      headers: {
        'content-type': 'application/json; charset=utf-8',
        'user-agent': 'Stripe/1.0 (+https://stripe.com/docs/webhooks)',
        ...(header !== null && { 'stripe-signature': header }),
      } as Record<string, string>,
    };
  }

  async function deliver(given: Stripe.Event | string, forgery?: Forgery): Promise<Answer> {
    const event = eventOf(given);
    const { url, body, headers } = sign(event, forgery);
    const answer = await post(url, body, headers);
    const { status, error } = answer;
    records.push({ eventId: event.id, at: now(world), status, ...(error !== undefined && { error }) });
    if (forgery === undefined && status >= 200 && status < 300) {
      waiting.delete(event.id);
      retries.delete(event.id);
      event.pending_webhooks = 0;
    }
    return answer;
  }

  async function post(url: string, body: string, headers: Record<string, string>): Promise<Answer> {
    const signal = AbortSignal.any([closing.signal, AbortSignal.timeout(answerTimeoutMs)]);
    try {
      const response = await fetch(url, { method: 'POST', body, headers, redirect: 'manual', signal });
      return { status: response.status, body: await response.text() };
    } catch (error) {
      // No answer is an answer here: the attempt failed, as it does at Stripe.
      return { status: 0, body: '', error: String(error instanceof Error ? (error.cause ?? error) : error) };
    }
  }

  function launch(event: Stripe.Event): void {
    if (!webhook) return;
    const failures = retries.get(event.id)?.failures ?? 0;
    retries.delete(event.id);
    const attempt = deliver(event).then(({ status }) => {
      const wait = retrySeconds[failures];
      if ((status < 200 || status >= 300) && wait !== undefined)
        retries.set(event.id, { at: now(world) + wait, failures: failures + 1 });
    });
    inFlight.add(attempt);
    void attempt.finally(() => inFlight.delete(attempt));
  }

  world.onEvent = (event) => {
    if (!webhook) return;
    event.pending_webhooks = 1;
    waiting.add(event.id);
    if (webhook.mode === 'automatic') launch(event);
  };

  const undelivered = (): Stripe.Event[] => world.events.filter(({ id }) => waiting.has(id));
  async function idle(): Promise<void> {
    while (inFlight.size > 0) await Promise.all(inFlight);
  }

  return {
    records,
    sign,
    deliver,
    undelivered,
    idle,
    drop: (event: Stripe.Event | string) => void waiting.delete(eventOf(event).id),
    setWebhook: (changed: Webhook | undefined) => void (webhook = changed),
    async deliverPending(): Promise<Answer[]> {
      const answers: Answer[] = [];
      for (const event of undelivered()) answers.push(await deliver(event));
      return answers;
    },
    /** Retries of automatic deliveries that wait for their instant. */
    *due(): Generator<Due> {
      for (const [id, { at }] of retries) yield { at, run: () => launch(eventOf(id)) };
    },
    async close(): Promise<void> {
      closing.abort();
      await idle();
    },
  };
}

export const eventRoutes: Route[] = [
  {
    method: 'GET',
    path: '/v1/events',
    accepts: names<Stripe.EventListParams>(
      'created',
      'delivery_success',
      'type',
      'types',
      'limit',
      'starting_after',
      'ending_before',
    ),
    run(world, form) {
      const [type, types] = [text(form, 'type'), list(form, 'types')];
      const delivered = flag(form, 'delivery_success');
      const fitting = world.events.filter(
        (event) =>
          (type === undefined || event.type === type) &&
          (types.length === 0 || types.includes(event.type)) &&
          (delivered === undefined || (event.pending_webhooks === 0) === delivered) &&
          createdFits(form, event.created),
      );
      return page(form, fitting, '/v1/events');
    },
  },
  {
    method: 'GET',
    path: '/v1/events/:id',
    accepts: [],
    run: (world, _form, id) =>
      findObject(new Map(world.events.map((event) => [event.id, event])), 'event', id),
  },
];
