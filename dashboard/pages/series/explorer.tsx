// The chart or table of a series with its controls, the code that fetches it, and its newest values. Its state is the URL.
import { useMemo, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { accessKey } from '../../api/access-key.ts';
import { useBulk } from '../../api/bulk-feature.ts';
import { useLoad } from '../../api/use-load.ts';
import { AccessKey } from './access-key-field.tsx';
import { CodeTabs } from '../../components/code-panel.tsx';
import { PlusIcon } from '../../components/icons.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Waiting } from '../../components/states.tsx';
import { useSearchParams } from '../../components/use-query.ts';
import { dayText } from '../../text/times.ts';
import { FollowButton } from '../following/follow-button.tsx';
import { Actions } from './actions.tsx';
import { Controls } from './controls.tsx';
import { SeriesFacts, SourceAndLicence } from './facts.tsx';
import { loadPoints, type SeriesEntry, type SeriesPoints } from './series-points.ts';
import { linesByDefault } from './default-view.ts';
import { dimsQuery, queryOfState, stateOf, type SeriesState } from './series-state.ts';
import { shownOf, defaultWindowStart } from './shown.ts';
import { aggregationText, transformNames } from '../../../domain/chart/captions.ts';
import { ValuesTable } from './values-table.tsx';
import { viewSamples } from './exports.ts';
import { ChartPanel, useShownLines } from './chart-panel.tsx';
import { useVintages } from './vintage-pick.tsx';
import type { Window } from '../../charts/window.ts';

export function Explorer({ entry }: { entry: SeriesEntry }) {
  const [search, setSearch] = useSearchParams();
  const state = useMemo(() => stateOf(search, entry, entry.frequency), [search.toString(), entry]);
  const vintages = useVintages(entry.id);
  const key = accessKey.value;
  const isWhole = entry.dims.reduce((product, { values }) => product * values.length, 1) <= linesByDefault;
  const dims = isWhole ? [] : dimsQuery(state.selected, entry.dims);
  const base = state.transform === 'index' ? (state.base ?? state.from ?? defaultWindowStart(entry)) : null;
  const { frequency, aggregate, transform, vintage } = state;
  const points = useLoad(
    (signal) => loadPoints(entry.id, { dims, frequency, aggregate, transform, base, vintage }, signal),
    [entry.id, dims.join(), frequency, aggregate, transform, base, vintage, key],
  );
  const change = (part: Partial<SeriesState>) => setSearch(queryOfState({ ...state, ...part }, entry));

  return (
    <>
      <PageHead
        title={entry.name}
        crumb={<Crumb entry={entry} />}
        lede={[entry.description, entry.geography].filter(Boolean).join('. ')}
        actions={
          <>
            <FollowButton kind="series" of={entry.id} named={entry.name} />
            <Link class="btn" href={`/compare?s=${encodeURIComponent(entry.id)}`}>
              <PlusIcon />
              Compare
            </Link>
          </>
        }
      />
      <Waiting
        for={points}
        failure="The values could not be loaded"
        skeleton={<div class="chart-holder sk" />}
      >
        {(loaded) => <View {...{ entry, state, change, vintages, base }} points={loaded} />}
      </Waiting>
      {points.phase === 'failed' && <AccessKey>{previewSays(null)}</AccessKey>}
    </>
  );
}

interface ViewProps {
  entry: SeriesEntry;
  state: SeriesState;
  change: (part: Partial<SeriesState>) => void;
  vintages: ReturnType<typeof useVintages>;
  base: string | null;
  points: SeriesPoints;
}

function View({ entry, state, change, vintages, base, points }: ViewProps) {
  /** The window while the brush is dragged; the URL is updated on release. */
  const [dragged, setDragged] = useState<Window>();
  const shown = useMemo(
    () => shownOf(entry, state, points, dragged, base),
    [entry, state, points, dragged, base],
  );
  const lines = useShownLines(shown.chart.lines);
  const samples = viewSamples(location.origin, entry, state.selected, shown, useBulk());
  function onWindow(window: Window, isDone: boolean) {
    setDragged(isDone ? undefined : window);
    if (!isDone) return;
    const isAll = window.first === 0 && window.last === shown.dates.length - 1;
    const from = shown.dates[window.first] ?? null;
    const to = window.last === shown.dates.length - 1 ? null : (shown.dates[window.last] ?? null);
    change(isAll && shown.isAllByDefault ? { from: null, to: null } : { from, to });
  }
  return (
    <>
      <div class="two">
        <div>
          <Controls {...{ entry, state, change, vintages }} isPreview={points.previewPoints !== null} />
          <figure class="fig">
            {state.view === 'chart' ? (
              <ChartPanel {...{ shown, lines, onWindow }} />
            ) : (
              <ValuesTable shown={shown} rowsMax={100} />
            )}
            <Actions {...{ entry, shown, points, onWindow }} lines={lines.visible} />
            <figcaption>
              <Caption {...{ entry, state, points }} />
            </figcaption>
          </figure>
          <AccessKey>{previewSays(points.previewPoints)}</AccessKey>
        </div>
        <aside aria-label="Facts">
          <SeriesFacts entry={entry} />
          <SourceAndLicence entry={entry} />
        </aside>
      </div>
      <section class="half">
        <div>
          <div class="sec-head">
            <h2>Copy this view as code</h2>
          </div>
          <CodeTabs
            samples={samples}
            {...(state.language === null ? {} : { selected: state.language })}
            onSelect={(language) => change({ language })}
          />
          <p class="xs dim code-note">
            Set <code>ALMANAC_KEY</code> to one of your keys. <Link href="/dashboard/keys">Your keys</Link>
          </p>
        </div>
        <div>
          <div class="sec-head">
            <h2>Newest values</h2>
            {shown.chart.unit !== '' && <p>{shown.chart.unit}</p>}
          </div>
          <ValuesTable shown={shown} rowsMax={6} isBrief />
        </div>
      </section>
    </>
  );
}

function Crumb({ entry }: { entry: SeriesEntry }) {
  const parts = entry.category?.split('/') ?? [];
  return (
    <>
      <Link href="/catalogue">Catalogue</Link>
      {parts.map((part, i) => (
        <>
          <span>/</span>
          <Link href={`/catalogue?category=${encodeURIComponent(parts.slice(0, i + 1).join('/'))}`}>
            {part}
          </Link>
        </>
      ))}
    </>
  );
}

function Caption({ entry, state, points }: Pick<ViewProps, 'entry' | 'state' | 'points'>) {
  const { meta, previewPoints, isCut } = points;
  const aggregation = aggregationText(meta);
  const released =
    meta.last_updated === null ? 'Not released yet.' : `Released ${dayText(meta.last_updated)}.`;
  const isRefused =
    previewPoints !== null && [state.frequency, state.transform, state.vintage].some((each) => each !== null);
  return (
    <>
      {meta.vintage === null ? released : `As published by ${dayText(meta.vintage)}. ${released}`}
      {aggregation !== null && ` ${aggregation}`}
      {meta.transform !== null && ` ${transformText(meta.transform, meta.base_date ?? null)}`}
      {isCut && ' Only the newest 100,000 values are shown.'}
      {entry.attribution !== null && ` ${entry.attribution}.`}
      {isRefused &&
        ' The frequency, the transform or the day in the address of this page needs a key: these are the values as published, at their newest.'}{' '}
      The URL of this page contains the window, chips, frequency and transform.
    </>
  );
}

function transformText(transform: string, baseDate: string | null): string {
  if (transform === 'index') return baseDate === null ? 'Index.' : `Index, ${dayText(baseDate)} = 100.`;
  return `${transformNames[transform] ?? transform}.`;
}

function previewSays(points: number | null): string {
  const count =
    points === null
      ? ''
      : points === 1
        ? ' of the newest value of each line'
        : ` of the newest ${points} values per line`;
  return `This is the public preview${count}. All values, transforms and vintages need a key.`;
}
