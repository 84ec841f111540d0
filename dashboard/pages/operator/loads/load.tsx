// /dashboard/operator/loads/:load: one load, the series that it changed, and its retraction.
import { useState } from 'preact/hooks';
import { Link, useParams } from 'wouter-preact';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/load.ts';
import { PageHead } from '../../../components/page-head.tsx';
import { numberText } from '../../../text/numbers.ts';
import { dayText, instantText } from '../../../text/times.ts';
import { Fresh, OperatorPage } from '../operator-page.tsx';
import { PointCounts } from '../point-counts.tsx';
import { SeriesList } from '../series-list.tsx';
import { LoadLink, LoadState, sourceText, type Load } from './load-state.tsx';
import { Retract } from './retract.tsx';

export function OperatorLoad() {
  const { load = '' } = useParams();
  return <OperatorPage>{() => <OneLoad number={load} key={load} />}</OperatorPage>;
}

function OneLoad({ number }: { number: string }) {
  const [asked, setAsked] = useState(0);
  const loaded = useLoad(
    async (signal) =>
      (await accountApi.get('/v1/operator/loads/{load}', { path: { load: number }, signal })).data,
    [number, asked],
  );
  return (
    <>
      <PageHead title={`Load ${number}`} crumb={<Link href="/dashboard/operator/loads">Loads</Link>} />
      <Fresh for={loaded} failure="The load could not be loaded">
        {(load) => (
          <>
            <Facts load={load} />
            <PointCounts of={load} />
            <section aria-labelledby="series">
              <h2 id="series">Series</h2>
              <SeriesList ids={load.series} count={load.series_count} />
            </section>
            <Retract load={load} reload={() => setAsked((count) => count + 1)} />
          </>
        )}
      </Fresh>
    </>
  );
}

function Facts({ load }: { load: Load }) {
  const { retracts, part_of: partOf, rows_rejected: rejected } = load;
  return (
    <dl class="dl">
      <dt>Status</dt>
      <dd data-test="status">
        <LoadState of={load} />
      </dd>
      <dt>From</dt>
      <dd>{sourceText(load)}</dd>
      <dt>Dataset</dt>
      <dd>{load.dataset}</dd>
      <dt>Loaded</dt>
      <dd>
        {instantText(load.loaded_at)} UTC
        {load.by !== null && <small>{load.by}</small>}
      </dd>
      <dt>Vintage</dt>
      <dd>{dayText(load.vintage)}</dd>
      <dt>Rows</dt>
      <dd>
        {numberText(load.rows_read)} read{rejected > 0 && `, ${numberText(rejected)} left out as not valid`}
      </dd>
      {retracts !== null && (
        <>
          <dt>Retraction of</dt>
          <dd>
            <LoadLink to={retracts} />
          </dd>
        </>
      )}
      {load.retracted_by !== null && (
        <>
          <dt>{load.status === 'erased' ? 'Erased by' : 'Retracted by'}</dt>
          <dd>
            <LoadLink to={load.retracted_by} />
          </dd>
        </>
      )}
      {partOf !== null && (
        <>
          <dt>File</dt>
          <dd>
            One of the vintages in the file of <LoadLink to={partOf} />
          </dd>
        </>
      )}
      {load.reason !== null && (
        <>
          <dt>Reason</dt>
          <dd>{load.reason}</dd>
        </>
      )}
    </dl>
  );
}
