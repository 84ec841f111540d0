// Revokes a key after its name is typed; shows its recent use.
import { accountApi } from '../../../api/clients.ts';
import { agoText, utcDay } from '../../../text/times.ts';
import { countText, numberText } from '../../../text/numbers.ts';
import { TypedConfirmation } from '../typed-confirmation.tsx';
import type { Key, KeyUse } from './key-answers.ts';

export function RevokeKey({
  of: { id, name, last_used_at: lastUsedAt },
  use,
  onRevoked,
  onClose,
}: {
  of: Key;
  use: KeyUse;
  onRevoked: () => void;
  onClose: () => void;
}) {
  const now = Date.now();
  const today = use.callsOf(id, [utcDay(now)]);
  const yesterday = use.callsOf(id, [utcDay(now, -1)]);
  async function revoke() {
    await accountApi.delete('/v1/keys/{id}', { path: { id } });
    onRevoked();
  }
  return (
    <TypedConfirmation
      title={`Revoke “${name}”?`}
      name={name}
      button="Revoke the key"
      change={revoke}
      onClose={onClose}
    >
      <p>It stops working at once. This cannot be undone.</p>
      <p>
        {lastUsedAt === null ? 'It was never used.' : `Last used ${agoText(lastUsedAt, now)}.`}{' '}
        {countText(today, 'call', 'calls')} today and {numberText(yesterday)} yesterday (UTC).
      </p>
    </TypedConfirmation>
  );
}
