// Purchases made with the account's e-mail address without signing in: the holder claims them, manages them at Stripe, or ignores them.
import { useState } from 'preact/hooks';
import { accountApi } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf } from '../../../api/rows.ts';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { InfoIcon } from '../../../components/icons.tsx';
import type { Plan } from '../../../components/plan-cards.tsx';
import { dayText } from '../../../text/times.ts';
import type { Account } from '../account-page.tsx';

/** One note for each purchase, and the error if they could not be loaded. @param plans for their names. */
export function UnclaimedPurchases({
  account,
  plans,
  onClaimed,
}: {
  account: Account;
  plans: readonly Plan[];
  onClaimed: () => void;
}) {
  const loaded = useLoad(
    async (signal) =>
      rowsOf(await accountApi.get('/v1/billing/purchases', { query: { limit: 1000 }, signal })),
    [account.plan, account.subscription_state],
  );
  const shown = loaded.phase === 'ready' ? loaded.value : (loaded.previous ?? []);
  const nameOf = (id: string) => plans.find((plan) => plan.id === id)?.name ?? id;
  return (
    <>
      <Problem of={loaded.phase === 'failed' ? loaded.error : undefined} />
      {shown.map((purchase) => (
        <UnclaimedPurchase
          key={purchase.id}
          purchase={purchase}
          name={nameOf(purchase.plan)}
          present={nameOf(account.plan)}
          isSubscribed={account.subscription_state !== 'none'}
          onClaimed={onClaimed}
        />
      ))}
    </>
  );
}

interface UnclaimedPurchaseProps {
  purchase: { id: string; plan: string; served: boolean; created_at: string };
  name: string;
  /** The account's plan now. */
  present: string;
  isSubscribed: boolean;
  onClaimed: () => void;
}

function UnclaimedPurchase({
  purchase: { id, served, created_at: at },
  name,
  present,
  isSubscribed,
  onClaimed,
}: UnclaimedPurchaseProps) {
  const [isConfirming, setIsConfirming] = useState(false);
  const action = useAction();
  const claim = () =>
    action.run(async () => {
      await accountApi.post('/v1/billing/purchases/{id}/take', { path: { id } });
      onClaimed();
    });
  const openPortal = () =>
    action.run(async () => {
      const { data } = await accountApi.get('/v1/billing/portal', { query: { purchase: id } });
      location.assign(data.url);
    });
  return (
    <div class="note acc note-above" data-test="offered">
      <InfoIcon />
      <div>
        <b>
          {name} was bought with your e-mail address on {dayText(at)}
        </b>
        {whatHappens({ name, present, served, isSubscribed })}
        <Problem of={action.error} />
      </div>
      <div class="actions">
        {served && !isSubscribed && (
          <button
            class="btn main"
            type="button"
            disabled={action.isBusy}
            onClick={isConfirming ? claim : () => setIsConfirming(true)}
          >
            {isConfirming ? `Yes, change from ${present} to ${name}` : 'Move it into this account'}
          </button>
        )}
        <button class="btn" type="button" disabled={action.isBusy} onClick={openPortal}>
          Open it at Stripe
        </button>
      </div>
    </div>
  );
}

function whatHappens({
  name,
  present,
  served,
  isSubscribed,
}: Pick<UnclaimedPurchaseProps, 'name' | 'present' | 'isSubscribed'> & { served: boolean }): string {
  if (isSubscribed)
    return 'The buyer was not signed in. Your account has its own subscription. Once that has ended, you can move this purchase into the account. To pay for only one, cancel the other at Stripe.';
  if (!served)
    return 'The buyer was not signed in. The purchase is not paid: pay it at Stripe to move it into this account.';
  return `The buyer was not signed in, so your account is unchanged. If you move the purchase into your account, your plan changes from ${present} to ${name}, you get its invoices, and the API keys of the payer stop working. If you did not buy it, do nothing.`;
}
