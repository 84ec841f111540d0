// The panel beside the charts: the changes of the shown vintage, and the revision history of the selected period.
import { scaleLinear } from 'd3-scale';
import { linearExtent, linearTicks } from '../../../domain/chart/ticks.ts';
import {
  changesOf,
  lifeOf,
  type Change,
  type RevisionTable,
  type Step,
} from '../../../domain/chart/revisions/table.ts';
import { ChartFrame } from '../../charts/chart-frame.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { countText, numberText } from '../../text/numbers.ts';
import { dayText } from '../../text/times.ts';
import type { Formats } from './formats.ts';

interface ChangedProps {
  table: RevisionTable;
  formats: Formats;
  vintageNo: number;
  onVintage: (vintageNo: number) => void;
  onDate: (dateNo: number) => void;
}

const listedMost = 12;

export function Changed({ table, formats, vintageNo, onVintage, onDate }: ChangedProps) {
  const changes = changesOf(table, vintageNo);
  const listed = changes.slice(0, listedMost);
  const earlier = [vintageNo - 1, vintageNo - 2].filter((no) => no >= 0);
  return (
    <div class="changed">
      <h2>
        What changed on <span class="nb">{dayText(table.vintages[vintageNo] ?? '')}</span>
      </h2>
      <p class="sub">{summaryOf(table, changes, vintageNo, formats)}</p>
      {listed.length > 0 && (
        <DataTable
          caption="What this vintage changed"
          dense
          cards={false}
          rows={listed}
          keyOf={({ dateNo }) => String(dateNo)}
          columns={[
            {
              label: capital(formats.periodName),
              cell: ({ dateNo }) => (
                <button class="link in-text-colour" type="button" onClick={() => onDate(dateNo)}>
                  {formats.period(table.dates[dateNo] ?? '')}
                </button>
              ),
            },
            { label: 'Before', right: true, cell: ({ before }) => valueText(before, formats) },
            { label: 'After', right: true, cell: ({ after }) => valueText(after, formats) },
            {
              label: 'Change',
              right: true,
              cell: (change) => <ChangeMark change={change} formats={formats} />,
            },
          ]}
        />
      )}
      <More changes={changes.slice(listedMost)} formats={formats} />
      {earlier.length > 0 && (
        <p class="earlier-days">
          Earlier releases:{' '}
          {earlier.map((no, i) => (
            <>
              {i > 0 && ', '}
              <button class="link" type="button" onClick={() => onVintage(no)}>
                {dayText(table.vintages[no] ?? '')}
              </button>
            </>
          ))}
        </p>
      )}
    </div>
  );
}

function ChangeMark({ change: { before, after }, formats }: { change: Change; formats: Formats }) {
  if (before === null) return <span class="tag acc">new</span>;
  if (after === null) return <span class="tag">withdrawn</span>;
  return <Difference by={after - before} formats={formats} />;
}

function Difference({ by, formats }: { by: number; formats: Formats }) {
  return <span class={by > 0 ? 'up' : 'down'}>{formats.change(by)}</span>;
}

function More({ changes, formats }: { changes: readonly Change[]; formats: Formats }) {
  if (changes.length === 0) return null;
  const differences = changes.flatMap(({ before, after }) =>
    before === null || after === null ? [] : [after - before],
  );
  const range =
    differences.length === 0
      ? ''
      : `, by ${formats.change(Math.min(...differences))} to ${formats.change(Math.max(...differences))}`;
  return (
    <p class="earlier-days">
      and {numberText(changes.length)} more{range}
    </p>
  );
}

