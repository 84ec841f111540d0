// The query of the URL as the state of a page.
import { useCallback } from 'preact/hooks';
import { useSearchParams } from 'wouter-preact';

/** Sets parameters; an empty value, or none, removes one. */
export type ChangeQuery = (
  changes: Readonly<Record<string, string | null | undefined>>,
  options?: { replace?: boolean },
) => void;

export function useQuery(): [query: URLSearchParams, change: ChangeQuery] {
  const [query, setQuery] = useSearchParams();
  const change = useCallback<ChangeQuery>(
    (changes, options) =>
      setQuery((before) => {
        const next = new URLSearchParams(before);
        for (const [name, value] of Object.entries(changes)) {
          if (value) next.set(name, value);
          else next.delete(name);
        }
        return next;
      }, options),
    [setQuery],
  );
  return [query, change];
}
