// The day that a key is pinned to: its body field, and which accounts may have pinned keys.
import { utcDate } from '../../kernel/clock.ts';
import { fail, refuseField } from '../../kernel/errors.ts';
import { dateParam } from '../../kernel/http/params.ts';
import { missingFeatureText, planOf } from '../../kernel/plans.ts';
import type { Deps } from '../database.ts';
import type { Account } from '../models/account.ts';

const first = '1900-01-01';

/** `as_of` of a new key; null without one. */
export const pinField = dateParam
  .refine((day) => day >= first, `must not be before ${first}`)
  .nullish()
  .transform((day) => day ?? null)
  .describe(
    'Pins the key to a day, for good: every answer is as if nothing was published after it. Such a key has the scope `data` only. Needs a plan with `pinned_keys`. Null or absent: answers are of now.',
  );

/** @throws Failure `invalid_body` for a future day (UTC); `plan_required` if the account's plan has no pinned keys. */
export function requirePin({ plans, clock }: Deps, account: Account, asOf: string): void {
  const today = utcDate(clock.now());
  if (asOf > today) refuseField('as_of', `"as_of" must not be in the future; today is ${today} (UTC).`);
  const plan = planOf(plans, account.plan);
  if (!plan.features.includes('pinned_keys'))
    fail('plan_required', missingFeatureText(plans, 'pinned_keys', plan.name), { param: 'as_of' });
}
