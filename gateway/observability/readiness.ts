// Whether this gateway can serve calls, and which services behind it are ready. It cannot if it reaches no service, or if its identity is refused.
// One unavailable service does not count, as it is unavailable to all gateways. The services are asked at most once a second.
import { checkedWithin } from '../../kernel/deadline.ts';
import { fail, toFailure, type Failure } from '../../kernel/errors.ts';
import { readyWithinMs } from '../../kernel/http/server.ts';
import { anonymous, createSealer, identityHeader, type Identity } from '../../kernel/identity.ts';
import type { Log } from '../../kernel/log/log.ts';
import { rememberedFor } from '../../kernel/time/remembered.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

export interface ReadinessOptions {
  services: readonly Upstreams[];
  identitySecret: string;
  isDraining: () => boolean;
  /** As in `GatewayOptions`. */
  requireReady?: (() => Promise<void>) | undefined;
  log: Pick<Log, 'warn'>;
}

type State = 'ready' | 'refused' | 'unavailable';
type States = Readonly<Record<string, State>>;

/** @returns the states of the services. @throws Failure `unavailable` with the reason, which is for operators only. */
export type Readiness = () => Promise<States>;

/** Longer than a service's own deadline for this answer. A probe of the gateway needs a longer timeout: `timeoutSeconds` in k8s/base/gateway.yaml. */
const deadlineMs = readyWithinMs + 300;
const rememberedMs = 1_000;
const ourselves: Identity = { ...anonymous, scope: 'internal' };

export function createReadiness({ isDraining, log, ...options }: ReadinessOptions): Readiness {
  const { services, identitySecret } = options;
  const probes = services.map(({ name, urls }) => {
    const seal = createSealer(identitySecret, name);
    return async () => ({ name, ...(await stateOf(urls, () => seal(ourselves, 'GET', '/readyz'))) });
  });
  const requireReady = checkedWithin(deadlineMs, options.requireReady ?? (() => Promise.resolve()));
  let logged = '';

  const found = rememberedFor(rememberedMs, async (): Promise<States | Failure> => {
    try {
      const [, ...asked] = await Promise.all([requireReady(), ...probes.map((probe) => probe())]);
      const states = statesOf(asked);
      logged = '';
      return states;
    } catch (error) {
      const failure = toFailure(error);
      if (failure.message !== logged) log.warn({ err: failure.detail }, `Not ready: ${failure.message}`);
      logged = failure.message;
      return failure;
    }
  });

  function refuseWhileStopping(): void {
    if (isDraining()) fail('unavailable', 'This gateway is stopping.');
  }

  return async () => {
    refuseWhileStopping();
    const states = await found();
    refuseWhileStopping(); // stopping may have begun meanwhile, and a load balancer must then send no more calls
    if (states instanceof Error) throw states;
    return states;
  };
}

interface Found {
  name: string;
  state: State;
  errors: unknown[];
  reason: string;
}

/** @throws Failure `unavailable`. */
function statesOf(found: readonly Found[]): States {
  const detail = new AggregateError(found.flatMap(({ errors }) => errors));
  const refused = found.find(({ state }) => state === 'refused');
  if (refused !== undefined) {
    const why = `${refused.name} refuses the identity of this gateway. ${refused.reason}`;
    fail('unavailable', why, { detail });
  }
  if (!found.some(({ state }) => state === 'ready')) {
    const why = found.map(({ name, reason }) => `${name}: ${reason}`).join(' ');
    fail('unavailable', `No service behind this gateway is ready. ${why}`, { detail });
  }
  return Object.fromEntries(found.map(({ name, state }) => [name, state]));
}

/** The service is ready if one instance is. Each request has a sealed identity, so that an instance that refuses the gateway's calls is not ready. */
async function stateOf(urls: readonly string[], token: () => string): Promise<Omit<Found, 'name'>> {
  const asked = await Promise.all(urls.map((url) => ask(`${url}/readyz`, token())));
  const failed = asked.filter((instance) => instance !== 'ready');
  const errors = failed.map(({ error }) => error);
  const answered = failed.filter(({ status }) => status !== undefined);
  const reason = answered[0]?.reason ?? 'It does not answer.';
  if (failed.length < urls.length) return { state: 'ready', errors, reason };
  return { state: answered.some(({ status }) => status === 401) ? 'refused' : 'unavailable', errors, reason };
}

const reasonCharsMax = 500;

/** @returns why an instance is not ready, for the operator who reads /readyz; without a status if it does not answer. */
async function ask(url: string, token: string) {
  try {
    const signal = AbortSignal.timeout(deadlineMs);
    const response = await fetch(url, { headers: { [identityHeader]: token }, signal });
    const text = await response.text();
    if (response.ok) return 'ready';
    const { status } = response;
    const [, message] = /"message":("(?:[^"\\]|\\.)*")/.exec(text) ?? []; // of its error envelope
    const reason = message === undefined ? `It answers ${status}.` : (JSON.parse(message) as string);
    return { status, reason: reason.slice(0, reasonCharsMax), error: new Error(`${url} answered ${status}`) };
  } catch (error) {
    return { error };
  }
}
