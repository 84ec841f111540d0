// /dashboard/operator/loads: every load, newest first, by dataset and by whether it is active. The URL has the filters and the page.
import { Link } from 'wouter-preact';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import type { Row } from '../../../api/rows.ts';
import { DataTable } from '../../../components/data-table.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { numberText } from '../../../text/numbers.ts';
import { dayText, recentText } from '../../../text/times.ts';
import { ChosenFilter, Filter, List, pageSize, useListUrl } from '../list.tsx';
import { operatorPage } from '../operator-page.tsx';
import { PublishLink } from '../publish/publish-link.tsx';
import { LoadState, sourceText } from './load-state.tsx';

type LoadRow = Row<'/v1/operator/loads'>;

const statuses = [
  { value: 'all', label: 'All' },
  { value: 'in_force', label: 'Active' },
  { value: 'retracted', label: 'Retracted' },
  { value: 'erased', label: 'Erased' },
] as const;

export const OperatorLoads = operatorPage(() => {
  const url = useListUrl();
  const [dataset, status] = [url.text('dataset'), url.option('status', statuses)];
  const query = { limit: pageSize, dataset, status, cursor: url.text('cursor') };
  const loaded = useLoad(
    (signal) => accountApi.get('/v1/operator/loads', { query, signal }),
    [JSON.stringify(query)],
  );
  return (
    <>
      <PageHead
        title="Loads"
        lede="Every load, newest first. Retracting a load undoes it."
        actions={<PublishLink />}
      />
      <div class="bar-ctl filters">
        <Filter url={url} name="status" label="Status" options={statuses} />
      </div>
      <ChosenFilter url={url} name="dataset" />
      <List
        for={loaded}
        url={url}
        what="loads"
        empty={{
          title: 'No loads',
          hint: (
            <>
              Loads made by <code>almanac publish</code> and <code>almanac ingest</code> are listed here.
            </>
          ),
        }}
      >
        {(rows) => <LoadTable rows={rows} onDataset={(dataset) => url.change({ dataset })} />}
      </List>
    </>
  );
});

function LoadTable({ rows, onDataset }: { rows: readonly LoadRow[]; onDataset: (dataset: string) => void }) {
  return (
    <DataTable
      caption="Loads"
      rows={rows}
      keyOf={({ load }) => String(load)}
      columns={[
        {
          label: 'Load',
          cell: (row) => (
            <Link href={`/dashboard/operator/loads/${row.load}`}>
              <b>{row.load}</b> {sourceText(row)}
            </Link>
          ),
        },
        { label: 'Loaded (UTC)', cell: ({ loaded_at: at }) => <time dateTime={at}>{recentText(at)}</time> },
        { label: 'Vintage', cell: ({ vintage }) => <time dateTime={vintage}>{dayText(vintage)}</time> },
        {
          label: 'Dataset',
          cell: ({ dataset }) => (
            <button
              class="link"
              type="button"
              aria-label={`Only loads of ${dataset}`}
              onClick={() => onDataset(dataset)}
            >
              {dataset}
            </button>
          ),
        },
        { label: 'New', right: true, cell: ({ points_new: count }) => numberText(count) },
        { label: 'Revised', right: true, cell: ({ points_revised: count }) => numberText(count) },
        { label: 'Deleted', right: true, cell: ({ points_deleted: count }) => numberText(count) },
        { label: 'Status', cell: (row) => <LoadState of={row} /> },
      ]}
    />
  );
}
