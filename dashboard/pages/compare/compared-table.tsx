// The series of a comparison, one row each: its line, its vintage, its values at the ends of the window, and how to remove it.
import { Link } from 'wouter-preact';
import { palettes } from '../../../domain/chart/palette.ts';
import { formatNumber, periodName } from '../../../domain/chart/text.ts';
import { CloseIcon } from '../../components/icons.tsx';
import { DataTable, type Column } from '../../components/data-table.tsx';
import { Pick } from '../../components/pick.tsx';
import { changeText } from '../../text/numbers.ts';
import { dayText } from '../../text/times.ts';
import { useVintages, VintagePick } from '../series/vintage-pick.tsx';
import { textOf, type Compared, type Mode } from './compare-state.ts';
import type { Loaded, Outcome } from './load-compared.ts';
import type { Comparison, Row } from './comparison-chart.ts';

interface ComparedTableProps {
  comparison: Comparison;
  outcomes: readonly Outcome[];
  mode: Mode;
  decimals: number;
  /** @param by null removes it. */
  replace: (at: number, by: Compared | null) => void;
}

interface Line {
  at: number;
  outcome: Outcome;
  row: Row | undefined;
}

export function ComparedTable({ comparison, outcomes, mode, decimals, replace }: ComparedTableProps) {
  const { rows, base, baseFrequency } = comparison;
  const lines = outcomes.map((outcome, at) => ({
    at,
    outcome,
    row: rows.find(({ loaded }) => loaded === outcome),
  }));
  const columns: Column<Line>[] = [
    { label: 'Series', cell: (line) => <Name {...line} replace={replace} /> },
    { label: 'As of', cell: (line) => <AsOf {...line} replace={replace} />, phone: 'plain' },
    { label: 'First shown', right: true, cell: ({ row }) => <End {...{ row, decimals }} of="first" /> },
    { label: 'Newest', right: true, cell: ({ row }) => <End {...{ row, decimals }} of="last" /> },
    ...(mode === 'ratio' || base === null
      ? []
      : [
          {
            label: `Since ${periodName(base, baseFrequency, true)}`,
            right: true,
            cell: ({ row }: Line) =>
              row === undefined || row.change === null ? '–' : `${changeText(row.change.percent, 1)} %`,
          },
        ]),
    {
      label: 'Remove',
      right: true,
      phone: 'plain',
      cell: ({ at, outcome }) => (
        <button
          class="btn plain icon remove"
          type="button"
          aria-label={`Remove ${outcome.compared.id}`}
          onClick={() => replace(at, null)}
        >
          <CloseIcon />
        </button>
      ),
    },
  ];
  return (
    <DataTable
      caption="The series compared"
      columns={columns}
      rows={lines}
      keyOf={({ outcome }) => textOf(outcome.compared)}
    />
  );
}

/** The first or the newest value on the chart, with its period. */
function End({ row, decimals, of }: { row: Row | undefined; decimals: number; of: 'first' | 'last' }) {
  const hasValue = ({ value }: { value: number | null }) => value !== null;
  const point = of === 'first' ? row?.line.points.find(hasValue) : row?.line.points.findLast(hasValue);
  if (row === undefined || point === undefined || point.value === null) return <>–</>;
  return (
    <span>
      {formatNumber(point.value, decimals)}
      <small>{periodName(point.date, row.loaded.meta.frequency, true)}</small>
    </span>
  );
}

type CellProps = Line & Pick<ComparedTableProps, 'replace'>;

function Name({ at, outcome, row, replace }: CellProps) {
  const { compared } = outcome;
  if ('error' in outcome) {
    return (
      <span class="compared">
        <span>
          <b class="mono">{compared.id}</b>
          <small>{outcome.error.message}</small>
        </span>
      </span>
    );
  }
  const { meta, combinations, dims } = outcome;
  const isDotted = row?.line.isDotted === true;
  return (
    <span class="compared">
      <i
        class={isDotted ? 'line-sample dotted' : 'line-sample'}
        style={{ borderColor: palettes.page.series[row?.line.styleNo ?? 0] }}
      />
      <span>
        <Link href={`/series/${encodeURIComponent(compared.id)}`}>
          <b>{meta.name}</b>
        </Link>
        <small>
          <span class="mono">{compared.id}</span>
          {meta.unit !== null && ` · ${meta.unit}`}
        </small>
        {combinations.length > 1 && (
          <Pick
            small
            label={`Line of ${compared.id}`}
            value={dims ?? ''}
            options={combinations}
            onPick={(picked) => replace(at, { ...compared, dims: picked })}
          />
        )}
        {row !== undefined && row.missing !== null && <small>{row.missing}</small>}
      </span>
    </span>
  );
}

function AsOf({ at, outcome, replace }: CellProps) {
  const { compared } = outcome;
  const vintages = useVintages(compared.id);
  const latest = 'meta' in outcome && outcome.isPreview ? latestText(outcome) : 'Latest';
  const own = compared.vintage;
  return (
    <>
      <VintagePick
        small
        label={`As of, for ${compared.id}`}
        {...{ vintages, latest }}
        vintage={own}
        onPick={(vintage) => replace(at, { ...compared, vintage, version: null })}
      />
      {compared.version !== null && <small>Version {compared.version}, permanently</small>}
    </>
  );
}

function latestText({ meta }: Loaded): string {
  return meta.last_updated === null ? 'Latest' : `Latest, ${dayText(meta.last_updated)}`;
}
