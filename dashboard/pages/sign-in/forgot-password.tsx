// /forgot-password: requests a link that sets a new password. The answer is the same whether or not the account exists.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { accountApi } from '../../api/clients.ts';
import { useAction } from '../../components/forms/action.tsx';
import { Buttons } from '../../components/forms/buttons.tsx';
import { Field } from '../../components/forms/field.tsx';
import { useSearchParams } from '../../components/use-query.ts';
import { NarrowPage } from './narrow-page.tsx';
import { storeReturnUrl, withReturnUrl } from '../../api/return-url.ts';

export function ForgotPassword() {
  const [askedFor, setAskedFor] = useState<string>();
  const [query] = useSearchParams();
  const returnTo = query.get('return_to');
  const action = useAction();
  const submit = action.submit(async (field) => {
    const email = field('email');
    await accountApi.post('/auth/forgot-password', { body: { email } });
    storeReturnUrl('mail', returnTo);
    setAskedFor(email);
  });
  if (askedFor !== undefined) {
    return (
      <NarrowPage title="Check your mail">
        <p>
          If there is an account with <b>{askedFor}</b>, a link to set a new password is on its way. It works
          for one hour.
        </p>
        <p class="other-ways">
          <Link href={withReturnUrl('/sign-in', returnTo)}>Back to sign-in</Link>
        </p>
      </NarrowPage>
    );
  }
  return (
    <NarrowPage
      title="Set a new password"
      lede="We send you a link. Until you use it, your password does not change."
    >
      <form onSubmit={submit}>
        <Field label="E-mail address" name="email" type="email" autocomplete="username" required />
        <Buttons action={action} submit="Send the link" />
      </form>
      <p class="other-ways">
        <Link href={withReturnUrl('/sign-in', returnTo)}>Back to sign-in</Link>
      </p>
    </NarrowPage>
  );
}
