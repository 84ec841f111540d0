// The search box: debounced suggestions of GET /v1/search while typing; ↑ ↓ move between them, Enter opens one, Esc leaves.
import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import type { AnswerOf } from '../../clients/typescript/client.ts';
import { api, asAlmanacError } from '../api/clients.ts';
import { SearchIcon } from '../components/icons.tsx';

type Hit = AnswerOf<'get', '/v1/search'>['data'][number];

const debounceMs = 120;
const shown = 8;

interface SearchProps {
  /** The accessible name of the field. */
  label?: string;
  placeholder?: string;
  large?: boolean;
  /** If given: only series are found, and the chosen one is passed on instead of opened. */
  onPick?: (seriesId: string) => void;
}

type Found = { query: string; hits: Hit[]; corrected?: string | null; failure?: string };

export function Search({
  label = 'Search series, funds and securities',
  placeholder = 'Search series',
  large = false,
  onPick,
}: SearchProps) {
  const id = useId();
  const [, navigate] = useLocation();
  const input = useRef<HTMLInputElement>(null);
  const [text, setText] = useState('');
  const [isOpen, setIsOpen] = useState(false);
  const [active, setActive] = useState(-1);
  const found = useHits(text.trim(), onPick === undefined ? undefined : 'series');
  const hits = found?.hits ?? [];
  const open = isOpen && text.trim() !== '' && found !== undefined;

  function leave() {
    setIsOpen(false);
    setActive(-1);
  }
  function go(to: string) {
    leave();
    setText('');
    input.current?.blur();
    navigate(to);
  }
  function choose(hit: Hit) {
    if (onPick === undefined) return go(pageOf(hit));
    leave();
    setText('');
    onPick(hit.id);
  }
  function onKeyDown(event: KeyboardEvent) {
    if (event.key === 'Escape') {
      if (open) leave();
      else input.current?.blur();
    } else if ((event.key === 'ArrowDown' || event.key === 'ArrowUp') && hits.length > 0) {
      const step = event.key === 'ArrowDown' ? 1 : -1;
      setIsOpen(true);
      setActive((at) => (at + step + hits.length + 1) % (hits.length + 1)); // one position is the typed text itself
    } else return;
    event.preventDefault();
  }
  function onSubmit(event: Event) {
    event.preventDefault();
    const isFoundByText = found?.query === text.trim(); // not by its beginning, while the answer is on its way
    const first = onPick !== undefined && isFoundByText ? hits[0] : undefined;
    const hit = open ? (hits[active] ?? first) : undefined;
    if (hit !== undefined) choose(hit);
    else if (onPick !== undefined) return;
    else if (text.trim() !== '') go(`/catalogue?${new URLSearchParams({ q: text.trim() }).toString()}`);
  }
  const activeId = open && active >= 0 && active < hits.length ? `${id}-${active}` : undefined;
  return (
    <form
      class={large ? 'search large' : 'search'}
      role="search"
      aria-label={onPick === undefined ? undefined : 'Series'}
      onSubmit={onSubmit}
    >
      <label class="vh" for={id}>
        {label}
      </label>
      <SearchIcon />
      <input
        ref={input}
        id={id}
        type="search"
        placeholder={placeholder}
        autocomplete="off"
        spellcheck={false}
        data-search={large ? 'large' : 'bar'}
        role="combobox"
        aria-expanded={open}
        aria-controls={`${id}-hits`}
        aria-autocomplete="list"
        aria-activedescendant={activeId}
        value={text}
        onInput={(event) => {
          setText(event.currentTarget.value);
          setIsOpen(true);
          setActive(-1);
        }}
        onFocus={() => setIsOpen(true)}
        onBlur={leave}
        onKeyDown={onKeyDown}
      />
      <kbd aria-hidden="true">/</kbd>
      <div class={open ? 'hits' : 'hits closed'}>
        <ul id={`${id}-hits`} role="listbox" aria-label="Results">
          {open &&
            hits.map((hit, i) => (
              <li
                key={`${hit.type} ${hit.id}`}
                id={`${id}-${i}`}
                role="option"
                aria-selected={i === active}
                // Runs before the box loses the focus, which closes the list.
                onMouseDown={(event) => {
                  event.preventDefault();
                  choose(hit);
                }}
              >
                <span>
                  <b>
                    <Marked text={hit.highlight} />
                  </b>
                  {hit.excerpt !== null && (
                    <small>
                      <Marked text={hit.excerpt} />
                    </small>
                  )}
                  <small>
                    <span class="mono">{hit.id}</span>
                    {hit.unit === null ? '' : ` · ${hit.unit}`}
                  </small>
                </span>
                <span class="tag">{hit.type}</span>
              </li>
            ))}
        </ul>
        {open && <p role="status">{statusOf(found)}</p>}
      </div>
    </form>
  );
}

