// The plans, as /v1/plans has them, paid monthly or yearly.
import { Link, useSearchParams } from 'wouter-preact';
import type { AnswerOf } from '../../clients/typescript/client.ts';
import { api } from '../api/clients.ts';
import { useLoad } from '../api/load.ts';
import { session } from '../api/session.ts';
import { Choice } from '../components/choice.tsx';
import { PageHead } from '../components/page-head.tsx';
import { Waiting } from '../components/states.tsx';
import { numberText } from '../text/numbers.ts';
import '../styles/plans.css';

export type Plan = AnswerOf<'get', '/v1/plans'>['data'][number];
type Interval = 'month' | 'year';

const intervals = [
  { value: 'month', label: 'Monthly' },
  { value: 'year', label: 'Yearly' },
] as const;

const featureTexts: Readonly<Record<string, string>> = {
  vintages: 'Vintages and revisions',
  webhooks: 'Webhooks',
  bulk: 'Bulk downloads',
};

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
        lede="A call counts if it is answered: failed and refused calls are free. The catalogue, the calendar and this dashboard need no plan."
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
          <ul class="plans">
            {data.map((plan) => (
              <PlanCard key={plan.id} plan={plan} interval={interval} all={data} />
            ))}
          </ul>
        )}
      </Waiting>
      <section class="half">
        <div>
          <h2>What counts</h2>
          <p class="sm mt">
            Every answered call of a data endpoint is one call; a call for several series is one per series.
            Calls of the account, the catalogue and sign-in are free. The month begins on the first day at
            00:00 UTC.
          </p>
        </div>
        <div>
          <h2>At the limit</h2>
          <p class="sm mt">
            Calls are refused with 402 until the next month or a higher plan; nothing is charged beyond the
            plan. Webhooks tell at 50, 80 and 100 % of the month (the event usage.threshold_reached).
          </p>
        </div>
      </section>
    </div>
  );
}

interface PlanCardProps {
  plan: Plan;
  interval: Interval;
  all: readonly Plan[];
}

function PlanCard({ plan, interval, all }: PlanCardProps) {
  const features = [...new Set(all.flatMap((each) => each.features))];
  return (
    <li>
      <h2>{plan.name}</h2>
      <Price plan={plan} interval={interval} />
      <ul>
        <li>
          {plan.calls_month === null
            ? 'Calls without a monthly limit'
            : `${numberText(plan.calls_month)} calls a month`}
        </li>
        <li>{numberText(plan.calls_second)} calls a second</li>
        {features.map((feature) => {
          const isIn = plan.features.includes(feature);
          return (
            <li key={feature} class={isIn ? undefined : 'no'}>
              {!isIn && <span class="vh">Without: </span>}
              {featureTexts[feature] ?? feature}
            </li>
          );
        })}
      </ul>
      <PlanAction plan={plan} />
    </li>
  );
}

function Price({ plan, interval }: { plan: Plan; interval: Interval }) {
  if (plan.price_usd_month === 0) return <p class="price">Free</p>;
  const price = plan.prices.find((each) => each.interval === interval) ?? plan.prices[0];
  if (price === undefined) return <p class="price">By agreement</p>;
  return (
    <p class="price">
      {moneyText(price.amount, price.currency)}
      <small> a {price.interval}</small>
    </p>
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
      href={`/sign-up?plan=${encodeURIComponent(plan.id)}`}
    >
      {plan.price_usd_month === 0 ? 'Get a key' : `Choose ${plan.name}`}
    </Link>
  );
}

/** `$29`, `$29.50`; @param amount in the smallest unit of the currency. */
function moneyText(amount: number, currency: string): string {
  const format = new Intl.NumberFormat('en-US', {
    style: 'currency',
    currency,
    trailingZeroDisplay: 'stripIfInteger',
  });
  const { maximumFractionDigits: digits = 2 } = format.resolvedOptions();
  return format.format(amount / 10 ** digits);
}
