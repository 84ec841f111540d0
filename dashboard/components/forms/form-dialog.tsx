// A dialog with a form: its fields, the error of the change, and the buttons that make the change or cancel it.
import type { ComponentChildren } from 'preact';
import { Dialog } from '../dialog.tsx';
import { useAction, type Fields } from './action.tsx';
import { Buttons } from './buttons.tsx';

interface FormDialogProps {
  title: string;
  /** The label of the submit button. */
  submit: string;
  /** False: a required field is still empty. */
  isReady?: boolean;
  isDangerous?: boolean;
  change: (field: Fields) => Promise<void>;
  onClose: () => void;
  children: ComponentChildren;
}

export function FormDialog({ title, change, onClose, children, ...buttons }: FormDialogProps) {
  const action = useAction();
  return (
    <Dialog title={title} onClose={onClose} locked={action.isBusy}>
      <form onSubmit={action.submit(change)}>
        {children}
        <Buttons action={action} {...buttons} onCancel={onClose} />
      </form>
    </Dialog>
  );
}
