// The call that the present work is done for, as far as work below the handler needs it: the statements that it logs, the head of its answer.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Span } from './tracing.ts';

/** What a statement or an answer knows of its call. */
export interface CallContext {
  readonly requestId: string;
  /** Of the request; undefined: it is not traced. */
  readonly span?: Span | undefined;
  /** The headers of every answer to the call: alternating names and values. */
  ownHeaders?(): readonly string[];
}

const calls = new AsyncLocalStorage<CallContext>();

/** Does the work of a call: `currentCall` gives it, also after each `await` of the work. */
export function inCall<T>(call: CallContext, work: () => T): T {
  return calls.run(call, work);
}

/** Undefined outside of a call. Work that is shared by several calls is done for the first of them. */
export function currentCall(): CallContext | undefined {
  return calls.getStore();
}
