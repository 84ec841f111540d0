// The plans side by side: the price and content of each. The page provides the actions.
import type { ComponentChildren } from 'preact';
import type { AnswerOf } from '../../clients/typescript/client.ts';
import { moneyText } from '../text/amounts.ts';
import { featureText } from '../text/features.ts';
import { countText, numberText } from '../text/numbers.ts';
import '../styles/plans.css';

export type Plan = AnswerOf<'get', '/v1/plans'>['data'][number];
export type Interval = 'month' | 'year';

interface PlanCardsProps {
  plans: readonly Plan[];
  interval: Interval;
  /** The active plan. */
  mine?: string;
  /** The button or the line below a plan. */
  action: (plan: Plan) => ComponentChildren;
}

export function PlanCards({ plans, interval, mine, action }: PlanCardsProps) {
  const features = [...new Set(plans.flatMap((plan) => plan.features))];
  return (
    <ul class="plans">
      {plans.map((plan) => (
        <li key={plan.id} class={plan.id === mine ? 'mine' : undefined} data-plan={plan.id}>
          <h3>
            {plan.name}
            {plan.id === mine && <span class="tag acc">Your plan</span>}
          </h3>
          <Price plan={plan} interval={interval} />
          <ul>
            <li>
              {plan.calls_month === null
                ? 'Calls without a monthly limit'
                : `${countText(plan.calls_month, 'call', 'calls')} a month`}
            </li>
            <li>{countText(plan.calls_second, 'call', 'calls')} a second</li>
            {plan.series_per_call > 1 && <li>{numberText(plan.series_per_call)} series count as one call</li>}
            {features.map((feature) => (
              <Feature key={feature} has={plan.features.includes(feature)}>
                {featureText(feature)}
              </Feature>
            ))}
          </ul>
          {action(plan)}
        </li>
      ))}
    </ul>
  );
}

function Feature({ has, children }: { has: boolean; children: string }) {
  return (
    <li class={has ? undefined : 'no'}>
      {!has && <span class="vh">Without: </span>}
      {children}
    </li>
  );
}

/** The price of a plan: for the interval or, if it is not sold for that, its only one; undefined if it is not sold. */
export function priceOf({ prices }: Plan, interval: Interval): Plan['prices'][number] | undefined {
  return prices.find((each) => each.interval === interval) ?? prices[0];
}

function Price({ plan, interval }: { plan: Plan; interval: Interval }) {
  const price = priceOf(plan, interval);
  const other = plan.prices.find((each) => each !== price);
  if (price === undefined) {
    const [main, detail] =
      plan.price_usd_month === 0 ? ['$0', 'forever, no card'] : ['By agreement', 'ask the operator'];
    return (
      <>
        <p class="price">{main}</p>
        <p class="xs dim">{detail}</p>
      </>
    );
  }
  return (
    <>
      <p class="price">
        {moneyText(price.amount, price.currency)} <small>a {price.interval}</small>
      </p>
      <p class="xs dim">
        {other === undefined ? ' ' : `${moneyText(other.amount, other.currency)} a ${other.interval}`}
      </p>
    </>
  );
}
