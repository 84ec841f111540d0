// The gateway's response class: writes the head at once, from what the policies have gathered for the call.
// Hides the common headers and how they are written: Node accepts one list of names and values faster than single headers, and a
// class is faster than setting `writeHead` on each response, which would change the object's shape.
import { randomUUID } from 'node:crypto';
import { ServerResponse, type IncomingMessage } from 'node:http';
import { entryAt } from '../kernel/entries.ts';
import { callIfOpen, enterStage, type Call } from './call.ts';

export const keepAliveTimeoutMs = 65_000; // longer than the usual idle time of load balancers, 60 s

const timedStages = ['credential', 'rate', 'quota', 'upstream'] as const;
/** For browsers that open an answer as a page: no type sniffing, nothing is loaded, no framing. */
export const safety = [
  'x-content-type-options',
  'nosniff',
  'content-security-policy',
  "default-src 'none'; frame-ancestors 'none'",
] as const;
const [sniffing, nosniff, contentSecurity] = safety;

/** For clients on TLS only: browsers ignore it on plain HTTP, where a local start must stay reachable. */
export const onTlsOnly = ['strict-transport-security', 'max-age=31536000'] as const;

const keepAlive = `timeout=${keepAliveTimeoutMs / 1000}`;

export class GatewayResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Completes the head of every answer: of a service, a policy, or a failure. */
  override writeHead(...args: unknown[]): this {
    const write = super.writeHead as (...args: unknown[]) => this;
    const call = callIfOpen(this.req);
    if (call === undefined) {
      // Refused before a call existed, for example because of its Expect header: it gets its own id.
      this.setHeader('x-request-id', randomUUID());
      for (let i = 0; i < safety.length; i += 2) this.setHeader(entryAt(safety, i), entryAt(safety, i + 1));
      return write.apply(this, args);
    }
    enterStage(call, 'answer');
    const { head } = call;
    addGiven(head, args.at(-1));
    addLimits(head, call);
    head.push('x-request-id', call.requestId);
    if (call.contentSecurityPolicy === undefined) head.push(...safety);
    else head.push(sniffing, nosniff, contentSecurity, call.contentSecurityPolicy);
    if (call.secure) head.push(...onTlsOnly);
    head.push('server-timing', timingOf(call, this.getHeader('server-timing')));
    if (call.clientKeeps && !call.isDraining() && this.getHeader('connection') !== 'close') {
      head.push('connection', 'keep-alive', 'keep-alive', keepAlive);
    } else {
      head.push('connection', 'close');
    }
    return write.call(this, args[0], head);
  }

  /** Cuts the connection instead of completing the answer to a call whose quota may have been granted to others meanwhile. */
  override end(...args: unknown[]): this {
    const charge = callIfOpen(this.req)?.charge;
    if (charge !== undefined && !charge.isValid) return this.destroy();
    return (super.end as (...args: unknown[]) => this).apply(this, args);
  }
}

/** Adds headers in the forms that `writeHead` accepts: a list of names and values, or an object. */
function addGiven(head: string[], given: unknown): void {
  if (Array.isArray(given)) for (const word of given as string[]) head.push(word);
  else if (typeof given === 'object' && given !== null) {
    for (const [name, value] of Object.entries(given)) head.push(name, String(value));
  }
}

function addLimits(head: string[], { limits }: Call): void {
  let [policies, states] = ['', ''];
  for (const { policy, state } of limits) {
    policies += policies === '' ? policy : `, ${policy}`;
    states += states === '' ? state : `, ${state}`;
  }
  if (limits.length > 0) head.push('ratelimit-policy', policies, 'ratelimit', states);
}

/** The stages of the service, then ours; `gateway` is the time spent in the gateway, without waiting for the service. */
function timingOf({ arrivedAtMs, stageSinceMs, stageMs, serviceTiming }: Call, ofProxy: unknown): string {
  const ofService = serviceTiming ?? ofProxy;
  let text = typeof ofService === 'string' ? `${ofService}, ` : '';
  for (const stage of timedStages)
    if (stageMs[stage] > 0) text += `${stage};dur=${hundredths(stageMs[stage])}, `;
  return `${text}gateway;dur=${hundredths(stageSinceMs - arrivedAtMs - stageMs.upstream)}`;
}

function hundredths(ms: number): number {
  return Math.round(ms * 100) / 100;
}
