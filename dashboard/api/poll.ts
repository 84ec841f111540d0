// Polls while a component is shown, for example until a new key has made its first call. A page in the background does not poll, and a failed request
// is simply repeated.
import { useEffect, useState } from 'preact/hooks';
import { AlmanacError } from '../../clients/typescript/errors.ts';

/**
 * The newest response; undefined before the first. @param request null: no polling now. @param everyMs from one response to the next request.
 * @param inputs compared as by `useEffect`: when they change, polling restarts.
 */
export function usePoll<T>(
  request: ((signal: AbortSignal) => Promise<T>) | null,
  everyMs: number,
  inputs: readonly unknown[],
): T | undefined {
  const [answer, setAnswer] = useState<T>();
  useEffect(() => {
    if (request === null) return undefined;
    const leaving = new AbortController();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const later = () => void (timer = setTimeout(poll, everyMs));
    function poll(): void {
      if (document.hidden || request === null) return later();
      request(leaving.signal)
        .then(setAnswer)
        .catch((error: unknown) => {
          if (!leaving.signal.aborted && !(error instanceof AlmanacError)) console.error(error);
        })
        .finally(() => {
          if (!leaving.signal.aborted) later();
        });
    }
    poll();
    return () => {
      leaving.abort(new DOMException('The page was closed.', 'AbortError'));
      clearTimeout(timer);
    };
  }, [request === null, everyMs, ...inputs]);
  return answer;
}
