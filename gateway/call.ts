// The state of one call besides the request itself; `request-id` creates it, the other policies read and extend it.
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ErrorCode } from '../kernel/errors.ts';
import type { Identity } from '../kernel/identity.ts';
import type { Plan } from '../kernel/plans.ts';
import type { Charge } from './heartbeat/blocks.ts';
import type { CalendarMonth } from './heartbeat/calendar-month.ts';
import type { Capture } from './response-cache/capture.ts';

/** The owner of an accepted key or session. */
export interface Caller {
  accountId: string;
  /** Null for a session. */
  keyId: string | null;
  plan: Plan;
  /** False: the subscription is unpaid. */
  active: boolean;
}

/**
 * The stages of a call's time: credential, rate limit, quota, waiting for the service, and sending its answer. Time
 * between two stages counts to the earlier one. The names are used in the log, in Server-Timing and in the metrics.
 */
export const stages = ['credential', 'rate', 'quota', 'upstream', 'answer'] as const;
export type Stage = (typeof stages)[number];

/** Memory, or data-api. */
export const cacheResults = ['hit', 'miss'] as const;
export type CacheResult = (typeof cacheResults)[number];

/** A range of a file that is charged once, for all its ranges. */
export interface ChargedRange {
  /** The path of the file. */
  readonly file: string;
  /** Ends it, the first time it is called. @returns how many calls it is charged: 1 or 0; the same each time. */
  end(isServed: boolean): number;
}

export interface Call {
  readonly requestId: string;
  /** `performance.now()` when the first policy ran. */
  readonly arrivedAtMs: number;
  /** The client's IP address, behind the trusted proxies. */
  readonly clientIp: string;
  /** Whether the client connected over TLS, according to PUBLIC_URL or the trusted proxy. */
  readonly secure: boolean;
  /** Whether the client keeps its connection open: as parsed by Node from the request's version and headers. */
  readonly clientKeeps: boolean;
  /** Whether the gateway is stopping, so that no connection is kept open. */
  readonly isDraining: () => boolean;
  /** The credentials as received: every X-API-Key header, every key in Authorization, every `api_key` parameter, every X-Session-Token header. */
  readonly presented: {
    /** From X-API-Key. */
    keyHeaders: readonly string[];
    /** From `Authorization`: a bearer token, or the key of Basic authentication. */
    authorizations: readonly string[];
    keyParameters: readonly string[];
    sessionHeaders: readonly string[];
  };
  /** The path as matched, logged and forwarded; empty before `path-check`. */
  path: string;
  /** The query without `?`, and without any key. */
  query: string;
  /** How long the body may be, in bytes. */
  bodyBytesMax: number;
  /** The body is a file: it is forwarded as it comes, never held whole, and has a time limit of its own. */
  isUpload: boolean;
  /** The body of a read, if `query-body` has read it; undefined: `forward` reads what body there is. */
  body: { bytes: Buffer; fields: unknown } | undefined;
  identity: Identity;
  caller: Caller | undefined;
  /** What was taken for the call from the month's quota, before it was forwarded. */
  charge: Charge | undefined;
  /** The month from which it was taken. */
  chargedMonth: CalendarMonth | undefined;
  /** The range of a file that the call reads, if files are charged instead of calls. */
  range: ChargedRange | undefined;
  /** Keeps the answer of the service; undefined: it is only forwarded. */
  capture: Capture | undefined;
  /** Where the answer is from, if the response cache was asked. */
  cache: CacheResult | undefined;
  /** `cors` has decided whose pages may read the answer. */
  isOriginChecked: boolean;
  /** Headers of the answer: alternating names and values. */
  readonly head: string[];
  /** Of a page that may load more than others; undefined: nothing is loaded. */
  contentSecurityPolicy: string | undefined;
  /** The limits that apply to the call, and what remains of them, in the syntax of the RateLimit headers. */
  limitPolicies: string;
  limitStates: string;
  /** The service's own timing, in the syntax of Server-Timing. */
  serviceTiming: string | undefined;
  /** The duration of each stage, in ms; 0 if the call did not reach it. */
  readonly stageMs: Record<Stage, number>;
  stage: Stage | undefined;
  stageSinceMs: number;
  /** What is done when the response has closed, in this order; see `whenClosed`. */
  readonly closing: (() => void)[];
  /** The code of the failure with which the gateway itself answered. */
  failureCode: ErrorCode | undefined;
}

/** Adds a limit to those that the answer tells of. @param policy and @param state as the RateLimit headers have them, of numbers and our own names. */
export function addLimit(call: Call, policy: string, state: string): void {
  const isFirst = call.limitPolicies === '';
  call.limitPolicies += isFirst ? policy : `, ${policy}`;
  call.limitStates += isFirst ? state : `, ${state}`;
}

// A property of the request rather than a WeakMap, which the garbage collector scans whole each time it runs.
const ofRequest = Symbol('call');
type Opened = IncomingMessage & { [ofRequest]?: Call };

export function openCall(request: Opened, call: Call): void {
  request[ofRequest] = call;
}

const ofParent = Symbol('parent');
type Inner = IncomingMessage & { [ofParent]?: Call };

/** Has the request pass its pipeline as part of another call: of the same client, with its credentials. */
export function openWithin(request: Inner, parent: Call): void {
  request[ofParent] = parent;
}

/** The call that the request is part of; undefined if a client has sent it. */
export function parentOf(request: Inner): Call | undefined {
  return request[ofParent];
}

/** The call of a request. @throws Error if `request-id` is not the first policy of the pipeline. */
export function callOf(request: Opened): Call {
  const call = request[ofRequest];
  if (call === undefined) throw new Error('The pipeline does not begin with request-id.');
  return call;
}

/** The call, or undefined before `request-id` ran, for answering failures. */
export function callIfOpen(request: Opened): Call | undefined {
  return request[ofRequest];
}

/** Does the work when the response to the call has closed: whole, cut off, or left by its client; at once if it has closed already. */
export function whenClosed(call: Call, response: ServerResponse, work: () => void): void {
  if (response.closed) work();
  else call.closing.push(work);
}

/** Begins a stage, which ends the previous one; undefined ends the last. */
export function enterStage(call: Call, stage: Stage | undefined): void {
  if (call.stage === stage && stage !== undefined) return;
  const now = performance.now();
  if (call.stage !== undefined) call.stageMs[call.stage] += now - call.stageSinceMs;
  call.stage = stage;
  call.stageSinceMs = now;
}

/** The caller that `credential` accepted. @throws Error if no `credential` precedes this policy in the pipeline. */
export function callerOf(call: Call): Caller {
  if (call.caller === undefined) throw new Error('The pipeline has no credential before this policy.');
  return call.caller;
}
