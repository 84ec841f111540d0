// The gateway's response class: completes the head of every answer from what the policies have gathered for the call.
// Hides the common headers and how they are written: as lines made beforehand, which go out behind the status line. Node gets the headers that
// it must know of, such as the length, and those of services. A class is faster than setting `writeHead` on each response, which would
// change the object's shape.
import { randomUUID } from 'node:crypto';
import { ServerResponse, type IncomingMessage } from 'node:http';
import { entryAt } from '../kernel/entries.ts';
import { flatText } from '../kernel/flat-text.ts';
import { callIfOpen, enterStage, headerLine, type Call } from './call.ts';
import { hundredths } from './observability/durations.ts';

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
const [sniffing, nosniff, contentSecurity, nothing] = safety;
const noSniffing = headerLine(sniffing, nosniff);
const safe = flatText(noSniffing + headerLine(contentSecurity, nothing));

/** For clients on TLS only: browsers ignore it on plain HTTP, where a local start must stay reachable. */
export const onTlsOnly = ['strict-transport-security', 'max-age=31536000'] as const;
const onlyTls = headerLine(...onTlsOnly);

const keepAlive = headerLine('keep-alive', `timeout=${keepAliveTimeoutMs / 1000}`);

/** What Node stores a head by, once the status line is there: not documented, and the same since Node 0.10. */
interface Stores {
  _storeHeader(this: ServerResponse, firstLine: string, headers: unknown): void;
}
const node = ServerResponse.prototype as unknown as Stores;

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
    call.head += ownLines(call, this.getHeader('server-timing'));
    if (keeps) call.head += keepAlive;
    if (this.getHeaderNames().length > 0) forgetOurs(this, call.head);
    const given = listed(rest.at(-1));
    given.push('connection', keeps ? 'keep-alive' : 'close');
    return write.call(this, status, given);
  }

  /** Node's own, with the lines of the call behind the status line. */
  _storeHeader(firstLine: string, headers: unknown): void {
    const call = callIfOpen(this.req);
    node._storeHeader.call(this, call === undefined ? firstLine : firstLine + call.head, headers);
  }

  /** Cuts the connection instead of completing the answer to a call whose quota may have been granted to others meanwhile. */
  override end(...args: unknown[]): this {
    const charge = callIfOpen(this.req)?.charge;
    if (charge !== undefined && !charge.isValid) return this.destroy();
    return (super.end as (...args: unknown[]) => this).apply(this, args);
  }
}

/** Has a response of another class answer as ours do: in the engine's path, Express has replaced our class by its own. */
export function answerAsOurs(response: ServerResponse): void {
  const { writeHead, _storeHeader, end } = GatewayResponse.prototype;
  Object.assign(response, { writeHead, _storeHeader, end });
}

/** In the forms that `writeHead` accepts: a list of names and values, or an object. */
function listed(given: unknown): string[] {
  if (Array.isArray(given)) return [...(given as string[])];
  if (typeof given !== 'object' || given === null) return [];
  return Object.entries(given).flatMap(([name, value]) => [name, String(value)]);
}

/** Removes from the headers that were set one by one those that have a line of ours. */
function forgetOurs(response: ServerResponse, lines: string): void {
  for (const line of lines.split('\r\n').slice(0, -1))
    response.removeHeader(line.slice(0, line.indexOf(':')));
}

/** The lines of the call that every answer has. */
function ownLines(call: Call, timingOfProxy: unknown): string {
  const { limitPolicies, requestId, contentSecurityPolicy } = call;
  let lines =
    limitPolicies === '' ? '' : `ratelimit-policy: ${limitPolicies}\r\nratelimit: ${call.limitStates}\r\n`;
  lines += `x-request-id: ${requestId}\r\n`;
  if (contentSecurityPolicy === undefined) lines += safe;
  else lines += noSniffing + headerLine(contentSecurity, contentSecurityPolicy);
  if (call.secure) lines += onlyTls;
  return `${lines}server-timing: ${timingOf(call, timingOfProxy)}\r\n`;
}

/** The stages of the service, then ours; `gateway` is the time spent in the gateway, without waiting for the service. */
function timingOf({ arrivedAtMs, stageSinceMs, stageMs, serviceTiming }: Call, ofProxy: unknown): string {
  const ofService = serviceTiming ?? ofProxy;
  let text = typeof ofService === 'string' ? `${ofService}, ` : '';
  for (const { stage, begin } of timedStages)
    if (stageMs[stage] > 0) text += `${begin}${hundredths(stageMs[stage])}, `;
  return `${text}gateway;dur=${hundredths(Math.max(0, stageSinceMs - arrivedAtMs - stageMs.upstream))}`;
}
