// The frame of the pages before sign-in: one narrow column, and the sign-in methods of this installation.
import '../../styles/narrow-page.css';
import type { ComponentChildren } from 'preact';
import { api } from '../../api/clients.ts';
import { useLoad, type Loaded } from '../../api/use-load.ts';
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import { Field } from '../../components/forms/field.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { storeReturnUrl } from '../../api/return-url.ts';

interface NarrowPageProps {
  title: string;
  lede?: ComponentChildren;
  children: ComponentChildren;
}

export function NarrowPage({ title, lede, children }: NarrowPageProps) {
  return (
    <div class="wrap">
      <div class="narrow-page">
        <PageHead title={title} {...(lede === undefined ? {} : { lede })} />
        {children}
      </div>
    </div>
  );
}

export type Methods = AnswerOf<'get', '/auth/methods'>['data'];

/** The object that is set up here. */
export function useMethods(): Loaded<Methods> {
  return useLoad(async (signal) => (await api.get('/auth/methods', { signal })).data, []);
}

/** Renders nothing if Google is not configured. @param returnTo the page to open after sign-in. */
export function GoogleButton({ methods, returnTo }: { methods: Methods; returnTo: string | null }) {
  if (!methods.google) return null;
  return (
    <div class="by-google">
      {/* Google sends the browser back to the sign-in page, which then opens the requested page. */}
      <a
        class="btn"
        href="/auth/google/start?return_to=/sign-in"
        onClick={() => storeReturnUrl('google', returnTo)}
      >
        Continue with Google
      </a>
      <p class="or">
        <span>or</span>
      </p>
    </div>
  );
}

interface NewPasswordProps {
  label: string;
  name: string;
  methods: Methods;
}

/** The field for a password that the user chooses. */
export function NewPasswordField({ methods: { password_length_min: least }, ...field }: NewPasswordProps) {
  return (
    <Field
      {...field}
      type="password"
      autocomplete="new-password"
      minLength={least}
      maxLength={256}
      hint={`At least ${least} characters. Several unrelated words are good, and easy to remember.`}
      required
    />
  );
}
