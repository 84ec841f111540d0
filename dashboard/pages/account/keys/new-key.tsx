// Creates a key and shows it, once: the dialog cannot be closed until the user confirms that the key is stored. Its first call is shown as
// it arrives.
import { useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import { accountApi } from '../../../api/clients.ts';
import { usePoll } from '../../../api/poll.ts';
import { rowsOf } from '../../../api/rows.ts';
import type { Fields } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { Pick } from '../../../components/pick.tsx';
import type { Plan } from '../../../components/plan-cards.tsx';
import { FormDialog } from '../../../components/forms/form-dialog.tsx';
import { SecretOnce } from '../secret-once.tsx';
import { AccessFields, accessIn } from './access-fields.tsx';
import { FirstCallCode } from '../overview/first-call.tsx';
import { timeText, today } from '../../../text/times.ts';

const pollEveryMs = 2_000;

interface OfPlan {
  plans: readonly Plan[];
  /** The plan of the account. */
  planId: string;
}

interface NewKeyProps extends OfPlan {
  /** The initial name in the field. */
  suggestion: string;
  /** The account has all keys that it may have: only the one just made is shown. */
  isFull: boolean;
  onMade: (id: string) => void;
  onClose: () => void;
}

interface Made {
  id: string;
  name: string;
  /** Absent: this was a replay, and the value was shown before. */
  key?: string;
}

export function NewKey({ suggestion, isFull, plans, planId, onMade, onClose }: NewKeyProps) {
  const [made, setMade] = useState<Made>();
  if (made?.key !== undefined) {
    return (
      <SecretOnce
        title="Store your new key now"
        secret={made.key}
        what="key"
        lede={`This is the only time “${made.name}” is shown. We store only a hash, so it cannot be recovered.`}
        onDone={onClose}
      >
        <p class="xs dim try">Try it</p>
        <FirstCallCode apiKey={made.key} />
        <FirstCall of={made.id} />
      </SecretOnce>
    );
  }
  if (isFull) return null;
  const create = async (field: Fields) => {
    const days = field('days');
    const expires_at =
      days === ''
        ? null
        : new Date(Date.now() + Number(days) * 86_400_000).toISOString().replace(/\.\d+/, '');
    const day = field('as_of');
    const pin = day === '' ? {} : { as_of: day, scopes: ['data' as const] };
    const body = { name: field('name').trim(), expires_at, ...accessIn(field), ...pin };
    const { data } = await accountApi.post('/v1/keys', { body });
    setMade(data);
    onMade(data.id);
  };
  return (
    <FormDialog title="Create a key" submit="Create the key" change={create} onClose={onClose}>
      <Field
        label="Name"
        name="name"
        defaultValue={suggestion}
        hint="Where it is used, such as “Production” or “Notebook”."
        maxLength={100}
        autocomplete="off"
        required
      />
      <div class="field">
        <label for="key-days">Expires</label>
        <Pick
          id="key-days"
          name="days"
          options={[
            { value: '', label: 'Never' },
            { value: '30', label: 'In 30 days' },
            { value: '90', label: 'In 90 days' },
            { value: '365', label: 'In a year' },
          ]}
        />
      </div>
      <DayField {...{ plans, planId }} />
      <AccessFields />
    </FormDialog>
  );
}

/** The day that the key is pinned to, if the plan has such keys; if not, the lowest plan that has them. */
function DayField({ plans, planId }: OfPlan) {
  const having = plans.filter(({ features }) => features.includes('pinned_keys'));
  const [lowest] = having;
  if (lowest === undefined) return null;
  if (!having.some(({ id }) => id === planId)) {
    return (
      <p class="xs dim">
        Keys pinned to a day, for backtests, come with {lowest.name}.{' '}
        <Link href="/dashboard/billing">See the plans</Link>
      </p>
    );
  }
  return (
    <Field
      label="Pinned to a day"
      name="as_of"
      type="date"
      min="1900-01-01"
      max={today()}
      hint="Optional, for backtests. Answers contain only data published by that day. The key can then only read data, and the day cannot be changed."
    />
  );
}

function FirstCall({ of: keyId }: { of: string }) {
  const [usedAt, setUsedAt] = useState<string>();
  usePoll(
    usedAt === undefined
      ? async (signal) => {
          const keys = rowsOf(await accountApi.get('/v1/keys', { query: { limit: 1000 }, signal }));
          const at = keys.find(({ id }) => id === keyId)?.last_used_at;
          if (at != null) setUsedAt(at);
        }
      : null,
    pollEveryMs,
    [keyId],
  );
  return (
    <p class="sm first-call">
      <span class={usedAt === undefined ? 'tick waiting' : 'tick done'} aria-hidden="true" />
      <span aria-live="polite">
        {usedAt === undefined
          ? 'Waiting for the first call with this key'
          : `First call received at ${timeText(usedAt)} UTC`}
      </span>
    </p>
  );
}
