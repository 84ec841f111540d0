// The query of the URL as the state of a page.
import { useCallback, useMemo } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { useSearch } from 'wouter-preact/use-browser-location';

type Query = URLSearchParams | Record<string, string>;
type SetQuery = (next: Query | ((before: URLSearchParams) => Query), options?: { replace?: boolean }) => void;

/** Like wouter's, which decodes the query twice: it reads the text `5%ab` as two other characters. */
export function useSearchParams(): [query: URLSearchParams, set: SetQuery] {
  const search = useSearch();
  const [, navigate] = useLocation();
  const query = useMemo(() => new URLSearchParams(search), [search]);
  const set = useCallback<SetQuery>(
    (next, options) => {
      const params = new URLSearchParams(
        typeof next === 'function' ? next(new URLSearchParams(location.search)) : next,
      );
      navigate(location.pathname + (params.size === 0 ? '' : `?${params.toString()}`), options);
    },
    [navigate],
  );
  return [query, set];
}

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
