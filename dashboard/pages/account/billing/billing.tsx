// /dashboard/billing: the subscription, the most serious banner, and the plans to change to. Stripe takes the payments.
import { useEffect, useState } from 'preact/hooks';
import { accountApi, api } from '../../../api/clients.ts';
import { useLoad } from '../../../api/use-load.ts';
import { rowsOf } from '../../../api/rows.ts';
import { Facts } from '../../../components/facts.tsx';
import { Problem, useAction } from '../../../components/forms/action.tsx';
import { Choice } from '../../../components/choice.tsx';
import { InfoIcon, WarningIcon } from '../../../components/icons.tsx';
import { PageHead } from '../../../components/page-head.tsx';
import { PlanCards, priceOf, type Interval, type Plan } from '../../../components/plan-cards.tsx';
import { Waiting } from '../../../components/states.tsx';
import { useSearchParams } from '../../../components/use-query.ts';
import { moneyText } from '../../../text/amounts.ts';
import { dayText, instantText } from '../../../text/times.ts';
import { accountPage, type Account } from '../account-page.tsx';
import { bannerOf, type Banner } from './banner.ts';
import { UnclaimedPurchases } from './unclaimed-purchases.tsx';

/** After a visit to the portal: how long and how often the account is polled. */
const portalPolling = { everyMs: 1_500, times: 20 };

/** Opens a page of Stripe. @returns only if that fails. */
async function openPortal(): Promise<void> {
  const { data } = await accountApi.get('/v1/billing/portal');
  location.assign(data.url);
}

export const Billing = accountPage(({ account, reload }) => {
  const portal = useAction();
  const loaded = useLoad(async (signal) => {
    const [plans, methods] = await Promise.all([
      api.get('/v1/plans', { query: { limit: 1000 }, signal }),
      api.get('/auth/methods', { signal }),
    ]);
    return { plans: rowsOf(plans), isOpen: methods.data.billing };
  }, []);
  const banner = bannerOf(account);
  const hasReturned = usePortalReturn(reload);
  return (
    <>
      <PageHead
        title="Billing"
        actions={
          account.subscription !== null && (
            <button class="btn" type="button" disabled={portal.isBusy} onClick={() => portal.run(openPortal)}>
              Invoices and card at Stripe
            </button>
          )
        }
      />
      <Problem of={portal.error} />
      {hasReturned && banner === null && (
        <p class="note acc note-above" role="status">
          You are back from Stripe. Your changes appear here within a minute.
        </p>
      )}
      {banner !== null && <BannerView of={banner} onPortal={() => portal.run(openPortal)} />}
      <Waiting for={loaded} failure="The plans could not be loaded">
        {({ plans, isOpen }) => (
          <>
            {isOpen && <UnclaimedPurchases account={account} plans={plans} onClaimed={reload} />}
            <Subscription account={account} plans={plans} />
            {isOpen ? (
              <Plans account={account} plans={plans} onPortal={() => portal.run(openPortal)} />
            ) : (
              <section>
                <div class="note">
                  <div>
                    <b>Payments are off</b>This installation accepts no payments. Its operator sets the plans.
                  </div>
                </div>
              </section>
            )}
          </>
        )}
      </Waiting>
    </>
  );
});

/** Polls for a while, as Stripe reports a change a moment after the browser has returned. */
function usePortalReturn(reload: () => void): boolean {
  const [query] = useSearchParams();
  const hasReturned = query.get('back') === 'portal';
  useEffect(() => {
    if (!hasReturned) return undefined;
    let left = portalPolling.times;
    const timer = setInterval(() => {
      left -= 1;
      if (left === 0) clearInterval(timer);
      reload();
    }, portalPolling.everyMs);
    return () => clearInterval(timer);
  }, [hasReturned]);
  return hasReturned;
}

function BannerView({ of: { kind, title, text, action }, onPortal }: { of: Banner; onPortal: () => void }) {
  return (
    <div class={`note ${kind} note-above`} role="status">
      {kind === 'acc' ? <InfoIcon /> : <WarningIcon />}
      <div>
        <b>{title}</b>
        {text}
      </div>
      <div class="actions">
        {action.url === null ? (
          <button class="btn main" type="button" onClick={onPortal}>
            {action.label}
          </button>
        ) : (
          <a class="btn main" href={action.url}>
            {action.label}
          </a>
        )}
      </div>
    </div>
  );
}

