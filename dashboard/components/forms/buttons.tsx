// The end of a form: the error, and the buttons that submit or leave it.
import type { Action } from './action.tsx';
import { Problem } from './action.tsx';

interface ButtonsProps {
  action: Action;
  /** The label of the submit button. */
  submit: string;
  /** False: a required field is still empty. */
  isReady?: boolean;
  isDangerous?: boolean;
  /** Closes the dialog, which shows the result of a change that has begun; only in dialogs. */
  onCancel?: () => void;
}

export function Buttons({ action, submit, isReady = true, isDangerous = false, onCancel }: ButtonsProps) {
  const send = (
    <button
      class={isDangerous ? 'btn danger' : 'btn main'}
      type="submit"
      disabled={action.isBusy || !isReady}
    >
      {submit}
    </button>
  );
  return (
    <>
      <Problem of={action.error} />
      {onCancel === undefined ? (
        send
      ) : (
        <div class="actions dlg-end">
          <button class="btn" type="button" onClick={onCancel} disabled={action.isBusy}>
            Cancel
          </button>
          {send}
        </div>
      )}
    </>
  );
}
