// The plans from /v1/plans, with monthly or yearly prices.
import { Link } from 'wouter-preact';
import { api } from '../api/clients.ts';
import { useLoad } from '../api/use-load.ts';
import { session } from '../api/session.ts';
import { Choice } from '../components/choice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { PlanCards, type Interval, type Plan } from '../components/plan-cards.tsx';
import { Waiting } from '../components/states.tsx';
import { useSearchParams } from '../components/use-query.ts';

const intervals = [
  { value: 'month', label: 'Monthly' },
  { value: 'year', label: 'Yearly' },
] as const;

export function Plans() {
  const [params, setParams] = useSearchParams();
  const interval: Interval = params.get('paid') === 'year' ? 'year' : 'month';
  const plans = useLoad((signal) => api.get('/v1/plans', { signal }), []);
  const hasYearly =
    plans.phase === 'ready' &&
    plans.value.data.some(({ prices }) => prices.some((each) => each.interval === 'year'));
  return (
    <div class="wrap">
      <PageHead
        title="Plans"
        lede="Only answered calls count: failed and refused calls are free. The catalogue, the calendar and this dashboard need no plan."
        actions={
          hasYearly && (
            <Choice
              label="How to pay"
              options={intervals}
              value={interval}
              onChange={(value) => setParams(value === 'year' ? { paid: 'year' } : {}, { replace: true })}
            />
          )
        }
      />
      <Waiting for={plans} skeleton={<div class="sk plans-sk" />} failure="The plans could not be loaded">
        {({ data }) => (
          <>
            <h2 class="vh">What each plan has</h2>
            <PlanCards plans={data} interval={interval} action={(plan) => <PlanAction plan={plan} />} />
          </>
        )}
      </Waiting>
      <section class="half">
        <div>
          <h2>What counts</h2>
          <p class="sm mt">
            Every answered call of a data endpoint is one call; a call for several series is one per series,
            unless the plan counts several as one. Calls of the account, the catalogue and sign-in are free.
            The month begins on the first day at 00:00 UTC.
          </p>
        </div>
        <div>
          <h2>At the limit</h2>
          <p class="sm mt">
            Calls are refused with 402 until the quota resets or you upgrade; there are no overage charges.
            Webhooks report when 50, 80 and 100 % of the monthly quota is used (the event
            usage.threshold_reached).
          </p>
        </div>
      </section>
    </div>
  );
}

function PlanAction({ plan }: { plan: Plan }) {
  if (plan.price_usd_month !== 0 && plan.prices.length === 0)
    return <p class="sm dim">Ask the operator of this installation.</p>;
  if (session.value !== undefined)
    return (
      <Link class="btn" href="/dashboard/billing">
        Choose in billing
      </Link>
    );
  return (
    <Link
      class={plan.price_usd_month === 0 ? 'btn main' : 'btn'}
      href={plan.price_usd_month === 0 ? '/sign-up' : '/sign-up?return_to=/dashboard/billing'}
    >
      {plan.price_usd_month === 0 ? 'Get a key' : `Choose ${plan.name}`}
    </Link>
  );
}
