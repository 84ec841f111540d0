// Gives a key a new value, shown once; the old value keeps working for a while.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { Dialog } from '../../../components/dialog.tsx';
import { useAction } from '../../../components/forms/action.tsx';
import { Buttons } from '../../../components/forms/buttons.tsx';
import { Pick } from '../../../components/pick.tsx';
import { instantText } from '../../../text/times.ts';
import { SecretOnce } from '../secret-once.tsx';
import type { Key } from './answers.ts';

interface NewValueProps {
  of: Key;
  onMade: () => void;
  onClose: () => void;
}

export function NewValue({ of: { id, name }, onMade, onClose }: NewValueProps) {
  const [made, setMade] = useState<Key & { key: string }>();
  const action = useAction();
  if (made !== undefined) {
    const until = made.old_value_ends_at;
    return (
      <SecretOnce
        title="Store the new value now"
        secret={made.key}
        what="key"
        lede={`This is the only time it is shown. ${until === null ? 'The old value has ended.' : `The old value works until ${instantText(until)} UTC.`}`}
        onDone={onClose}
      />
    );
  }
  const submit = action.submit(async (field) => {
    const body = { overlap_hours: Number(field('hours')) };
    const { data } = await accountApi.post('/v1/keys/{id}/rotate', { path: { id }, body });
    setMade(data);
    onMade();
  });
  return (
    <Dialog title={`A new value for “${name}”`} onClose={onClose}>
      <form onSubmit={submit}>
        <p>The key keeps its name, its usage and what it may do.</p>
        <div class="field">
          <label for="overlap-hours">The old value works for</label>
          <Pick
            id="overlap-hours"
            name="hours"
            options={[
              { value: '24', label: 'a day' },
              { value: '168', label: '7 days' },
              { value: '1', label: 'an hour' },
              { value: '0', label: 'no longer: it ends at once' },
            ]}
          />
        </div>
        <Buttons action={action} submit="Make the new value" onCancel={onClose} />
      </form>
    </Dialog>
  );
}

/** Until when the old value of a key works, and the button that ends it. */
export function OldValue({
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
      Old value valid until {instantText(until)} UTC{' '}
      <button class="link xs" type="button" aria-label={`End it: the old value of ${name}`} onClick={end}>
        End it
      </button>
      {action.error !== undefined && <span role="alert"> {action.error.message}</span>}
    </small>
  );
}
