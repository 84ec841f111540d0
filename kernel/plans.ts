// The plans, read from config/plans.yml, the only place that defines prices, limits and features.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

export const features = ['vintages', 'bulk', 'webhooks', 'pinned_keys'] as const;
export type Feature = (typeof features)[number];

export const intervals = ['month', 'year'] as const;
export type Interval = (typeof intervals)[number];

const stripePrice = z.string().regex(/^[A-Za-z0-9_-]{1,200}$/);
const amountRule = 'The amount, in the smallest unit of the currency.';
const price = z.strictObject({
  interval: z.enum(intervals),
  amount: z.int().positive().max(99_999_999).describe(amountRule),
  currency: z.string().regex(/^[a-z]{3}$/, 'must be a code of three lower-case letters, such as usd'),
  stripe: stripePrice.optional(),
});

const planId = z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/);
/** A plan in the format of the file. */
const writtenPlan = z.strictObject({
  id: planId,
  name: z.string().min(1),
  price_usd_month: z.number().nonnegative().nullable().optional(),
  prices: z.array(price).optional(),
  calls_month: z.int().positive().nullable().describe('null: unlimited'),
  calls_second: z.int().positive(),
  concurrency: z.int().positive().default(10).describe('Concurrent requests of an account.'),
  series_per_call: z
    .int()
    .positive()
    .default(1)
    .describe('How many series count as one call, if a call asks for several.'),
  features: z.array(z.enum(features)),
});

/** A plan as used and shown. */
export const planSchema = writtenPlan.extend({
  price_usd_month: z
    .number()
    .nullable()
    .describe('0: free. null: by agreement, or not sold by the month in US dollars; see `prices`.'),
  prices: z
    .array(
      price.extend({
        stripe: stripePrice.describe('The price at Stripe: its lookup key, or its id `price_…`.'),
      }),
    )
    .describe('The prices of the plan, at most one per interval.'),
});

export type Plan = Readonly<z.infer<typeof planSchema>>;
export type PlanPrice = Plan['prices'][number];

const fileSchema = z.strictObject({ plans: z.array(writtenPlan).min(1) }).check((context) => {
  const { plans } = context.value;
  const ids = plans.map((plan) => plan.id);
  if (!ids.includes('free')) {
    context.issues.push({ code: 'custom', message: 'a plan with id "free" is needed', input: ids });
  }
  if (new Set(ids).size !== ids.length) {
    context.issues.push({ code: 'custom', message: 'two plans share an id', input: ids });
  }
  for (const fault of plans.flatMap(faultsOfPrices)) {
    context.issues.push({ code: 'custom', message: fault, input: plans });
  }
  const sold = plans.flatMap((plan) => pricesOf(plan).map(({ stripe }) => stripe));
  if (new Set(sold).size !== sold.length) {
    context.issues.push({ code: 'custom', message: 'two prices are the same at Stripe', input: sold });
  }
});

type WrittenPlan = z.output<typeof writtenPlan>;

function faultsOfPrices(plan: WrittenPlan): string[] {
  const { id, price_usd_month: usd, prices } = plan;
  if (usd === undefined && prices === undefined) return [`plan "${id}" needs prices, or price_usd_month`];
  const pricedIntervals = (prices ?? []).map(({ interval }) => interval);
  return [
    ...(new Set(pricedIntervals).size === pricedIntervals.length
      ? []
      : [`plan "${id}" has two prices for one interval`]),
    ...(id === 'free' && pricesOf(plan).length > 0 ? ['the plan "free" has no price'] : []),
    ...(usd === undefined || prices === undefined || usd === usdMonthOf(prices)
      ? []
      : [`plan "${id}": price_usd_month and prices differ; leave price_usd_month out`]),
  ];
}

/** @returns the monthly price in US dollars; null if there is none. */
function usdMonthOf(prices: readonly z.output<typeof price>[]): number | null {
  const found = prices.find(({ interval, currency }) => interval === 'month' && currency === 'usd');
  return found === undefined ? null : found.amount / 100;
}

/** A plan that states only `price_usd_month` has one price: that amount per month. */
function pricesOf({ id, price_usd_month: usd, prices }: WrittenPlan): PlanPrice[] {
  const monthly = { interval: 'month', amount: Math.round((usd ?? 0) * 100), currency: 'usd' } as const;
  return (prices ?? (monthly.amount === 0 ? [] : [monthly])).map((each) => ({
    ...each,
    stripe: ('stripe' in each ? each.stripe : undefined) ?? `almanac_${id}_${each.interval}`,
  }));
}

function toPlan(plan: WrittenPlan): Plan {
  const usd = plan.price_usd_month === undefined ? usdMonthOf(plan.prices ?? []) : plan.price_usd_month;
  return { ...plan, price_usd_month: usd, prices: pricesOf(plan) };
}

export interface Plans {
  /** In file order, lowest first. */
  readonly all: readonly Plan[];
  /** The plan with the id, or undefined. */
  get(id: string): Plan | undefined;
  /** The lowest plan with the feature, named in a 403; undefined if no plan has it. */
  lowestWith(feature: Feature): Plan | undefined;
}

/** The plan with the id; accounts whose plan was removed from the file get the free plan. */
export function planOf(plans: Plans, id: string): Plan {
  const plan = plans.get(id) ?? plans.get('free');
  if (plan === undefined) throw new Error('There is no plan "free".');
  return plan;
}

/** Names the plan that is required for a feature. @param present the name of the current plan, which lacks it. */
export function missingFeatureText(plans: Plans, feature: Feature, present: string): string {
  const named = feature.replace('_', ' ');
  const lowest = plans.lowestWith(feature);
  return lowest === undefined
    ? `No plan of this service includes ${named}.`
    : `This requires the ${lowest.name} plan, which includes ${named}; this account is on ${present}. See GET /v1/plans.`;
}

/** Plans that can be reloaded from their file. */
export interface PlansFile extends Plans {
  /** Reads and validates the file again. @returns activates all of it at once. @throws Error as `loadPlans`. */
  prepareReload(): () => void;
}

/** Reads the file, and can reload it. @throws Error as `loadPlans`. */
export function openPlans(path: string): PlansFile {
  let plans = loadPlans(path);
  return {
    get all() {
      return plans.all;
    },
    get: (id) => plans.get(id),
    lowestWith: (feature) => plans.lowestWith(feature),
    prepareReload() {
      const next = loadPlans(path);
      return () => void (plans = next);
    },
  };
}

/** Reads and validates the file. @throws Error that names every fault in it. */
export function loadPlans(path: string): Plans {
  const parsed = fileSchema.safeParse(parse(readFileSync(path, 'utf8')));
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`);
  const all = parsed.data.plans.map(toPlan);
  return {
    all,
    get: (id) => all.find((plan) => plan.id === id),
    lowestWith: (feature) => all.find((plan) => plan.features.includes(feature)),
  };
}
