// The panel beside the charts: the changes of the shown vintage, and the life of the selected period.
import { scaleLinear } from 'd3-scale';
import { linearExtent, linearTicks } from '../../../domain/chart/ticks.ts';
import {
  changesOf,
  lifeOf,
  type Change,
  type RevisionTable,
  type Step,
} from '../../../domain/chart/revisions/table.ts';
import { Picture } from '../../charts/chart-frame.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { countText, numberText } from '../../text/numbers.ts';
import { dayText } from '../../text/times.ts';
import type { Words } from './formats.ts';

interface ChangedProps {
  table: RevisionTable;
  words: Words;
  vintageNo: number;
  onVintage: (vintageNo: number) => void;
  onDate: (dateNo: number) => void;
}

const listedMost = 12;

export function Changed({ table, words, vintageNo, onVintage, onDate }: ChangedProps) {
  const changes = changesOf(table, vintageNo);
  const listed = changes.slice(0, listedMost);
  const earlier = [vintageNo - 1, vintageNo - 2].filter((no) => no >= 0);
  return (
    <div class="changed">
      <h2>
        What changed on <span class="nb">{dayText(table.vintages[vintageNo] ?? '')}</span>
      </h2>
      <p class="sub">{summaryOf(table, changes, vintageNo, words)}</p>
      {listed.length > 0 && (
        <DataTable
          caption="What this vintage changed"
          dense
          cards={false}
          rows={listed}
          keyOf={({ dateNo }) => String(dateNo)}
          columns={[
            {
              label: capital(words.periodName),
              cell: ({ dateNo }) => (
                <button class="link in-text-colour" type="button" onClick={() => onDate(dateNo)}>
                  {words.period(table.dates[dateNo] ?? '')}
                </button>
              ),
            },
            { label: 'Before', right: true, cell: ({ before }) => valueText(before, words) },
            { label: 'After', right: true, cell: ({ after }) => valueText(after, words) },
            { label: 'Change', right: true, cell: (change) => <ChangeMark change={change} words={words} /> },
          ]}
        />
      )}
      <More changes={changes.slice(listedMost)} words={words} />
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

function ChangeMark({ change: { before, after }, words }: { change: Change; words: Words }) {
  if (before === null) return <span class="tag acc">new</span>;
  if (after === null) return <span class="tag">taken back</span>;
  return <Difference by={after - before} words={words} />;
}

function Difference({ by, words }: { by: number; words: Words }) {
  return <span class={by > 0 ? 'up' : 'down'}>{words.change(by)}</span>;
}

function More({ changes, words }: { changes: readonly Change[]; words: Words }) {
  if (changes.length === 0) return null;
  const differences = changes.flatMap(({ before, after }) =>
    before === null || after === null ? [] : [after - before],
  );
  const range =
    differences.length === 0
      ? ''
      : `, by ${words.change(Math.min(...differences))} to ${words.change(Math.max(...differences))}`;
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
  { periodName }: Words,
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
    deleted > 0 && `${numberText(deleted)} taken back`,
  ].filter((part) => part !== false);
  if (parts.length === 0) return 'Nothing of this was changed';
  return added > 0 && revised === 0 && deleted === 0
    ? `${parts.join(', ')}, nothing revised`
    : parts.join(', ');
}

const valueText = (value: number | null, words: Words): string => (value === null ? '–' : words.value(value));

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

interface LifeProps {
  table: RevisionTable;
  words: Words;
  dateNo: number;
  /** Whether the first value of its life is its first print. */
  isPrinted: boolean;
}

const stepsListedMost = 14;

export function Life({ table, words, dateNo, isPrinted }: LifeProps) {
  const steps = lifeOf(table, dateNo);
  const period = words.period(table.dates[dateNo] ?? '');
  const changes = Math.max(0, steps.length - 1);
  const first = dayText(table.vintages[steps[0]?.vintageNo ?? 0] ?? '');
  const shown =
    steps.length > stepsListedMost ? [...steps.slice(0, 1), ...steps.slice(1 - stepsListedMost)] : steps;
  const times = changes === 0 ? 'never changed' : changes === 1 ? 'changed once' : `changed ${changes} times`;
  const changeOf = ({ value }: Step, i: number) => {
    if (i === 0) return <span class="dim">{isPrinted ? 'first' : 'at first'}</span>;
    if (value === null) return <span class="tag">taken back</span>;
    const before = steps[steps.length - shown.length + i - 1]?.value ?? null;
    if (before === null) return <span class="tag">again</span>;
    return <Difference by={value - before} words={words} />;
  };
  const isUnchangedSince = steps.at(-1)?.vintageNo !== table.vintages.length - 1;
  return (
    <div class="life stick">
      <h2>The life of {period}</h2>
      <p class="sub">
        {isPrinted ? `Printed ${first}, ${times}` : `Printed before ${first}, since then ${times}`}
      </p>
      <LifeChart table={table} words={words} steps={steps} isPrinted={isPrinted} />
      <DataTable
        caption={`Every value of ${period}`}
        dense
        cards={false}
        rows={shown}
        keyOf={({ vintageNo }) => String(vintageNo)}
        columns={[
          { label: 'As of', cell: ({ vintageNo }) => dayText(table.vintages[vintageNo] ?? '') },
          { label: 'Value', right: true, cell: ({ value }) => valueText(value, words) },
          { label: 'Change', right: true, cell: changeOf },
        ]}
      />
      <p class="hint">
        {isUnchangedSince && changes > 0 ? 'Not changed since. ' : ''}
        Click a cell, or use the arrow keys in the chart, to follow another {words.periodName}.
      </p>
    </div>
  );
}

interface LifeChartProps {
  table: RevisionTable;
  words: Words;
  steps: readonly Step[];
  isPrinted: boolean;
}

const life = { width: 268, height: 150, left: 46, right: 262, top: 26, bottom: 124 };

/** Steps, not slopes: a value is valid until the next release. */
function LifeChart({ table, words, steps, isPrinted }: LifeChartProps) {
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
    valueTicks: linearTicks(extent, words.unit).slice(0, 5),
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
    <Picture
      height={life.height}
      axes={axes}
      unit="Value in each vintage"
      label={`From ${words.value(first.value)} to ${words.value(last.value)}`}
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
    </Picture>
  );
}
