// Links Google to an existing account, or unlinks it. Google sends the browser back here, with the result after `#`.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { popFragment } from '../../sign-in/fragment.ts';
import { googleErrorText } from '../../sign-in/google-errors.ts';
import type { OfAccount } from '../account-page.tsx';

export function GoogleLink({ account, reload }: OfAccount) {
  const [result] = useState(popFragment);
  const action = useAction();
  const error = result.get('google_error');
  const link = () =>
    action.run(async () => {
      const { data } = await accountApi.post('/auth/google/link', {
        query: { return_to: '/dashboard/security' },
      });
      location.assign(data.url);
    });
  const unlink = () =>
    action.run(async () => {
      await accountApi.delete('/auth/google/link');
      reload();
    });
  return (
    <section aria-labelledby="google">
      <h2 id="google">Google</h2>
      <p class="sm below" role="status">
        {account.google_linked ? (
          <span class="st good">Linked{result.has('google_linked') && ', just now'}</span>
        ) : (
          <span class="st off">Not linked</span>
        )}
      </p>
      {error !== null && (
        <p class="note warn below" role="alert">
          {googleErrorText(error)}
        </p>
      )}
      <Problem of={action.error} />
      {account.google_linked ? (
        <button
          class="btn below"
          type="button"
          onClick={unlink}
          disabled={action.isBusy || !account.has_password}
        >
          Unlink Google
        </button>
      ) : account.role === 'operator' ? (
        <p class="xs dim below">
          For an operator account, Google cannot be linked from a session. Sign in with Google instead; this
          links it if Google hosts the mailbox of your e-mail address.
        </p>
      ) : (
        <button class="btn below" type="button" onClick={link} disabled={action.isBusy}>
          Link Google
        </button>
      )}
      {account.google_linked && !account.has_password && (
        <p class="xs dim below">
          Set a password before you unlink Google. Without one, you could no longer sign in.
        </p>
      )}
    </section>
  );
}
