// The frame of every page for operators, within the frame of account pages; other users get "not found". If the last sign-in is older than 15 minutes,
// it links to a new one, which the API then requires.
import type { ComponentChild, ComponentType } from 'preact';
import { Link } from 'wouter-preact';
import type { AlmanacError } from '../../../clients/typescript/errors.ts';
import type { Loaded } from '../../api/use-load.ts';
import { SignInAgain, needsSignIn } from '../../components/forms/action.tsx';
import { Empty, Waiting } from '../../components/states.tsx';
import type { PageProps } from '../../shell/lazy-page.tsx';
import { NotFound } from '../../shell/not-found.tsx';
import { accountPage } from '../account/account-page.tsx';

/** A page of the account for operators. */
export const operatorPage = (Page: ComponentType<PageProps>): ComponentType<PageProps> =>
  accountPage(({ account, params }) =>
    account.role === 'operator' ? <Page params={params} /> : <NotFound />,
  );

/** The account has no second factor, and operators need one here. */
const isUnenrolled = ({ code }: AlmanacError) => code === 'forbidden';

interface WaitingOrSignInProps<T> {
  for: Loaded<T>;
  failure: string;
  skeleton?: ComponentChild;
  children: (value: T) => ComponentChild;
}

/** Like `Waiting`, with a link to sign in again if the last sign-in is too old, or to Security if a second factor is missing. */
export function WaitingOrSignIn<T>({ for: loaded, ...rest }: WaitingOrSignInProps<T>) {
  if (loaded.phase === 'failed' && needsSignIn(loaded.error))
    return (
      <Empty title="Sign in again">
        <p>The operator pages need a sign-in within the last 15 minutes.</p>
        <SignInAgain />
      </Empty>
    );
  if (loaded.phase === 'failed' && isUnenrolled(loaded.error))
    return (
      <Empty title="Set up a second factor">
        <p>{loaded.error.message}</p>
        <p class="actions">
          <Link class="btn main" href="/dashboard/security">
            Security
          </Link>
        </p>
      </Empty>
    );
  return <Waiting for={loaded} {...rest} />;
}
