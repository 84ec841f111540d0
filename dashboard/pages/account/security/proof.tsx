// The form fields for the proof that is required to change how the account is signed in to.
import { Field } from '../../../components/forms/field.tsx';

export function PasswordField() {
  return (
    <Field label="Your password" name="password" type="password" autocomplete="current-password" required />
  );
}

export function CodeField() {
  return (
    <Field
      label="Code"
      name="code"
      autocomplete="one-time-code"
      maxLength={64}
      hint="A code from the app, or a recovery code."
      required
    />
  );
}
