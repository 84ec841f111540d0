// The permissions of a key as fields of a form: actions and addresses. Folded away, since most keys have no restrictions.
import type { Fields } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import { dayText } from '../../../text/times.ts';
import type { Key } from './key-answers.ts';

type Access = Pick<Key, 'scopes' | 'addresses'>;

const scopes = [
  { scope: 'data', label: 'Read data', means: 'every data endpoint of the plan' },
  { scope: 'read', label: 'Read the account', means: 'usage, keys, webhooks and their deliveries' },
  { scope: 'manage', label: 'Manage the account', means: 'create and revoke keys, change webhooks, pay' },
] as const;

export function AccessFields({ of, isOpen = false }: { of?: Access; isOpen?: boolean }) {
  return (
    <details class="as-table below" open={isOpen}>
      <summary>Limit what the key may do</summary>
      <fieldset class="below">
        <legend>Scopes</legend>
        {scopes.map(({ scope, label, means }) => (
          <div key={scope}>
            <label class="check">
              <input
                type="checkbox"
                name={`scope-${scope}`}
                value="yes"
                defaultChecked={of?.scopes.includes(scope) ?? true}
              />
              <span>
                {label} <span class="xs dim">{means}</span>
              </span>
            </label>
          </div>
        ))}
      </fieldset>
      <div class="below">
        <Field
          label="Works only from"
          name="addresses"
          defaultValue={of?.addresses?.join(', ') ?? ''}
          placeholder="203.0.113.0/24, 2001:db8::/32"
          hint="Up to 20 IP addresses or ranges. Leave it empty to allow all."
          autocomplete="off"
        />
      </div>
    </details>
  );
}

/** The values of the fields. */
export function accessIn(field: Fields): Access {
  const addresses = field('addresses')
    .split(/[\s,]+/)
    .filter((entry) => entry !== '');
  return {
    scopes: scopes.map(({ scope }) => scope).filter((scope) => field(`scope-${scope}`) !== ''),
    addresses: addresses.length === 0 ? null : addresses,
  };
}

/** The restrictions in a few words; undefined: none. */
export function accessText({ scopes: has, addresses, as_of: day }: Key): string | undefined {
  const what = has.length === scopes.length ? [] : [has.join(', ')];
  const where = addresses === null ? [] : [`from ${addresses.join(', ')}`];
  const when = day === null ? [] : [`as of ${dayText(day)}`];
  const all = [...when, ...what, ...where];
  return all.length === 0 ? undefined : all.join(' · ');
}
