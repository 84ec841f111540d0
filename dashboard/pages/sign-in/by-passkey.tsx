// Sign-in by a passkey: the browser asks which one, and for a finger, a face or a PIN. There is no second step.
import { accountApi } from '../../api/clients.ts';
import { canUsePasskeys, originOfPasskeys, signByPasskey } from '../../api/passkeys.ts';
import { Problem, useAction } from '../../components/forms/action.tsx';
import type { Methods } from './narrow-page.tsx';
import { keepSignIn } from './signed-in.ts';

/** Nothing where there are no passkeys. @param done called when the session is there. */
export function PasskeyButton({ methods, done }: { methods: Methods; done: () => void }) {
  const action = useAction();
  const elsewhere = originOfPasskeys(methods);
  const enter = () =>
    action.run(async () => {
      const begun = await accountApi.post('/auth/login/passkey/options');
      const credential = await signByPasskey(begun.data.options);
      const { data } = await accountApi.post('/auth/login/passkey', { body: { credential } });
      keepSignIn(data);
      done();
    });
  if (elsewhere !== undefined) {
    return (
      <p class="xs dim below">
        To sign in with a passkey, open <a href={`${elsewhere}/sign-in`}>{elsewhere}/sign-in</a>: passkeys
        work at that address only.
      </p>
    );
  }
  if (!canUsePasskeys(methods)) return null;
  return (
    <div class="by-passkey">
      <p class="or">
        <span>or</span>
      </p>
      <button class="btn" type="button" onClick={enter} disabled={action.isBusy}>
        Sign in with a passkey
      </button>
      <Problem of={action.error} />
    </div>
  );
}
