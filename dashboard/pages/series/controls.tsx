// The controls of the view of a series: dimension values, chart or table, transform, vintage, scale.
import { labelOf, transformNames } from '../../../domain/chart/captions.ts';
import { linesMax } from '../../../domain/chart/layout.ts';
import { lineStyle, palettes } from '../../../domain/chart/palette.ts';
import { Link } from 'wouter-preact';
import { Swatch } from '../../charts/legend.tsx';
import { Choice } from '../../components/choice.tsx';
import { Pick } from '../../components/pick.tsx';
import { dayText } from '../../text/times.ts';
import type { SeriesEntry } from './series-points.ts';
import { aggregates, type Aggregate } from '../../../domain/aggregates.ts';
import { isApplicable, transforms, unitPreserving, type Transform } from '../../../domain/transforms.ts';
import { lineCount, type Dimension } from './default-view.ts';
import { frequenciesOffered, type SeriesState } from './series-state.ts';
import { VintagePick, type Vintages } from './vintage-pick.tsx';

interface ControlsProps {
  entry: SeriesEntry;
  state: SeriesState;
  change: (part: Partial<SeriesState>) => void;
  vintages: Vintages;
  isPreview: boolean;
}

const views = [
  { value: 'chart', label: 'Chart' },
  { value: 'table', label: 'Table' },
] as const;

export function Controls({ entry, state, change, vintages, isPreview }: ControlsProps) {
  const isSingle = entry.dims.length === 1;
  return (
    <div class="controls">
      {entry.dims.length > 0 && (
        <div>
          {entry.dims.map((dimension) => (
            <Chips
              key={dimension.name}
              {...{ dimension, state, change }}
              isColoured={isSingle && dimension.values.length <= linesMax}
              isNamed={!isSingle}
            />
          ))}
        </div>
      )}
      <div class="bar-ctl">
        <Choice label="View" options={views} value={state.view} onChange={(view) => change({ view })} />
        <FrequencyPicks {...{ entry, state, change, isPreview }} />
        <label class="ctl">
          <span class="lab">Transform</span>
          <Pick
            value={isPreview ? '' : (state.transform ?? '')}
            disabled={isPreview}
            title={isPreview ? 'Transforms need a key' : undefined}
            options={[
              { value: '', label: 'Level, as published' },
              ...transforms
                .filter((each) => isApplicable(each, state.frequency ?? entry.frequency))
                .map((each) => ({ value: each, label: transformLabel(each) })),
            ]}
            onPick={(value) => change({ transform: transforms.find((each) => each === value) ?? null })}
          />
        </label>
        <AsOf {...{ entry, state, change, vintages }} />
        <label class="check push">
          <input type="checkbox" checked={state.isLog} onChange={() => change({ isLog: !state.isLog })} />
          Log scale
        </label>
      </div>
    </div>
  );
}

const aggregateLabels: Readonly<Record<Aggregate, string>> = {
  avg: 'Mean',
  sum: 'Sum',
  last: 'Last value',
  first: 'First value',
  min: 'Lowest value',
  max: 'Highest value',
};

/** The frequency of the points, and how they are aggregated. Only frequencies lower than that of the series are offered. */
function FrequencyPicks({ entry, state, change, isPreview }: Omit<ControlsProps, 'vintages'>) {
  const offered = frequenciesOffered(entry.frequency);
  if (offered.length === 0) return null;
  const locked = { disabled: isPreview, title: isPreview ? 'Other frequencies need a key' : undefined };
  const named = (frequency: string) => frequency.charAt(0).toUpperCase() + frequency.slice(1);
  return (
    <>
      <label class="ctl">
        <span class="lab">Frequency</span>
        <Pick
          {...locked}
          value={isPreview ? '' : (state.frequency ?? '')}
          options={[
            { value: '', label: `${named(entry.frequency)}, as published` },
            ...offered.map((each) => ({ value: each, label: named(each) })),
          ]}
          onPick={(value) => change({ frequency: offered.find((each) => each === value) ?? null })}
        />
      </label>
      {state.frequency !== null && !isPreview && (
        <label class="ctl">
          <span class="lab">Each period is its</span>
          <Pick
            value={state.aggregate ?? 'avg'}
            options={aggregates.map((each) => ({ value: each, label: aggregateLabels[each] }))}
            onPick={(value) => change({ aggregate: aggregates.find((each) => each === value) ?? null })}
          />
        </label>
      )}
    </>
  );
}

function transformLabel(transform: Transform): string {
  if (transform === 'index') return 'Index, start = 100';
  const name = transformNames[transform] ?? transform;
  const isPercentage = !unitPreserving.has(transform) && transform !== 'log' && transform !== 'zscore';
  return isPercentage ? `${name}, %` : name;
}

interface ChipsProps extends Pick<ControlsProps, 'state' | 'change'> {
  dimension: Dimension;
  /** Whether each value is one line, whose colour and dash its chip shows. */
  isColoured: boolean;
  isNamed: boolean;
}

function Chips({ dimension: { name, values, labels }, state, change, isColoured, isNamed }: ChipsProps) {
  const selected = state.selected[name] ?? [];
  const others = lineCount(state.selected) / Math.max(1, selected.length);
  const isFull = others * (selected.length + 1) > linesMax;
  function toggle(value: string) {
    const isOn = selected.includes(value);
    const next = values.filter((each) => (each === value ? !isOn : selected.includes(each)));
    change({ selected: { ...state.selected, [name]: next } });
  }
  return (
    <div class="chip-group" role="group" aria-label={name}>
      {isNamed && <span class="lab">{name}</span>}
      <div class="chips">
        {values.map((value, i) => {
          const isOn = selected.includes(value);
          const isLast = isOn && selected.length === 1;
          const { colourNo, dashNo } = lineStyle(i);
          const colour = palettes.page.series[colourNo] ?? palettes.page.ink;
          const why = isLast
            ? 'At least one is required'
            : !isOn && isFull
              ? `At most ${linesMax} lines`
              : undefined;
          return (
            <label key={value} class="chip" style={isColoured ? { '--colour': colour } : {}} title={why}>
              <input
                type="checkbox"
                checked={isOn}
                disabled={why !== undefined && !isOn}
                onChange={(event) => {
                  if (isLast) event.currentTarget.checked = true;
                  else toggle(value);
                }}
              />
              <span>
                {isColoured && dashNo > 0 ? <Swatch colour={colour} dashNo={dashNo} /> : <i />}
                {labelOf({ [name]: labels }, name, value)}
              </span>
            </label>
          );
        })}
      </div>
    </div>
  );
}

function AsOf({ entry, state, change, vintages }: Omit<ControlsProps, 'isPreview'>) {
  const latest = entry.last_updated === null ? 'Latest' : `Latest, ${dayText(entry.last_updated)}`;
  const isLocked = vintages.kind === 'locked';
  return (
    <span class="ctl">
      <label class="ctl">
        <span class="lab">As of</span>
        <VintagePick
          {...{ vintages, latest }}
          vintage={state.vintage}
          onPick={(vintage) => change({ vintage })}
        />
      </label>
      {isLocked && vintages.why !== 'failed' && (
        <Link class="xs" href="/plans">
          See the plans
        </Link>
      )}
    </span>
  );
}
