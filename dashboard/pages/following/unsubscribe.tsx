// /dashboard/unsubscribe#token=…: ends one follow, or all, by the link in an e-mail. Only the button uses the link, as mail scanners also open links.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { api } from '../../api/clients.ts';
import { Problem, useAction } from '../../components/forms/action.tsx';
import { popFragment } from '../sign-in/fragment.ts';
import { NarrowPage } from '../sign-in/narrow-page.tsx';

export function Unsubscribe() {
  const [token] = useState(() => popFragment().get('token'));
  const [isEnded, setIsEnded] = useState(false);
  const action = useAction();
  if (token === null)
    return (
      <NarrowPage title="Stop these e-mails">
        <p>
          This page needs the link from an e-mail. Open that link again: it is not kept when the page is
          reloaded.
        </p>
        <OtherLinks />
      </NarrowPage>
    );
  const isOfAll = token.startsWith('acct_');
  if (isEnded)
    return (
      <NarrowPage title="These e-mails have stopped">
        <p role="status">
          {isOfAll
            ? 'You no longer follow anything, and e-mails about changes have stopped.'
            : 'These e-mails have stopped. Your other e-mails continue.'}
        </p>
        <OtherLinks />
      </NarrowPage>
    );
  const end = () =>
    action.run(async () => {
      await api.post('/v1/unsubscribe', { query: { token } });
      setIsEnded(true);
    });
  return (
    <NarrowPage
      title="Stop these e-mails"
      lede={
        isOfAll
          ? 'This stops all e-mails about the series, sources and searches that you follow.'
          : 'This stops the e-mails about one series, source or search that you follow.'
      }
    >
      <Problem of={action.error} />
      <div class="actions">
        <button class="btn main" type="button" disabled={action.isBusy} onClick={end}>
          {isOfAll ? 'Stop all' : 'Stop'}
        </button>
      </div>
      <OtherLinks />
    </NarrowPage>
  );
}

function OtherLinks() {
  return (
    <p class="other-ways">
      <Link href="/dashboard/following">Everything that you follow</Link>
    </p>
  );
}
