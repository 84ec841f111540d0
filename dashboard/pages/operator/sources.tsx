// /dashboard/operator/sources: the URLs that are fetched by a schedule, and their status. The URL of the page has the filter and the page.
import { Link } from 'wouter-preact';
import { accountApi } from '../../api/clients.ts';
import { useLoad } from '../../api/use-load.ts';
import type { Row } from '../../api/rows.ts';
import { DataTable } from '../../components/data-table.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { countText } from '../../text/numbers.ts';
import { instantText, recentText } from '../../text/times.ts';
import { Filter, List, pageSize, useListUrl } from './list.tsx';
import { operatorPage } from './operator-page.tsx';

type Source = Row<'/v1/operator/sources'>;

const states = [
  { value: 'all', label: 'All' },
  { value: 'failing', label: 'Failing' },
  { value: 'well', label: 'Healthy' },
] as const;

export const OperatorSources = operatorPage(() => {
  const url = useListUrl();
  const state = url.option('state', states);
  const query = { limit: pageSize, state, cursor: url.text('cursor') };
  const loaded = useLoad(
    (signal) => accountApi.get('/v1/operator/sources', { query, signal }),
    [JSON.stringify(query)],
  );
  return (
    <>
      <PageHead title="Sources" lede="URLs fetched on a schedule. Changes are published automatically." />
      <div class="bar-ctl filters">
        <Filter url={url} name="state" label="State" options={states} />
      </div>
      <List
        for={loaded}
        url={url}
        what="sources"
        empty={{
          title: 'No sources',
          hint: (
            <>
              A table of almanac.yml with a URL and a <code>schedule</code> is fetched automatically.{' '}
              <Link href="/docs/publish">Publishing a folder</Link>
            </>
          ),
        }}
      >
        {(rows) => <SourceTable rows={rows} />}
      </List>
    </>
  );
});

const timeOf = (at: string | null) => (at === null ? 'never' : <time dateTime={at}>{recentText(at)}</time>);

function SourceTable({ rows }: { rows: readonly Source[] }) {
  return (
    <DataTable
      caption="Sources"
      rows={rows}
      keyOf={({ name, publication, sheet }) => `${publication} ${name} ${sheet}`}
      columns={[
        {
          label: 'Source',
          cell: ({ name, url, sheet }) => (
            <>
              <b>{name}</b>
              <small class="url">
                {url}
                {sheet !== null && `, ${sheet}`}
              </small>
            </>
          ),
        },
        { label: 'Schedule', cell: ({ schedule }) => schedule },
        { label: 'Last fetch (UTC)', cell: ({ last_fetch_at: at }) => timeOf(at) },
        { label: 'Last change (UTC)', cell: ({ last_change_at: at }) => timeOf(at) },
        {
          label: 'Next fetch (UTC)',
          cell: ({ next_fetch_at: at }) => <time dateTime={at}>{instantText(at)}</time>,
        },
        { label: 'State', cell: (source) => <SourceState of={source} /> },
      ]}
    />
  );
}

function SourceState({ of }: { of: Source }) {
  const { failures, failing_since: since, outcome } = of;
  if (failures === 0)
    return of.last_fetch_at === null ? (
      <span class="st">Not fetched yet</span>
    ) : (
      <span class="st good">Healthy</span>
    );
  const message = outcome?.['message'];
  return (
    <span>
      <span class="st bad">
        Failing, {countText(failures, 'time', 'times')}
        {since !== null && ` since ${recentText(since)}`}
      </span>
      {typeof message === 'string' && <small>{message}</small>}
    </span>
  );
}
