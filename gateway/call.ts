// The state of one call besides the request itself. `request-id` creates it; the other policies read and extend it.
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
 * The stages of a call: credential, rate limit, quota, waiting for the service, and sending its answer. Time between two stages counts towards the
 * earlier one. The log, Server-Timing and the metrics use these names.
 */
export const stages = ['credential', 'rate', 'quota', 'upstream', 'answer'] as const;
export type Stage = (typeof stages)[number];

/** `hit`: from the response cache. `miss`: from data-api. */
export const cacheResults = ['hit', 'miss'] as const;
export type CacheResult = (typeof cacheResults)[number];

/** A range read of a file. The file is charged once for all its ranges. */
export interface ChargedRange {
  /** The file's path. */
  readonly file: string;
  /** Ends the range. Later invocations have no effect. @returns how many calls it is charged, 1 or 0; always the same. */
  end(isServed: boolean): number;
}

export interface Call {
  readonly requestId: string;
  /** `performance.now()` when the first policy ran. */
  readonly arrivedAtMs: number;
  /** The client's IP address, as seen through the trusted proxies. */
  readonly clientIp: string;
  /** Whether the client connected over TLS, according to PUBLIC_URL or the trusted proxy. */
  readonly secure: boolean;
  /** Whether the client keeps its connection open, as Node parsed it from the HTTP version and headers. */
  readonly clientKeepsAlive: boolean;
  /** Whether the gateway is stopping; then no connection is kept alive. */
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
  /** The normalized path, used for matching, logging and forwarding; empty before `path-check`. */
  path: string;
  /** The query without `?`, and without any key. */
  query: string;
  /** The longest accepted body, in bytes. */
  bodyBytesMax: number;
  /** Whether the body is a file: it is streamed instead of buffered, and has its own time limit. */
  isUpload: boolean;
  /** The body of a read, if `query-body` has read it; undefined: `forward` reads the body, if any. */
  body: { bytes: Buffer; fields: unknown } | undefined;
  /** The `as_of` date of an MCP tool call. It replaces the date of a pinned key, and is not after it. Undefined: none. */
  readonly asOf: string | undefined;
  identity: Identity;
  caller: Caller | undefined;
  /** The calls reserved from the month's quota before the call was forwarded. */
  charge: Charge | undefined;
  /** The month that the calls were reserved from. */
  chargedMonth: CalendarMonth | undefined;
  /** The range that the call reads, if the route charges files instead of calls. */
  range: ChargedRange | undefined;
  /** Collects the service's answer for the response cache; undefined: the answer is only forwarded. */
  capture: Capture | undefined;
  /** Where the answer came from, if the response cache was asked. */
  cache: CacheResult | undefined;
  /** Whether `cors` has decided which origins may read the answer. */
  isOriginChecked: boolean;
  /** Headers of the answer: alternating names and values. */
  readonly head: string[];
  /** The policy of a page that may load more than the default; undefined: the default, which loads nothing. */
  contentSecurityPolicy: string | undefined;
  /** The limits that apply to the call and what remains of each, in the syntax of the RateLimit headers. */
  limitPolicies: string;
  limitStates: string;
  /** The service's own timing, in the syntax of Server-Timing. */
  serviceTiming: string | undefined;
  /** The duration of each stage in ms; 0 if the call did not reach it. */
  readonly stageMs: Record<Stage, number>;
  stage: Stage | undefined;
  stageSinceMs: number;
  /** Work to run when the response has closed, in this order; see `whenClosed`. */
  readonly closing: (() => void)[];
  /** The code of the failure that the gateway itself answered with. */
  failureCode: ErrorCode | undefined;
}

/** Adds a limit to the answer's RateLimit headers. @param policy and @param state in the headers' syntax, made of numbers and our own names only. */
export function addLimit(call: Call, policy: string, state: string): void {
  const isFirst = call.limitPolicies === '';
  call.limitPolicies += isFirst ? policy : `, ${policy}`;
  call.limitStates += isFirst ? state : `, ${state}`;
}

// A property of the request instead of a WeakMap: the garbage collector scans a whole WeakMap each time it runs.
const ofRequest = Symbol('call');
type Opened = IncomingMessage & { [ofRequest]?: Call };

export function openCall(request: Opened, call: Call): void {
  request[ofRequest] = call;
}

const ofParent = Symbol('parent');
type Inner = IncomingMessage & { [ofParent]?: Parent };

/** The call that a request is part of. */
export interface Parent {
  call: Call;
  /** The `as_of` date of the tool call; undefined: none. */
  asOf: string | undefined;
}

/** Marks the request as part of another call before its pipeline runs: `request-id` gives it that call's id, client address and credentials. */
export function openWithin(request: Inner, parent: Parent): void {
  request[ofParent] = parent;
}

/** The call that the request is part of; undefined if a client sent the request. */
export function parentOf(request: Inner): Parent | undefined {
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

/** Runs the work when the response has closed, however it ended: complete, cut off, or abandoned by its client. At once if it has already closed. */
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
