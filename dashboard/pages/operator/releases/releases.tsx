// /dashboard/operator/releases: the pending loads under embargo, and those that were made, failed or were cancelled. The URL has the filter
// and the page.
import { Link } from 'wouter-preact';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import type { Row } from '../../../api/rows.ts';
import { DataTable } from '../../../components/data-table.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { numberText } from '../../../text/numbers.ts';
import { instantText } from '../../../text/times.ts';
import { Filter, List, pageSize, useListUrl } from '../list.tsx';
import { operatorPage } from '../operator-page.tsx';
import { PublishLink } from '../publish/publish-link.tsx';
import { countsOf, type Counts } from '../counts.ts';
import { ReleaseState } from './release-state.tsx';

type ReleaseRow = Row<'/v1/operator/releases'>;

const states = [
  { value: 'all', label: 'All' },
  { value: 'pending', label: 'Under embargo' },
  { value: 'held', label: 'Held' },
  { value: 'failed', label: 'Failed' },
  { value: 'released', label: 'Published' },
  { value: 'cancelled', label: 'Cancelled' },
] as const;

export const OperatorReleases = operatorPage(() => {
  const url = useListUrl();
  const state = url.option('state', states);
  const query = { limit: pageSize, state, cursor: url.text('cursor') };
  const loaded = useLoad(
    (signal) => accountApi.get('/v1/operator/releases', { query, signal }),
    [JSON.stringify(query)],
  );
  return (
    <>
      <PageHead
        title="Releases"
        lede="Loads prepared in advance. A load stays hidden until its release time."
        actions={<PublishLink />}
      />
      <div class="bar-ctl filters">
        <Filter url={url} name="state" label="State" options={states} />
      </div>
      <List
        for={loaded}
        url={url}
        what="releases"
        empty={{
          title: 'No releases',
          hint: (
            <>
              Files accepted by <code>almanac ingest --release-at</code> wait here until their release time.{' '}
              <Link href="/docs/embargo">Loads under embargo</Link>
            </>
          ),
        }}
      >
        {(rows) => <ReleaseTable rows={rows} />}
      </List>
    </>
  );
});

const countOf = (row: ReleaseRow, name: keyof Counts) => {
  const count = countsOf(row)?.[name];
  return count === undefined ? '–' : numberText(count);
};

function ReleaseTable({ rows }: { rows: readonly ReleaseRow[] }) {
  return (
    <DataTable
      caption="Releases"
      rows={rows}
      keyOf={({ release }) => String(release)}
      columns={[
        {
          label: 'Release',
          cell: ({ release, source_name: source, dataset }) => (
            <>
              <Link href={`/dashboard/operator/releases/${release}`}>
                <b>{release}</b> {source}
              </Link>
              <small>{dataset}</small>
            </>
          ),
        },
        {
          label: 'Due (UTC)',
          cell: ({ release_at: at, release_with: entry }) => (
            <span>
              {at === null ? '–' : <time dateTime={at}>{instantText(at)}</time>}
              {entry !== null && <small>with {entry}</small>}
            </span>
          ),
        },
        { label: 'New', right: true, cell: (row) => countOf(row, 'points_new') },
        { label: 'Revised', right: true, cell: (row) => countOf(row, 'points_revised') },
        { label: 'Deleted', right: true, cell: (row) => countOf(row, 'points_deleted') },
        { label: 'State', cell: (row) => <ReleaseState of={row} /> },
      ]}
    />
  );
}
