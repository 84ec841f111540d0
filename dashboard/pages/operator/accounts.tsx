// /dashboard/operator/accounts: all accounts, found by address, plan and status. The URL has the search and the page.
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import { accountApi } from '../../api/clients.ts';
import { useLoad } from '../../api/load.ts';
import { rowsOf, type Row } from '../../api/rows.ts';
import { Choice } from '../../components/choice.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { SearchIcon } from '../../components/icons.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pages } from '../../components/pages.tsx';
import { Empty, SkeletonRows } from '../../components/states.tsx';
import { numberText } from '../../text/numbers.ts';
import { dayText } from '../../text/times.ts';
import '../../styles/catalogue.css';
import { pageSize, useListUrl, type ListUrl } from './list-url.ts';
import { Fresh, OperatorPage } from './operator-page.tsx';

type AccountRow = Row<'/v1/operator/accounts'>;
type Accounts = AnswerOf<'get', '/v1/operator/accounts'>;

const statuses = [
  { value: 'all', label: 'All' },
  { value: 'active', label: 'Enabled' },
  { value: 'disabled', label: 'Disabled' },
] as const;

export function OperatorAccounts() {
  return <OperatorPage>{() => <AllAccounts />}</OperatorPage>;
}

function AllAccounts() {
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
          <Choice
            label="Status"
            options={statuses}
            value={status ?? 'all'}
            onChange={(chosen) => url.change({ status: chosen })}
          />
        </span>
      </div>
      {plan !== undefined && (
        <p class="chosen">
          <button class="btn sml" type="button" onClick={() => url.change({ plan: '' })}>
            plan: {plan}
            <span aria-hidden="true">×</span>
            <span class="vh">Remove</span>
          </button>
        </p>
      )}
      <Fresh for={loaded} failure="The accounts could not be loaded" skeleton={<SkeletonRows rows={8} />}>
        {(accounts) => <Found accounts={accounts} url={url} />}
      </Fresh>
    </>
  );
}

function Found({ accounts, url }: { accounts: Accounts; url: ListUrl }) {
  const next = accounts.pagination.next_cursor;
  if (accounts.data.length === 0)
    return (
      <Empty title="No account is like that">
        <p>Part of an e-mail address or of a name is enough.</p>
      </Empty>
    );
  return (
    <>
      <AccountTable rows={rowsOf(accounts)} />
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
