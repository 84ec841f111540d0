// The account's mail settings, name and e-mail address.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { Field } from '../../../components/forms/field.tsx';
import type { OfAccount } from '../account-page.tsx';

export function Profile({ account, reload }: OfAccount) {
  const action = useAction();
  const change = (notifications: { usage?: boolean; key_expiry?: boolean }) =>
    action.run(async () => {
      await accountApi.patch('/v1/account', { body: { notifications } });
      reload();
    });
  const { usage, key_expiry: keyExpiry } = account.notifications;
  return (
    <section aria-labelledby="profile">
      <h2 id="profile">Name and e-mail</h2>
      <div class="half below">
        <div>
          <NameAndEmail account={account} reload={reload} />
        </div>
        <div class="toggle-row">
          <label class="check">
            <input type="checkbox" checked={usage} onChange={() => change({ usage: !usage })} />
            E-mail me when 50, 80 and 100 % of the monthly quota is used
          </label>
          <label class="check">
            <input type="checkbox" checked={keyExpiry} onChange={() => change({ key_expiry: !keyExpiry })} />
            E-mail me one week, and again one day, before a key expires
          </label>
          <p class="xs dim">Security e-mails are always sent.</p>
          <Problem of={action.error} />
        </div>
      </div>
    </section>
  );
}

function NameAndEmail({ account, reload }: OfAccount) {
  const [askedFor, setAskedFor] = useState<string>();
  const [email, setEmail] = useState(account.email);
  const action = useAction();
  const isNewEmail = email !== account.email;
  const submit = action.submit(async (field) => {
    const name = field('name').trim();
    const body = {
      ...(name === '' || name === account.name ? {} : { name }),
      ...(isNewEmail ? { email, password: field('password') } : {}),
    };
    if (Object.keys(body).length === 0) return;
    await accountApi.patch('/v1/account', { body });
    setAskedFor(isNewEmail ? email : undefined);
    setEmail(account.email); // until the link is used; the typed password goes with its field
    reload();
  });
  return (
    <form class="form sec-form" onSubmit={submit}>
      <Field
        label="Name"
        name="name"
        defaultValue={account.name ?? ''}
        maxLength={100}
        autocomplete="organization"
        required={account.name !== null}
      />
      <Field
        label="E-mail address"
        name="email"
        type="email"
        autocomplete="email"
        value={email}
        onInput={(event) => setEmail(event.currentTarget.value)}
        required
      />
      {isNewEmail && (
        <Field
          label="Your password"
          name="password"
          type="password"
          autocomplete="current-password"
          hint="A link is sent to the new address. Until you use it, the old address stays."
          required
        />
      )}
      {askedFor !== undefined && action.error === undefined && (
        <p class="sm" role="status">
          A link is on its way to {askedFor}.
        </p>
      )}
      <Problem of={action.error} />
      <div class="actions">
        <button class="btn" type="submit" disabled={action.isBusy}>
          Save
        </button>
      </div>
    </form>
  );
}
