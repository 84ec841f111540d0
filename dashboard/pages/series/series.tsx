// The page of a series: its chart, its values and its facts.
import { useLoad } from '../../api/use-load.ts';
import { api } from '../../api/clients.ts';
import type { PageProps } from '../../shell/lazy-page.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Waiting } from '../../components/states.tsx';
import { Explorer } from './explorer.tsx';
import '../../styles/series.css';

export function SeriesPage({ params }: PageProps) {
  const id = params['id'] ?? '';
  const entry = useLoad((signal) => api.get('/v1/catalog/{id}', { path: { id }, signal }), [id]);
  return (
    <div class="wrap">
      {entry.phase !== 'ready' && <PageHead title={id} />}
      <Waiting
        for={entry}
        failure="The series could not be loaded"
        skeleton={<div class="chart-holder sk" />}
      >
        {({ data }) => <Explorer key={data.id} entry={data} />}
      </Waiting>
    </div>
  );
}
