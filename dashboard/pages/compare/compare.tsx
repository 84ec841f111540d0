// Up to eight series on one chart, each as of the day chosen for it. Its state is the URL.
import { useMemo, useState } from 'preact/hooks';
import { layOut } from '../../../domain/chart/layout.ts';
import { decimalsOf, periodName } from '../../../domain/chart/text.ts';
import { accessKey } from '../../api/access-key.ts';
import { useLoad } from '../../api/use-load.ts';
import { CursorChart } from '../../charts/cursor-chart.tsx';
import { saveText } from '../../charts/files.ts';
import { useWidth } from '../../charts/use-width.ts';
import { Choice } from '../../components/choice.tsx';
import { CopyButton } from '../../components/copy-button.tsx';
import { DownloadIcon } from '../../components/icons.tsx';
import { Pick } from '../../components/pick.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Search } from '../../shell/search.tsx';
import { Empty, Waiting } from '../../components/states.tsx';
import { useSearchParams } from '../../components/use-query.ts';
import { AccessKey } from '../series/access-key-field.tsx';
import { ValuesTable } from '../series/values-table.tsx';
import {
  comparedMax,
  leftOutOf,
  queryOfState,
  stateOf,
  textOf,
  yearsOffered,
  type Compared,
  type CompareState,
} from './compare-state.ts';
import { loadCompared, type Loaded, type Outcome } from './load-compared.ts';
import { comparisonCsv, comparisonOf, type Comparison } from './comparison-chart.ts';
import { ComparedTable } from './compared-table.tsx';
import '../../styles/series.css';

const modeOptions = [
  { value: 'rebased', label: 'Rebased' },
  { value: 'levels', label: 'As published' },
  { value: 'ratio', label: 'Ratio' },
] as const;
const yearOptions = [
  ...yearsOffered.map((years) => ({ value: String(years), label: `${years} years` })),
  { value: 'all', label: 'All' },
];

export function Compare() {
  const [search, setSearch] = useSearchParams();
  const state = useMemo(() => stateOf(search), [search.toString()]);
  const leftOut = leftOutOf(search);
  const [refused, setRefused] = useState<string>();
  const change = (part: Partial<CompareState>) => {
    setRefused(undefined);
    setSearch(queryOfState({ ...state, ...part }));
  };
  const names = state.series.map(textOf);
  const outcomes = useLoad(
    (signal) => loadCompared(state.series, signal),
    [names.join('\n'), accessKey.value],
  );

  function add(id: string) {
    if (state.series.length >= comparedMax) return setRefused(id);
    const isNew = !state.series.some((each) => each.id === id && each.vintage === null && each.dims === null);
    if (isNew) change({ series: [...state.series, { id, vintage: null, version: null, dims: null }] });
  }
  return (
    <div class="wrap">
      <PageHead
        title="Compare"
        lede="Up to 8 series on one chart, each as it was published on the day you choose."
      />
      {state.series.length === 0 ? (
        <>
          <h2 class="vh">Series</h2>
          <Empty title="Nothing to compare yet">
            <p>Add a series below, or choose Compare on the page of a series.</p>
          </Empty>
        </>
      ) : (
        <Waiting
          for={outcomes}
          failure="The series could not be loaded"
          skeleton={<div class="chart-holder sk" />}
        >
          {(found) => <ComparedView {...{ state, change }} outcomes={found} />}
        </Waiting>
      )}
      {leftOut.length > 0 && (
        <p class="note warn" role="status">
          <span>
            <b>Only the first eight series are compared.</b> Omitted: {leftOut.map(({ id }) => id).join(', ')}
            .
          </span>
        </p>
      )}
      {refused !== undefined && (
        <p class="note warn" role="alert">
          <span>
            <b>The comparison already has eight series.</b> Remove one to add {refused}.
          </span>
        </p>
      )}
      <div class="compare-add">
        <Search label="Add a series" placeholder="Add a series" onPick={add} />
      </div>
    </div>
  );
}

interface ComparedViewProps {
  state: CompareState;
  change: (part: Partial<CompareState>) => void;
  outcomes: readonly Outcome[];
}

