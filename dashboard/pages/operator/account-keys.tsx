// The keys of an account, masked; each can be revoked.
import { useState } from 'preact/hooks';
import { accountApi } from '../../api/clients.ts';
import { useLoad } from '../../api/use-load.ts';
import { rowsOf, type Row } from '../../api/rows.ts';
import { actionsColumn, DataTable, RowButton } from '../../components/data-table.tsx';
import { dayText, agoText } from '../../text/times.ts';
import { TypedConfirmation } from '../account/typed-confirmation.tsx';
import { WaitingOrSignIn } from './operator-page.tsx';

type Key = Row<'/v1/operator/accounts/{id}/keys'>;

const statusTexts = { active: 'Active', expired: 'Expired', revoked: 'Revoked' };

export function AccountKeys({ accountId }: { accountId: string }) {
  const [revoked, setRevoked] = useState<Key>();
  const loaded = useLoad(
    async (signal) =>
      rowsOf(
        await accountApi.get('/v1/operator/accounts/{id}/keys', {
          path: { id: accountId },
          query: { limit: 1000 },
          signal,
        }),
      ),
    [accountId],
  );
  const revoke = async ({ id }: Key) => {
    await accountApi.delete('/v1/operator/accounts/{id}/keys/{key}', { path: { id: accountId, key: id } });
    setRevoked(undefined);
    loaded.reload();
  };
  return (
    <section aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      <WaitingOrSignIn for={loaded} failure="The keys could not be loaded">
        {(keys) =>
          keys.length === 0 ? <p class="sm dim">None.</p> : <Table keys={keys} onRevoke={setRevoked} />
        }
      </WaitingOrSignIn>
      {revoked !== undefined && (
        <TypedConfirmation
          title={`Revoke “${revoked.name}”?`}
          name={revoked.name}
          button="Revoke the key"
          change={() => revoke(revoked)}
          onClose={() => setRevoked(undefined)}
        >
          <p>It stops working at once. This cannot be undone.</p>
        </TypedConfirmation>
      )}
    </section>
  );
}

function Table({ keys, onRevoke }: { keys: readonly Key[]; onRevoke: (key: Key) => void }) {
  const now = Date.now();
  return (
    <DataTable
      caption="Keys of the account"
      rows={keys}
      keyOf={({ id }) => id}
      columns={[
        { label: 'Name', cell: ({ name }) => <b>{name}</b> },
        { label: 'Key', phone: 'plain', cell: ({ masked }) => <span class="mono xs">{masked}</span> },
        { label: 'Created', cell: ({ created_at: at }) => dayText(at) },
        { label: 'Last used', cell: ({ last_used_at: at }) => (at === null ? 'never' : agoText(at, now)) },
        {
          label: 'Status',
          cell: ({ status }) => (
            <span class={status === 'active' ? 'st good' : 'st off'}>{statusTexts[status]}</span>
          ),
        },
        {
          ...actionsColumn,
          cell: (key) =>
            key.status === 'active' && (
              <span class="row-actions">
                <RowButton label="Revoke" of={key.name} isDangerous onClick={() => onRevoke(key)} />
              </span>
            ),
        },
      ]}
    />
  );
}
