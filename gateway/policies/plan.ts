// Enforces the account's plan: 402 if its subscription is unpaid, 403 if a feature needs a higher plan.
// gateway.config.yml lists the parameters and paths of each feature.
import { z } from 'zod';
import { fail } from '../../kernel/errors.ts';
import { features, missingFeatureText, type Feature, type Plans } from '../../kernel/plans.ts';
import { callOf, callerOf } from '../call.ts';
import { patternOf } from '../routes.ts';
import type { Policy } from '../policy.ts';

export const planAction = z.strictObject({
  features: z.partialRecord(
    z.enum(features),
    z.strictObject({ parameters: z.array(z.string()), paths: z.array(z.string()) }),
  ),
});

export function plan(plans: Plans, action: z.output<typeof planAction>): Policy {
  const gates = Object.entries(action.features).map(([feature, { parameters, paths }]) => ({
    feature: feature as Feature,
    parameters,
    patterns: paths.map(patternOf),
  }));
  return (request, _response, next) => {
    const call = callOf(request);
    const caller = callerOf(call);
    if (!caller.active) {
      fail(
        'subscription_inactive',
        'The subscription of this account is not active. Renew it: GET /v1/billing/portal.',
      );
    }
    for (const { feature, parameters, patterns } of gates) {
      if (caller.plan.features.includes(feature)) continue;
      const parameter = call.query === '' ? undefined : parameterOf(call.query, parameters);
      if (parameter === undefined && !patterns.some((pattern) => pattern.test(call.path))) continue;
      fail('plan_required', missingFeatureText(plans, feature, caller.plan.name), {
        ...(parameter && { param: parameter }),
      });
    }
    next();
  };
}

/** The first of the parameters that the query has. */
function parameterOf(query: string, parameters: readonly string[]): string | undefined {
  const given = new URLSearchParams(query);
  return parameters.find((name) => given.has(name));
}
