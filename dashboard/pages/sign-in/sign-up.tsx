// /sign-up: creates an account by e-mail address and password, or with Google. If the installation sends mail, a mailed link confirms the address.
import { useState } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import { accountApi } from '../../api/clients.ts';
import { useAction } from '../../components/forms/action.tsx';
import { Buttons } from '../../components/forms/buttons.tsx';
import { Field } from '../../components/forms/field.tsx';
import { Waiting } from '../../components/states.tsx';
import { useSearchParams } from '../../components/use-query.ts';
import { NarrowPage, GoogleButton, NewPasswordField, useMethods, type Methods } from './narrow-page.tsx';
import { storeReturnUrl, withReturnUrl } from '../../api/return-url.ts';
import { safePage } from '../../api/safe-page.ts';
import { storeSignIn } from './signed-in.ts';

export function SignUp() {
  const methods = useMethods();
  const [mailedTo, setMailedTo] = useState<string>();
  const [query] = useSearchParams();
  const returnTo = query.get('return_to');
  if (mailedTo !== undefined) return <MailSent to={mailedTo} returnTo={returnTo} />;
  return (
    <NarrowPage title="Create an account" lede="The free plan needs no card.">
      <Waiting for={methods} failure="The sign-up methods could not be loaded">
        {(found) => (
          <>
            <GoogleButton methods={found} returnTo={returnTo} />
            <SignUpForm methods={found} returnTo={returnTo} onMailed={setMailedTo} />
          </>
        )}
      </Waiting>
      <p class="other-ways">
        <Link href={withReturnUrl('/sign-in', returnTo)}>I have an account</Link>
      </p>
    </NarrowPage>
  );
}

interface SignUpFormProps {
  methods: Methods;
  /** The page that was requested before. */
  returnTo: string | null;
  onMailed: (email: string) => void;
}

function SignUpForm({ methods, returnTo, onMailed }: SignUpFormProps) {
  const [, navigate] = useLocation();
  const action = useAction();
  const submit = action.submit(async (field) => {
    const [name, email] = [field('name').trim(), field('email')];
    const body = { email, password: field('password'), ...(name === '' ? {} : { name }) };
    const { data } = await accountApi.post('/auth/signup', { body });
    if (!('session_token' in data)) {
      storeReturnUrl('mail', returnTo);
      return onMailed(email);
    }
    storeSignIn(data);
    navigate(safePage(returnTo, location.origin));
  });
  return (
    <form onSubmit={submit}>
      <Field label="E-mail address" name="email" type="email" autocomplete="username" required />
      <NewPasswordField label="Password" name="password" methods={methods} />
      <Field label="Name of the account (optional)" name="name" autocomplete="organization" maxLength={100} />
      <Buttons action={action} submit="Create an account" />
    </form>
  );
}

function MailSent({ to, returnTo }: { to: string; returnTo: string | null }) {
  return (
    <NarrowPage title="Open the link in your e-mail">
      <p>
        An e-mail is on its way to <b>{to}</b>. Its link works for 24 hours; you then enter the password that
        you have just chosen.
      </p>
      <p class="other-ways">
        <Link href={withReturnUrl('/forgot-password', returnTo)}>
          No e-mail? You may already have an account
        </Link>
      </p>
    </NarrowPage>
  );
}
