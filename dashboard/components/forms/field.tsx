// A text field with its label and a line about the allowed values.
import type { ComponentProps } from 'preact';
import { useId } from 'preact/hooks';

interface FieldProps extends ComponentProps<'input'> {
  label: string;
  name: string;
  hint?: string;
}

export function Field({ label, hint, ...input }: FieldProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <input {...input} class="in" id={id} aria-describedby={hint === undefined ? undefined : `${id}-hint`} />
      {hint !== undefined && <p id={`${id}-hint`}>{hint}</p>}
    </div>
  );
}