/** `/` focuses the large search if it is on the screen, otherwise the one in the bar. */
export function useSearchKey(): void {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const { target } = event;
      const isTyping = target instanceof HTMLElement && /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName);
      if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
      const boxes = [...document.querySelectorAll<HTMLInputElement>('input[data-search]')];
      const box = boxes.find((each) => each.dataset['search'] === 'large' && isOnScreen(each)) ?? boxes[0];
      if (box === undefined) return;
      event.preventDefault();
      box.focus();
    }
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

function isOnScreen(element: Element): boolean {
  const { top, bottom } = element.getBoundingClientRect();
  return bottom > 0 && top < innerHeight;
}

/** The newest answer; the previous one stays until the next has arrived. */
function useHits(query: string, type?: 'series'): Found | undefined {
  const [found, setFound] = useState<Found>();
  useEffect(() => {
    if (query === '') return setFound(undefined);
    const leaving = new AbortController();
    const timer = setTimeout(() => {
      api
        .get('/v1/search', {
          query: { q: query, limit: shown, ...(type === undefined ? {} : { type: [type] }) },
          signal: leaving.signal,
        })
        .then(({ data, meta }) => setFound({ query, hits: data, corrected: meta.corrected }))
        .catch((error: unknown) => {
          if (leaving.signal.aborted) return;
          setFound({ query, hits: [], failure: asAlmanacError(error).message });
        });
    }, debounceMs);
    return () => {
      clearTimeout(timer);
      leaving.abort();
    };
  }, [query]);
  return found;
}

function statusOf({ query, hits, corrected, failure }: Found): string {
  if (failure !== undefined) return `The search failed. ${failure}`;
  if (hits.length === 0) return `No results for “${query}”. Try fewer or other words.`;
  const meant = typeof corrected === 'string' ? `Results for “${corrected}”. ` : '';
  return meant + (hits.length === shown ? `The first ${shown} results` : '');
}

/** Funds, companies and securities have no page of their own: the reference shows the call that reads them. */
function pageOf({ type, id }: Hit): string {
  if (type === 'series') return `/series/${encodeURIComponent(id)}`;
  if (type === 'commodity') return `/series/${encodeURIComponent(`commodity.${id}`)}`; // the series of its prices
  const anchors = {
    fund: 'get-v1-funds-id',
    amc: 'get-v1-amcs-amc',
    security: 'get-v1-securities-code-prices',
  };
  return `/docs/reference?${new URLSearchParams({ id }).toString()}#${anchors[type]}`;
}

/** The text of the API, in which `<mark>` encloses matches, and characters of HTML are escaped. */
function Marked({ text }: { text: string }) {
  const parts = text.split(/<\/?mark>/).map(unescaped);
  return <>{parts.map((part, i) => (i % 2 === 1 ? <mark key={i}>{part}</mark> : part))}</>;
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'" };

function unescaped(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39);/g, (whole, name: string) => entities[name] ?? whole);
}
