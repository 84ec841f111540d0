// Loads the content of a component: the phases of waiting, abort on unmount, and retry.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { AlmanacError } from '../../clients/typescript/errors.ts';
import { asAlmanacError, localError } from './clients.ts';

/** Before this, no placeholder is shown, so that fast answers do not flicker. */
const shownAfterMs = 150;
const slowAfterMs = 3_000;
const timeoutMs = 10_000;

/** `previous`: the content from before the inputs changed. */
type Outcome<T> =
  | { phase: 'begun' | 'loading' | 'slow'; previous: T | undefined }
  | { phase: 'ready'; value: T }
  /** `isReload`: `previous` has the same inputs. */
  | { phase: 'failed'; error: AlmanacError; previous: T | undefined; isReload: boolean };

/** `reload` loads it again, after a failure or a change. */
export type Loaded<T> = Outcome<T> & { reload: () => void };

/**
 * Runs `load` when the component appears, and again when one of `inputs` changes; the earlier call is aborted.
 * @param inputs compared as by `useEffect`: strings and numbers rather than objects.
 */
export function useLoad<T>(load: (signal: AbortSignal) => Promise<T>, inputs: readonly unknown[]): Loaded<T> {
  const [outcome, setOutcome] = useState<Outcome<T>>({ phase: 'begun', previous: undefined });
  const [tries, setTries] = useState(0);
  const reload = useCallback(() => setTries((count) => count + 1), []);
  const seenTries = useRef(0);
  /** Whether the content was loaded with the present inputs. */
  const isCurrent = useRef(false);
  useEffect(() => {
    const leaving = new AbortController();
    if (seenTries.current === tries) isCurrent.current = false;
    seenTries.current = tries;
    const wait = (phase: 'begun' | 'loading' | 'slow') =>
      setOutcome((before) => ({ phase, previous: shownIn(before) }));
    wait('begun');
    const timers = [
      setTimeout(wait, shownAfterMs, 'loading'),
      setTimeout(wait, slowAfterMs, 'slow'),
      setTimeout(() => leaving.abort(tooLate()), timeoutMs),
    ];
    const stopTimers = () => timers.forEach((timer) => clearTimeout(timer));
    let isLeft = false;
    load(leaving.signal)
      .then((value) => {
        if (isLeft) return;
        isCurrent.current = true;
        setOutcome({ phase: 'ready', value });
      })
      .catch((error: unknown) => {
        if (isLeft) return;
        if (!(error instanceof AlmanacError)) console.error(error);
        setOutcome((before) => ({
          phase: 'failed',
          error: asAlmanacError(error),
          previous: shownIn(before),
          isReload: isCurrent.current,
        }));
      })
      .finally(stopTimers);
    return () => {
      isLeft = true;
      stopTimers();
      leaving.abort(new DOMException('The page was closed.', 'AbortError'));
    };
  }, [...inputs, tries]);
  return { ...outcome, reload };
}

/** The loaded content, or that from before the inputs changed; for pages that keep the old content while the new one loads. */
export function shownIn<T>(loaded: Outcome<T>): T | undefined {
  return loaded.phase === 'ready' ? loaded.value : loaded.previous;
}

const tooLate = () => localError('no_answer', `No answer came within ${timeoutMs / 1000} seconds.`);
