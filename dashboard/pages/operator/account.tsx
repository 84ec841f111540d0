// /dashboard/operator/accounts/:id: one account; its plan, whether it is enabled, and its keys.
import { useId, useState } from 'preact/hooks';
import { Link } from 'wouter-preact';
import type { AnswerOf } from '../../../clients/typescript/client.ts';
import { accountApi } from '../../api/clients.ts';
import { useLoad } from '../../api/use-load.ts';
import { rowsOf } from '../../api/rows.ts';
import { Facts } from '../../components/facts.tsx';
import { Problem, useAction } from '../../components/forms/action.tsx';
import { PageHead } from '../../components/page-head.tsx';
import type { Plan } from '../../components/plan-cards.tsx';
import { countText, numberText } from '../../text/numbers.ts';
import { instantText } from '../../text/times.ts';
import { TypedConfirmation } from '../account/typed-confirmation.tsx';
import { AccountKeys } from './account-keys.tsx';
import { AccountStatus } from './accounts.tsx';
import { WaitingOrSignIn, operatorPage } from './operator-page.tsx';

type Operated = AnswerOf<'get', '/v1/operator/accounts/{id}'>['data'];

interface OfOne {
  account: Operated;
  reload: () => void;
}

export const OperatorAccount = operatorPage(({ params: { id = '' } }) => {
  const loaded = useLoad(
    async (signal) => {
      const [account, plans] = await Promise.all([
        accountApi.get('/v1/operator/accounts/{id}', { path: { id }, signal }),
        accountApi.get('/v1/plans', { signal }),
      ]);
      return { account: account.data, plans: rowsOf(plans) };
    },
    [id],
  );
  return (
    <>
      <PageHead
        title="Account"
        windowTitle={`Account ${id}`}
        crumb={<Link href="/dashboard/operator/accounts">All accounts</Link>}
      />
      <WaitingOrSignIn for={loaded} failure="The account could not be loaded">
        {({ account, plans }) => (
          <>
            <AccountFacts account={account} />
            <PlanForm account={account} plans={plans} reload={loaded.reload} />
            <Access account={account} reload={loaded.reload} />
            <AccountKeys accountId={id} />
          </>
        )}
      </WaitingOrSignIn>
    </>
  );
});

function AccountFacts({ account }: { account: Operated }) {
  const { usage } = account;
  return (
    <Facts
      facts={[
        [
          'E-mail address',
          <>
            {account.email}
            {account.role === 'operator' && <span class="tag acc">Operator</span>}
          </>,
          'email',
        ],
        ['Name', account.name ?? '–'],
        ['Id', <span class="mono xs">{account.id}</span>],
        ['Created', `${instantText(account.created_at)} UTC`],
        [
          'Calls this month',
          usage.limit === null
            ? numberText(usage.used)
            : `${numberText(usage.used)} of ${countText(usage.limit, 'call', 'calls')}`,
          'used',
        ],
        ['Subscription', account.subscription_state],
      ]}
    />
  );
}

function PlanForm({ account, plans, reload }: OfOne & { plans: readonly Plan[] }) {
  const id = useId();
  const action = useAction();
  const isPaid = account.subscription_state !== 'none';
  return (
    <section aria-labelledby={`${id}-plan`}>
      <h2 id={`${id}-plan`}>Plan</h2>
      <form
        class="bar-ctl below"
        onSubmit={action.submit(async (field) => {
          const body = { plan: field('plan') };
          await accountApi.patch('/v1/operator/accounts/{id}', { path: { id: account.id }, body });
          reload();
        })}
      >
        <label class="vh" for={id}>
          Plan
        </label>
        <span class="pick">
          <select id={id} name="plan" key={account.plan} disabled={isPaid}>
            {plans.map((plan) => (
              <option key={plan.id} value={plan.id} selected={plan.id === account.plan}>
                {plan.name}
              </option>
            ))}
          </select>
        </span>
        <button class="btn" type="submit" disabled={action.isBusy || isPaid}>
          Set the plan
        </button>
      </form>
      {isPaid && <p class="xs dim">The subscription determines the plan.</p>}
      <Problem of={action.error} />
    </section>
  );
}

function Access({ account, reload }: OfOne) {
  const [isConfirming, setIsConfirming] = useState(false);
  const action = useAction();
  const { id, email, role } = account;
  const setStatus = async (status: Operated['status']) => {
    await accountApi.patch('/v1/operator/accounts/{id}', { path: { id }, body: { status } });
    setIsConfirming(false);
    reload();
  };
  return (
    <section aria-labelledby="access">
      <h2 id="access">Access</h2>
      <p class="sm below" role="status">
        <AccountStatus of={account.status} />
      </p>
      {account.status === 'disabled' ? (
        <button
          class="btn below"
          type="button"
          onClick={() => action.run(() => setStatus('active'))}
          disabled={action.isBusy}
        >
          Enable the account
        </button>
      ) : (
        <button
          class="btn danger below"
          type="button"
          onClick={() => setIsConfirming(true)}
          disabled={role === 'operator'}
        >
          Disable the account
        </button>
      )}
      {role === 'operator' && (
        <p class="xs dim below">To disable an operator, first revoke the role on the command line.</p>
      )}
      <Problem of={action.error} />
      {isConfirming && (
        <TypedConfirmation
          title={`Disable ${email}?`}
          name={email}
          button="Disable the account"
          change={() => setStatus('disabled')}
          onClose={() => setIsConfirming(false)}
        >
          <p>Its keys are refused from the next call, and its sessions end.</p>
        </TypedConfirmation>
      )}
    </section>
  );
}
