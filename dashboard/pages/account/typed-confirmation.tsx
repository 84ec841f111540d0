// Confirms an irreversible change: the button is enabled once the name is typed.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { isTyped } from '../../text/typed.ts';
import { Field } from '../../components/forms/field.tsx';
import { FormDialog } from '../../components/forms/form-dialog.tsx';

interface TypedConfirmationProps {
  title: string;
  /** The text to type. */
  name: string;
  /** The label of the button. */
  button: string;
  change: () => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}

export function TypedConfirmation({ name, button, children, ...dialog }: TypedConfirmationProps) {
  const [typed, setTyped] = useState('');
  return (
    <FormDialog {...dialog} submit={button} isReady={isTyped(typed, name)} isDangerous>
      <div class="sm dlg-text">{children}</div>
      <Field
        label={`Type “${name}” to confirm`}
        name="typed"
        autocomplete="off"
        value={typed}
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </FormDialog>
  );
}
