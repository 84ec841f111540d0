// /healthz: the process is up. /readyz: calls can be served: the services behind are reachable and no drain has begun.
import { fail } from '../../kernel/errors.ts';
import { callOf } from '../call.ts';
import type { Policy } from '../policy.ts';
import type { Upstreams } from '../upstream/upstreams.ts';

export function health(options: { services: readonly Upstreams[]; isDraining: () => boolean }): Policy {
  return async (request, response) => {
    if (callOf(request).path === '/readyz') {
      if (options.isDraining()) fail('unavailable', 'This gateway is stopping.');
      await Promise.all(options.services.map(requireReady));
    }
    response.setHeader('content-type', 'application/json; charset=utf-8');
    response.setHeader('cache-control', 'no-store');
    response.end('{"success":true}');
  };
}

const deadlineMs = 1_000;

/** Requires one ready instance. */
async function requireReady(service: Upstreams): Promise<void> {
  const probes = service.urls.map(async (url) => {
    const response = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(deadlineMs) });
    await response.body?.cancel();
    if (!response.ok) throw new Error(`${url}/readyz answered ${response.status}`);
  });
  try {
    await Promise.any(probes);
  } catch (error) {
    fail('unavailable', `No instance of ${service.name} is ready.`, { detail: error });
  }
}
