// The plans side by side, with the one in force marked.
import { moneyText } from '../../../text/amounts.ts';
import { countText } from '../../../text/numbers.ts';
import '../../../styles/plans.css';
import type { Plan } from './billing.tsx';

interface PlanCardsProps {
  plans: readonly Plan[];
  /** The plan in force. */
  mine: string;
  interval: 'month' | 'year';
  keyLimit: number;
  isBusy: boolean;
  onChoose: (plan: string) => void;
  /** There is a subscription to change. */
  isChange: boolean;
}

export function PlanCards({ plans, mine, interval, keyLimit, isBusy, onChoose, isChange }: PlanCardsProps) {
  return (
    <div class="plans">
      {plans.map((plan) => {
        const price = plan.prices.find((each) => each.interval === interval);
        const isMine = plan.id === mine;
        const canChoose = price !== undefined || (isChange && plan.price_usd_month === 0);
        return (
          <div key={plan.id} class={isMine ? 'mine' : undefined} data-plan={plan.id}>
            <h3>
              {plan.name}
              {isMine && <span class="tag acc">Your plan</span>}
            </h3>
            <Price plan={plan} interval={interval} />
            <ul>
              <li>
                {plan.calls_month === null
                  ? 'Any number of calls'
                  : `${countText(plan.calls_month, 'call', 'calls')} a month`}
              </li>
              <li>{countText(plan.calls_second, 'call', 'calls')} a second</li>
              <li>All series and funds</li>
              <li>{countText(keyLimit, 'key', 'keys')}</li>
              <Feature has={plan.features.includes('vintages')}>Earlier vintages</Feature>
              <Feature has={plan.features.includes('webhooks')}>Webhooks</Feature>
            </ul>
            {isMine ? (
              <button class="btn" type="button" disabled>
                Your plan
              </button>
            ) : (
              canChoose && (
                <button class="btn" type="button" disabled={isBusy} onClick={() => onChoose(plan.id)}>
                  Move to {plan.name}
                </button>
              )
            )}
          </div>
        );
      })}
    </div>
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

function Price({ plan, interval }: { plan: Plan; interval: 'month' | 'year' }) {
  const price = plan.prices.find((each) => each.interval === interval);
  if (price !== undefined) {
    const other = plan.prices.find((each) => each.interval !== interval);
    return (
      <>
        <p class="price">
          {moneyText(price.amount, price.currency)} <small>a {interval}</small>
        </p>
        <p class="xs dim">
          {other === undefined ? ' ' : `${moneyText(other.amount, other.currency)} a ${other.interval}`}
        </p>
      </>
    );
  }
  const [main, under] =
    plan.price_usd_month === 0 ? ['$0', 'for ever, no card'] : ['By agreement', 'ask the operator'];
  return (
    <>
      <p class="price">{main}</p>
      <p class="xs dim">{under}</p>
    </>
  );
}