const statusText: Readonly<Record<string, { text: string; state: string }>> = {
  active: { text: 'Active', state: 'good' },
  trialing: { text: 'On trial', state: 'good' },
  past_due: { text: 'Payment overdue, calls are still served', state: 'warn' },
  unpaid: { text: 'Unpaid, calls are refused', state: 'bad' },
  paused: { text: 'Paused, calls are refused', state: 'bad' },
  incomplete: { text: 'First payment not complete', state: 'warn' },
  incomplete_expired: { text: 'Not started', state: 'off' },
  canceled: { text: 'Ended', state: 'off' },
};

function Subscription({ account, plans }: { account: Account; plans: readonly Plan[] }) {
  const plan = plans.find(({ id }) => id === account.plan);
  const { subscription } = account;
  const status = statusText[subscription?.status ?? ''];
  const invoice = subscription?.latest_invoice ?? null;
  return (
    <section aria-labelledby="subscription">
      <div class="sec-head">
        <h2 id="subscription">Subscription</h2>
      </div>
      <Facts
        facts={[
          ['Plan', plan?.name ?? account.plan, 'plan'],
          [
            'Status',
            subscription === null ? (
              'No subscription'
            ) : (
              <span class={`st ${status?.state ?? ''}`}>{status?.text ?? subscription.status}</span>
            ),
          ],
          [
            subscription?.cancels_at == null ? 'This period ends' : 'Ends',
            subscription?.current_period_end != null &&
              subscription.status !== 'canceled' &&
              dayText(subscription.cancels_at ?? subscription.current_period_end),
          ],
          [
            'Calls are served until',
            subscription?.grace_ends_at != null && `${instantText(subscription.grace_ends_at)} UTC`,
          ],
          [
            'Latest invoice',
            invoice && (
              <>
                {moneyText(invoice.amount_due, invoice.currency)}, {invoice.status}{' '}
                {invoice.hosted_invoice_url !== null && (
                  <a class="under" href={invoice.hosted_invoice_url}>
                    See it
                  </a>
                )}
              </>
            ),
          ],
        ]}
      />
    </section>
  );
}

interface PlansProps {
  account: Account;
  plans: readonly Plan[];
  onPortal: () => void;
}

function Plans({ account, plans, onPortal }: PlansProps) {
  const [interval, setInterval] = useState<Interval>('month');
  const action = useAction();
  const status = account.subscription?.status;
  const isLive = status != null && !['canceled', 'incomplete_expired', 'incomplete'].includes(status);
  async function buy(plan: Plan) {
    const body = { plan: plan.id, interval: priceOf(plan, interval)?.interval };
    const { data } = await accountApi.post('/v1/checkout', { body });
    location.assign(data.url);
  }
  function actionOf(plan: Plan) {
    const isMine = plan.id === account.plan;
    const canMove = plan.prices.length > 0 || (isLive && plan.price_usd_month === 0);
    if (!isMine && !canMove) return null;
    // With a live subscription, Stripe's portal changes it.
    const move = () => (isLive ? onPortal() : action.run(() => buy(plan)));
    return (
      <button class="btn" type="button" disabled={isMine || action.isBusy} onClick={move}>
        {isMine ? 'Your plan' : `Move to ${plan.name}`}
      </button>
    );
  }
  return (
    <section aria-labelledby="plans">
      <div class="sec-head">
        <h2 id="plans">Plans</h2>
        <p>Prices without tax. Change or cancel at any time.</p>
        <span class="push">
          <Choice
            label="Pay"
            options={[
              { value: 'month', label: 'Monthly' },
              { value: 'year', label: 'Yearly' },
            ]}
            value={interval}
            onChange={setInterval}
            small
          />
        </span>
      </div>
      <Problem of={action.error} />
      <PlanCards plans={plans} interval={interval} mine={account.plan} action={actionOf} />
      <p class="xs dim below">
        {isLive ? 'You change or cancel your plan on a Stripe page. ' : 'You pay on a Stripe page. '}A new
        plan applies from the next call.
      </p>
    </section>
  );
}
