// /dashboard/verify-email#token=…: confirms an e-mail address by a mailed link, with the password or a session. The button uses the link.
import { useState } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { accountApi, api } from '../../api/clients.ts';
import { session } from '../../api/session.ts';
import { Problem, useAction } from '../../components/forms/action.tsx';
import { Field } from '../../components/forms/field.tsx';
import { NarrowPage } from './narrow-page.tsx';
import { SecondStep } from './second-step.tsx';
import { popFragment } from './fragment.ts';
import { LinkMissing } from './set-password.tsx';
import { popReturnUrl } from '../../api/return-url.ts';
import { storeFirstStep } from './signed-in.ts';

export function VerifyEmail() {
  const [, navigate] = useLocation();
  const [token] = useState(() => popFragment().get('token'));
  // A user who is signed in to another account needs the password of the link's account.
  const [byPassword, setByPassword] = useState(false);
  const isOwn = session.value !== undefined && !byPassword; // a new tab gets the session from another one
  const [secondToken, setSecondToken] = useState<string>();
  const action = useAction();
  if (token === null) return <LinkMissing title="Confirm your e-mail address" />;
  const submit = action.submit(async (field) => {
    const { data } = isOwn
      ? await accountApi.post('/auth/verify-email', { body: { token } })
      : await api.post('/auth/verify-email', { body: { token, password: field('password') } });
    const second = storeFirstStep(data);
    if (second === undefined) navigate(popReturnUrl('mail'));
    else setSecondToken(second);
  });
  if (secondToken !== undefined) {
    return (
      <SecondStep
        token={secondToken}
        done={() => navigate(popReturnUrl('mail'))}
        onLeave={() => navigate('/sign-in')}
      />
    );
  }
  return (
    <NarrowPage
      title="Confirm your e-mail address"
      lede={isOwn ? 'You are signed in: one click confirms it.' : 'Enter the password that you chose.'}
    >
      <form onSubmit={submit}>
        {!isOwn && (
          <Field label="Password" name="password" type="password" autocomplete="current-password" required />
        )}
        <Problem of={action.error} />
        <div class="actions">
          <button class="btn main" type="submit" disabled={action.isBusy}>
            Confirm
          </button>
          {isOwn && (
            <button class="btn plain" type="button" onClick={() => setByPassword(true)}>
              Use a password instead
            </button>
          )}
        </div>
      </form>
    </NarrowPage>
  );
}
