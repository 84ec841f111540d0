// Two-factor sign-in: sets up an authenticator app, shows new recovery codes, turns it off.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import type { Fields } from '../../../components/forms/action.tsx';
import { FormDialog } from '../../../components/forms/form-dialog.tsx';
import { Waiting } from '../../../components/states.tsx';
import { countText } from '../../../text/numbers.ts';
import { dayText } from '../../../text/times.ts';
import type { AnswerOf } from '../../../../clients/typescript/client.ts';
import type { Account, OfAccount } from '../account-page.tsx';
import { SecretOnce } from '../secret-once.tsx';
import { Proof, proofIn } from './proof.tsx';
import { SetUp } from './set-up-totp.tsx';

type SecondFactor = AnswerOf<'get', '/auth/second-factor'>['data'];

/** The open view: a dialog, or the recovery codes, which are shown once. */
type Open = 'set-up' | 'turn-off' | 'recovery-codes' | { codes: readonly string[] };

export function TwoFactor({ account, reload }: OfAccount) {
  const [open, setOpen] = useState<Open>();
  const loaded = useLoad(
    async (signal) => (await accountApi.get('/auth/second-factor', { signal })).data,
    [account],
  );
  const close = () => {
    setOpen(undefined);
    loaded.reload();
    reload();
  };
  const showCodes = (codes: readonly string[]) => setOpen({ codes });
  return (
    <section aria-labelledby="two-factor">
      <h2 id="two-factor">Two-factor sign-in</h2>
      <Waiting for={loaded} failure="The second factor could not be loaded">
        {(found) => <State of={found} onOpen={setOpen} />}
      </Waiting>
      {open === 'set-up' && <SetUp account={account} onDone={showCodes} onClose={close} />}
      {open === 'turn-off' && <TurnOff account={account} onClose={close} />}
      {open === 'recovery-codes' && <NewCodes account={account} onDone={showCodes} onClose={close} />}
      {typeof open === 'object' && (
        <SecretOnce
          title="Store your recovery codes now"
          secret={open.codes.join('\n')}
          what="list of codes"
          lede="Each signs you in once without the app. This is the only time they are shown: we store only hashes, so they cannot be recovered."
          onDone={close}
        />
      )}
    </section>
  );
}

function State({ of, onOpen }: { of: SecondFactor; onOpen: (open: Open) => void }) {
  if (of.totp === null) {
    return (
      <>
        <p class="sm below" role="status">
          <span class="st off">Off</span>
        </p>
        <p class="sm below">
          {of.required && of.passkeys === 0
            ? 'Operators need a second factor on this installation. The operator pages are locked until you set up an authenticator app or add a passkey.'
            : 'With an authenticator app on your phone, a stolen password alone is not enough to sign in.'}
        </p>
        <button class="btn below" type="button" onClick={() => onOpen('set-up')}>
          Set up an authenticator app
        </button>
      </>
    );
  }
  const left = of.recovery_codes_left;
  return (
    <>
      <p class="sm below" role="status">
        <span class="st good">On</span> since {dayText(of.totp.enrolled_at)}, with{' '}
        {countText(left, 'recovery code', 'recovery codes')} left.
      </p>
      {left < 3 && <p class="note warn below">Create new recovery codes before the last one is used.</p>}
      <div class="actions below">
        <button class="btn" type="button" onClick={() => onOpen('recovery-codes')}>
          New recovery codes
        </button>
        <button class="btn danger" type="button" onClick={() => onOpen('turn-off')}>
          Turn off
        </button>
      </div>
    </>
  );
}

interface OfDialog {
  account: Account;
  onClose: () => void;
}

function TurnOff({ account, onClose }: OfDialog) {
  const turnOff = async (field: Fields) => {
    const body = proofIn({ account, hasApp: true }, field);
    await accountApi.post('/auth/second-factor/turn-off', { body });
    onClose();
  };
  return (
    <FormDialog
      title="Turn two-factor sign-in off?"
      submit="Turn off"
      isDangerous
      change={turnOff}
      onClose={onClose}
    >
      <p class="sm dlg-text">Sign-in then needs only the password. Your recovery codes stop working.</p>
      <Proof account={account} hasApp />
    </FormDialog>
  );
}

function NewCodes({ account, onDone, onClose }: OfDialog & { onDone: (codes: readonly string[]) => void }) {
  const create = async (field: Fields) => {
    const body = proofIn({ account, hasApp: true }, field);
    const { data } = await accountApi.post('/auth/second-factor/recovery-codes', { body });
    onDone(data.recovery_codes);
  };
  return (
    <FormDialog
      title="Create new recovery codes?"
      submit="Create new codes"
      change={create}
      onClose={onClose}
    >
      <p class="sm dlg-text">Your present codes stop working.</p>
      <Proof account={account} hasApp />
    </FormDialog>
  );
}
