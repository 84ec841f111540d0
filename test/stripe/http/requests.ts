// The handling of requests in transit: faults that a test asks for, delayed requests, and Stripe's Idempotency-Key.
import { invalid, StripeFailure } from './errors.ts';
import { now, type World } from '../world.ts';

export type Fault =
  /** `after`: the work is done and stored under its Idempotency-Key; only the answer is this error. */
  | { status: 400 | 402 | 403 | 409 | 429 | 500 | 503; after?: boolean }
  /** The connection ends before or after the work. */
  | 'drop-before'
  | 'drop-after'
  /** No answer, and no work, until the client gives up. */
  | 'hang';

/** Which requests; all without it. `path` is a prefix. */
export interface Which {
  path?: string;
  method?: string;
}

export type Traps = ReturnType<typeof createTraps>;

export function createTraps() {
  const faults: { kind: Fault; left: number; which: Which }[] = [];
  const gates: { which: Which; arrived(): void; opened: Promise<void> }[] = [];
  const fits = (which: Which, method: string, path: string): boolean =>
    (which.method ?? method) === method && path.startsWith(which.path ?? '');

  return {
    fail(kind: Fault, { times = 1, ...which }: Which & { times?: number } = {}): void {
      faults.push({ kind, left: times, which });
    },
    /** Ends all remaining faults. */
    clearFaults: (): void => void faults.splice(0),
    /** Delays matching requests until `release`; their Idempotency-Keys are in use. `arrived`: the first one is waiting. */
    delayRequests(which: Which = {}): { arrived: Promise<void>; release(): void } {
      const arrived = Promise.withResolvers<void>();
      const opened = Promise.withResolvers<void>();
      const gate = { which, arrived: arrived.resolve, opened: opened.promise };
      gates.push(gate);
      const release = (): void => {
        gates.splice(gates.indexOf(gate) >>> 0, 1);
        opened.resolve();
      };
      return { arrived: arrived.promise, release };
    },
    /** The fault of this request, which is then spent. */
    consumeFault(method: string, path: string): Fault | undefined {
      const found = faults.find(({ left, which }) => left > 0 && fits(which, method, path));
      if (found) found.left -= 1;
      return found?.kind;
    },
    async pass(method: string, path: string): Promise<void> {
      const gate = gates.find(({ which }) => fits(which, method, path));
      gate?.arrived();
      await gate?.opened;
    },
  };
}

export function faultAnswer(status: number): StripeFailure {
  if (status === 429)
    return new StripeFailure(429, {
      type: 'invalid_request_error',
      code: 'rate_limit',
      message: 'Request rate limit exceeded.',
    });
  if (status === 402)
    return new StripeFailure(402, {
      type: 'card_error',
      code: 'card_declined',
      message: 'Your card was declined.',
    });
  if (status === 403)
    return invalid('The provided key does not have the required permissions for this endpoint.', { status });
  if (status === 409)
    return invalid('This object cannot be accessed right now because another request is accessing it.', {
      status,
      code: 'lock_timeout',
    });
  if (status === 400) return invalid('An error of the request (made by a test).');
  return new StripeFailure(status, { type: 'api_error', message: 'An error of Stripe (made by a test).' });
}

export interface StoredAnswer {
  status: number;
  body: string;
}

/** Answers are stored for a day, except those of requests that were refused before their work began. */
export function createIdempotency(world: World) {
  const storedAnswers = new Map<
    string,
    { request: string; path: string; until: number; answer?: StoredAnswer }
  >();
  return {
    /** @returns the answer to replay, or what to do with the answer of this request. */
    begin(
      key: string,
      path: string,
      body: string,
    ): StoredAnswer | { store(answer: StoredAnswer): void; forget(): void } {
      if (key.length > 255) throw invalid('The Idempotency-Key is longer than 255 characters.');
      const before = storedAnswers.get(key);
      if (before && before.until > now(world)) {
        if (before.path !== path || before.request !== body) throw reused(before.path !== path);
        if (!before.answer) throw inUse(key);
        return before.answer;
      }
      const entry: { request: string; path: string; until: number; answer?: StoredAnswer } = {
        request: body,
        path,
        until: now(world) + 86_400,
      };
      storedAnswers.set(key, entry);
      return {
        store: (answer) => void (entry.answer = answer),
        forget: () => void storedAnswers.delete(key),
      };
    },
  };
}

const reused = (isOtherPath: boolean): StripeFailure =>
  new StripeFailure(400, {
    type: 'idempotency_error',
    message: isOtherPath
      ? 'Keys for idempotent requests can only be used for the same endpoint they were first used for.'
      : 'Keys for idempotent requests can only be used with the same parameters they were first used with.',
  });

const inUse = (key: string): StripeFailure =>
  new StripeFailure(409, {
    type: 'idempotency_error',
    code: 'idempotency_key_in_use',
    message: `There is currently another in-progress request using this Idempotent Key: ${key}`,
  });
