// Gives a key another name.
import { accountApi } from '../../../api/clients.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { useAction } from '../../../components/forms/action.tsx';
import { Buttons } from '../../../components/forms/buttons.tsx';
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
        <Buttons action={action} submit="Rename" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
