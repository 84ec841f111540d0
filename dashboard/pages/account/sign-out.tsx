// Ends the session at the API, then in all tabs.
import { useLocation } from 'wouter-preact';
import { accountApi } from '../../api/clients.ts';
import { endSession } from '../../api/session.ts';
import { Problem, useAction } from '../../components/forms/action.tsx';

export function SignOut() {
  const [, navigate] = useLocation();
  const action = useAction();
  const leave = () =>
    action.run(async () => {
      await accountApi.post('/auth/logout');
      navigate('/sign-in?why=signed-out');
      endSession();
    });
  return (
    <>
      <button type="button" onClick={leave} disabled={action.isBusy}>
        Sign out
      </button>
      <Problem of={action.error} />
    </>
  );
}
