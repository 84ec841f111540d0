// The button that follows a series, a source or a search, or ends the follow. A visitor is sent to the sign-in page and back.
import { useEffect } from 'preact/hooks';
import { useLocation } from 'wouter-preact';
import { session } from '../../api/session.ts';
import { Problem, useAction } from '../../components/forms/action.tsx';
import { CheckIcon } from '../../components/icons.tsx';
import { signInUrl } from '../../api/return-url.ts';
import { follow, follows, loadFollows, unfollow, type Kind } from './follows.ts';

interface FollowButtonProps {
  kind: Kind;
  of: string;
  /** The followed object, for screen readers. */
  named: string;
  small?: boolean;
}

export function FollowButton({ kind, of, named, small }: FollowButtonProps) {
  const [, navigate] = useLocation();
  const action = useAction();
  const token = session.value?.token;
  useEffect(() => {
    if (token !== undefined && follows.value === undefined) action.run(() => loadFollows());
  }, [token]);
  const present = follows.value?.find((each) => each.kind === kind && each.of === of);
  function press() {
    if (token === undefined) return navigate(signInUrl('needed'));
    action.run(() => (present === undefined ? follow(kind, of) : unfollow(present.id)));
  }
  return (
    <>
      <button
        class={small === true ? 'btn sml' : 'btn'}
        type="button"
        title={present === undefined ? 'E-mail me changes' : 'Stop the e-mails'}
        disabled={action.isBusy}
        onClick={press}
      >
        {present !== undefined && <CheckIcon />}
        {present === undefined ? 'Follow' : 'Following'}
        <span class="vh"> {named}</span>
      </button>
      <Problem of={action.error} />
    </>
  );
}
