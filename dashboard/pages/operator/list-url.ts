// What the URL of a list says: its filters, and its page. The browser's Back goes back in the list.
import { useSearchParams } from 'wouter-preact';

export const pageSize = 50;

export interface ListUrl {
  /** A parameter; undefined if the URL has none, or an empty one. */
  text(name: string): string | undefined;
  /** The one of the options that the URL names; undefined for `all`, or for what is no option. */
  option<Value extends string>(
    name: string,
    options: readonly { value: Value }[],
  ): Exclude<Value, 'all'> | undefined;
  /** Sets parameters, or removes them by `all` or an empty text. Another filter begins at the first page. */
  change(changes: Readonly<Record<string, string>>): void;
}

export function useListUrl(): ListUrl {
  const [params, setParams] = useSearchParams();
  return {
    text: (name) => params.get(name)?.trim() || undefined,
    option<Value extends string>(name: string, options: readonly { value: Value }[]) {
      const found = options.find(({ value }) => value === params.get(name))?.value;
      return found === 'all' ? undefined : (found as Exclude<Value, 'all'> | undefined);
    },
    change: (changes) =>
      setParams((before) => {
        const next = new URLSearchParams(before);
        next.delete('cursor');
        for (const [name, value] of Object.entries(changes)) {
          if (value === '' || value === 'all') next.delete(name);
          else next.set(name, value);
        }
        return next;
      }),
  };
}
