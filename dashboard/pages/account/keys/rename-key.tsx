// Gives a key another name.
import { accountApi } from '../../../api/clients.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import type { Key } from './keys.tsx';

interface RenameKeyProps {
  of: Key;
  onRenamed: () => void;
  onClose: () => void;
}

export function RenameKey({ of: { id, name }, onRenamed, onClose }: RenameKeyProps) {
  const action = useAction();
  const submit = action.submit(async (field) => {
    await accountApi.patch('/v1/keys/{id}', { path: { id }, body: { name: field('name').trim() } });
    onRenamed();
  });
  return (
    <Dialog title={`Rename “${name}”`} onClose={onClose}>
      <form onSubmit={submit}>
        <Field
          label="Name"
          name="name"
          defaultValue={name}
          hint="The key itself stays the same."
          maxLength={100}
          autocomplete="off"
          required
        />
        <Problem of={action.error} />
        <div class="actions dlg-end">
          <button class="btn" type="button" onClick={onClose}>
            Cancel
          </button>
          <button class="btn main" type="submit" disabled={action.isBusy}>
            Rename
          </button>
        </div>
      </form>
    </Dialog>
  );
}
