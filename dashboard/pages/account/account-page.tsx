// The frame of every account page: the account's name, the navigation of the account, and the check for a session.
import '../../styles/account.css';
import '../../styles/narrow-page.css';
import { signal } from '@preact/signals';
import type { ComponentChildren, ComponentType } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Link, useLocation } from 'wouter-preact';
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import { AlmanacError } from '../../../clients/typescript/errors.ts';
import { accountApi } from '../../api/clients.ts';
import { shownIn, useLoad } from '../../api/use-load.ts';
import { session, signOut, tabsSynced } from '../../api/session.ts';
import { Failed, SkeletonLines } from '../../components/states.tsx';
import type { PageProps } from '../../shell/lazy-page.tsx';
import { signInUrl } from '../../api/return-url.ts';
import { Problem, useAction } from '../../components/forms/action.tsx';

export type Account = AnswerOf<'get', '/v1/account'>['data'];

export interface OfAccount {
  account: Account;
  /** Reloads the account after a change. */
  reload: () => void;
}

/** The account of the session, so that the next page shows it at once. */
const known = signal<{ token: string; account: Account } | undefined>(undefined);

const places = [
  { name: 'Overview', path: '/dashboard' },
  { name: 'Keys', path: '/dashboard/keys' },
  { name: 'Usage', path: '/dashboard/usage' },
  { name: 'Webhooks', path: '/dashboard/webhooks' },
  { name: 'Following', path: '/dashboard/following' },
  { name: 'Billing', path: '/dashboard/billing' },
  { name: 'Security', path: '/dashboard/security' },
] as const;

/** For accounts with the role `operator`. */
const operatorPlaces = [
  { name: 'Publish a file', path: '/dashboard/operator/publish' },
  { name: 'Loads', path: '/dashboard/operator/loads' },
  { name: 'Releases', path: '/dashboard/operator/releases' },
  { name: 'Sources', path: '/dashboard/operator/sources' },
  { name: 'Series metadata', path: '/dashboard/operator/facts' },
  { name: 'All accounts', path: '/dashboard/operator/accounts' },
  { name: 'All plans', path: '/dashboard/operator/plans' },
] as const;

/** A page of the account: `Page` within the frame, once there is a session and the account is loaded. It is recreated for other path parameters. */
export function accountPage(Page: ComponentType<OfAccount & PageProps>): ComponentType<PageProps> {
  return function AccountPage({ params }: PageProps) {
    const token = session.value?.token;
    const wasSignedIn = useRef(token !== undefined);
    if (token === undefined) return <SignInFirst why={wasSignedIn.current ? 'ended' : 'needed'} />;
    return (
      <SignedIn token={token}>
        {(of) => <Page key={Object.values(params).join()} params={params} {...of} />}
      </SignedIn>
    );
  };
}

function SignInFirst({ why }: { why: string }) {
  const [, navigate] = useLocation();
  useEffect(() => {
    let isHere = true;
    // Another tab may be signed in; then the requested page replaces this one.
    void tabsSynced.then(() => {
      if (isHere) navigate(signInUrl(why), { replace: true });
    });
    return () => void (isHere = false);
  }, []);
  return null;
}

function SignedIn({ token, children }: { token: string; children: (of: OfAccount) => ComponentChildren }) {
  const loaded = useLoad(
    async (signal) => {
      const { data: account } = await accountApi.get('/v1/account', { signal });
      known.value = { token, account };
      return account;
    },
    [token],
  );
  // A new password replaces the session: the page stays.
  const account = known.value?.token === token ? known.value.account : shownIn(loaded);
  return (
    <div class="wrap">
      <div class="acct-grid">
        <AccountNav account={account} />
        <div class="acct-page">{content()}</div>
      </div>
    </div>
  );

  function content() {
    if (account !== undefined) return children({ account, reload: loaded.reload });
    if (loaded.phase === 'failed')
      return <Failed error={loaded.error} retry={loaded.reload} title="The account could not be loaded" />;
    return (
      <div aria-busy="true" class={loaded.phase === 'begun' ? 'sk-later' : undefined}>
        <SkeletonLines lines={8} />
      </div>
    );
  }
}

/** Allows a line break before the @. */
function Email({ of: email }: { of: string }) {
  const at = email.lastIndexOf('@');
  return at < 0 ? (
    <>{email}</>
  ) : (
    <>
      {email.slice(0, at)}
      <wbr />
      {email.slice(at)}
    </>
  );
}

function AccountNav({ account }: { account: Account | undefined }) {
  const [path] = useLocation();
  const list = useRef<HTMLUListElement>(null);
  useEffect(() => {
    // On a phone the list scrolls sideways.
    const current = list.current?.querySelector<HTMLElement>('[aria-current]');
    if (list.current !== null && current != null) list.current.scrollLeft = current.offsetLeft - 60;
  }, [path, account?.role]); // the links for operators appear once the account is loaded
  return (
    <nav class="acct" aria-label="Account">
      <p>
        <b>{account?.name ?? <Email of={account?.email ?? ' '} />}</b>
        {account !== undefined && <span class="plan-name">{account.plan} plan</span>}
      </p>
      <ul ref={list}>
        {places.map(({ name, path: at }) => (
          <li key={at}>
            <Link href={at} aria-current={path === at ? 'page' : undefined}>
              {name}
            </Link>
          </li>
        ))}
        {account?.role === 'operator' &&
          operatorPlaces.map(({ name, path: at }) => (
            <li key={at} class="of-operator">
              <Link href={at} aria-current={path === at || path.startsWith(`${at}/`) ? 'page' : undefined}>
                {name}
              </Link>
            </li>
          ))}
        <li class="sign-out">
          <SignOut />
        </li>
      </ul>
    </nav>
  );
}

/** @throws the error, unless the session had already ended. */
function unlessEnded(error: unknown): void {
  if (!(error instanceof AlmanacError) || error.status !== 401) throw error;
}

function SignOut() {
  const [, navigate] = useLocation();
  const action = useAction();
  const leave = () =>
    action.run(() =>
      signOut(async () => {
        await accountApi.post('/auth/logout').catch(unlessEnded);
        navigate('/sign-in?why=signed-out');
      }),
    );
  return (
    <>
      <button type="button" onClick={leave} disabled={action.isBusy}>
        Sign out
      </button>
      <Problem of={action.error} />
    </>
  );
}
