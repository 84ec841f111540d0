// Sets up an authenticator app in two steps: the password, then the app's first code, which proves that the app has the secret.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { CopyButton } from '../../../components/copy-button.tsx';
import { Dialog } from '../../../components/dialog.tsx';
import { useAction } from '../../../components/forms/action.tsx';
import { Buttons } from '../../../components/forms/buttons.tsx';
import { Field } from '../../../components/forms/field.tsx';
import type { Account } from '../account-page.tsx';
import { PasswordField } from './proof.tsx';
import { QrCode } from './qr-code.tsx';

interface SetUpProps {
  account: Account;
  /** Called with the recovery codes once the app is active. */
  onDone: (recoveryCodes: readonly string[]) => void;
  onClose: () => void;
}

export function SetUp({ account, onDone, onClose }: SetUpProps) {
  const [enrolment, setEnrolment] = useState<{ secret: string; otpauth_uri: string }>();
  const beginning = useAction();
  const confirming = useAction();
  const begin = beginning.submit(async (field) => {
    const body = account.has_password ? { password: field('password') } : {};
    setEnrolment((await accountApi.post('/auth/second-factor/totp', { body })).data);
  });
  const confirm = confirming.submit(async (field) => {
    const body = { code: field('code') };
    const { data } = await accountApi.post('/auth/second-factor/totp/confirm', { body });
    onDone(data.recovery_codes);
  });
  if (enrolment === undefined) {
    return (
      <Dialog title="Set up an authenticator app" onClose={onClose}>
        <form onSubmit={begin}>
          <p class="sm dlg-text">
            Use any authenticator app. After setup, sign-in asks for a code from the app. Setup ends all your
            other sessions.
          </p>
          {account.has_password && <PasswordField />}
          <Buttons action={beginning} submit="Continue" onCancel={onClose} />
        </form>
      </Dialog>
    );
  }
  return (
    <Dialog key="scan" title="Scan this with the app" onClose={onClose}>
      <form onSubmit={confirm}>
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
        <Buttons action={confirming} submit="Turn on" onCancel={onClose} />
      </form>
    </Dialog>
  );
}
