// Adds, renames and removes the passkeys of the account.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { canUsePasskeys, createPasskey, originOfPasskeys } from '../../../api/passkeys.ts';
import { rowsOf, type Row } from '../../../api/rows.ts';
import { actionsColumn, DataTable, RowButton } from '../../../components/data-table.tsx';
import type { Fields } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { FormDialog } from '../../../components/forms/form-dialog.tsx';
import { Waiting } from '../../../components/states.tsx';
import { dayText, agoText } from '../../../text/times.ts';
import type { Methods } from '../../sign-in/narrow-page.tsx';
import type { OfAccount } from '../account-page.tsx';
import { Proof, proofIn } from './proof.tsx';

type Passkey = Row<'/auth/passkeys'>;
/** The open dialog. */
type Open = 'add' | { rename: Passkey } | { remove: Passkey };

export function Passkeys({ account, reload, methods }: OfAccount & { methods: Methods }) {
  const [open, setOpen] = useState<Open>();
  const loaded = useLoad(
    async (signal) => {
      const [passkeys, { data }] = await Promise.all([
        accountApi.get('/auth/passkeys', { query: { limit: 100 }, signal }),
        accountApi.get('/auth/second-factor', { signal }),
      ]);
      return { passkeys: rowsOf(passkeys), hasApp: data.totp !== null };
    },
    [account],
  );
  const close = () => setOpen(undefined);
  const done = () => {
    close();
    loaded.reload();
    reload();
  };
  return (
    <section aria-labelledby="passkeys">
      <h2 id="passkeys">Passkeys</h2>
      <p class="sm below">
        A passkey signs you in with your fingerprint, face or PIN instead of a password and a code, and cannot
        be phished. Your password still works.
      </p>
      <Waiting for={loaded} failure="The passkeys could not be loaded">
        {({ passkeys, hasApp }) => {
          const dialog = { account, hasApp, onClose: close, onDone: done };
          return (
            <>
              {passkeys.length > 0 && (
                <div class="below">
                  <List passkeys={passkeys} onOpen={setOpen} />
                </div>
              )}
              <AddButton methods={methods} onAdd={() => setOpen('add')} />
              {open === 'add' && <Add {...dialog} />}
              {typeof open === 'object' && 'rename' in open && <Rename {...dialog} passkey={open.rename} />}
              {typeof open === 'object' && 'remove' in open && <Remove {...dialog} passkey={open.remove} />}
            </>
          );
        }}
      </Waiting>
    </section>
  );
}

function AddButton({ methods, onAdd }: { methods: Methods; onAdd: () => void }) {
  const elsewhere = originOfPasskeys(methods);
  if (canUsePasskeys(methods)) {
    return (
      <button class="btn below" type="button" onClick={onAdd}>
        Add a passkey
      </button>
    );
  }
  return (
    <p class="note below">
      {methods.passkeys === null ? (
        'Passkeys cannot be used here: browsers offer them only on HTTPS with a host name, and on http://localhost.'
      ) : elsewhere === undefined ? (
        'This browser does not support passkeys.'
      ) : (
        <span>
          Passkeys cannot be used at this address. Open{' '}
          <a href={`${elsewhere}/dashboard/security`}>{elsewhere}/dashboard/security</a> to add one.
        </span>
      )}
    </p>
  );
}

function List({ passkeys, onOpen }: { passkeys: readonly Passkey[]; onOpen: (open: Open) => void }) {
  const now = Date.now();
  return (
    <DataTable
      caption="Passkeys"
      rows={passkeys}
      keyOf={({ id }) => id}
      columns={[
        { label: 'Name', cell: ({ name }) => <b>{name}</b> },
        { label: 'Added', cell: ({ created_at: at }) => dayText(at) },
        { label: 'Last sign-in', cell: ({ last_used_at: at }) => (at === null ? 'never' : agoText(at, now)) },
        {
          ...actionsColumn,
          cell: (passkey) => (
            <span class="row-actions">
              <RowButton label="Rename" of={passkey.name} onClick={() => onOpen({ rename: passkey })} />
              <RowButton
                label="Remove"
                of={passkey.name}
                isDangerous
                onClick={() => onOpen({ remove: passkey })}
              />
            </span>
          ),
        },
      ]}
    />
  );
}

interface OfDialog extends Pick<OfAccount, 'account'> {
  hasApp: boolean;
  onClose: () => void;
  onDone: () => void;
}

function Add({ account, hasApp, onClose, onDone }: OfDialog) {
  const add = async (field: Fields) => {
    const body = proofIn({ account, hasApp }, field);
    const started = await accountApi.post('/auth/passkeys/options', { body });
    const credential = await createPasskey(started.data.options);
    await accountApi.post('/auth/passkeys', { body: { name: field('name'), credential } });
    onDone();
  };
  return (
    <FormDialog title="Add a passkey" submit="Continue" change={add} onClose={onClose}>
      <p class="sm dlg-text">
        Your browser then asks where to store it: on this device, on a phone or on a security key.
      </p>
      <NameField />
      <Proof account={account} hasApp={hasApp} />
    </FormDialog>
  );
}

function Rename({ passkey: { id, name }, onClose, onDone }: OfDialog & { passkey: Passkey }) {
  const rename = async (field: Fields) => {
    await accountApi.patch('/auth/passkeys/{id}', { path: { id }, body: { name: field('name') } });
    onDone();
  };
  return (
    <FormDialog title={`Rename the passkey “${name}”`} submit="Rename" change={rename} onClose={onClose}>
      <NameField name={name} />
    </FormDialog>
  );
}

function Remove({
  passkey: { id, name },
  account,
  hasApp,
  onClose,
  onDone,
}: OfDialog & { passkey: Passkey }) {
  const remove = async (field: Fields) => {
    const body = proofIn({ account, hasApp }, field);
    await accountApi.post('/auth/passkeys/{id}/remove', { path: { id }, body });
    onDone();
  };
  return (
    <FormDialog
      title={`Remove the passkey “${name}”?`}
      submit="Remove"
      isDangerous
      change={remove}
      onClose={onClose}
    >
      <p class="sm dlg-text">
        It can no longer be used to sign in, and all your other sessions end. Delete it on the device, too.
      </p>
      <Proof account={account} hasApp={hasApp} />
    </FormDialog>
  );
}

function NameField({ name = '' }: { name?: string }) {
  return (
    <Field
      label="Name"
      name="name"
      defaultValue={name}
      maxLength={100}
      autocomplete="off"
      hint="Where it is stored, such as Phone or Key ring."
      required
    />
  );
}
