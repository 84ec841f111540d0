// The chart of the front page: the newest vintages of the series that is open to visitors or, without one, the newest points of the series with the
// newest data.
import { Link } from 'wouter-preact';
import { useLoad } from '../../api/use-load.ts';
import type { PreviewPoint } from '../../api/previews.ts';
import type { CatalogRow } from '../../components/series-table.tsx';
import { Waiting } from '../../components/states.tsx';
import { FanPreview } from '../revisions/fan-preview.tsx';
import { FiguresTable } from '../revisions/figures-table.tsx';
import { loadDemo, type Revisions } from '../revisions/load-revisions.ts';
import { formatsOf } from '../revisions/formats.ts';
import { dayText, today } from '../../text/times.ts';
import { LineChart } from '../../charts/line-chart.tsx';

const height = 360;
const vintagesShown = 8;
const monthsShown = 14;

interface HeroChartProps {
  /** Undefined: not loaded yet. Null: there is no such series. */
  openSeries: string | null | undefined;
  newest: { rows: readonly CatalogRow[]; previews: ReadonlyMap<string, PreviewPoint[]> } | undefined;
}

export function HeroChart({ openSeries, newest }: HeroChartProps) {
  const revisions = useLoad((signal) => newestRevisions(openSeries, signal), [openSeries]);
  if (openSeries === undefined) return <div class="hero-chart" />;
  return (
    <Waiting for={revisions} skeleton={<div class="sk hero-chart" />}>
      {(value) => (value === undefined ? <NewestPoints newest={newest} /> : <Fan revisions={value} />)}
    </Waiting>
  );
}

/** Undefined: no series is open to visitors, or it is not loaded here. */
async function newestRevisions(
  id: string | null | undefined,
  signal: AbortSignal,
): Promise<Revisions | undefined> {
  if (id === null || id === undefined) return undefined;
  const from = new Date(today());
  from.setUTCMonth(from.getUTCMonth() - monthsShown);
  return loadDemo(id, signal, { last: vintagesShown, from: from.toISOString().slice(0, 7) });
}

function Fan({ revisions }: { revisions: Revisions }) {
  const { entry, combinations } = revisions;
  const table = combinations[0]?.table;
  if (table === undefined) return null;
  return (
    <figure class="fig hero-chart">
      <FanPreview revisions={revisions} height={height} />
      <figcaption>
        {entry.name}. Grey: as first published in earlier months. Blue: as it is since{' '}
        {dayText(table.vintages.at(-1) ?? '')}.{' '}
        <Link href={`/series/${encodeURIComponent(entry.id)}/revisions`}>Play the revisions</Link>
      </figcaption>
      <FiguresTable table={table} formats={formatsOf(entry, table)} fromNo={0} />
    </figure>
  );
}

function NewestPoints({ newest }: Pick<HeroChartProps, 'newest'>) {
  const row = newest?.rows.find(({ id }) => (newest.previews.get(id) ?? []).length > 2);
  if (row === undefined) return <div class="hero-chart" />;
  return (
    <figure class="fig hero-chart">
      <LineChart
        title={row.name}
        unit={row.unit ?? ''}
        frequency={row.frequency}
        lines={[{ name: row.name, points: newest?.previews.get(row.id) ?? [] }]}
        height={height}
        narrowHeight={260}
      />
      <figcaption>
        {row.name}, the series with the newest data.{' '}
        <Link href={`/series/${encodeURIComponent(row.id)}`}>All of it</Link>
      </figcaption>
    </figure>
  );
}
