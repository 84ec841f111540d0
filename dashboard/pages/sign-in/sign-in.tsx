// /sign-in: sign-in by password, by passkey, or with Google, which sends the browser back here with a code after `#`.
import { useEffect, useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { accountApi } from '../../api/clients.ts';
import { useAction, Problem } from '../../components/forms/action.tsx';
import { Buttons } from '../../components/forms/buttons.tsx';
import { Field } from '../../components/forms/field.tsx';
import { Waiting } from '../../components/states.tsx';
import { useSearchParams } from '../../components/use-query.ts';
import { NarrowPage, GoogleButton, useMethods, type Methods } from './narrow-page.tsx';
import { SecondStep } from './second-step.tsx';
import { popFragment } from './fragment.ts';
import { googleErrorText } from './google-errors.ts';
import { storeFirstStep, signIn, storeSignIn } from './signed-in.ts';
import { safePage } from '../../api/safe-page.ts';
import { popReturnUrl, withReturnUrl } from '../../api/return-url.ts';
import { canUsePasskeys, originOfPasskeys, signByPasskey } from '../../api/passkeys.ts';

/** Why the user was sent here, by the name in the URL. */
const reasons: Readonly<Record<string, string>> = {
  ended: 'Your session has ended. Sign in again to continue where you were.',
  needed: 'Sign in to see this page.',
  fresh:
    'This page needs a recent sign-in, by your passkey if the account has one. Sign in again to continue where you were.',
  'signed-out': 'You are signed out.',
  'password-set': 'Your new password is set. Sign in with it.',
  closed: 'Your account is closed, and its keys no longer work.',
};

export function SignIn() {
  const [, navigate] = useLocation();
  const [query] = useSearchParams();
  const [result] = useState(popFragment);
  const methods = useMethods();
  const action = useAction();
  const returnTo = query.get('return_to');
  const [second, setSecond] = useState<{ token: string; done: () => void }>();
  const code = result.get('google_code');
  const googleError = result.get('google_error');
  const reason = reasons[query.get('why') ?? ''];
  useEffect(() => {
    if (code === null) return;
    action.run(async () => {
      const { data } = await accountApi.post('/auth/google/exchange', { body: { code } });
      const token = storeFirstStep(data);
      if (token === undefined) navigate(popReturnUrl('google'), { replace: true });
      else setSecond({ token, done: () => navigate(popReturnUrl('google'), { replace: true }) });
    });
  }, []);
  if (second !== undefined) return <SecondStep {...second} onLeave={() => setSecond(undefined)} />;
  return (
    <NarrowPage title="Sign in">
      {reason !== undefined && (
        <p class="note acc note-above" role="status">
          {reason}
        </p>
      )}
      {googleError !== null && (
        <p class="note warn note-above" role="alert">
          {googleErrorText(googleError)}
        </p>
      )}
      {code !== null && action.error === undefined && <p role="status">Signing you in with Google …</p>}
      <Waiting for={methods} failure="The sign-in methods could not be loaded">
        {(found) => <GoogleButton methods={found} returnTo={returnTo} />}
      </Waiting>
      <form
        onSubmit={action.submit(async (field) => {
          const token = await signIn(field('email'), field('password'));
          const done = () => navigate(safePage(returnTo, location.origin));
          if (token === undefined) done();
          else setSecond({ token, done });
        })}
      >
        <Field label="E-mail address" name="email" type="email" autocomplete="username" required />
        <Field label="Password" name="password" type="password" autocomplete="current-password" required />
        <Buttons action={action} submit="Sign in" />
      </form>
      <Waiting for={methods} failure="The sign-in methods could not be loaded">
        {(found) => (
          <PasskeyButton methods={found} done={() => navigate(safePage(returnTo, location.origin))} />
        )}
      </Waiting>
      <p class="other-ways">
        <Link href={withReturnUrl('/forgot-password', returnTo)}>Forgot the password?</Link>
        <Link href={withReturnUrl('/sign-up', returnTo)}>Create an account</Link>
      </p>
    </NarrowPage>
  );
}

/** Renders nothing if passkeys are not available. @param done called once the session is open. */
function PasskeyButton({ methods, done }: { methods: Methods; done: () => void }) {
  const action = useAction();
  const elsewhere = originOfPasskeys(methods);
  const enter = () =>
    action.run(async () => {
      const started = await accountApi.post('/auth/login/passkey/options');
      const credential = await signByPasskey(started.data.options);
      const { data } = await accountApi.post('/auth/login/passkey', { body: { credential } });
      storeSignIn(data);
      done();
    });
  if (elsewhere !== undefined) {
    return (
      <p class="xs dim below">
        To sign in with a passkey, open <a href={`${elsewhere}/sign-in`}>{elsewhere}/sign-in</a>: passkeys
        work at that address only.
      </p>
    );
  }
  if (!canUsePasskeys(methods)) return null;
  return (
    <div class="by-passkey">
      <p class="or">
        <span>or</span>
      </p>
      <button class="btn" type="button" onClick={enter} disabled={action.isBusy}>
        Sign in with a passkey
      </button>
      <Problem of={action.error} />
    </div>
  );
}
