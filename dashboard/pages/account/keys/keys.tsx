// /dashboard/keys: lists, creates, rotates and revokes the keys of the account. Dialogs and the rotation are in the URL; a secret never is.
import { accountApi, api } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf } from '../../../api/rows.ts';
import { actionsColumn, DataTable, RowButton } from '../../../components/data-table.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import type { Plan } from '../../../components/plan-cards.tsx';
import { Empty, SkeletonRows, Waiting } from '../../../components/states.tsx';
import { useSearchParams } from '../../../components/use-query.ts';
import { numberText } from '../../../text/numbers.ts';
import { dayText, instantText, agoText, utcDay } from '../../../text/times.ts';
import { accountPage } from '../account-page.tsx';
import type { Key, KeyUse } from './key-answers.ts';
import { accessText } from './access-fields.tsx';
import { ChangeKey } from './change-key.tsx';
import { RegenerateKey, OldSecret } from './regenerate-key.tsx';
import { NewKey } from './new-key.tsx';
import { nextName } from './next-name.ts';
import { RevokeKey } from './revoke-key.tsx';
import { Rotation } from './rotation.tsx';

interface Found {
  keys: Key[];
  use: KeyUse;
  plans: Plan[];
}

async function keysAndUse(signal: AbortSignal): Promise<Found> {
  const now = Date.now();
  const query = { from: utcDay(now, -29), to: utcDay(now), by: 'key', limit: 1000 } as const;
  const [keys, use, plans] = await Promise.all([
    accountApi.get('/v1/keys', { query: { limit: 1000 }, signal }),
    accountApi.get('/v1/usage/history', { query, signal }),
    api.get('/v1/plans', { query: { limit: 1000 }, signal }),
  ]);
  const rows = rowsOf(use);
  return {
    keys: rowsOf(keys),
    plans: rowsOf(plans),
    use: {
      callsOf: (keyId, days) =>
        rows
          .filter((row) => row.key_id === keyId && (days === undefined || days.includes(row.date)))
          .reduce((sum, { calls }) => sum + calls, 0),
    },
  };
}

export const Keys = accountPage(({ account, reload: reloadAccount }) => {
  const [query, setQuery] = useSearchParams();
  const loaded = useLoad(keysAndUse, []);
  const reload = () => {
    loaded.reload();
    reloadAccount();
  };
  const show = (wanted: Readonly<Record<string, string>>) => setQuery(new URLSearchParams(wanted));
  const isFull = account.active_keys >= account.key_limit;
  return (
    <>
      <PageHead
        title="Keys"
        lede="A key is shown once, when you create it. Revoking stops it at once."
        actions={
          <>
            <Slots used={account.active_keys} of={account.key_limit} />
            <button
              class="btn main"
              type="button"
              disabled={isFull}
              aria-describedby={isFull ? 'keys-full' : undefined}
              onClick={() => show({ create: 'key' })}
            >
              Create a key
            </button>
          </>
        }
      />
      {isFull && (
        <p class="xs dim keys-full" id="keys-full">
          An account has at most {account.key_limit} active keys. Revoke one to create another.
        </p>
      )}
      <Waiting for={loaded} failure="The keys could not be loaded" skeleton={<SkeletonRows rows={3} />}>
        {(found) => <Found {...{ found, query, show, reload, isFull }} planId={account.plan} />}
      </Waiting>
    </>
  );
});

function Slots({ used, of }: { used: number; of: number }) {
  return (
    <span class="sm dim slots-of">
      <span class="meter slots" role="img" aria-label={`${used} of ${of} keys used`}>
        {Array.from({ length: of }, (_unused, i) => (
          <i key={i} class={i < used ? undefined : 'unused'} />
        ))}
      </span>
      {used} of {of} used
    </span>
  );
}

interface FoundProps {
  found: Found;
  query: URLSearchParams;
  show: (wanted: Readonly<Record<string, string>>) => void;
  reload: () => void;
  isFull: boolean;
  planId: string;
}

