// /dashboard/operator/loads: every load, the newest first, by dataset and by whether it is in force. The URL has the filters and the page.
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../../../clients/typescript/client.ts';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/load.ts';
import { rowsOf, type Row } from '../../../api/rows.ts';
import { Choice } from '../../../components/choice.tsx';
import { DataTable } from '../../../components/data-table.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { Pages } from '../../../components/pages.tsx';
import { Empty, SkeletonRows } from '../../../components/states.tsx';
import { numberText } from '../../../text/numbers.ts';
import { dayText, recentText } from '../../../text/times.ts';
import '../../../styles/catalogue.css';
import { pageSize, useListUrl, type ListUrl } from '../list-url.ts';
import { Fresh, OperatorPage } from '../operator-page.tsx';
import { PublishLink } from '../publish/publish-link.tsx';
import { LoadState, sourceText } from './load-state.tsx';

type LoadRow = Row<'/v1/operator/loads'>;

const statuses = [
  { value: 'all', label: 'All' },
  { value: 'in_force', label: 'In force' },
  { value: 'retracted', label: 'Retracted' },
  { value: 'erased', label: 'Erased' },
] as const;

export function OperatorLoads() {
  return <OperatorPage>{() => <AllLoads />}</OperatorPage>;
}

function AllLoads() {
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
        lede="All that was ever loaded, the newest first. A load can be retracted: the data are then as if it had not been made."
        actions={<PublishLink />}
      />
      <div class="bar-ctl filters">
        <Choice
          label="Status"
          options={statuses}
          value={status ?? 'all'}
          onChange={(chosen) => url.change({ status: chosen })}
        />
      </div>
      {dataset !== undefined && (
        <p class="chosen">
          <button class="btn sml" type="button" onClick={() => url.change({ dataset: '' })}>
            dataset: {dataset}
            <span aria-hidden="true">×</span>
            <span class="vh">Remove</span>
          </button>
        </p>
      )}
      <Fresh for={loaded} failure="The loads could not be loaded" skeleton={<SkeletonRows rows={8} />}>
        {(loads) => <Found loads={loads} url={url} />}
      </Fresh>
    </>
  );
}

interface FoundProps {
  loads: AnswerOf<'get', '/v1/operator/loads'>;
  url: ListUrl;
}

function Found({ loads, url }: FoundProps) {
  const next = loads.pagination.next_cursor;
  if (loads.data.length === 0)
    return (
      <Empty title="No loads">
        <p>
          What <code>almanac publish</code> and <code>almanac ingest</code> load is listed here.
        </p>
      </Empty>
    );
  return (
    <>
      <LoadTable rows={rowsOf(loads)} onDataset={(dataset) => url.change({ dataset })} />
      <Pages
        size={pageSize}
        isFirst={url.text('cursor') === undefined}
        next={next}
        onFirst={() => url.change({})}
        onNext={(cursor) => url.change({ cursor })}
      />
    </>
  );
}

interface LoadTableProps {
  rows: readonly LoadRow[];
  onDataset: (dataset: string) => void;
}

function LoadTable({ rows, onDataset }: LoadTableProps) {
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
