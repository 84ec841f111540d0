// /billing/return: the page to which Stripe returns a payer. It waits for the API's state, and shows the first key of a new account once.
import '../../../styles/account.css';
import { useEffect, useRef, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api } from '../../../api/clients.ts';
import { session } from '../../../api/session.ts';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { NarrowPage } from '../../sign-in/narrow-page.tsx';
import { FirstCallCode } from '../overview/first-call.tsx';
import { SecretOnce } from '../secret-once.tsx';
import { openPurchase, type Purchase as OpenedPurchase, type PurchaseView } from './purchase-state.ts';

const over = {
  cancelled: { title: 'The purchase was cancelled', text: 'Nothing was charged.' },
  none: {
    title: 'There is no purchase to show here',
    text: 'It may have ended, or was started in another tab.',
  },
  account: { title: 'Thank you', text: 'Your account has the plan, which applies from the next call.' },
  claimed: {
    title: 'The key has already been shown',
    text: 'Lost it? Sign in with the e-mail address you paid with, or set a password for it, and create another key.',
  },
  expired: {
    title: 'This purchase is over',
    text: 'It was not paid, or the hour to claim the key has passed. If you paid, sign in with the e-mail address you paid with, or set a password for it, and create a key.',
  },
} as const;

export function Purchase() {
  const [view, setView] = useState<PurchaseView>({ is: 'open' });
  const purchase = useRef<OpenedPurchase>(null);
  const action = useAction();
  useEffect(() => {
    const browser = {
      ...{ location, history, storage: sessionStorage, client: api },
      later(act: () => void, ms: number) {
        const timer = setTimeout(act, ms);
        return () => clearTimeout(timer);
      },
    };
    purchase.current = openPurchase(browser, setView);
    return () => purchase.current?.leave();
  }, []);
  if (view.is === 'open') {
    return (
      <NarrowPage title="Finishing up">
        <p class="first-call" role="status">
          <span class="tick waiting" aria-hidden="true" />
          Waiting for the payment. This page continues automatically.
        </p>
      </NarrowPage>
    );
  }
  if (view.is === 'key') {
    const claim = () => action.run(async () => purchase.current?.claim());
    return (
      <NarrowPage
        title="Thank you"
        lede="The plan is active. Your key is shown only once: have a safe place ready."
      >
        <Problem of={action.error} />
        <button class="btn main" type="button" disabled={action.isBusy} onClick={claim}>
          Show my API key
        </button>
      </NarrowPage>
    );
  }
  if (view.is === 'shown') return <FirstKey secret={view.secret} email={view.email} />;
  const { title, text } = over[view.is];
  return (
    <NarrowPage title={title} lede={text}>
      <NextLinks />
    </NarrowPage>
  );
}

function FirstKey({ secret, email }: { secret: string; email: string }) {
  const [isDone, setIsDone] = useState(false);
  if (isDone) {
    return (
      <NarrowPage title="You are ready">
        <p>
          An e-mail is on its way to <b>{email}</b>. If you are new here, open its link to set a password.
          This confirms your address and revokes all keys created before, so create new ones afterwards. If
          you already have an account, it is unchanged: sign in, and its Billing page offers to add this
          purchase.
        </p>
        <NextLinks />
      </NarrowPage>
    );
  }
  return (
    <NarrowPage title="Store your API key now">
      <SecretOnce
        secret={secret}
        what="key"
        lede="This is the only time it is shown. We store only a hash, so it cannot be recovered."
        onDone={() => setIsDone(true)}
      >
        <p class="xs dim try">Try it</p>
        <FirstCallCode apiKey={secret} />
      </SecretOnce>
    </NarrowPage>
  );
}

function NextLinks() {
  if (session.value !== undefined) {
    return (
      <p class="other-ways">
        <Link class="btn main" href="/dashboard/billing">
          To billing
        </Link>
      </p>
    );
  }
  return (
    <p class="other-ways">
      <Link href="/sign-in?return_to=/dashboard/billing">Sign in</Link>
      <Link href="/forgot-password?return_to=/dashboard/billing">Set a password</Link>
    </p>
  );
}
