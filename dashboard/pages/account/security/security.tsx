// /dashboard/security: sign-in methods, sessions, the audit log, e-mails, and closing the account.
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { accountApi, api } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { signOut } from '../../../api/session.ts';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { Waiting } from '../../../components/states.tsx';
import { NewPasswordField, type Methods } from '../../sign-in/narrow-page.tsx';
import { storeSignIn } from '../../sign-in/signed-in.ts';
import { accountPage, type OfAccount } from '../account-page.tsx';
import { TypedConfirmation } from '../typed-confirmation.tsx';
import { AuditLog } from './audit-log.tsx';
import { GoogleLink } from './google-link.tsx';
import { Profile } from './profile.tsx';
import { Passkeys } from './passkeys.tsx';
import { Sessions } from './sessions.tsx';
import { TwoFactor } from './two-factor.tsx';

export const Security = accountPage((of) => (
  <>
    <PageHead title="Security" lede="Sign-in methods, sessions, and the history of the account." />
    <SignInMethods {...of} />
    <TwoFactor {...of} />
    <Sessions {...of} />
    <Profile {...of} />
    <AuditLog {...of} />
    <CloseAccount {...of} />
  </>
));

function SignInMethods(of: OfAccount) {
  const methods = useLoad(async (signal) => (await api.get('/auth/methods', { signal })).data, []);
  return (
    <Waiting for={methods} failure="The sign-in methods could not be loaded">
      {(found) => (
        <>
          <div class="half">
            <section aria-labelledby="password">
              <h2 id="password">Password</h2>
              <Password {...of} methods={found} />
            </section>
            {found.google && <GoogleLink {...of} />}
          </div>
          <Passkeys {...of} methods={found} />
        </>
      )}
    </Waiting>
  );
}

function Password({ account, reload, methods }: OfAccount & { methods: Methods }) {
  const [changes, setChanges] = useState(0);
  const action = useAction();
  const submit = action.submit(async (field) => {
    const password = field('new');
    const answer = account.has_password
      ? await accountApi.post('/auth/change-password', { body: { current: field('current'), new: password } })
      : await accountApi.post('/auth/set-password', { body: { password } });
    if ('session_token' in answer.data) storeSignIn(answer.data);
    setChanges((count) => count + 1);
    reload();
  });
  if (account.role === 'operator' && !account.has_password) {
    return (
      <p class="sm below">
        This account has no password. For an operator account, a session cannot set one:{' '}
        <Link href="/forgot-password">request a link by e-mail</Link>.
      </p>
    );
  }
  return (
    <form class="form sec-form below" onSubmit={submit} key={changes}>
      <p class="sm">
        {account.has_password
          ? 'A new password ends all other sessions. Keys keep working.'
          : 'This account has no password. Set one to sign in without Google.'}
      </p>
      {account.has_password && (
        <Field
          label="Current password"
          name="current"
          type="password"
          autocomplete="current-password"
          required
        />
      )}
      <NewPasswordField label="New password" name="new" methods={methods} />
      <Problem of={action.error} />
      <div class="actions">
        <button class="btn" type="submit" disabled={action.isBusy}>
          {account.has_password ? 'Change the password' : 'Set a password'}
        </button>
        <span role="status" class="sm">
          {changes > 0 &&
            !action.isBusy &&
            action.error === undefined &&
            'Done. All other sessions have ended.'}
        </span>
      </div>
    </form>
  );
}

function CloseAccount({ account }: OfAccount) {
  const [, navigate] = useLocation();
  const [isConfirming, setIsConfirming] = useState(false);
  const close = () =>
    signOut(async () => {
      await accountApi.delete('/v1/account');
      navigate('/sign-in?why=closed');
    });
  return (
    <section aria-labelledby="close">
      <h2 id="close">Close the account</h2>
      <p class="sm below">
        Deletes the account with its keys, sessions and webhooks. This cannot be undone. Cancel a subscription
        first, under Billing.
      </p>
      <button class="btn danger below" type="button" onClick={() => setIsConfirming(true)}>
        Close the account
      </button>
      {isConfirming && (
        <TypedConfirmation
          title="Close the account?"
          name={account.email}
          button="Close it for good"
          change={close}
          onClose={() => setIsConfirming(false)}
        >
          <p>Its {account.active_keys} active keys stop working at once. The account cannot be restored.</p>
        </TypedConfirmation>
      )}
    </section>
  );
}
