// The gateway's response class: completes the head of every answer with the headers that the policies have gathered for the call. A class is faster
// than setting `writeHead` on each response, which would change the object's shape.
import { randomUUID } from 'node:crypto';
import { ServerResponse, type IncomingMessage } from 'node:http';
import { entryAt } from '../kernel/entries.ts';
import { callIfOpen, enterStage, type Call } from './call.ts';
import { clientIdleMs } from './timeouts.ts';

const timedStages = (['credential', 'rate', 'quota', 'upstream'] as const).map((stage) => ({
  stage,
  begin: `${stage};dur=`,
}));
/** For browsers that open an answer as a page: no type sniffing, no loading, no framing. */
export const safety = [
  'x-content-type-options',
  'nosniff',
  'content-security-policy',
  "default-src 'none'; frame-ancestors 'none'",
] as const;
const [sniffing, nosniff, contentSecurity] = safety;

/** For clients on TLS only: browsers ignore it on plain HTTP, and a local gateway must stay reachable there. */
export const onTlsOnly = ['strict-transport-security', 'max-age=31536000'] as const;

export class GatewayResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Completes the head of every answer, whether from a service, a policy, or a failure. */
  override writeHead(status: number, ...rest: unknown[]): this {
    const write = super.writeHead as (status: number, ...rest: unknown[]) => this;
    const call = callIfOpen(this.req);
    if (call === undefined) {
      // Refused before a call existed, for example because of its Expect header: it gets its own request id.
      this.setHeader('x-request-id', randomUUID());
      for (let i = 0; i < safety.length; i += 2) this.setHeader(entryAt(safety, i), entryAt(safety, i + 1));
      return write.call(this, status, ...rest);
    }
    enterStage(call, 'answer');
    const keepsAlive =
      call.clientKeepsAlive && !call.isDraining() && this.getHeader('connection') !== 'close';
    const head = listed(rest.at(-1));
    head.push(...call.head);
    pushOwn(head, call, this.getHeader('server-timing'));
    if (keepsAlive) head.push('connection', 'keep-alive', 'keep-alive', `timeout=${clientIdleMs / 1000}`);
    else head.push('connection', 'close');
    return write.call(this, status, head); // replaces headers of the same names that were set individually
  }

  /** Cuts the connection instead of completing an answer whose calls may meanwhile have been granted to other gateways. */
  override end(...args: unknown[]): this {
    const charge = callIfOpen(this.req)?.charge;
    if (charge !== undefined && !charge.isValid) return this.destroy();
    return (super.end as (...args: unknown[]) => this).apply(this, args);
  }
}

/**
 * Gives the responses of an Express app this class's methods. Express takes the methods of its responses from `app.response`, which may be extended
 * (https://expressjs.com/en/guide/overriding-express-api).
 */
export function answerAsOurs(app: { readonly response: ServerResponse }): void {
  const { writeHead, end } = GatewayResponse.prototype;
  Object.assign(app.response, { writeHead, end });
}

/** The headers in either form that `writeHead` accepts: a list of names and values, or an object. */
function listed(given: unknown): string[] {
  if (Array.isArray(given)) return [...(given as string[])];
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given).flatMap(([name, value]) => [name, String(value)]);
}

/** Adds the call's headers that every answer has. */
function pushOwn(head: string[], call: Call, timingOfProxy: unknown): void {
  const { limitPolicies, limitStates, requestId, contentSecurityPolicy, secure } = call;
  if (limitPolicies !== '') head.push('ratelimit-policy', limitPolicies, 'ratelimit', limitStates);
  head.push('x-request-id', requestId);
  if (contentSecurityPolicy === undefined) head.push(...safety);
  else head.push(sniffing, nosniff, contentSecurity, contentSecurityPolicy);
  if (secure) head.push(...onTlsOnly);
  head.push('server-timing', timingOf(call, timingOfProxy));
}

/** The stages of the service, then the gateway's; `gateway` is the time spent here, without waiting for the service. */
function timingOf({ arrivedAtMs, stageSinceMs, stageMs, serviceTiming }: Call, ofProxy: unknown): string {
  const ofService = serviceTiming ?? ofProxy;
  let text = typeof ofService === 'string' ? `${ofService}, ` : '';
  for (const { stage, begin } of timedStages)
    if (stageMs[stage] > 0) text += `${begin}${rounded(stageMs[stage])}, `;
  return `${text}gateway;dur=${rounded(Math.max(0, stageSinceMs - arrivedAtMs - stageMs.upstream))}`;
}

/** In ms, to the hundredth. */
function rounded(ms: number): number {
  return Math.round(ms * 100) / 100;
}
