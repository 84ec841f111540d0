// The blocks of the front page below its head that the operator has not hidden.
import type { ComponentChild } from 'preact';
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import type { Loaded } from '../../api/use-load.ts';
import { NextReleases } from './releases.tsx';
import { SeriesTable } from '../../components/series-table.tsx';
import { SkeletonRows, Waiting } from '../../components/states.tsx';
import { HowToCall } from './sample-calls.tsx';
import { Areas } from './areas.tsx';
import { Figures } from './figures.tsx';
import { newestCount, type Block, type Home } from './load-home.ts';

interface HoldingsProps {
  home: Loaded<Home>;
  status: Loaded<AnswerOf<'get', '/v1/status'>>;
  /** Whether a block is shown. */
  shows: (block: Block) => boolean;
}

export function Holdings({ home, status, shows }: HoldingsProps) {
  return (
    <>
      {shows('figures') && <Figures home={home} status={status} />}
      {shows('series') && home.phase === 'ready' && <ChosenSeries home={home.value} />}
      <SideBySide class="two">
        {shows('newest') && <NewestReleases home={home} />}
        {shows('releases') && <ComingReleases />}
      </SideBySide>
      <SideBySide class="half">
        {shows('areas') && <InstalledAreas home={home} />}
        {shows('calls') && <HowToCall home={home} />}
      </SideBySide>
    </>
  );
}

/** Two blocks side by side; a single one has the full width, and without any there is no space. */
function SideBySide({ class: columns, children }: { class: 'two' | 'half'; children: ComponentChild[] }) {
  const shown = children.filter((child) => child !== false);
  if (shown.length === 0) return null;
  return <section class={shown.length === 1 ? undefined : columns}>{shown}</section>;
}

function ChosenSeries({ home: { page, previews } }: { home: Home }) {
  if (page.series.length === 0) return null;
  const title = page.series_title ?? 'Selected series';
  return (
    <section>
      <div class="sec-head">
        <h2>{title}</h2>
      </div>
      <SeriesTable caption={title} rows={page.series} previews={previews} />
    </section>
  );
}

function NewestReleases({ home }: Pick<HoldingsProps, 'home'>) {
  return (
    <div>
      <div class="sec-head">
        <h2>Newest releases</h2>
        <Link class="push sm" href="/catalogue?sort=-last_updated">
          All series
        </Link>
      </div>
      <Waiting
        for={home}
        skeleton={<SkeletonRows rows={newestCount} />}
        failure="The newest releases could not be loaded"
      >
        {({ newest, previews }) =>
          newest.length === 0 ? (
            <p class="sm dim">No series has a recent observation for its frequency.</p>
          ) : (
            <SeriesTable caption="Newest releases" rows={newest} previews={previews} />
          )
        }
      </Waiting>
    </div>
  );
}

function ComingReleases() {
  return (
    <div>
      <div class="sec-head">
        <h2>Next releases</h2>
        <a class="push sm" href="/v1/calendar?format=ics">
          Subscribe (ICS)
        </a>
      </div>
      <NextReleases count={6} />
    </div>
  );
}

function InstalledAreas({ home }: Pick<HoldingsProps, 'home'>) {
  return (
    <div>
      <div class="sec-head">
        <h2>Data in this installation</h2>
        <Link class="push sm" href="/catalogue">
          Catalogue
        </Link>
      </div>
      <Waiting
        for={home}
        skeleton={<SkeletonRows rows={8} height={45} />}
        failure="The areas could not be loaded"
      >
        {({ catalog }) => <Areas facets={catalog.meta?.facets} />}
      </Waiting>
    </div>
  );
}
