// /dashboard/set-password#token=…: sets a new password by a mailed link. Opening the page does not use the link; the button does.
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { api } from '../../api/clients.ts';
import { forgetSession } from '../../api/session.ts';
import { useAction } from '../../components/forms/action.tsx';
import { Buttons } from '../../components/forms/buttons.tsx';
import { Waiting } from '../../components/states.tsx';
import { NarrowPage, NewPasswordField, useMethods } from './narrow-page.tsx';
import { popFragment } from './fragment.ts';
import { popReturnUrl, withReturnUrl } from '../../api/return-url.ts';
import { storeDevice } from './signed-in.ts';

export function SetPassword() {
  const [, navigate] = useLocation();
  const [token] = useState(() => popFragment().get('token'));
  const methods = useMethods();
  const action = useAction();
  if (token === null) return <LinkMissing title="Set a new password" />;
  const submit = action.submit(async (field) => {
    const { data } = await api.post('/auth/set-password', {
      body: { token, password: field('password') },
    });
    storeDevice(data.device_token);
    forgetSession(); // a new password ends every session
    navigate(`${withReturnUrl('/sign-in', popReturnUrl('mail'))}&why=password-set`);
  });
  return (
    <NarrowPage
      title="Set a new password"
      lede="The new password ends all sessions of the account. Your keys keep working."
    >
      <Waiting for={methods}>
        {(found) => (
          <form onSubmit={submit}>
            <NewPasswordField label="New password" name="password" methods={found} />
            <Buttons action={action} submit="Set the password" />
          </form>
        )}
      </Waiting>
    </NarrowPage>
  );
}

/** For a page that only a mailed link opens. */
export function LinkMissing({ title }: { title: string }) {
  return (
    <NarrowPage title={title}>
      <p>
        This page needs the link from an e-mail. Open that link again: it is not kept when the page is
        reloaded.
      </p>
      <p class="other-ways">
        <Link href="/forgot-password">Request a new link</Link>
        <Link href="/sign-in">Sign in</Link>
      </p>
    </NarrowPage>
  );
}
