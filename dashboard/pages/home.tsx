// The front page: search, the newest and the next releases, what this installation holds, and how to call it.
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../clients/typescript/client.ts';
import { api } from '../api/clients.ts';
import { shownIn, useLoad, type Loaded } from '../api/load.ts';
import { previewsOf, type PreviewPoint } from '../api/previews.ts';
import { HeroChart } from '../charts/hero-chart.tsx';
import { DataTable } from '../components/data-table.tsx';
import { usePageTitle } from '../components/page-head.tsx';
import { NextReleases } from '../components/releases.tsx';
import { Search } from '../shell/search.tsx';
import { Empty, SkeletonRows, Waiting } from '../components/states.tsx';
import { CodePanel } from '../components/code-panel.tsx';
import { countText, numberText } from '../text/numbers.ts';
import { dayText, recentText, shortDayText, timeText } from '../text/times.ts';
import { HowToCall } from './home-calls.tsx';
import { SeriesTable } from '../components/series-table.tsx';
import '../styles/home.css';

type Catalog = AnswerOf<'get', '/v1/catalog'>;

export interface Newest {
  catalog: Catalog;
  previews: ReadonlyMap<string, PreviewPoint[]>;
}

const newestCount = 6;

async function loadNewest(signal: AbortSignal): Promise<Newest> {
  const query = { sort: '-last_updated', limit: newestCount, facets: true } as const;
  const catalog = await api.get('/v1/catalog', { query, signal });
  const previews = await previewsOf(
    catalog.data.map(({ id }) => id),
    { signal },
  );
  return { catalog, previews };
}

export function Home() {
  const heading = usePageTitle('Statistics with their whole history');
  const newest = useLoad(loadNewest, []);
  const status = useLoad((signal) => api.get('/v1/status', { signal }), []);
  const isEmpty = newest.phase === 'ready' && newest.value.catalog.count === 0;
  return (
    <div class="wrap">
      <div class="hero">
        <div>
          <h1 ref={heading} tabIndex={-1}>
            Every number, and every number it used to be
          </h1>
          <p class="lede">
            Statistical series with each revision kept, funds and securities, in one API. Ask for the data as
            it stood on any day.
          </p>
          <Search large placeholder="Search series and funds" />
          <Suggestions newest={newest} />
        </div>
        {!isEmpty && (
          <HeroChart newest={shownIn(newest)} openSeries={shownIn(status)?.data.open_revisions_series} />
        )}
      </div>
      {isEmpty ? <NothingLoaded /> : <Holdings newest={newest} status={status} />}
    </div>
  );
}

function Holdings({
  newest,
  status,
}: {
  newest: Loaded<Newest>;
  status: Loaded<AnswerOf<'get', '/v1/status'>>;
}) {
  return (
    <>
      <Figures newest={newest} status={status} />
      <section class="two">
        <div>
          <div class="sec-head">
            <h2>Newest releases</h2>
            <Link class="push sm" href="/catalogue?sort=-last_updated">
              All series
            </Link>
          </div>
          <Waiting
            for={newest}
            skeleton={<SkeletonRows rows={newestCount} />}
            failure="The newest releases could not be loaded"
          >
            {({ catalog, previews }) => (
              <SeriesTable caption="Newest releases" rows={catalog.data} previews={previews} />
            )}
          </Waiting>
        </div>
        <div>
          <div class="sec-head">
            <h2>Next releases</h2>
            <a class="push sm" href="/v1/calendar?format=ics">
              Subscribe (ICS)
            </a>
          </div>
          <NextReleases count={6} />
        </div>
      </section>
      <section class="half">
        <div>
          <div class="sec-head">
            <h2>What this installation holds</h2>
            <Link class="push sm" href="/catalogue">
              Catalogue
            </Link>
          </div>
          <Waiting
            for={newest}
            skeleton={<SkeletonRows rows={8} height={45} />}
            failure="The areas could not be loaded"
          >
            {({ catalog }) => <Areas facets={catalog.meta?.facets} />}
          </Waiting>
        </div>
        <HowToCall newest={newest} />
      </section>
    </>
  );
}

/** Words to try: names of series that are there. */
function Suggestions({ newest }: { newest: Loaded<Newest> }) {
  if (newest.phase !== 'ready') return <p class="try">{'\u00a0'}</p>;
  const names = newest.value.catalog.data.map(({ id, name }) => ({ id, name }));
  const short = names.filter(({ name }) => name.length <= 26).slice(0, 3);
  if (short.length === 0) return null;
  return (
    <p class="try">
      Try
      {short.map(({ id, name }) => (
        <Link key={id} href={`/series/${encodeURIComponent(id)}`}>
          {name.toLowerCase()}
        </Link>
      ))}
    </p>
  );
}

