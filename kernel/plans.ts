// The plans, from config/plans.yml, the only place that defines prices, limits and features.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

export const features = ['vintages', 'webhooks'] as const;
export type Feature = (typeof features)[number];

export const planSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/),
  name: z.string().min(1),
  price_usd_month: z.number().nonnegative().nullable().describe('null: by agreement'),
  calls_month: z.int().positive().nullable().describe('null: unlimited'),
  calls_second: z.int().positive(),
  concurrency: z.int().positive().default(10).describe('Answers of an account under way at once.'),
  features: z.array(z.enum(features)),
});

export type Plan = Readonly<z.infer<typeof planSchema>>;

const fileSchema = z.strictObject({ plans: z.array(planSchema).min(1) }).check((context) => {
  const ids = context.value.plans.map((plan) => plan.id);
  if (!ids.includes('free')) {
    context.issues.push({ code: 'custom', message: 'a plan with id "free" is needed', input: ids });
  }
  if (new Set(ids).size !== ids.length) {
    context.issues.push({ code: 'custom', message: 'two plans share an id', input: ids });
  }
});

export interface Plans {
  /** In the order of the file, lowest first. */
  readonly all: readonly Plan[];
  /** The plan with the id, or undefined. */
  get(id: string): Plan | undefined;
  /** The lowest plan with the feature, named in a 403; undefined if there is none. */
  lowestWith(feature: Feature): Plan | undefined;
}

/** The plan with the id; accounts of a plan that was removed from the file get the free one. */
export function planOf(plans: Plans, id: string): Plan {
  const plan = plans.get(id) ?? plans.get('free');
  if (plan === undefined) throw new Error('There is no plan "free".');
  return plan;
}

/** Plans that can be reloaded from their file. */
export interface PlansFile extends Plans {
  /** Reads and checks the file again. @returns applies all of it at once. @throws Error as `loadPlans` does. */
  prepareReload(): () => void;
}

/** Reads the file, and can reload it. @throws Error as `loadPlans` does. */
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

/** Reads and checks the file. @throws Error that names every fault in it. */
export function loadPlans(path: string): Plans {
  const parsed = fileSchema.safeParse(parse(readFileSync(path, 'utf8')));
  if (!parsed.success) throw new Error(`${path}: ${z.prettifyError(parsed.error)}`);
  const all = parsed.data.plans;
  return {
    all,
    get: (id) => all.find((plan) => plan.id === id),
    lowestWith: (feature) => all.find((plan) => plan.features.includes(feature)),
  };
}
