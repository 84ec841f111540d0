// /dashboard/following: lists the follows, sets when their changes are mailed, and ends follows.
import { Link } from 'wouter-preact';
import { useLoad } from '../../api/use-load.ts';
import { DataTable } from '../../components/data-table.tsx';
import { Problem, useAction, type Action } from '../../components/forms/action.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { Pick } from '../../components/pick.tsx';
import { Empty, Waiting } from '../../components/states.tsx';
import { dayText, recentText } from '../../text/times.ts';
import { accountPage } from '../account/account-page.tsx';
import { changeMode, follows, loadFollows, unfollow, type Follow, type Mode } from './follows.ts';

export const Following = accountPage(({ account }) => {
  const loaded = useLoad((signal) => loadFollows(signal), []);
  const action = useAction();
  return (
    <>
      <PageHead
        title="Following"
        lede="We mail you changes: new and revised values, renamed and deleted series."
      />
      {!account.email_verified && (
        <div class="note">
          <p>Confirm your e-mail address first: e-mails about changes go to confirmed addresses only.</p>
        </div>
      )}
      <Problem of={action.error} />
      <Waiting for={loaded} failure="Your follows could not be loaded">
        {() => <List follows={follows.value ?? []} action={action} />}
      </Waiting>
    </>
  );
});

const modes: { value: Mode; label: string }[] = [
  { value: 'at_once', label: 'At once' },
  { value: 'daily', label: 'Daily, 06:00 UTC' },
];

function List({ follows: rows, action }: { follows: readonly Follow[]; action: Action }) {
  if (rows.length === 0)
    return (
      <Empty title="You are not following anything yet">
        <p>Press Follow on the page of a series, or in the catalogue for a source or a search.</p>
        <div class="actions">
          <Link class="btn main" href="/catalogue">
            Open the catalogue
          </Link>
        </div>
      </Empty>
    );
  return (
    <section>
      <DataTable
        caption="What you follow, newest first"
        rows={rows}
        keyOf={({ id }) => id}
        columns={[
          { label: 'Followed', cell: (row) => <Followed of={row} /> },
          {
            label: 'E-mails',
            cell: ({ id, mode, of }) => (
              <Pick
                small
                label={`E-mails about ${of}`}
                value={mode}
                options={modes}
                disabled={action.isBusy}
                onPick={(picked) => {
                  const chosen = modes.find(({ value }) => value === picked);
                  if (chosen !== undefined) action.run(() => changeMode(id, chosen.value));
                }}
              />
            ),
          },
          {
            label: 'Last e-mail (UTC)',
            cell: ({ mailed_at: at }) => (at === null ? <span class="dim">None yet</span> : recentText(at)),
          },
          {
            label: 'Stop the e-mails',
            right: true,
            cell: ({ id, of }) => (
              <button
                class="btn sml"
                type="button"
                aria-label={`Stop following ${of}`}
                disabled={action.isBusy}
                onClick={() => action.run(() => unfollow(id))}
              >
                Stop
              </button>
            ),
          },
        ]}
      />
    </section>
  );
}

const kindNames = { series: 'Series', source: 'Source', search: 'Search' } as const;

function Followed({ of: { kind, of, name, created_at: since } }: { of: Follow }) {
  const href =
    kind === 'series'
      ? `/series/${encodeURIComponent(of)}`
      : `/catalogue?${kind === 'source' ? 'source' : 'q'}=${encodeURIComponent(of)}`;
  return (
    <>
      <Link class="row-link" href={href}>
        <b>{name ?? of}</b>
      </Link>
      <small>
        {kindNames[kind]}
        {name !== null && (
          <>
            {' '}
            <span class="mono">{of}</span>
          </>
        )}
        {` · since ${dayText(since)}`}
      </small>
    </>
  );
}
