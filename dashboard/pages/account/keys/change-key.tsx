// Changes a key's name, scopes and addresses.
import { accountApi } from '../../../api/clients.ts';
import type { Fields } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { FormDialog } from '../../../components/forms/form-dialog.tsx';
import { AccessFields, accessIn, accessText } from './access-fields.tsx';
import type { Key } from './key-answers.ts';

interface ChangeKeyProps {
  of: Key;
  onChanged: () => void;
  onClose: () => void;
}

export function ChangeKey({ of: key, onChanged, onClose }: ChangeKeyProps) {
  const { id, name } = key;
  const change = async (field: Fields) => {
    const body = { name: field('name').trim(), ...accessIn(field) };
    await accountApi.patch('/v1/keys/{id}', { path: { id }, body });
    onChanged();
  };
  return (
    <FormDialog title={`Change “${name}”`} submit="Save" change={change} onClose={onClose}>
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
    </FormDialog>
  );
}
