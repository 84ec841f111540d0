// /healthz: the process is up. /readyz: which services this gateway can serve. It is not ready once a drain has begun, if it reaches none,
// or if its identity is refused; a service that is away is away for all gateways, and the others still serve.
import { fail } from '../../kernel/errors.ts';
import { anonymous, createSealer, identityHeader, type Identity } from '../../kernel/identity.ts';
import { callOf } from '../call.ts';
import type { Policy } from '../policy.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

export interface HealthOptions {
  services: readonly Upstreams[];
  identitySecret: string;
  isDraining: () => boolean;
  /** As in `GatewayOptions`. */
  requireReady?: (() => Promise<void>) | undefined;
}

type State = 'ready' | 'refused' | 'unavailable';

// A probe of the gateway must wait longer: `timeoutSeconds` in k8s/gateway.yaml.
const deadlineMs = 1_000;
const ourselves: Identity = { ...anonymous, scope: 'internal' };

export function health({ services, identitySecret, isDraining, requireReady }: HealthOptions): Policy {
  const probes = services.map(({ name, urls }) => {
    const seal = createSealer(identitySecret, name);
    return async () => ({ name, ...(await stateOf(urls, () => seal(ourselves, 'GET', '/readyz'))) });
  });

  async function readiness(): Promise<Record<string, State>> {
    if (isDraining()) fail('unavailable', 'This gateway is stopping.');
    await requireReady?.();
    const found = await Promise.all(probes.map((probe) => probe()));
    const detail = new AggregateError(found.flatMap(({ errors }) => errors));
    const refused = found.find(({ state }) => state === 'refused');
    if (refused !== undefined) {
      const why = `${refused.name} refuses the identity of this gateway. IDENTITY_SECRET must be the same for both.`;
      fail('unavailable', why, { detail });
    }
    if (!found.some(({ state }) => state === 'ready')) {
      const why = found.map(({ name, reason }) => `${name}: ${reason}`).join(' ');
      fail('unavailable', `No service behind this gateway is ready. ${why}`, { detail });
    }
    return Object.fromEntries(found.map(({ name, state }) => [name, state]));
  }

  return async (request, response) => {
    const isReadiness = callOf(request).path === '/readyz';
    const answer = isReadiness ? { success: true, data: await readiness() } : { success: true };
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.setHeader('cache-control', 'no-store');
    response.end(JSON.stringify(answer));
  };
}

/** One ready instance is enough. Each is asked with a sealed identity, which it would refuse to a call as well. */
async function stateOf(
  urls: readonly string[],
  token: () => string,
): Promise<{ state: State; errors: Error[]; reason: string }> {
  const answers = await Promise.allSettled(
    urls.map(async (url) => {
      const headers = { [identityHeader]: token() };
      const response = await fetch(`${url}/readyz`, { headers, signal: AbortSignal.timeout(deadlineMs) });
      const text = await response.text();
      if (!response.ok)
        throw new NotReady(`${url}/readyz answered ${response.status}`, response.status, text);
    }),
  );
  const errors = answers.flatMap((answer) => (answer.status === 'rejected' ? [answer.reason as Error] : []));
  const told = errors.filter((error) => error instanceof NotReady);
  const reason = told[0]?.reason ?? 'It does not answer.';
  if (errors.length < urls.length) return { state: 'ready', errors, reason };
  return { state: told.some(({ status }) => status === 401) ? 'refused' : 'unavailable', errors, reason };
}

const reasonCharsMax = 500;

/** The answer of an instance that is not ready. */
class NotReady extends Error {
  readonly status: number;
  /** What its envelope says, for whoever looks at /readyz. */
  readonly reason: string;

  constructor(message: string, status: number, body: string) {
    super(message);
    this.status = status;
    const [, said] = /"message":("(?:[^"\\]|\\.)*")/.exec(body) ?? [];
    this.reason =
      said === undefined ? `It answers ${status}.` : (JSON.parse(said) as string).slice(0, reasonCharsMax);
  }
}
