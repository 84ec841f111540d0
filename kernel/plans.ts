// The plans, from config/plans.yml, the only place that defines prices, limits and features.
import { readFileSync } from 'node:fs';
import { parse } from 'yaml';
import { z } from 'zod';

export const features = ['vintages', 'bulk', 'webhooks'] as const;
export type Feature = (typeof features)[number];

export const planSchema = z.strictObject({
  id: z.string().regex(/^[a-z][a-z0-9_-]{0,31}$/),
  name: z.string().min(1),
  price_usd_month: z.number().nonnegative().nullable().describe('null: by agreement'),
  calls_month: z.int().positive().nullable().describe('null: unlimited'),
  calls_second: z.int().positive(),
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
  /** In the order of the file, which is from the lowest to the highest. */
  readonly all: readonly Plan[];
  /** The plan of that id, or undefined. */
  get(id: string): Plan | undefined;
  /** The lowest plan that has the feature, or undefined: the one a 403 names. */
  lowestWith(feature: Feature): Plan | undefined;
}

/** A plan that was taken out of the file leaves its accounts with the free one, never with none. */
export function planOf(plans: Plans, id: string): Plan {
  const plan = plans.get(id) ?? plans.get('free');
  if (plan === undefined) throw new Error('There is no plan "free".');
  return plan;
}

/** Plans that follow their file when they are told to. */
export interface PlansFile extends Plans {
  /** Reads and checks the file again. @returns puts it in force, at once and whole. @throws Error as `loadPlans` does. */
  prepareReload(): () => void;
}

/** Reads the file, and may read it again. @throws Error as `loadPlans` does. */
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
