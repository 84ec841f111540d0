// Allotments: calls that are charged to a month before a gateway may draw them, so that no failure of Redis or a gateway lets an
// account exceed its limit.
import { z } from 'zod';
import { instantFor, utcMonth } from '../../kernel/clock.ts';
import { dateParam } from '../../kernel/http/params.ts';
import type { Deps } from '../database.ts';
import { internalEndpoint } from '../internal-endpoint.ts';
import { allowancesOf } from './allowances.ts';
import { insertQuotaMonths } from './internal.sql.ts';
import { reclaimAllotments, renewAllotments, topUpAllotments, type ToppedUpRow } from './allotments.sql.ts';

const topUpsMax = 500;
// The assumed maximum difference between a gateway's clock and ours when the month turns.
const clockSkewMs = 60_000;
// A gateway serves calls of an allotment for 60 s after it last knew that it is open (`leaseMs` in gateway/quota/hold.ts). The rest
// is for its reports of what it has served.
const reclaimAfterMs = 90_000;

const id = z.string().min(1).max(64);
const count = z.int().min(0).max(1_000_000_000);

const allotmentId = { account_id: id, month: dateParam, allotment_id: id };

export const spentEntry = z.strictObject({
  ...allotmentId,
  /** Calls served. */
  calls: count,
  /** Calls given up unused. */
  returned: count,
});

const topUpBody = z.strictObject({
  top_ups: z
    .array(
      z.strictObject({
        ...allotmentId,
        holder: z.enum(['redis', 'process']),
        seen: count,
        calls: count.min(1),
        ahead: count,
      }),
    )
    .max(topUpsMax)
    .refine(
      (topUps) => new Set(topUps.map((topUp) => topUp.account_id)).size === topUps.length,
      'must name an account once',
    ),
});

/** Tops up allotments from the remaining quota of the current month (UTC). */
export const topUpQuota = internalEndpoint({
  body: topUpBody,
  answer: z.object({
    allotments: z.array(
      z.object({
        granted: z.int(),
        elsewhere: z.int(),
        limit: z.int().nullable(),
        closed: z.boolean(),
        held: z.boolean(),
      }),
    ),
  }),
  handler:
    (deps) =>
    async ({ body: { top_ups: topUps }, call }) => {
      const filled = await call.stage('sql', () => topUp(deps, topUps));
      return {
        allotments: topUps.map(({ account_id }) => {
          // A disabled account, or a month other than the current one, gets nothing.
          const nothing = { granted: 0, elsewhere: 0, limit: 0, closed: false, held: false };
          const { granted, elsewhere, limit, closed, held } = filled.get(account_id) ?? nothing;
          return { granted, elsewhere, limit, closed, held };
        }),
      };
    },
});

async function topUp(
  deps: Deps,
  topUps: z.output<typeof topUpBody>['top_ups'],
): Promise<Map<string, ToppedUpRow>> {
  const allowances = allowancesOf(deps.plans);
  const now = deps.clock.now();
  const months = [-clockSkewMs, clockSkewMs].map((ms) => utcMonth(new Date(now.getTime() + ms)));
  const present = topUps.filter(({ month }) => months.includes(month));
  const filled = new Map<string, ToppedUpRow>();
  for (const row of await topUpAllotments(deps.db, present, allowances, instantFor(deps.clock))) filled.set(row.account_id, row);
  const missing = present.filter(({ account_id }) => !filled.has(account_id));
  if (missing.length === 0) return filled;
  for (const month of new Set(missing.map((each) => each.month))) {
    const accountIds = missing.filter((each) => each.month === month).map(({ account_id }) => account_id);
    await insertQuotaMonths(deps.db, accountIds, month);
  }
  for (const row of await topUpAllotments(deps.db, missing, allowances, instantFor(deps.clock))) filled.set(row.account_id, row);
  return filled;
}

/** Extends a gateway's leases on the allotments in its process; the answer names those that are open. */
export const renewQuota = internalEndpoint({
  body: z.strictObject({ allotments: z.array(z.strictObject(allotmentId)).max(topUpsMax) }),
  answer: z.object({ open: z.array(z.string()) }),
  handler:
    (deps) =>
    async ({ body: { allotments }, call }) => ({
      open: await call.stage('sql', () => renewAllotments(deps.db, allotments, instantFor(deps.clock))),
    }),
});

/** Refunds the unspent calls of allotments lost with their Redis or their gateway; called periodically. */
export function reclaimLostAllotments({ db, clock }: Deps): Promise<number> {
  return reclaimAllotments(db, reclaimAfterMs, instantFor(clock));
}
