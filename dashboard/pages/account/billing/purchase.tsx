// /billing/return: where Stripe sends a payer back to. Nothing of the query is read. The token comes behind `#` and is taken out of the URL
// at once; what has become of the purchase comes from our own state. The first key of a new account is shown once, when a button asks for it.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api, asAlmanacError } from '../../../api/clients.ts';
import { session } from '../../../api/session.ts';
import { Problem, useAction } from '../../../components/action.tsx';
import { AlmanacError } from '../../../../clients/typescript/errors.ts';
import { Door } from '../../sign-in/door.tsx';
import { takeFragment } from '../../sign-in/fragment.ts';
import { FirstCallCode } from '../first-call.tsx';
import { SecretOnce } from '../secret-once.tsx';
import '../../../styles/account.css';
import { tokenIn, usePurchase, type PurchaseState } from './purchase-state.ts';

const storedAs = 'almanac.claim';

/** The token of the URL, else that of an earlier look at this page in this tab: it may be loaded anew while it waits. */
function takeToken(): { token: string | null; isCancelled: boolean } {
  const { hash } = location;
  const claim = tokenIn(takeFragment());
  if (claim !== null) sessionStorage.setItem(storedAs, claim);
  const isCancelled = hash === '#cancelled';
  return { token: isCancelled ? null : sessionStorage.getItem(storedAs), isCancelled };
}

const over: Readonly<Record<Exclude<PurchaseState, 'open' | 'key'>, { title: string; text: string }>> = {
  account: { title: 'Thank you', text: 'The plan is on your account, and in force on the next call.' },
  claimed: {
    title: 'The key was shown already',
    text: 'Lost it? Set a password for the e-mail address you paid with, and make another key.',
  },
  expired: {
    title: 'This purchase is over',
    text: 'It was not paid, or the hour to take the key has passed. Paid? Set a password for the e-mail address you paid with, and make a key.',
  },
};

export function Purchase() {
  const [{ token, isCancelled }] = useState(takeToken);
  if (isCancelled) {
    return (
      <Door title="The purchase was cancelled" lede="Nothing was charged.">
        <Ways />
      </Door>
    );
  }
  if (token === null) {
    return (
      <Door title="There is no purchase to show here">
        <Ways />
      </Door>
    );
  }
  return <Waited token={token} />;
}

function Waited({ token }: { token: string }) {
  const { state, lookAgain } = usePurchase(token);
  const [shown, setShown] = useState<{ secret: string; email: string }>();
  if (shown !== undefined) return <FirstKey {...shown} />;
  if (state === 'open') {
    return (
      <Door title="Finishing up">
        <p class="first-call" role="status">
          <span class="tick w" aria-hidden="true" />
          Waiting for the payment. This page goes on by itself.
        </p>
      </Door>
    );
  }
  if (state === 'key') return <TakeKey token={token} onShown={setShown} onLost={lookAgain} />;
  sessionStorage.removeItem(storedAs);
  const { title, text } = over[state];
  return (
    <Door title={title} lede={text}>
      <Ways />
    </Door>
  );
}

interface TakeKeyProps {
  token: string;
  onShown: (shown: { secret: string; email: string }) => void;
  /** Nobody knows whether the answer was on its way: the state says it. */
  onLost: () => void;
}

function TakeKey({ token, onShown, onLost }: TakeKeyProps) {
  const action = useAction();
  const take = () =>
    action.run(async () => {
      try {
        const { data } = await api.get('/v1/account/key/{token}', { path: { token } });
        sessionStorage.removeItem(storedAs);
        onShown({ secret: data.key, email: data.account.email });
      } catch (thrown) {
        const error = asAlmanacError(thrown);
        if (!(thrown instanceof AlmanacError) || error.status === 429 || error.status >= 500) throw thrown;
        onLost();
      }
    });
  return (
    <Door
      title="Thank you"
      lede="The plan is in force. Your key is shown once: have a safe place ready for it."
    >
      <Problem of={action.error} />
      <button class="btn main" type="button" disabled={action.isBusy} onClick={take}>
        Show my API key
      </button>
    </Door>
  );
}

function FirstKey({ secret, email }: { secret: string; email: string }) {
  const [isStored, setIsStored] = useState(false);
  const [isDone, setIsDone] = useState(false);
  if (isDone) {
    return (
      <Door title="You are ready">
        <p>
          Your account is <b>{email}</b>. To sign in, set a password by mail. That proves the mailbox, and
          ends keys made before: make new ones then.
        </p>
        <Ways />
      </Door>
    );
  }
  return (
    <Door title="Store your API key now">
      <SecretOnce
        secret={secret}
        what="key"
        lede="This is the only time it is shown. We keep a hash, so nobody can read it back to you."
        isStored={isStored}
        onStored={setIsStored}
        onDone={() => setIsDone(true)}
      >
        <p class="xs dim try">Try it</p>
        <FirstCallCode apiKey={secret} />
      </SecretOnce>
    </Door>
  );
}

function Ways() {
  if (session.value !== undefined) {
    return (
      <p class="door-more">
        <Link class="btn main" href="/dashboard/billing">
          To billing
        </Link>
      </p>
    );
  }
  return (
    <p class="door-more">
      <Link href="/sign-in?return_to=/dashboard/billing">Sign in</Link>
      <Link href="/forgot-password">Set a password</Link>
    </p>
  );
}
