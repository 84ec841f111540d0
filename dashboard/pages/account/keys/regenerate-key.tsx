// Regenerates the secret of a key and shows it once; the old secret keeps working for a while.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { useAction, type Fields } from '../../../components/forms/action.tsx';
import { FormDialog } from '../../../components/forms/form-dialog.tsx';
import { Pick } from '../../../components/pick.tsx';
import { instantText } from '../../../text/times.ts';
import { SecretOnce } from '../secret-once.tsx';
import type { Key } from './key-answers.ts';

interface RegenerateKeyProps {
  of: Key;
  onMade: () => void;
  onClose: () => void;
}

export function RegenerateKey({ of: { id, name }, onMade, onClose }: RegenerateKeyProps) {
  const [made, setMade] = useState<Key & { key: string }>();
  if (made !== undefined) {
    const until = made.old_value_ends_at;
    return (
      <SecretOnce
        title="Store the new secret now"
        secret={made.key}
        what="key"
        lede={`This is the only time it is shown. ${until === null ? 'The old secret is revoked.' : `The old secret works until ${instantText(until)} UTC.`}`}
        onDone={onClose}
      />
    );
  }
  const regenerate = async (field: Fields) => {
    const body = { overlap_hours: Number(field('hours')) };
    const { data } = await accountApi.post('/v1/keys/{id}/rotate', { path: { id }, body });
    setMade(data);
    onMade();
  };
  return (
    <FormDialog title={`Regenerate “${name}”`} submit="Regenerate" change={regenerate} onClose={onClose}>
      <p>The key keeps its name, its usage and its permissions.</p>
      <div class="field">
        <label for="overlap-hours">The old secret works for</label>
        <Pick
          id="overlap-hours"
          name="hours"
          options={[
            { value: '24', label: 'a day' },
            { value: '168', label: '7 days' },
            { value: '1', label: 'an hour' },
            { value: '0', label: 'no time: revoke it at once' },
          ]}
        />
      </div>
    </FormDialog>
  );
}

/** Until when the old secret of a key works, and the button that revokes it. */
export function OldSecret({
  of: { id, name, old_value_ends_at: until },
  reload,
}: {
  of: Key;
  reload: () => void;
}) {
  const action = useAction();
  if (until === null) return null;
  const end = () =>
    action.run(async () => {
      await accountApi.delete('/v1/keys/{id}/old-value', { path: { id } });
      reload();
    });
  return (
    <small>
      Old secret valid until {instantText(until)} UTC{' '}
      <button class="link xs" type="button" aria-label={`Revoke it: the old secret of ${name}`} onClick={end}>
        Revoke it
      </button>
      {action.error !== undefined && <span role="alert"> {action.error.message}</span>}
    </small>
  );
}
