// The catalogue: all series, narrowed by words and by the API's own facets. The URL has the whole state.
import { useEffect, useState } from 'preact/hooks';
import { listed, type AnswerOf, type CallOptions } from '../../clients/typescript/client.ts';
import { api } from '../api/clients.ts';
import { useLoad } from '../api/use-load.ts';
import { previewsOf } from '../api/previews.ts';
import { Choice } from '../components/choice.tsx';
import { SearchIcon } from '../components/icons.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Pages } from '../components/pagination.tsx';
import { SeriesTable } from '../components/series-table.tsx';
import { Empty, SkeletonRows, Waiting } from '../components/states.tsx';
import { useQuery } from '../components/use-query.ts';
import { countText, numberText } from '../text/numbers.ts';
import { FollowButton } from './following/follow-button.tsx';
import '../styles/catalogue.css';

const pageSize = 25;
const typedAfterMs = 250;
const facetNames = ['category', 'source', 'frequency', 'geography'] as const;
const filterNames = ['q', ...facetNames, 'tag'] as const;
type FilterName = (typeof filterNames)[number];

type Query = NonNullable<CallOptions<'get', '/v1/catalog'>['query']>;
type Catalog = AnswerOf<'get', '/v1/catalog'>;

const orders = [
  { value: 'relevance', label: 'Best match first' },
  { value: 'id', label: 'By id' },
  { value: '-last_updated', label: 'Newest first' },
] as const;
type Order = (typeof orders)[number]['value'];
/** Without words, all series match equally, so there is no order by relevance. */
const ordersOf = (params: URLSearchParams) =>
  hasWords(params) ? orders : orders.filter(({ value }) => value !== 'relevance');
const usualOrder = (params: URLSearchParams): Order => (hasWords(params) ? 'relevance' : 'id');
const hasWords = (params: URLSearchParams): boolean => (params.get('q') ?? '').trim() !== '';

/** The filters of the URL, without values that the API would reject. */
function filtersIn(params: URLSearchParams) {
  const given = filterNames.flatMap((name) => {
    const value = params.get(name)?.trim() ?? '';
    return value === '' ? [] : [[name, name === 'q' ? value : listed(value)] as const];
  });
  return { ...Object.fromEntries(given), sort: orderOf(params) };
}

function queryOf(params: URLSearchParams): Query {
  const cursor = params.get('cursor');
  return {
    ...filtersIn(params),
    limit: pageSize,
    facets: true,
    ...(cursor === null ? {} : { cursor }),
  };
}

function orderOf(params: URLSearchParams): Order {
  const given = params.get('sort');
  return ordersOf(params).find(({ value }) => value === given)?.value ?? usualOrder(params);
}

export function Catalogue() {
  const [params, changeQuery] = useQuery();
  const query = queryOf(params);
  const loaded = useLoad(
    async (signal) => {
      const catalog = await api.get('/v1/catalog', { query, signal });
      const ids = catalog.data.map(({ id }) => id);
      return { catalog, previews: await previewsOf(ids, { signal }) };
    },
    [JSON.stringify(query)],
  );
  /** A change of the filter begins at the first page. */
  const change = (name: FilterName | 'sort', value: string | undefined, replace = false) =>
    changeQuery({ [name]: value, cursor: null }, { replace });
  function goTo(cursor: string | null) {
    changeQuery({ cursor });
    scrollTo(0, 0);
  }
  return (
    <div class="wrap">
      <PageHead
        title="Catalogue"
        lede="All series of this installation. Each keeps every value it ever had."
      />
      <div class="bar-ctl filters">
        <WordsFilter words={params.get('q') ?? ''} onChange={(words) => change('q', words, true)} />
        <span class="push">
          <Choice
            label="Order"
            options={ordersOf(params)}
            value={orderOf(params)}
            onChange={(order) => change('sort', order === usualOrder(params) ? undefined : order)}
          />
        </span>
      </div>
      <Chosen params={params} onRemove={(name) => change(name, undefined)} />
      <Waiting for={loaded} skeleton={<SkeletonRows rows={12} />} failure="The catalogue could not be loaded">
        {({ catalog, previews }) => (
          <div class="catalogue">
            <Facets facets={catalog.meta?.facets} params={params} onChoose={change} />
            <div>
              <Count catalog={catalog} params={params} />
              {catalog.data.length === 0 ? (
                <NothingFound isFiltered={filterNames.some((name) => params.has(name))} />
              ) : (
                <SeriesTable caption="Series of the catalogue" rows={catalog.data} previews={previews} />
              )}
              <Pages
                size={pageSize}
                isFirst={!params.has('cursor')}
                next={catalog.pagination.next_cursor}
                onFirst={() => goTo(null)}
                onNext={goTo}
              />
            </div>
          </div>
        )}
      </Waiting>
    </div>
  );
}

