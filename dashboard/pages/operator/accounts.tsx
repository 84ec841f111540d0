// /dashboard/operator/accounts: all accounts, found by address, plan and status. The URL has the search and the page.
import { Link, useSearchParams } from 'wouter-preact';
import type { AnswerOf, CallOptions } from '../../../clients/typescript/client.ts';
import { accountApi } from '../../api/clients.ts';
import { useLoad } from '../../api/load.ts';
import { rowsOf, type Row } from '../../api/rows.ts';
import { Choice } from '../../components/choice.tsx';
import { DataTable } from '../../components/data-table.tsx';
import { SearchIcon } from '../../components/icons.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Empty, SkeletonRows } from '../../components/states.tsx';
import { numberText } from '../../text/numbers.ts';
import { dayText } from '../../text/times.ts';
import '../../styles/catalogue.css';
import { Fresh, OperatorPage } from './operator-page.tsx';

type AccountRow = Row<'/v1/operator/accounts'>;
type Accounts = AnswerOf<'get', '/v1/operator/accounts'>;
type Query = NonNullable<CallOptions<'get', '/v1/operator/accounts'>['query']>;

const pageSize = 50;
const statuses = [
  { value: 'all', label: 'All' },
  { value: 'active', label: 'Enabled' },
  { value: 'disabled', label: 'Disabled' },
] as const;
type StatusChoice = (typeof statuses)[number]['value'];

/** What the URL says, without what the API would not take. */
function queryOf(params: URLSearchParams): Query {
  const [q = '', plan = ''] = [params.get('q')?.trim(), params.get('plan')?.trim()];
  const [status, cursor] = [statusOf(params), params.get('cursor')];
  return {
    limit: pageSize,
    ...(q === '' ? {} : { q }),
    ...(plan === '' ? {} : { plan }),
    ...(status === 'all' ? {} : { status }),
    ...(cursor === null ? {} : { cursor }),
  };
}

function statusOf(params: URLSearchParams): StatusChoice {
  return statuses.find(({ value }) => value === params.get('status'))?.value ?? 'all';
}

export function OperatorAccounts() {
  return <OperatorPage>{() => <AllAccounts />}</OperatorPage>;
}

function AllAccounts() {
  const [params, setParams] = useSearchParams();
  const query = queryOf(params);
  const loaded = useLoad(
    (signal) => accountApi.get('/v1/operator/accounts', { query, signal }),
    [JSON.stringify(query)],
  );
  /** Another search begins at the first page. */
  const change = (changes: Readonly<Record<string, string>>) =>
    setParams((before) => {
      const next = new URLSearchParams(before);
      next.delete('cursor');
      for (const [name, value] of Object.entries(changes)) {
        if (value === '') next.delete(name);
        else next.set(name, value);
      }
      return next;
    });
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
            change({ q: typeof words === 'string' ? words.trim() : '' });
          }}
        >
          <SearchIcon />
          <input
            type="search"
            name="q"
            aria-label="E-mail address, name or id"
            placeholder="E-mail address, name or id, then Enter"
            autocomplete="off"
            key={query.q}
            defaultValue={query.q ?? ''}
          />
        </form>
        <span class="push">
          <Choice
            label="Status"
            options={statuses}
            value={statusOf(params)}
            onChange={(status) => change({ status: status === 'all' ? '' : status })}
          />
        </span>
      </div>
      {query.plan !== undefined && (
        <p class="chosen">
          <button class="btn sml" type="button" onClick={() => change({ plan: '' })}>
            plan: {query.plan}
            <span aria-hidden="true">×</span>
            <span class="vh">Remove</span>
          </button>
        </p>
      )}
      <Fresh for={loaded} failure="The accounts could not be loaded" skeleton={<SkeletonRows rows={8} />}>
        {(accounts) => <Found accounts={accounts} onNext={(cursor) => change({ cursor })} />}
      </Fresh>
    </>
  );
}

function Found({ accounts, onNext }: { accounts: Accounts; onNext: (cursor: string) => void }) {
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
      {next !== null && (
        <div class="actions pages">
          <button class="btn" type="button" onClick={() => onNext(next)}>
            Next {pageSize}
          </button>
        </div>
      )}
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
