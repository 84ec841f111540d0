// The second step of a sign-in: a code of the authenticator app, or a recovery code. The token of the first step is only in memory.
import { useEffect, useRef } from 'preact/hooks';
import { accountApi } from '../../api/clients.ts';
import { useAction } from '../../components/forms/action.tsx';
import { Buttons } from '../../components/forms/buttons.tsx';
import { Field } from '../../components/forms/field.tsx';
import { NarrowPage } from './narrow-page.tsx';
import { storeSignIn } from './signed-in.ts';

interface SecondStepProps {
  /** The token of the first step. */
  token: string;
  /** Called once the session is open. */
  done: () => void;
  /** Called when the user starts over. */
  onLeave: () => void;
}

export function SecondStep({ token, done, onLeave }: SecondStepProps) {
  const action = useAction();
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => form.current?.querySelector('input')?.focus(), []);
  return (
    <NarrowPage title="Enter your code" lede="The six digits that your authenticator app shows now.">
      <form
        ref={form}
        onSubmit={action.submit(async (field) => {
          const body = { sign_in_token: token, code: field('code') };
          const { data } = await accountApi.post('/auth/login/second-factor', { body });
          storeSignIn(data);
          done();
        })}
      >
        <Field
          label="Code"
          name="code"
          autocomplete="one-time-code"
          autocapitalize="none"
          spellcheck={false}
          maxLength={64}
          hint="Without the app, enter one of your recovery codes. Each can be used once."
          required
        />
        <Buttons action={action} submit="Sign in" />
      </form>
      <p class="other-ways">
        <button class="btn plain" type="button" onClick={onLeave}>
          Start over
        </button>
      </p>
    </NarrowPage>
  );
}
