// The form fields for the proof that is required to change how the account is signed in to.
import type { Fields } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import type { Account } from '../account-page.tsx';

interface OfProof {
  account: Account;
  /** Whether the account has an authenticator app. */
  hasApp: boolean;
}

/** The fields for all factors of the account. */
export function Proof({ account, hasApp }: OfProof) {
  return (
    <>
      {account.has_password && <PasswordField />}
      {hasApp && (
        <Field
          label="Code"
          name="code"
          autocomplete="one-time-code"
          maxLength={64}
          hint="A code from the app, or a recovery code."
          required
        />
      )}
    </>
  );
}

export function PasswordField() {
  return (
    <Field label="Your password" name="password" type="password" autocomplete="current-password" required />
  );
}

/** The values of these fields. */
export function proofIn(of: OfProof & { hasApp: true }, field: Fields): { password?: string; code: string };
export function proofIn(of: OfProof, field: Fields): { password?: string; code?: string };
export function proofIn({ account, hasApp }: OfProof, field: Fields) {
  return { ...passwordIn(account, field), ...(hasApp && { code: field('code') }) };
}

/** The password, if the account has one. */
export function passwordIn(account: Account, field: Fields): { password?: string } {
  return account.has_password ? { password: field('password') } : {};
}
