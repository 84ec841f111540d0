// /dashboard/operator/loads/:load: one load, the series that it changed, and its retraction.
import { Link } from 'wouter-preact';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { Facts } from '../../../components/facts.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { countText, numberText } from '../../../text/numbers.ts';
import { dayText, instantText } from '../../../text/times.ts';
import { WaitingOrSignIn, operatorPage } from '../operator-page.tsx';
import { PointCounts } from '../point-counts.tsx';
import { SeriesList } from '../series-list.tsx';
import { LoadLink, LoadState, sourceText, type Load } from './load-state.tsx';
import { Retract } from './retract.tsx';

export const OperatorLoad = operatorPage(({ params: { load: number = '' } }) => {
  const loaded = useLoad(
    async (signal) =>
      (await accountApi.get('/v1/operator/loads/{load}', { path: { load: number }, signal })).data,
    [number],
  );
  return (
    <>
      <PageHead title={`Load ${number}`} crumb={<Link href="/dashboard/operator/loads">Loads</Link>} />
      <WaitingOrSignIn for={loaded} failure="The load could not be loaded">
        {(load) => (
          <>
            <LoadFacts load={load} />
            <PointCounts of={load} />
            <section aria-labelledby="series">
              <h2 id="series">Series</h2>
              <SeriesList ids={load.series} count={load.series_count} />
            </section>
            <Retract load={load} reload={loaded.reload} />
          </>
        )}
      </WaitingOrSignIn>
    </>
  );
});

function LoadFacts({ load }: { load: Load }) {
  const { retracts, part_of: partOf, rows_rejected: rejected } = load;
  return (
    <Facts
      facts={[
        ['Status', <LoadState of={load} />, 'status'],
        ['From', sourceText(load)],
        ['Dataset', load.dataset],
        [
          'Loaded',
          <>
            {instantText(load.loaded_at)} UTC
            {load.by !== null && <small>{load.by}</small>}
          </>,
        ],
        ['Vintage', dayText(load.vintage)],
        [
          'Rows',
          <>
            {numberText(load.rows_read)} read
            {rejected > 0 && `, ${countText(rejected, 'invalid row', 'invalid rows')} skipped`}
          </>,
        ],
        ['Retraction of', retracts !== null && <LoadLink to={retracts} />],
        [
          load.status === 'erased' ? 'Erased by' : 'Retracted by',
          load.retracted_by !== null && <LoadLink to={load.retracted_by} />,
        ],
        [
          'File',
          partOf !== null && (
            <>
              One of the vintages in the file of <LoadLink to={partOf} />
            </>
          ),
        ],
        ['Reason', load.reason],
      ]}
    />
  );
}
