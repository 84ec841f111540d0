// A change requested by the user, with its busy state and its error. Forms and buttons of the account use it.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { AlmanacError } from '../../../clients/typescript/errors.ts';
import { asAlmanacError } from '../../api/clients.ts';
import { signInUrl } from '../../api/return-url.ts';

export interface Action {
  isBusy: boolean;
  error: AlmanacError | undefined;
  /** Runs the change, unless it is already running. */
  run(change: () => Promise<void>): void;
  /** For `onSubmit`: passes the fields of the form to the change. */
  submit(change: (fields: Fields) => Promise<void>): (event: SubmitEvent) => void;
  forget(): void;
}

/** The text of a field of the form; empty if it does not exist. */
export type Fields = (name: string) => string;

export function useAction(): Action {
  const [isBusy, setIsBusy] = useState(false);
  const [error, setError] = useState<AlmanacError>();
  function run(change: () => Promise<void>): void {
    if (isBusy) return;
    setIsBusy(true);
    setError(undefined);
    change()
      .catch((thrown: unknown) => setError(asAlmanacError(thrown)))
      .finally(() => setIsBusy(false));
  }
  return {
    isBusy,
    error,
    run,
    submit: (change) => (event) => {
      event.preventDefault();
      if (!(event.currentTarget instanceof HTMLFormElement)) return;
      const given = new FormData(event.currentTarget);
      run(() =>
        change((name) => {
          const value = given.get(name);
          return typeof value === 'string' ? value : '';
        }),
      );
    },
    forget: () => setError(undefined),
  };
}

/** The last sign-in is too old for the change. */
export const needsSignIn = ({ code }: AlmanacError) => code === 'reauthentication_required';

/** The error of a change, in the API's own words; with a link to sign in again if the change needs that. */
export function Problem({ of }: { of: AlmanacError | undefined }) {
  if (of === undefined) return null;
  return (
    <>
      <div class="note bad problem" role="alert">
        <div>
          <p>{of.message}</p>
          <p class="req">
            {of.code}
            {of.requestId !== undefined && ` · request ${of.requestId}`}
          </p>
        </div>
      </div>
      {needsSignIn(of) && <SignInAgain />}
    </>
  );
}

/** A link to sign in again, and then back to this page. */
export function SignInAgain() {
  return (
    <p class="actions">
      <Link class="btn main" href={signInUrl('fresh')}>
        Sign in again
      </Link>
    </p>
  );
}
