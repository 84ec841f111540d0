// Repeats a call that met a limit or a passing fault. Hides how long it waits, and which failures may be gone when it is repeated.
import { AlmanacError } from './errors.ts';

export interface RetryOptions {
  /** Repetitions of one call, at most; default 3, 0 for none. */
  retries?: number;
  /** The longest wait of one call over all its repetitions; beyond it the call fails at once. Default 60. */
  maxWaitSeconds?: number;
  /** Waits; by default by a timer. Ends early, with the reason of `signal`, if that is aborted. */
  sleep?: (seconds: number, signal?: AbortSignal) => Promise<void>;
}

/** The writes whose repetition has no effect, if they have an Idempotency-Key. */
export const idempotentWrites: readonly string[] = ['/v1/keys', '/v1/webhooks', '/v1/checkout'];

/** Whether repeating the call has no effect beyond that of the first. */
export function isSafe(method: string, at: string, headers: Readonly<Record<string, string>>): boolean {
  if (method === 'get') return true;
  const hasKey = Object.keys(headers).some((name) => name.toLowerCase() === 'idempotency-key');
  return method === 'post' && hasKey && idempotentWrites.includes(at);
}

/** The outcome of a call that is safe to repeat. @throws what its last repetition throws. */
export async function repeated<T>(
  call: () => Promise<T>,
  { retries = 3, maxWaitSeconds = 60, sleep = pause }: RetryOptions,
  signal: AbortSignal | undefined,
): Promise<T> {
  let waitedSeconds = 0;
  for (let repetition = 0; ; repetition += 1) {
    try {
      return await call();
    } catch (error) {
      const seconds = waitBefore(repetition, error);
      if (seconds === undefined || repetition >= retries || waitedSeconds + seconds > maxWaitSeconds)
        throw error;
      waitedSeconds += seconds;
      await sleep(seconds, signal);
    }
  }
}

/** Not 402, although it has Retry-After: that is the end of the month. */
const passing = [429, 502, 503, 504];

/** @returns undefined if a repetition would be in vain. */
function waitBefore(repetition: number, error: unknown): number | undefined {
  if (!(error instanceof AlmanacError) || error.code === 'billing_not_configured') return undefined;
  const mayPass =
    passing.includes(error.status) ||
    error.code === 'unreachable' ||
    error.code === 'idempotency_in_progress';
  if (!mayPass) return undefined;
  // The spread keeps clients that failed together from returning together.
  return error.retryAfterSeconds ?? 0.5 * 2 ** repetition * (0.75 + Math.random() / 2);
}

function pause(seconds: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      // oxlint-disable-next-line typescript/prefer-promise-reject-errors -- the caller chose the reason
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener('abort', stop);
      resolve();
    }, seconds * 1000);
    if (signal?.aborted === true) stop();
    else signal?.addEventListener('abort', stop, { once: true });
  });
}