function summaryOf(
  { rows }: RevisionTable,
  changes: readonly Change[],
  vintageNo: number,
  { periodName }: Formats,
): string {
  if (vintageNo === 0) {
    const count = rows.filter((row) => row[0] !== null).length;
    return `The first vintage, with ${countText(count, periodName)}`;
  }
  const added = changes.filter(({ before }) => before === null).length;
  const deleted = changes.filter(({ after }) => after === null).length;
  const revised = changes.length - added - deleted;
  const parts = [
    added > 0 && `${countText(added, periodName)} added`,
    revised > 0 && `${numberText(revised)} revised`,
    deleted > 0 && `${numberText(deleted)} withdrawn`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return 'No values changed';
  return added > 0 && revised === 0 && deleted === 0 ? `${parts.join(', ')}, none revised` : parts.join(', ');
}

const valueText = (value: number | null, formats: Formats): string =>
  value === null ? '–' : formats.value(value);

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

interface PeriodHistoryProps {
  table: RevisionTable;
  formats: Formats;
  dateNo: number;
  /** Whether its first value in these vintages is its first print. */
  isPrinted: boolean;
}

const stepsListedMost = 14;

export function PeriodHistory({ table, formats, dateNo, isPrinted }: PeriodHistoryProps) {
  const steps = lifeOf(table, dateNo);
  const period = formats.period(table.dates[dateNo] ?? '');
  const changes = Math.max(0, steps.length - 1);
  const first = dayText(table.vintages[steps[0]?.vintageNo ?? 0] ?? '');
  const shown =
    steps.length > stepsListedMost ? [...steps.slice(0, 1), ...steps.slice(1 - stepsListedMost)] : steps;
  const times = changes === 0 ? 'never revised' : changes === 1 ? 'revised once' : `revised ${changes} times`;
  const changeOf = ({ value }: Step, i: number) => {
    if (i === 0) return <span class="dim">{isPrinted ? 'first' : 'at first'}</span>;
    if (value === null) return <span class="tag">withdrawn</span>;
    const before = steps[steps.length - shown.length + i - 1]?.value ?? null;
    if (before === null) return <span class="tag">restored</span>;
    return <Difference by={value - before} formats={formats} />;
  };
  const isUnchangedSince = steps.at(-1)?.vintageNo !== table.vintages.length - 1;
  return (
    <div class="life stick">
      <h2>Revision history of {period}</h2>
      <p class="sub">
        {isPrinted
          ? `First published ${first}, ${times}`
          : `First published before ${first}, since then ${times}`}
      </p>
      <HistoryChart table={table} formats={formats} steps={steps} isPrinted={isPrinted} />
      <DataTable
        caption={`Every value of ${period}`}
        dense
        cards={false}
        rows={shown}
        keyOf={({ vintageNo }) => String(vintageNo)}
        columns={[
          { label: 'As of', cell: ({ vintageNo }) => dayText(table.vintages[vintageNo] ?? '') },
          { label: 'Value', right: true, cell: ({ value }) => valueText(value, formats) },
          { label: 'Change', right: true, cell: changeOf },
        ]}
      />
      <p class="hint">
        {isUnchangedSince && changes > 0 ? 'Unchanged since. ' : ''}
        Click a cell, or use the arrow keys in the chart, to select another {formats.periodName}.
      </p>
    </div>
  );
}

interface HistoryChartProps {
  table: RevisionTable;
  formats: Formats;
  steps: readonly Step[];
  isPrinted: boolean;
}

const life = { width: 268, height: 150, left: 46, right: 262, top: 26, bottom: 124 };

/** Steps, not slopes: a value is valid until the next release. */
function HistoryChart({ table, formats, steps, isPrinted }: HistoryChartProps) {
  const valued = steps.flatMap(({ vintageNo, value }) => (value === null ? [] : [{ vintageNo, value }]));
  const [first, last] = [valued[0], valued.at(-1)];
  if (first === undefined || last === undefined) return null;
  const values = valued.map(({ value }) => value);
  const low = Math.min(...values);
  const high = Math.max(...values);
  const extent = linearExtent({ low: low - (high - low) * 0.1, high: high + (high - low) * 0.1 }, null);
  const dayOf = (vintageNo: number): number => Date.parse(table.vintages[vintageNo] ?? '') / 86_400_000;
  const newest = table.vintages.length - 1;
  const [begin, end] = [dayOf(first.vintageNo), Math.max(dayOf(newest), dayOf(first.vintageNo) + 1)];
  const ticks = [first.vintageNo, newest].map((no) => ({
    day: dayOf(no),
    label: dayText(table.vintages[no] ?? ''),
  }));
  const axes = {
    frame: life,
    width: life.width,
    valueTicks: linearTicks(extent, formats.unit).slice(0, 5),
    dateTicks: begin === dayOf(newest) ? ticks.slice(1) : ticks,
    x: scaleLinear()
      .domain([begin, end])
      .range([life.left + 6, life.right]),
    y: scaleLinear().domain([extent.low, extent.high]).range([life.bottom, life.top]),
  };
  const { x, y } = axes;
  const path = steps
    .map(({ vintageNo, value }, i) => {
      if (value === null) return '';
      const isJoined = i > 0 && steps[i - 1]?.value !== null;
      const until = steps[i + 1]?.vintageNo ?? newest;
      const [from, to] = [x(dayOf(vintageNo)).toFixed(1), x(dayOf(until)).toFixed(1)];
      return `${isJoined ? `V${y(value).toFixed(1)}` : `M${from},${y(value).toFixed(1)}`}H${to}`;
    })
    .join('');
  return (
    <ChartFrame
      height={life.height}
      axes={axes}
      unit="Value in each vintage"
      label={`From ${formats.value(first.value)} to ${formats.value(last.value)}`}
    >
      <path class="chart-current-line" d={path} />
      {valued.map(({ vintageNo, value }, i) => (
        <circle
          key={vintageNo}
          class={i === 0 && isPrinted ? 'first-print current' : 'chart-current'}
          cx={x(dayOf(vintageNo))}
          cy={y(value)}
          r={i === 0 ? 4 : 3.5}
        />
      ))}
    </ChartFrame>
  );
}
