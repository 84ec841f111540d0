// The current call, for work below its handler: the statements that it logs, and the head of its answer.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from './tracing.ts';

/** What a statement or an answer can read about its call. */
export interface CallContext {
  readonly requestId: string;
  /** The span of the request; undefined: it is not traced. */
  readonly span?: Span | undefined;
  /** The headers of every answer to the call: alternating names and values. */
  ownHeaders?(): readonly string[];
}

const calls = new AsyncLocalStorage<CallContext>();

/** Runs the work of a call: `currentCall` returns the call, also after each `await` of the work. */
export function inCall<T>(call: CallContext, work: () => T): T {
  return calls.run(call, work);
}

/** Undefined outside of a call. Work shared by several calls belongs to the first of them. */
export function currentCall(): CallContext | undefined {
  return calls.getStore();
}