type Facets = Readonly<Record<string, readonly { value: string; count: number }[]>> | undefined;

function total(facets: Facets, name: string): number {
  return (facets?.[name] ?? []).reduce((sum, { count }) => sum + count, 0);
}

function Figures({
  newest,
  status,
}: {
  newest: Loaded<Newest>;
  status: Loaded<AnswerOf<'get', '/v1/status'>>;
}) {
  const facets = newest.phase === 'ready' ? newest.value.catalog.meta?.facets : undefined;
  const sources = status.phase === 'ready' ? status.value.data.sources : undefined;
  const loads = (sources ?? []).flatMap(({ last_success_at: at }) => at ?? []).sort();
  const dates = (sources ?? []).flatMap(({ last_data_date: date }) => date ?? []).sort();
  const nextAt = (sources ?? []).flatMap(({ next_release_at: at }) => at ?? []).sort()[0];
  const [lastLoad, newestDate] = [loads.at(-1), dates.at(-1)];
  const wait = '–';
  return (
    <dl class="figures" aria-label="In short">
      <Figure name="Series" value={facets === undefined ? wait : numberText(total(facets, 'frequency'))}>
        {facets === undefined
          ? ''
          : `${countText((facets['source'] ?? []).length, 'source', 'sources')}, ${frequenciesText(facets)}`}
      </Figure>
      <Figure name="Newest data" value={newestDate === undefined ? wait : dayText(newestDate)}>
        {newestDate === undefined ? '' : 'the newest date of any series'}
      </Figure>
      <Figure
        name="Next release"
        value={nextAt === undefined ? wait : `${shortDayText(nextAt)}, ${timeText(nextAt)}`}
      >
        {sources === undefined ? '' : nextAt === undefined ? 'none is announced' : 'as the calendar says'}
      </Figure>
      <Figure name="Last load" value={lastLoad === undefined ? wait : capital(recentText(lastLoad))}>
        {status.phase === 'ready' && status.value.data.state === 'operational'
          ? 'all services are up'
          : status.phase === 'ready'
            ? 'a service is down'
            : ''}
      </Figure>
    </dl>
  );
}

function Figure({ name, value, children }: { name: string; value: string; children: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        {value}
        <small>{children}</small>
      </dd>
    </div>
  );
}

const capital = (text: string): string => text.replace(/^./, (letter) => letter.toUpperCase());

const byLength = ['daily', 'weekly', 'monthly', 'quarterly', 'semiannual', 'annual'];

function frequenciesText(facets: Facets): string {
  const held = new Set((facets?.['frequency'] ?? []).map(({ value }) => value));
  const known = byLength.filter((name) => held.has(name));
  const [first, last] = [known[0], known.at(-1)];
  if (first === undefined) return 'irregular';
  return first === last ? first : `${first} to ${last}`;
}

/** The categories at the top: `Food/Cereals` counts under `Food`. Where most series have none, the sources. */
function Areas({ facets }: { facets: Facets }) {
  const by = total(facets, 'category') * 2 >= total(facets, 'frequency') ? 'category' : 'source';
  const counts = new Map<string, number>();
  for (const { value, count } of facets?.[by] ?? []) {
    if (by === 'source') {
      counts.set(value, count);
      continue;
    }
    const [area = value] = value.split('/');
    counts.set(area, (counts.get(area) ?? 0) + count);
  }
  const areas = [...counts].sort(([, a], [, b]) => b - a).slice(0, 10);
  if (areas.length === 0) return <p class="sm dim">The series have neither categories nor sources.</p>;
  return (
    <DataTable
      caption={by === 'category' ? 'Series by area' : 'Series by source'}
      dense
      cards={false}
      rows={areas}
      keyOf={([area]) => area}
      columns={[
        {
          label: by === 'category' ? 'Area' : 'Source',
          cell: ([area]) => (
            <Link href={`/catalogue?${new URLSearchParams({ [by]: area }).toString()}`}>{area}</Link>
          ),
        },
        { label: 'Series', right: true, cell: ([, count]) => numberText(count) },
      ]}
    />
  );
}

function NothingLoaded() {
  return (
    <section>
      <Empty title="No data is loaded yet">
        <p>
          A file with the columns series_id, date and value is enough. This command loads it and makes its
          series:
        </p>
      </Empty>
      <div class="mt">
        <CodePanel
          code={
            'npx almanac ingest observations data.csv --create \\\n  --set frequency=monthly,unit=Index,source="Statistics office"'
          }
        />
      </div>
    </section>
  );
}
