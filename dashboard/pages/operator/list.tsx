// A list for operators: its filters and its page are in the URL, so that the browser's Back works within the list; one page of rows at a
// time.
import type { ComponentChild, ComponentChildren } from 'preact';
import type { Loaded } from '../../api/use-load.ts';
import { rowsOf } from '../../api/rows.ts';
import { Choice } from '../../components/choice.tsx';
import { Pages } from '../../components/pagination.tsx';
import { Empty, SkeletonRows } from '../../components/states.tsx';
import { useQuery } from '../../components/use-query.ts';
import '../../styles/catalogue.css';
import { WaitingOrSignIn } from './operator-page.tsx';

export const pageSize = 50;

export interface ListUrl {
  /** A parameter; undefined if the URL does not have it, or it is empty. */
  text(name: string): string | undefined;
  /** The option named in the URL; undefined for `all`, or for an unknown option. */
  option<Value extends string>(
    name: string,
    options: readonly { value: Value }[],
  ): Exclude<Value, 'all'> | undefined;
  /** Sets parameters; `all` or an empty text removes them. A changed filter begins at the first page. */
  change(changes: Readonly<Record<string, string>>): void;
}

export function useListUrl(): ListUrl {
  const [params, change] = useQuery();
  return {
    text: (name) => params.get(name)?.trim() || undefined,
    option<Value extends string>(name: string, options: readonly { value: Value }[]) {
      const found = options.find(({ value }) => value === params.get(name))?.value;
      return found === 'all' ? undefined : (found as Exclude<Value, 'all'> | undefined);
    },
    change(changes) {
      const given = Object.entries(changes).map(([name, value]) => [name, value === 'all' ? null : value]);
      change({ cursor: null, ...Object.fromEntries(given) });
    },
  };
}

interface FilterProps<Value extends string> {
  url: ListUrl;
  /** The parameter. */
  name: string;
  label: string;
  options: readonly { value: Value; label: string }[];
}

/** One of a few values; the first is `all`. */
export function Filter<Value extends string>({ url, name, label, options }: FilterProps<Value | 'all'>) {
  return (
    <Choice
      label={label}
      options={options}
      value={url.option(name, options) ?? 'all'}
      onChange={(chosen) => url.change({ [name]: chosen })}
    />
  );
}

/** A filter that a link has set, which can only be removed. */
export function ChosenFilter({ url, name }: { url: ListUrl; name: string }) {
  const value = url.text(name);
  if (value === undefined) return null;
  return (
    <p class="chosen">
      <button class="btn sml" type="button" onClick={() => url.change({ [name]: '' })}>
        {name}: {value}
        <span aria-hidden="true">×</span>
        <span class="vh">Remove</span>
      </button>
    </p>
  );
}

interface ListProps<Each> {
  for: Loaded<{ data: Each[]; pagination: { next_cursor: string | null } }>;
  url: ListUrl;
  /** The rows' name in "The loads could not be loaded". */
  what: string;
  /** The title of an empty list, and the advice below it. */
  empty: { title: string; hint: ComponentChildren };
  children: (rows: Required<Each>[]) => ComponentChild;
}

/** A page of rows, and the links to other pages. */
export function List<Each>({ for: loaded, url, what, empty, children }: ListProps<Each>) {
  return (
    <WaitingOrSignIn
      for={loaded}
      failure={`The ${what} could not be loaded`}
      skeleton={<SkeletonRows rows={8} />}
    >
      {(page) =>
        page.data.length === 0 ? (
          <Empty title={empty.title}>
            <p>{empty.hint}</p>
          </Empty>
        ) : (
          <>
            {children(rowsOf(page))}
            <Pages
              size={pageSize}
              isFirst={url.text('cursor') === undefined}
              next={page.pagination.next_cursor}
              onFirst={() => url.change({})}
              onNext={(cursor) => url.change({ cursor })}
            />
          </>
        )
      }
    </WaitingOrSignIn>
  );
}