/** Writes the words to the URL when typing pauses. */
function WordsFilter({ words, onChange }: { words: string; onChange: (words: string) => void }) {
  const [text, setText] = useState(words);
  // A space at the end stays, as another word may follow.
  useEffect(() => setText((typed) => (typed.trim() === words.trim() ? typed : words)), [words]);
  useEffect(() => {
    if (text.trim() === words.trim()) return undefined;
    const timer = setTimeout(() => onChange(text.trim()), typedAfterMs);
    return () => clearTimeout(timer);
  }, [text]);
  return (
    <form
      class="search"
      role="search"
      aria-label="Filter the catalogue"
      onSubmit={(event) => {
        event.preventDefault();
        onChange(text.trim());
      }}
    >
      <SearchIcon />
      <input
        type="search"
        aria-label="Words of the name or the description"
        placeholder="Filter by words"
        autocomplete="off"
        value={text}
        onInput={(event) => setText(event.currentTarget.value)}
      />
    </form>
  );
}

function Chosen({ params, onRemove }: { params: URLSearchParams; onRemove: (name: FilterName) => void }) {
  const chosen = filterNames.filter((name) => name !== 'q' && params.has(name));
  if (chosen.length === 0) return null;
  return (
    <p class="chosen">
      {chosen.map((name) => (
        <button key={name} class="btn sml" type="button" onClick={() => onRemove(name)}>
          {name}: {params.get(name)}
          <span aria-hidden="true">×</span>
          <span class="vh">Remove</span>
        </button>
      ))}
    </p>
  );
}

interface FacetsProps {
  facets: Readonly<Record<string, readonly { value: string; count: number }[]>> | undefined;
  params: URLSearchParams;
  onChoose: (name: FilterName, value: string | undefined) => void;
}

const facetTitles = {
  category: 'Category',
  source: 'Source',
  frequency: 'Frequency',
  geography: 'Geography',
} as const;
const valuesShown = 8;

function Facets({ facets, params, onChoose }: FacetsProps) {
  return (
    <aside class="facets" aria-label="Filters">
      {facetNames.map((name) => {
        const values = facets?.[name] ?? [];
        if (values.length === 0) return null;
        return (
          <Facet
            key={name}
            title={facetTitles[name]}
            values={values}
            chosen={params.get(name) ?? undefined}
            onChoose={(value) => onChoose(name, value)}
          />
        );
      })}
    </aside>
  );
}

interface FacetProps {
  title: string;
  values: readonly { value: string; count: number }[];
  chosen: string | undefined;
  onChoose: (value: string | undefined) => void;
}

function Facet({ title, values, chosen, onChoose }: FacetProps) {
  const [isWhole, setIsWhole] = useState(false);
  // On a phone the series come first.
  const [isWide] = useState(() => matchMedia('(min-width: 900px)').matches || chosen !== undefined);
  const shown = isWhole ? values : values.slice(0, valuesShown);
  return (
    <details open={isWide}>
      <summary>{title}</summary>
      <ul>
        {shown.map(({ value, count }) => (
          <li key={value}>
            <button
              type="button"
              aria-pressed={value === chosen}
              onClick={() => onChoose(value === chosen ? undefined : value)}
            >
              <span>{value}</span>
              <span class="dim">{numberText(count)}</span>
            </button>
          </li>
        ))}
      </ul>
      {shown.length < values.length && (
        <button class="more" type="button" onClick={() => setIsWhole(true)}>
          {numberText(values.length - shown.length)} more
        </button>
      )}
    </details>
  );
}

function Count({ catalog, params }: { catalog: Catalog; params: URLSearchParams }) {
  const counts = catalog.meta?.facets?.['frequency'] ?? [];
  const total = counts.reduce((sum, { count }) => sum + count, 0);
  const csv = new URLSearchParams({ ...filtersIn(params), format: 'csv' });
  const followed = followedBy(params);
  return (
    <div class="sec-head">
      <p role="status">{countText(total, 'series', 'series')}</p>
      {followed !== undefined && <FollowButton small {...followed} />}
      {total > 0 && (
        <a class="push sm" href={`/v1/catalog?${csv.toString()}`} download="catalogue.csv">
          Download as CSV
        </a>
      )}
    </div>
  );
}

/** The subject of a follow with the same filters: a source or words, and no other filter; otherwise undefined. */
function followedBy(
  params: URLSearchParams,
): { kind: 'source' | 'search'; of: string; named: string } | undefined {
  const [name, ...others] = filterNames.filter((each) => (params.get(each)?.trim() ?? '') !== '');
  const of = name === undefined ? '' : (params.get(name)?.trim() ?? '');
  if (others.length > 0) return undefined;
  if (name === 'source') return { kind: 'source', of, named: `the source ${of}` };
  return name === 'q' ? { kind: 'search', of, named: `the search ${of}` } : undefined;
}

function NothingFound({ isFiltered }: { isFiltered: boolean }) {
  if (!isFiltered)
    return (
      <Empty title="No data is loaded yet">
        <p>The operator loads data with the command almanac ingest.</p>
      </Empty>
    );
  return (
    <Empty title="No series matches">
      <p>Remove a filter, or try fewer or other words.</p>
    </Empty>
  );
}