function Found({ found: { keys, use, plans }, query, show, reload, isFull, planId }: FoundProps) {
  const keyIn = (name: string) => keys.find(({ id }) => id === query.get(name));
  const rotated = keyIn('rotate');
  const rotation: Readonly<Record<string, string>> =
    rotated === undefined
      ? {}
      : { rotate: rotated.id, ...(query.get('to') && { to: query.get('to') ?? '' }) };
  const revoked = keyIn('revoke');
  const changed = keyIn('change');
  const renewed = keyIn('value');
  return (
    <>
      {keys.length === 0 ? (
        <Empty title="No key yet">
          <p>Every call needs a key. Create one, and paste the call shown with it.</p>
        </Empty>
      ) : (
        <KeyTable {...{ keys, use, show, rotation, reload }} />
      )}
      {rotated !== undefined && (
        <Rotation {...{ keys, use, old: rotated, to: keyIn('to'), isFull, show, reload }} />
      )}
      {query.get('create') !== null && (
        <NewKey
          suggestion={rotated === undefined ? '' : nextName(rotated.name, keys)}
          {...{ plans, planId, isFull }}
          onMade={(id) => {
            reload();
            if (rotated !== undefined) show({ create: 'key', rotate: rotated.id, to: id });
          }}
          onClose={() => show(rotation)}
        />
      )}
      {renewed !== undefined && <RegenerateKey of={renewed} onMade={reload} onClose={() => show({})} />}
      {changed !== undefined && (
        <ChangeKey
          of={changed}
          onChanged={() => {
            reload();
            show(rotation);
          }}
          onClose={() => show(rotation)}
        />
      )}
      {revoked?.status === 'active' && (
        <RevokeKey
          of={revoked}
          use={use}
          onRevoked={() => {
            reload();
            show(rotation);
          }}
          onClose={() => show(rotation)}
        />
      )}
    </>
  );
}

interface KeyTableProps extends Pick<FoundProps, 'show' | 'reload'> {
  keys: readonly Key[];
  use: KeyUse;
  rotation: Readonly<Record<string, string>>;
}

function KeyTable({ keys, use, show, rotation, reload }: KeyTableProps) {
  const now = Date.now();
  return (
    <>
      <DataTable
        caption="The keys of the account"
        rows={keys}
        keyOf={({ id }) => id}
        columns={[
          {
            label: 'Name',
            cell: (key) => (
              <>
                <b>{key.name}</b>
                <small class="mono nb">{key.masked}</small>
                {accessText(key) !== undefined && <small>{accessText(key)}</small>}
              </>
            ),
          },
          { label: 'Created', cell: ({ created_at: at }) => <Time at={at} text={dayText(at)} /> },
          {
            label: 'Last used',
            cell: ({ last_used_at: at }) =>
              at === null ? 'never' : <Time at={at} text={agoText(at, now)} isLong />,
          },
          { label: 'Calls, 30 days', right: true, cell: ({ id }) => numberText(use.callsOf(id)) },
          {
            label: 'Status',
            cell: (key) => (
              <div>
                <KeyStatus of={key} />
                <OldSecret of={key} reload={reload} />
              </div>
            ),
          },
          {
            ...actionsColumn,
            cell: ({ id, name, status }) =>
              status === 'active' && (
                <span class="row-actions">
                  <RowButton label="Change" of={name} onClick={() => show({ ...rotation, change: id })} />
                  <RowButton label="Rotate" of={name} onClick={() => show({ rotate: id })} />
                  <RowButton
                    label="Revoke"
                    of={name}
                    isDangerous
                    onClick={() => show({ ...rotation, revoke: id })}
                  />
                </span>
              ),
          },
        ]}
      />
      <p class="xs dim below">
        “Last used” may be up to one minute late. Revoked keys stay in this list for your records.
      </p>
    </>
  );
}

/** @param isLong the text may be broken into lines. */
function Time({ at, text, isLong = false }: { at: string; text: string; isLong?: boolean }) {
  return (
    <time class={isLong ? 'long' : undefined} dateTime={at} title={`${instantText(at)} UTC`}>
      {text}
    </time>
  );
}

function KeyStatus({ of: { status, revoked_at: revokedAt, expires_at: expiresAt } }: { of: Key }) {
  if (status === 'revoked')
    return <span class="st off">Revoked {revokedAt !== null && dayText(revokedAt)}</span>;
  if (status === 'expired')
    return <span class="st off">Expired {expiresAt !== null && dayText(expiresAt)}</span>;
  return <span class="st good">{expiresAt === null ? 'Active' : `Active until ${dayText(expiresAt)}`}</span>;
}
