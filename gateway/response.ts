// The gateway's response class: completes the head of every answer from what the policies have gathered for the call.
// Hides the common headers. A class is faster than setting `writeHead` on each response, which would change the object's shape.
import { randomUUID } from 'node:crypto';
import { ServerResponse, type IncomingMessage } from 'node:http';
import { entryAt } from '../kernel/entries.ts';
import { callIfOpen, enterStage, type Call } from './call.ts';

export const keepAliveTimeoutMs = 65_000; // longer than the usual idle time of load balancers, 60 s

const timedStages = (['credential', 'rate', 'quota', 'upstream'] as const).map((stage) => ({
  stage,
  begin: `${stage};dur=`,
}));
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

export class GatewayResponse<
  Request extends IncomingMessage = IncomingMessage,
> extends ServerResponse<Request> {
  /** Completes the head of every answer: of a service, a policy, or a failure. */
  override writeHead(status: number, ...rest: unknown[]): this {
    const write = super.writeHead as (status: number, ...rest: unknown[]) => this;
    const call = callIfOpen(this.req);
    if (call === undefined) {
      // Refused before a call existed, for example because of its Expect header: it gets its own id.
      this.setHeader('x-request-id', randomUUID());
      for (let i = 0; i < safety.length; i += 2) this.setHeader(entryAt(safety, i), entryAt(safety, i + 1));
      return write.call(this, status, ...rest);
    }
    enterStage(call, 'answer');
    const keeps = call.clientKeeps && !call.isDraining() && this.getHeader('connection') !== 'close';
    const head = listed(rest.at(-1));
    head.push(...call.head);
    pushOwn(head, call, this.getHeader('server-timing'));
    if (keeps) head.push('connection', 'keep-alive', 'keep-alive', `timeout=${keepAliveTimeoutMs / 1000}`);
    else head.push('connection', 'close');
    return write.call(this, status, head); // in place of headers of the same names that were set one by one
  }

  /** Cuts the connection instead of completing the answer to a call whose quota may have been granted to others meanwhile. */
  override end(...args: unknown[]): this {
    const charge = callIfOpen(this.req)?.charge;
    if (charge !== undefined && !charge.isValid) return this.destroy();
    return (super.end as (...args: unknown[]) => this).apply(this, args);
  }
}

/**
 * Has the responses of an Express app answer as ours do, as Express gives each response the methods of its app: by `app.response`, which is there
 * to be extended (https://expressjs.com/en/guide/overriding-express-api).
 */
export function answerAsOurs(app: { readonly response: ServerResponse }): void {
  const { writeHead, end } = GatewayResponse.prototype;
  Object.assign(app.response, { writeHead, end });
}

/** In the forms that `writeHead` accepts: a list of names and values, or an object. */
function listed(given: unknown): string[] {
  if (Array.isArray(given)) return [...(given as string[])];
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given).flatMap(([name, value]) => [name, String(value)]);
}

/** Adds the headers of the call that every answer has. */
function pushOwn(head: string[], call: Call, timingOfProxy: unknown): void {
  const { limitPolicies, limitStates, requestId, contentSecurityPolicy, secure } = call;
  if (limitPolicies !== '') head.push('ratelimit-policy', limitPolicies, 'ratelimit', limitStates);
  head.push('x-request-id', requestId);
  if (contentSecurityPolicy === undefined) head.push(...safety);
  else head.push(sniffing, nosniff, contentSecurity, contentSecurityPolicy);
  if (secure) head.push(...onTlsOnly);
  head.push('server-timing', timingOf(call, timingOfProxy));
}

/** The stages of the service, then ours; `gateway` is the time spent in the gateway, without waiting for the service. */
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
