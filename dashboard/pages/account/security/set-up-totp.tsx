// Sets up an authenticator app in two steps: the password, then the app's first code, which proves that the app has the secret.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import type { Fields } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { FormDialog } from '../../../components/forms/form-dialog.tsx';
import type { Account } from '../account-page.tsx';
import { PasswordField, passwordIn } from './proof.tsx';
import { QrCode } from './qr-code.tsx';

interface SetUpProps {
  account: Account;
  /** Called with the recovery codes once the app is active. */
  onDone: (recoveryCodes: readonly string[]) => void;
  onClose: () => void;
}

export function SetUp({ account, onDone, onClose }: SetUpProps) {
  const [enrolment, setEnrolment] = useState<{ secret: string; otpauth_uri: string }>();
  const begin = async (field: Fields) => {
    const body = passwordIn(account, field);
    setEnrolment((await accountApi.post('/auth/second-factor/totp', { body })).data);
  };
  const confirm = async (field: Fields) => {
    const body = { code: field('code') };
    const { data } = await accountApi.post('/auth/second-factor/totp/confirm', { body });
    onDone(data.recovery_codes);
  };
  if (enrolment === undefined) {
    return (
      <FormDialog title="Set up an authenticator app" submit="Continue" change={begin} onClose={onClose}>
        <p class="sm dlg-text">
          Use any authenticator app. After setup, sign-in asks for a code from the app. Setup ends all your
          other sessions.
        </p>
        {account.has_password && <PasswordField />}
      </FormDialog>
    );
  }
  return (
    <FormDialog key="scan" title="Scan this with the app" submit="Turn on" change={confirm} onClose={onClose}>
      <QrCode text={enrolment.otpauth_uri} label="QR code of the secret for your authenticator app" />
      <div>
        <p class="sm dlg-text">Or type this secret into the app:</p>
        <div class="secret">
          <code data-test="totp-secret">{enrolment.secret}</code>
          <CopyButton text={enrolment.secret} label="Copy the secret" />
        </div>
      </div>
      <Field
        label="Code that the app shows"
        name="code"
        inputMode="numeric"
        autocomplete="one-time-code"
        maxLength={7}
        required
      />
    </FormDialog>
  );
}
