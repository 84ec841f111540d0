// The front page: search, the newest and the next releases, what this installation holds, and how to call it; as the operator has configured it.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api } from '../../api/clients.ts';
import { shownIn, useLoad, type Loaded } from '../../api/use-load.ts';
import { HeroChart } from './hero-chart.tsx';
import { CodePanel } from '../../components/code-panel.tsx';
import { usePageTitle } from '../../components/page-head.tsx';
import { Empty } from '../../components/states.tsx';
import { Search } from '../../shell/search.tsx';
import { Holdings } from './contents.tsx';
import { loadHome, type Block, type FrontPage, type Home as HomeData } from './load-home.ts';
import '../../styles/home.css';

export function Home() {
  const [page, setPage] = useState<FrontPage>();
  const home = useLoad((signal) => loadHome(signal, setPage), []);
  const status = useLoad((signal) => api.get('/v1/status', { signal }), []);
  const isEmpty = home.phase === 'ready' && home.value.catalog.count === 0;
  const shows = (block: Block) => page === undefined || page.blocks.includes(block);
  const hasChart = !isEmpty && shows('chart');
  // Texts that the operator may have replaced are not shown while loading; after a while, a placeholder is.
  const isUnknown = page === undefined && home.phase === 'begun';
  return (
    <div class="wrap">
      <div class={hasChart ? 'hero' : 'hero alone'}>
        <div>
          <Words page={page} isUnknown={isUnknown} />
          <Search large placeholder="Search series and funds" />
          <Suggestions home={home} />
        </div>
        {hasChart && (
          <HeroChart newest={shownIn(home)} openSeries={shownIn(status)?.data.open_revisions_series} />
        )}
      </div>
      {isEmpty ? (
        <NothingLoaded />
      ) : (
        <div class={isUnknown ? 'sk-later' : undefined}>
          <Holdings home={home} status={status} shows={shows} />
        </div>
      )}
    </div>
  );
}

/** The logo, the title and the text; Almanac's if the operator has configured none. */
function Words({ page, isUnknown }: { page: FrontPage | undefined; isUnknown: boolean }) {
  const heading = usePageTitle(page?.title ?? 'Statistics with their whole history');
  const { logo = null, title = null, text_html: html = null } = page ?? {};
  return (
    <div class={isUnknown ? 'unknown' : undefined}>
      {logo !== null && <img class="hero-logo" src={logo.src} alt={logo.alt} />}
      <h1 ref={heading} tabIndex={-1}>
        {title ?? 'Every number, and every number it used to be'}
      </h1>
      {html === null ? (
        title === null && (
          <p class="lede">
            Statistical series with each revision kept, funds and securities, in one API. Request the data as
            published on any day.
          </p>
        )
      ) : (
        <div class="lede" dangerouslySetInnerHTML={{ __html: html }} />
      )}
    </div>
  );
}

/** Example searches: names of existing series. */
function Suggestions({ home }: { home: Loaded<HomeData> }) {
  if (home.phase !== 'ready') return <p class="try">{'\u00a0'}</p>;
  const names = home.value.rows.map(({ id, name }) => ({ id, name }));
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
