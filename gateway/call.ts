// The state of one call beside the request itself; `request-id` creates it, the other policies read and extend it.
import type { IncomingMessage } from 'node:http';
import type { ErrorCode } from '../kernel/errors.ts';
import type { Identity } from '../kernel/identity.ts';
import type { Plan } from '../kernel/plans.ts';
import type { Admission } from './quota/admission.ts';

/** What an accepted key or session stands for. */
export interface Caller {
  accountId: string;
  /** Null for a session. */
  keyId: string | null;
  plan: Plan;
  /** False: the subscription does not run. */
  active: boolean;
}

/** Calls taken from the month's quota before the call was forwarded. */
export interface Charge {
  calls: number;
  /** `YYYY-MM-01`, the UTC month they were taken from. */
  month: string;
}

/**
 * Where the time of a call goes: who calls, how fast, how much, waiting for the service, and sending its answer. Whatever lies
 * between two of them counts to the one before. The names stand in the log, in Server-Timing and in the metrics.
 */
export const stages = ['credential', 'rate', 'quota', 'upstream', 'answer'] as const;
export type Stage = (typeof stages)[number];

export interface Call {
  readonly requestId: string;
  /** `performance.now()` when the first policy ran. */
  readonly arrivedAtMs: number;
  /** The client's IP address, through as many proxies as are trusted. */
  readonly clientIp: string;
  /** Whether the client came over TLS, as the trusted proxy says. */
  readonly secure: boolean;
  /** Whether the client will take more answers on its connection: as Node read it from the request's version and headers. */
  readonly clientKeeps: boolean;
  /** Whether the gateway is stopping, so that no connection is kept. */
  readonly isDraining: () => boolean;
  /** Credentials as they came: every X-API-Key header, every `api_key` parameter, every X-Session-Token header. */
  readonly presented: {
    /** Of X-API-Key. */
    keyHeaders: string[];
    /** Of `Authorization: Bearer …`. */
    bearers: string[];
    keyParameters: string[];
    sessionHeaders: string[];
  };
  /** The path as matched, logged and forwarded; empty until `path-check` has passed. */
  path: string;
  /** The query without its `?`, and without any key. */
  query: string;
  identity: Identity;
  caller: Caller | undefined;
  /** What was answered of the call with the question about its key. */
  admission: Admission | undefined;
  charge: Charge | undefined;
  /** What the head of the answer will say: names and values in turn. */
  readonly head: string[];
  /** What is left of the limits the call was held against, in the syntax of the RateLimit headers. */
  readonly limits: { policy: string; state: string }[];
  /** What the service said of its own time, in the syntax of Server-Timing. */
  serviceTiming: string | undefined;
  /** How long each stage took, in ms; 0 where the call did not come so far. */
  readonly stageMs: Record<Stage, number>;
  stage: Stage | undefined;
  stageSinceMs: number;
  /** The code of the failure that the gateway itself answered with. */
  failureCode: ErrorCode | undefined;
}

// A property of the request rather than a WeakMap: the collector looks through all of a WeakMap each time it runs.
const ofRequest = Symbol('call');
type Opened = IncomingMessage & { [ofRequest]?: Call };

export function openCall(request: Opened, call: Call): void {
  request[ofRequest] = call;
}

/** The call of a request. @throws Error where `request-id` is not the first policy of the pipeline. */
export function callOf(request: Opened): Call {
  const call = request[ofRequest];
  if (call === undefined) throw new Error('The pipeline does not begin with request-id.');
  return call;
}

/** The call, or undefined before `request-id` ran: for those who answer failures. */
export function callIfOpen(request: Opened): Call | undefined {
  return request[ofRequest];
}

/** Begins a stage, which ends the one before; undefined ends the last. */
export function enterStage(call: Call, stage: Stage | undefined): void {
  const now = performance.now();
  if (call.stage !== undefined) call.stageMs[call.stage] += now - call.stageSinceMs;
  call.stage = stage;
  call.stageSinceMs = now;
}

/** The caller that `credential` accepted. @throws Error where the pipeline has no `credential` before this policy. */
export function callerOf(call: Call): Caller {
  if (call.caller === undefined) throw new Error('The pipeline has no credential before this policy.');
  return call.caller;
}
