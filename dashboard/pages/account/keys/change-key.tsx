// Changes a key's name, scopes and addresses.
import { accountApi } from '../../../api/clients.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { useAction } from '../../../components/forms/action.tsx';
import { Buttons } from '../../../components/forms/buttons.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { AccessFields, accessIn, accessText } from './access-fields.tsx';
import type { Key } from './key-answers.ts';

interface ChangeKeyProps {
  of: Key;
  onChanged: () => void;
  onClose: () => void;
}

export function ChangeKey({ of: key, onChanged, onClose }: ChangeKeyProps) {
  const { id, name } = key;
  const action = useAction();
  const submit = action.submit(async (field) => {
    const body = { name: field('name').trim(), ...accessIn(field) };
    await accountApi.patch('/v1/keys/{id}', { path: { id }, body });
    onChanged();
  });
  return (
    <Dialog title={`Change “${name}”`} onClose={onClose}>
      <form onSubmit={submit}>
        <Field
          label="Name"
          name="name"
          defaultValue={name}
          hint="The secret stays the same. Changes apply from the next call."
          maxLength={100}
          autocomplete="off"
          required
        />
        <AccessFields of={key} isOpen={accessText(key) !== undefined} />
        <Buttons action={action} submit="Save" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
