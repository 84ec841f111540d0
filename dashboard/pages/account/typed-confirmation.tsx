// Confirms an irreversible change: the button is enabled once the name is typed.
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { Problem, useAction } from '../../components/forms/action.tsx';
import { Buttons } from '../../components/forms/buttons.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/forms/field.tsx';

interface TypedConfirmationProps {
  title: string;
  /** The text to type. */
  name: string;
  /** The label of the button. */
  button: string;
  change: () => Promise<void>;
  /** Shows what went wrong; by default `Problem`. */
  problem?: typeof Problem;
  onClose: () => void;
  children: ComponentChildren;
}

export function TypedConfirmation({
  title,
  name,
  button,
  change,
  problem = Problem,
  onClose,
  children,
}: TypedConfirmationProps) {
  const [typed, setTyped] = useState('');
  const action = useAction();
  return (
    <Dialog title={title} onClose={onClose}>
      <form onSubmit={action.submit(change)}>
        <div class="sm dlg-text">{children}</div>
        <Field
          label={`Type “${name}” to confirm`}
          name="typed"
          autocomplete="off"
          value={typed}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
        <Buttons
          action={action}
          submit={button}
          isReady={typed === name}
          isDangerous
          onCancel={onClose}
          problem={problem}
        />
      </form>
    </Dialog>
  );
}