function ComparedView({ state, change, outcomes }: ComparedViewProps) {
  const loaded = useMemo(() => outcomes.filter((each): each is Loaded => 'points' in each), [outcomes]);
  const comparison = useMemo(() => comparisonOf(state, loaded), [state, loaded]);
  const { chart, dates, base, bases } = comparison;
  const isPreview = loaded.some((each) => each.isPreview);
  const window = { first: 0, last: dates.length - 1 };
  const shownValues = chart.lines.flatMap(({ points }) => points.flatMap(({ value }) => value ?? []));
  const decimals = state.mode === 'levels' ? decimalsOf(shownValues) : state.mode === 'ratio' ? 4 : 2;
  const replace = (at: number, by: Compared | null) =>
    change({ series: state.series.flatMap((each, i) => (i !== at ? each : (by ?? []))) });
  return (
    <>
      <div class="bar-ctl controls-row">
        <Choice label="How" options={modeOptions} value={state.mode} onChange={(mode) => change({ mode })} />
        {state.mode === 'rebased' && base !== null && (
          <label class="ctl">
            <span class="lab">Base</span>
            <Pick
              value={base}
              options={(bases.includes(base) ? bases : [base, ...bases])
                .toReversed()
                .map((day) => ({ value: day, label: periodName(day, comparison.baseFrequency) }))}
              onPick={(day) => change({ base: day })}
            />
          </label>
        )}
        <span class="push">
          <Choice
            label="Window"
            options={yearOptions}
            value={state.years === null ? 'all' : String(state.years)}
            onChange={(value) => change({ years: value === 'all' ? null : Number(value) })}
          />
        </span>
      </div>
      <figure class="fig">
        {comparison.hasNoCommonPeriod ? (
          <Empty title="The series have no period in common">
            <p>
              No period of this window has a non-zero value of every series. Choose a longer window, or show
              the series as published.
            </p>
          </Empty>
        ) : (
          loaded.length > 0 && <ComparisonChart comparison={comparison} decimals={decimals} />
        )}
        <figcaption>
          {chart.lines.some(({ isDotted }) => isDotted) &&
            'A dotted line is the same series as it was published earlier. '}
          {isPreview &&
            state.series.some(({ vintage }) => vintage !== null) &&
            'Vintages need a key: the newest values are shown. '}
          The URL of this page contains the series, their vintages and the base.
        </figcaption>
      </figure>
      {isPreview || accessKey.value !== undefined ? (
        <AccessKey>
          This is the public preview: the newest values of each series. All values and vintages need a key.
        </AccessKey>
      ) : null}
      <section>
        <div class="sec-head">
          <h2>Series</h2>
          <p>
            {state.series.length} of {comparedMax}
          </p>
          <span class="push actions">
            <PinnedLink {...{ state, loaded, isPreview }} />
            <button
              class="btn sml"
              type="button"
              onClick={() => saveText(comparisonCsv(comparison), 'comparison.csv', 'text/csv')}
            >
              <DownloadIcon />
              CSV
            </button>
          </span>
        </div>
        <ComparedTable {...{ comparison, outcomes, replace, decimals }} mode={state.mode} />
        <details class="values">
          <summary>Values as a table</summary>
          <ValuesTable shown={{ chart, dates, window, decimals }} rowsMax={100} />
        </details>
      </section>
    </>
  );
}

function ComparisonChart({ comparison: { chart }, decimals }: { comparison: Comparison; decimals: number }) {
  const [holder, width] = useWidth<HTMLDivElement>();
  const layout = useMemo(
    () =>
      width === 0 ? undefined : layOut({ ...chart, width, height: width < 560 ? 300 : 400, theme: 'page' }),
    [chart, width],
  );
  return (
    <div ref={holder} class="chart-holder">
      {layout !== undefined && <CursorChart layout={layout} decimals={decimals} />}
    </div>
  );
}

/** A link whose series are pinned to the loads on screen: later loads change nothing there. */
function PinnedLink({
  state,
  loaded,
  isPreview,
}: {
  state: CompareState;
  loaded: readonly Loaded[];
  isPreview: boolean;
}) {
  if (isPreview || loaded.length < state.series.length) {
    return (
      <button class="btn sml" type="button" disabled title="A version can be pinned with a key">
        Copy link to this version
      </button>
    );
  }
  const pinned = () => {
    const series = loaded.map(({ compared, meta, dims }) => {
      const vintage = compared.vintage ?? meta.last_updated;
      return { ...compared, dims, vintage, version: vintage === null ? null : meta.version };
    });
    return `${location.origin}/compare?${queryOfState({ ...state, series }).toString()}`;
  };
  return (
    <CopyButton text={pinned} label="Copy link to this version">
      Copy link to this version
    </CopyButton>
  );
}
