// The largest areas or sources of the series, on the front page.
import { Link } from 'wouter-preact';
import { DataTable } from '../../components/data-table.tsx';
import { numberText } from '../../text/numbers.ts';

export type Facets = Readonly<Record<string, readonly { value: string; count: number }[]>> | undefined;

/** The number of series that have the facet. */
export function seriesIn(facets: Facets, name: string): number {
  return (facets?.[name] ?? []).reduce((sum, { count }) => sum + count, 0);
}

/** The number of areas listed. */
const areasMax = 10;

/** The top-level categories: `Food/Cereals` counts under `Food`. If most series have no category, the sources. */
export function Areas({ facets }: { facets: Facets }) {
  const by = seriesIn(facets, 'category') * 2 >= seriesIn(facets, 'frequency') ? 'category' : 'source';
  const counts = new Map<string, number>();
  for (const { value, count } of facets?.[by] ?? []) {
    if (by === 'source') {
      counts.set(value, count);
      continue;
    }
    const [area = value] = value.split('/');
    counts.set(area, (counts.get(area) ?? 0) + count);
  }
  const areas = [...counts].sort(([, a], [, b]) => b - a).slice(0, areasMax);
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
