// Finds the prices of plans at Stripe by lookup key or id, and compares them with config/plans.yml. Customers are never charged a different amount
// from the plan's price.
import type { Stripe } from 'stripe';
import type { PlanPrice, Plans } from '../../kernel/plans.ts';
import { isMissing } from './connection.ts';

/** A price at Stripe, or what is wrong with it. */
export type FoundPrice = { id: string } | { fault: string };

/** Looks a price up. @throws StripeError if Stripe does not answer. */
export async function findPrice(stripe: Stripe, price: PlanPrice): Promise<FoundPrice> {
  const found = await (price.stripe.startsWith('price_') ? byId(stripe, price) : byLookupKey(stripe, price));
  if (found === null) return { fault: `${price.stripe} does not exist` };
  const wanted = `${price.amount} ${price.currency} a ${price.interval}`;
  const fault = faultOf(found, price);
  return fault === null ? { id: found.id } : { fault: `${price.stripe} ${fault}; the plan states ${wanted}` };
}

async function byId(stripe: Stripe, price: PlanPrice): Promise<Stripe.Price | null> {
  try {
    return await stripe.prices.retrieve(price.stripe);
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}

async function byLookupKey(stripe: Stripe, price: PlanPrice): Promise<Stripe.Price | null> {
  const { data } = await stripe.prices.list({ lookup_keys: [price.stripe], limit: 1 });
  return data[0] ?? null;
}

function faultOf(found: Stripe.Price, price: PlanPrice): string | null {
  const { active, unit_amount: amount, currency, recurring } = found;
  if (!active) return 'is archived';
  if (recurring === null) return 'is charged once';
  const every =
    recurring.interval_count === 1
      ? recurring.interval
      : `${recurring.interval_count} ${recurring.interval}s`;
  if (amount === price.amount && currency === price.currency && every === price.interval) return null;
  return `is ${amount} ${currency} a ${every}`;
}

/** Compares all prices of the plans with those at Stripe. @returns the number of prices. @throws Error that names each difference, or StripeError. */
export async function comparePrices(stripe: Stripe, plans: Plans): Promise<number> {
  const prices = plans.all.flatMap((plan) => plan.prices);
  const found = await Promise.all(prices.map((price) => findPrice(stripe, price)));
  const faults = found.flatMap((each) => ('fault' in each ? [each.fault] : []));
  if (faults.length > 0) throw new Error(`prices at Stripe: ${faults.join('; ')}`);
  return prices.length;
}
