// /dashboard/operator/accounts: all accounts, found by address, plan and status. The URL has the search and the page.
import { Link } from 'wouter-preact';
import { accountApi } from '../../api/clients.ts';
import { useLoad } from '../../api/use-load.ts';
import type { Row } from '../../api/rows.ts';
import { DataTable } from '../../components/data-table.tsx';
import { SearchIcon } from '../../components/icons.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { numberText } from '../../text/numbers.ts';
import { dayText } from '../../text/times.ts';
import { ChosenFilter, Filter, List, pageSize, useListUrl } from './list.tsx';
import { operatorPage } from './operator-page.tsx';

type AccountRow = Row<'/v1/operator/accounts'>;

const statuses = [
  { value: 'all', label: 'All' },
  { value: 'active', label: 'Enabled' },
  { value: 'disabled', label: 'Disabled' },
] as const;

export const OperatorAccounts = operatorPage(() => {
  const url = useListUrl();
  const [q, plan, status] = [url.text('q'), url.text('plan'), url.option('status', statuses)];
  const query = { limit: pageSize, q, plan, status, cursor: url.text('cursor') };
  const loaded = useLoad(
    (signal) => accountApi.get('/v1/operator/accounts', { query, signal }),
    [JSON.stringify(query)],
  );
  return (
    <>
      <PageHead title="All accounts" lede="The accounts of this installation, the newest first." />
      <div class="bar-ctl filters">
        <form
          class="search"
          role="search"
          aria-label="Find accounts"
          onSubmit={(event) => {
            event.preventDefault();
            const words = new FormData(event.currentTarget).get('q');
            url.change({ q: typeof words === 'string' ? words.trim() : '' });
          }}
        >
          <SearchIcon />
          <input
            type="search"
            name="q"
            aria-label="E-mail address, name or id"
            placeholder="E-mail address, name or id, then Enter"
            autocomplete="off"
            key={q}
            defaultValue={q ?? ''}
          />
        </form>
        <span class="push">
          <Filter url={url} name="status" label="Status" options={statuses} />
        </span>
      </div>
      <ChosenFilter url={url} name="plan" />
      <List
        for={loaded}
        url={url}
        what="accounts"
        empty={{
          title: 'No account matches',
          hint: 'Part of an e-mail address or of a name is enough.',
        }}
      >
        {(rows) => <AccountTable rows={rows} />}
      </List>
    </>
  );
});

function AccountTable({ rows }: { rows: readonly AccountRow[] }) {
  return (
    <DataTable
      caption="Accounts"
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          label: 'Account',
          cell: ({ id, email, role }) => (
            <>
              <Link href={`/dashboard/operator/accounts/${id}`}>{email}</Link>
              {role === 'operator' && <span class="tag acc">Operator</span>}
            </>
          ),
        },
        { label: 'Plan', cell: ({ plan }) => <span class="plan-name">{plan}</span> },
        {
          label: 'Calls this month',
          right: true,
          cell: ({ used, limit }) =>
            limit === null ? numberText(used) : `${numberText(used)} of ${numberText(limit)}`,
        },
        { label: 'Keys', right: true, cell: ({ active_keys: count }) => numberText(count) },
        { label: 'Created', cell: ({ created_at: at }) => <time dateTime={at}>{dayText(at)}</time> },
        { label: 'Status', cell: ({ status }) => <AccountStatus of={status} /> },
      ]}
    />
  );
}

export function AccountStatus({ of }: { of: AccountRow['status'] }) {
  return of === 'active' ? <span class="st good">Enabled</span> : <span class="st off">Disabled</span>;
}
